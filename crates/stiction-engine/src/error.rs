//! Why a job did not run at all.

use std::path::PathBuf;

use stiction_core::BackendKind;

use crate::IoFailure;

/// Why [`run`](crate::run()) did nothing. Once workers have started, failures are
/// part of the [`Outcome`](crate::Outcome) instead, beside what was done.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The job contradicts itself or exceeds a limit; ask for another one.
    #[error("job `{job}` cannot be run: {reason}")]
    Job {
        /// Name of the job.
        job: String,
        /// What is wrong, and what would do.
        reason: String,
    },
    /// The backend cannot be had here; ask for another one.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// With `O_DIRECT`, this target moves only multiples of some size.
    #[error(
        "O_DIRECT on {} moves multiples of {needed_bytes} bytes only, but {what} is {given_bytes}; \
         choose a multiple, or leave O_DIRECT",
        path.display()
    )]
    Misaligned {
        /// The target.
        path: PathBuf,
        /// Which size or offset of the job is not a multiple.
        what: &'static str,
        /// Its value, bytes.
        given_bytes: u64,
        /// What it must be a multiple of, bytes.
        needed_bytes: u64,
    },
    /// The target is not a kind of file that this job may touch.
    #[error("{} is {what}; {advice}", path.display())]
    Refused {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to give instead.
        advice: &'static str,
    },
    /// A ledger that cannot be used; give another folder, or put this one right.
    #[error("the ledger in {} cannot be used: {cause}", path.display())]
    Ledger {
        /// Its folder, or the file in it that is not as it must be.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// A file could not be made ready.
    #[error(transparent)]
    Prepare(#[from] IoFailure),
    /// The system does not give as many threads as there are workers.
    #[error(
        "only {started} of {wanted} threads could be started ({cause}); \
         ask for fewer, or raise the limit (ulimit -u, or pids.max of the control group)"
    )]
    Threads {
        /// Workers of the job.
        wanted: usize,
        /// Threads that could be started.
        started: usize,
        /// The system's words.
        cause: String,
    },
    /// A worker cannot be put where it is to run.
    #[error("a worker cannot have {what}: {cause}; {advice}")]
    Placement {
        /// What was asked for.
        what: String,
        /// The system's words.
        cause: String,
        /// What to change.
        advice: String,
    },
    /// Buffers or counters do not fit in memory.
    #[error("{needed_bytes} bytes for {what} do not fit in memory ({cause}); {advice}")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// How much was asked for, bytes.
        needed_bytes: u64,
        /// The limit or the system's words.
        cause: String,
        /// What to change.
        advice: &'static str,
    },
}

/// Why a backend cannot be had on this system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not available: {reason}", backend.as_str())]
pub struct Unavailable {
    /// Which backend.
    pub backend: BackendKind,
    /// What the kernel said.
    pub reason: String,
}
