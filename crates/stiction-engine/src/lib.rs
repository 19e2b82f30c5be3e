//! Generates I/O and counts it: backends, workers, offset and data patterns, clocks.

mod clock;
mod control;
mod data;
mod error;
mod failure;
mod memory;
mod offsets;
mod outcome;
mod recorder;
mod run;
mod target;

pub use control::{Progress, StopFlag};
pub use data::{Ledger, MISMATCHES_KEPT, Mismatch, MismatchKind};
pub use error::{EngineError, Unavailable};
pub use failure::{Cause, IoFailure, Operation};
pub use outcome::{AllActive, Ended, Outcome, WorkerOutcome};
pub use run::{probe, run};
pub use target::{ScratchDevice, Target};
