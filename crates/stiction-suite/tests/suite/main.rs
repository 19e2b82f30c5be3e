//! The benchmarks on real files, filesystems and devices, and in trouble.

mod bonnie;
mod curve;
mod ext3_tools;
mod metadata;
mod quick;
mod root_conditions;
mod root_devices;
mod root_filesystems;
mod root_quick;
mod root_trouble;
mod stage;
mod sync_methods;
mod tiobench;
mod tree_move;
mod trouble;
