//! Jobs from end to end: on real files, against what other means say of them.

mod jobs;
mod writing;
