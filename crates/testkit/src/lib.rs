//! What stiction's tests share: builders, guarded loop devices, a faulty filesystem.

mod fault_fs;
mod freeze;
mod loop_filesystem;
pub mod machine;
pub mod sessions;
pub mod skip;
mod throttle;
mod undo;
mod zram;

pub use fault_fs::{Asked, Counts, Disk, FaultFs, Faults};
pub use freeze::freeze_for;
pub use loop_filesystem::{LoopFilesystem, LoopKind, ScratchLoop, TmpfsMount, run};
pub use throttle::{Throttle, ThrottleLimits};
pub use undo::{journal, scratch_folder};
pub use zram::Zram;
