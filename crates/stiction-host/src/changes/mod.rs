//! Changes to the machine. Each is in the undo journal before it is made, is undone
//! on drop, and is undone by [`restore`](crate::undo::restore) after a crash.

mod affinity;
mod ager;
mod alterations;
mod block_queue;
mod control_group;
mod dirty_limit;
mod filesystem_kind;
mod foreseen;
mod global;
mod granted;
mod group_limits;
mod journal_check;
mod kernel_files;
mod loop_device;
mod mount;
mod mount_options;
mod own_group;
mod scratch;

pub use affinity::Affinity;
pub use alterations::{Alterations, Altered, SCRATCH_BYTES, machine_factors};
pub use block_queue::BlockQueue;
pub use control_group::ControlGroup;
pub use dirty_limit::DirtyLimit;
pub use filesystem_kind::{FilesystemKind, JournalPlace};
pub use global::{GlobalGrant, GlobalSetting};
pub use granted::{GrantedDevice, LentDevice, SpaceDevice};
pub use group_limits::{GroupLimits, Limits};
pub use kernel_files::KeptFile;
pub use loop_device::LoopDevice;
pub use mount::MountedFilesystem;
pub use own_group::enter_own_group;
pub use scratch::{FilesystemRecipe, ScratchFilesystem, ScratchSpace};

pub(crate) use kernel_files::put_back_leftover;
pub(crate) use loop_device::{backing_of, detach_leftover};
