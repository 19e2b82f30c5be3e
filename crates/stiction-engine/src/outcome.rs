//! What a job did: every operation, every worker, every doubt.

use stiction_core::{Caveat, CpuTime, Direction, Histogram, Recording, WorkerSummary};

use crate::{IoFailure, Mismatch};

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every worker came to its planned end.
    Planned,
    /// The stop flag was raised.
    Stopped,
    /// An operation failed, the first of them in time; the other workers were
    /// stopped then. What was done until then is in the outcome all the same.
    Failed(IoFailure),
}

/// What one worker did.
#[derive(Clone, Debug)]
pub struct WorkerOutcome {
    /// Operations, bytes and times.
    pub summary: WorkerSummary,
    /// CPU time of its thread during the measured time.
    pub cpu: CpuTime,
    /// The operation that failed, if one did.
    pub failure: Option<IoFailure>,
    /// The first blocks that were not what had been written, at most
    /// [`MISMATCHES_KEPT`](crate::MISMATCHES_KEPT).
    pub mismatches: Vec<Mismatch>,
    /// All blocks that were not what had been written.
    pub mismatch_count: u64,
    pub(crate) latencies: Vec<(Direction, Histogram)>,
}

impl WorkerOutcome {
    /// Latencies of this worker's operations of one direction; empty if it had none.
    #[must_use]
    pub fn latencies(&self, direction: Direction) -> Histogram {
        let mut kept = self.latencies.iter();
        kept.find(|(of, _)| *of == direction)
            .map_or_else(Histogram::new, |(_, latencies)| latencies.clone())
    }
}

/// A stretch in which every worker was active, and what moved in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllActive {
    /// Start, ns after the job's.
    pub start_ns: u64,
    /// End, ns after the job's start.
    pub end_ns: u64,
    /// Bytes moved by operations that completed in between.
    pub bytes: u64,
}

/// What a job did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Every operation by direction and interval, all workers together.
    pub recordings: Vec<Recording>,
    /// Each worker, in the order of the job's regions.
    pub workers: Vec<WorkerOutcome>,
    /// From the start of the workers to the end of the last one, ns; with the
    /// final sync, and with opening and closing if the job has them in time.
    pub elapsed_ns: u64,
    /// When every worker was active, to the intervals' edges; `None` when they
    /// never were for a whole interval.
    pub all_active: Option<AllActive>,
    /// How it ended.
    pub ended: Ended,
    /// Whether `O_DIRECT` was granted; `None` if the job did not ask.
    pub direct_granted: Option<bool>,
    /// How it was run: clock, flags of the rings, fall-backs taken.
    pub notes: Vec<String>,
    /// Doubts that arose while it ran.
    pub caveats: Vec<Caveat>,
}

impl Outcome {
    /// Reads and writes completed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.workers.iter().map(|w| w.summary.operations).sum()
    }

    /// Bytes read or written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.workers.iter().map(|w| w.summary.bytes).sum()
    }

    /// Blocks that were not what had been written.
    #[must_use]
    pub fn mismatch_count(&self) -> u64 {
        self.workers.iter().map(|w| w.mismatch_count).sum()
    }
}
