//! This machine: facts, observers, and every change made to it, each with its undo.
//!
//! - Facts: [`observe_target`] and [`observe_environment`] read `/proc` and `/sys`
//!   through [`Roots`]; what they cannot find is listed in their result.
//! - Observers: [`Witness`] stands beside a phase; [`residency`] and [`file_map`] look
//!   at files.
//! - Before a measurement: [`QuietWatch`] looks for what would spoil it, [`Idleness`]
//!   tells when devices have come to rest.
//! - The guard: [`HeldDevice`] is the only way to a raw device.
//! - Changes: [`OwnDirectory`], [`LoopDevice`] and their kind are written to an
//!   [`UndoJournal`] before they are made, undone on drop, and undone by
//!   [`restore`] after a crash.

mod cache;
mod cgroup;
mod changes;
mod error;
mod facts;
mod guard;
mod idle;
mod own;
mod process;
mod quiet;
mod random;
mod roots;
mod space;
mod stack;
mod subprocess;
mod sys;
mod undo;
mod witness;

pub use cache::{CacheDrop, drop_all_caches, drop_file_cache, fill_file_cache};
pub use changes::{
    Affinity, Alterations, Altered, BlockQueue, ControlGroup, DirtyLimit, FilesystemKind,
    FilesystemRecipe, GlobalGrant, GlobalSetting, GrantedDevice, GroupLimits, JournalPlace,
    KeptFile, LentDevice, Limits, LoopDevice, MountedFilesystem, SCRATCH_BYTES, ScratchFilesystem,
    ScratchSpace, SpaceDevice, enter_own_group, machine_factors,
};
pub use error::HostError;
pub use facts::{cpus_of_nodes, numa_nodes, observe_environment, observe_environment_in};
pub use guard::{HeldDevice, Refusal, ScratchGrant, refuse_file_in_use};
pub use idle::{Idleness, write_back};
pub use own::{Leftover, Leftovers, OwnDirectory, leftovers};
pub use process::{ProcessGroup, ProcessUsage, running_cpu_ns};
pub use quiet::{QuietLook, QuietWatch};
pub use roots::Roots;
pub use space::{Reserve, Space, admit_bytes, space};
pub use stack::{observe_target, observe_target_in};
pub use subprocess::{EndedProcess, SAID_BYTES_MAX, Subprocess};
pub use undo::{
    Change, Journals, Liveness, Owner, Pending, PendingCommand, Restoration, Restored, UndoJournal,
    Undone, UserCommands, pending, restore, restore_with,
};
pub use witness::{
    FileWitness, Witness, cpu_between, file_map, pressure, process_cpu, residency, unwritten_bytes,
};

/// What is kept of facts that identify a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactOptions {
    /// Serial numbers of devices.
    pub keep_serials: bool,
    /// The machine's name.
    pub keep_host_name: bool,
}
