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
    /// An operation of several calls, all of them together: a block read and written
    /// back, a file made and filled. Its calls are in recordings of their own too.
    Whole,
    /// Making a file: `open` with `O_CREAT`.
    Create,
    /// Opening a file that is there.
    Open,
    /// `stat`.
    Stat,
    /// Reading entries of a directory.
    List,
    /// Removing a file.
    Unlink,
    /// Making a hard or symbolic link.
    Link,
    /// Making a directory.
    MakeDirectory,
    /// Removing a directory.
    RemoveDirectory,
}

impl Direction {
    /// Every direction, in the order in which recordings are kept.
    pub const ALL: [Self; 16] = [
        Self::Read,
        Self::Write,
        Self::Trim,
        Self::Sync,
        Self::Commit,
        Self::Submit,
        Self::Lateness,
        Self::Whole,
        Self::Create,
        Self::Open,
        Self::Stat,
        Self::List,
        Self::Unlink,
        Self::Link,
        Self::MakeDirectory,
        Self::RemoveDirectory,
    ];

    /// Whether its operations move or give back data, and are counted in no other
    /// direction: syncs move none, and commits and whole operations are made of these.
    #[must_use]
    pub fn is_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
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

    /// The interval in which the slowest operation completed; `None` of nothing.
    #[must_use]
    pub fn slowest(&self) -> Option<&Interval> {
        let taken = self
            .intervals
            .iter()
            .filter(|one| one.latencies.count() > 0);
        taken.max_by_key(|one| one.latencies.max_ns())
    }

    /// Where a cut at `cut_ns` after the start of the phase falls: the first edge of an
    /// interval from there on, since within an interval nothing is known; the end when
    /// there is none.
    #[must_use]
    pub fn edge_ns(&self, cut_ns: u64) -> u64 {
        let edges = self.intervals.iter().map(|interval| interval.start_ns);
        let end = self
            .intervals
            .last()
            .map_or(0, |last| last.start_ns + last.length_ns);
        edges
            .chain([end])
            .find(|&edge| edge >= cut_ns)
            .unwrap_or(end)
    }

    /// What was recorded from that edge on; times stay as they are.
    #[must_use]
    pub fn after(&self, cut_ns: u64) -> Self {
        let kept = |interval: &&Interval| interval.start_ns >= cut_ns;
        Self {
            direction: self.direction,
            intervals: self.intervals.iter().filter(kept).cloned().collect(),
        }
    }

    /// What was recorded from `from_ns` on, at the next edge, to the last edge that is not
    /// after `to_ns`; times stay as they are.
    #[must_use]
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Self {
        let mut part = self.after(from_ns);
        part.intervals
            .retain(|interval| interval.start_ns.saturating_add(interval.length_ns) <= to_ns);
        part
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_falls_on_the_next_edge() {
        let interval = |start_ns, length_ns, operations: u64| {
            let mut latencies = Histogram::new();
            (0..operations).for_each(|_| latencies.record(5));
            Interval {
                start_ns,
                length_ns,
                bytes: operations * 512,
                latencies,
            }
        };
        let recording = Recording {
            direction: Direction::Read,
            intervals: vec![
                interval(0, 100, 1),
                interval(100, 100, 2),
                interval(200, 30, 4),
            ],
        };
        for (cut_ns, edge_ns, operations) in [
            (0, 0, 7),
            (1, 100, 6),
            (100, 100, 6),
            (200, 200, 4),
            (201, 230, 0),
            (999, 230, 0),
        ] {
            let after = recording.after(cut_ns);
            assert_eq!(recording.edge_ns(cut_ns), edge_ns, "{cut_ns}");
            assert_eq!(after.operations(), operations, "{cut_ns}");
            assert_eq!(after.bytes(), operations * 512);
        }
    }
}
