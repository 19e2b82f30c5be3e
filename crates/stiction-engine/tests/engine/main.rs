//! Jobs from end to end: on real files, held against what other means say of them.

mod backends;
mod calls;
mod checking;
mod clean_runs;
mod devices;
mod failing;
mod following;
mod jobs;
mod many_files;
mod mapping;
mod pacing;
mod patterns;
mod placing;
mod queueing;
mod refusing;
mod reserving;
mod shaping;
mod steering;
mod surviving;
mod together;
mod workers;
mod writing;
