//! What stiction's tests share: builders, guarded loop devices, a faulty filesystem.

pub mod sessions;
pub mod skip;
