//! Generates I/O and counts it: backends, workers, offset and data patterns, clocks.

mod backend;
mod clock;
mod control;
mod data;
mod drive;
mod error;
mod failure;
mod files;
mod gate;
mod log;
mod memory;
mod offsets;
mod outcome;
mod recorder;
mod run;
mod target;
mod task;
mod thread;
mod worker;

pub use backend::probe;
pub use control::{Progress, StopFlag};
pub use data::{Ledger, MISMATCHES_KEPT, Mismatch, MismatchKind};
pub use error::{EngineError, Unavailable};
pub use failure::{Cause, IoFailure, Operation};
pub use outcome::{AllActive, Ended, Outcome, WorkerOutcome};
pub use run::{run, run_checked};
pub use target::{ScratchDevice, Target};
pub use task::{BLOCK_BYTES_MAX, DEPTH_MAX, INTERVAL_NS_MIN, WORKERS_MAX};
