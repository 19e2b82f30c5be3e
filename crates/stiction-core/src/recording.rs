//! What a phase recorded over time: the only source of its totals and percentiles.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// Which operations a recording is about. Syncs are kept apart from writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes, without the sync that may follow.
    Write,
    /// Trims: discards, and holes punched.
    Trim,
    /// fsync, fdatasync, msync.
    Sync,
    /// A write and the sync that makes it durable, together: the price of a commit.
    Commit,
    /// How long the call took that handed an operation over, for each operation.
    Submit,
    /// How much later an operation began than it was to, at a set pace.
    Lateness,
}

/// What happened in one stretch of a phase, all workers together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, ns after the phase began.
    pub start_ns: u64,
    /// Length, ns. The last interval of a phase may be shorter than the others.
    pub length_ns: u64,
    /// Bytes moved by the operations that completed in it.
    pub bytes: u64,
    /// Latencies of the operations that completed in it.
    pub latencies: Histogram,
}

/// Every operation of one direction in one phase, by interval.
///
/// Totals, percentiles, series and plots are views of this; none is kept twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Which operations.
    pub direction: Direction,
    /// Consecutive intervals, in time order, without gaps.
    pub intervals: Vec<Interval>,
}

impl Recording {
    /// All intervals merged.
    #[must_use]
    pub fn total(&self) -> Histogram {
        let mut total = Histogram::new();
        self.intervals
            .iter()
            .for_each(|interval| total.merge(&interval.latencies));
        total
    }

    /// Bytes moved in all intervals.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.bytes).sum()
    }

    /// Operations in all intervals.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.intervals
            .iter()
            .map(|interval| interval.latencies.count())
            .sum()
    }
}
