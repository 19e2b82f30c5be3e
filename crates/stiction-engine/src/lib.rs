//! Generates I/O and counts it: backends, workers, offset and data patterns, clocks.
//!
//! [`run()`] takes a [`Job`](stiction_core::Job), in which every choice is made, and
//! the [`Target`]s that it names by number, and returns an [`Outcome`] when all
//! workers have ended. Nothing here knows a benchmark, formats a report or touches
//! anything but the targets.
//!
//! ```text
//! run     checks the job, starts a thread for each region, adds up the reports
//! worker  makes everything ready, waits at the gate, drives, syncs, reports
//! drive   the timed loop:  offsets -> payload -> queue, commit, reap -> log
//! steered the same at a pace, with pauses, batches, limits and allowed failures
//! log     the time: latencies into tracks, intervals, deadline, stop flag
//! ```
//!
//! What holds in the timed loop: it allocates nothing, takes no lock, logs nothing
//! and shares no cache line with another worker. Every operation is in a histogram
//! of its worker, direction and interval, in the buckets of
//! [`stiction_core::Histogram`], and nothing that happened is in none. The bench
//! `overhead` says what that costs.
//!
//! [`run_routines`] is for work that is no stream of blocks: it runs code of the
//! caller's and records what that code times, in the same way.
//!
//! A worker that fails ends the others of its job too, and keeps what it did: the outcome has
//! the first failure and all the figures until then.

mod backend;
mod clock;
mod control;
mod data;
mod draw;
mod drive;
mod error;
mod failure;
mod files;
mod floor;
mod follow_up;
mod gate;
mod immediate;
mod log;
mod memory;
mod offsets;
mod order;
mod outcome;
mod pattern;
mod pauses;
mod placement;
mod recorder;
mod request;
mod rota;
mod rounds;
mod routine;
mod run;
mod schedule;
mod search;
mod simulation;
mod sizes;
mod skew;
mod slots;
mod steered;
mod streams;
mod target;
mod task;
mod thread;
mod together;
mod tolerance;
mod turnover;
mod varied;
mod waiting;
mod worker;

pub use backend::probe;
pub use control::{Progress, StopFlag};
pub use data::{Checked, Ledger, MISMATCHES_KEPT, Mismatch, MismatchKind, Survived, remove_ledger};
pub use error::{EngineError, Unavailable};
pub use failure::{Cause, IoFailure, Operation};
pub use files::{at_file_ends, synced_writes, write_file_back};
pub use outcome::{Ended, Kept, Outcome, WorkerOutcome};
pub use rounds::Steady;
pub use routine::{Moment, Performed, Routine, Stopwatch, Timetable, run_routines};
pub use run::{run, run_checked};
pub use search::DepthFound;
pub use simulation::{Service, SimulatedFault, Simulation};
pub use stiction_core::AllActive;
pub use target::{ScratchDevice, Target};
pub use task::{BLOCK_BYTES_MAX, DEPTH_MAX, INTERVAL_NS_MIN, WORKERS_MAX, check};
pub use together::{Part, run_together};
pub use tolerance::Tolerated;
