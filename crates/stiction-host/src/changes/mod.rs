//! Changes to the machine. Each is in the undo journal before it is made, is undone
//! on drop, and is undone by [`restore`](crate::undo::restore) after a crash.

mod control_group;
mod loop_device;
mod mount;

pub use control_group::ControlGroup;
pub use loop_device::LoopDevice;
pub use mount::MountedFilesystem;

pub(crate) use loop_device::{backing_of, detach_leftover};
