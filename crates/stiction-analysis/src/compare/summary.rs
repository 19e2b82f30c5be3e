//! One metric of one phase over all cells of a matrix, a row for each candidate: the
//! percent-from-baseline table of 2003, with what it lacked.

use stiction_core::{Cell, Metric};

/// One metric of one phase over all cells, a row for each candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryTable {
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// The levels that all cells of this table share.
    pub fixed: Cell,
    /// The one factor that varies over the cells, whose level stands in parentheses:
    /// `threads`. `None` when none or several do.
    pub parameter: Option<String>,
    /// A row for each candidate that has the metric, in order; repeats of the baseline
    /// first.
    pub rows: Vec<Summary>,
    /// What a configuration equal to the baseline would show as its lowest and highest;
    /// `None` when nothing is known of the noise.
    pub equal: Option<EqualRange>,
}

/// What one candidate comes to over the cells of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The candidate's name.
    pub name: String,
    /// Whether it is the baseline's configuration once more, so that what it shows is
    /// noise.
    pub repeats_baseline: bool,
    /// Cells that both sides have a value above 0 in: the row is about these.
    pub cells: u32,
    /// The lowest change, percent with the metric's own sign; the first of equal ones.
    /// `None` when `cells` is 0, as are the next three.
    pub lowest: Option<AtCell>,
    /// The highest change.
    pub highest: Option<AtCell>,
    /// Unweighted arithmetic mean of the changes, percent, as in 2003.
    pub average_percent: Option<f64>,
    /// Change of the geometric mean, percent.
    pub geometric_percent: Option<f64>,
    /// The 95 % interval of the latter, from the mean of logs over cells of each
    /// block; `None` where there are fewer than six blocks.
    pub geometric_interval_percent: Option<(f64, f64)>,
    /// What the verdicts come to.
    pub counts: Counts,
}

/// A change and the cell it stands at.
#[derive(Clone, Debug, PartialEq)]
pub struct AtCell {
    /// Percent, with the metric's own sign.
    pub percent: f64,
    /// The cell, without the levels that all cells share.
    pub cell: Cell,
}

/// How many cells came to what. What a table of four counts `W/B/S/?` shows is
/// `worse`, `better`, `same` and all others together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// WORSE.
    pub worse: u32,
    /// BETTER.
    pub better: u32,
    /// SAME.
    pub same: u32,
    /// Slightly worse or better.
    pub slight: u32,
    /// CANNOT TELL.
    pub cannot_tell: u32,
    /// FAILED.
    pub failed: u32,
    /// NOT RUN.
    pub not_run: u32,
    /// NOT COMPARABLE.
    pub not_comparable: u32,
}

/// The range that chance alone gives to the lowest and the highest of several cells.
#[derive(Clone, Debug, PartialEq)]
pub struct EqualRange {
    /// Percent, below 0.
    pub lowest_percent: f64,
    /// Percent, above 0.
    pub highest_percent: f64,
    /// What it rests on: `12 A/A blocks`, `2 runs of the baseline`, `the blocks' own
    /// spread`.
    pub from: String,
}
