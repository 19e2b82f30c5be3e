//! Whole distributions of latency side by side: how each percentile shifts, and how
//! many operations stalled.

use stiction_core::{Cell, Direction};

/// How the distribution of one direction's latencies shifts from A to B: the shift
/// function, so that "median better, tail worse" is one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The direction.
    pub direction: Direction,
    /// Percentiles in rising order; those that too few operations stand behind are
    /// left out.
    pub points: Vec<ShiftPoint>,
}

/// One percentile on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftPoint {
    /// Which percentile: 50, 99.9.
    pub percentile: f64,
    /// A's, over all of its runs together, ns.
    pub a_ns: f64,
    /// B's.
    pub b_ns: f64,
    /// The typical change of a run, percent; of the merged values where there are no
    /// blocks.
    pub change_percent: f64,
    /// The 95 % interval, adjusted over the points; `None` without enough blocks.
    pub interval_percent: Option<(f64, f64)>,
}

/// Operations that stalled, counted exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The direction.
    pub direction: Direction,
    /// A's, over all of its runs.
    pub a: StallCounts,
    /// B's.
    pub b: StallCounts,
    /// Two-sided p of the counts over 2 s of paired runs; `None` without enough blocks.
    pub p: Option<f64>,
}

/// How many operations took how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    /// Operations in all.
    pub operations: u64,
    /// Of these, longer than 2 s.
    pub over_2s: u64,
    /// Of these, longer than 10 s.
    pub over_10s: u64,
}
