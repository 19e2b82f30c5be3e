//! What two sides came to.

use stiction_core::{Better, Caveat, Cell, Metric, SessionId};

use super::decide;
use super::environment::{Difference, EnvironmentDifference};
use super::pairing::{SideFactor, Unmatched};
use super::remark::Remark;
use super::replication::Replication;
use super::tails::{Shift, Stalls};
use crate::change::{Change, SideValue};
use crate::decompose::Decomposition;
use crate::noise::{Floor, Repeat};
use crate::verdict::{Outcome, Verdict};

/// What two sides came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// A's name.
    pub a: String,
    /// B's name.
    pub b: String,
    /// The sessions that A and B are of, or are parts of, in the order of time.
    pub sessions: (Vec<SessionId>, Vec<SessionId>),
    /// What tells the sides apart as a whole, the factor that chose them first.
    pub factors: Vec<SideFactor>,
    /// How often, and in which order, each side was repeated.
    pub replication: Replication,
    /// How the machines differ.
    pub environment: EnvironmentDifference,
    /// Parameters of the workload that differ; keys are those of the plan.
    pub parameters: Vec<Difference>,
    /// The rows, in A's order.
    pub rows: Vec<Row>,
    /// What speaks against the numbers of the phases compared.
    pub doubts: Vec<Doubt>,
    /// What only one side has.
    pub unmatched: Vec<Unmatched>,
    /// Where the time went, for each phase that tells both time and CPU.
    pub decompositions: Vec<Decomposition>,
    /// How whole distributions of latency shift, where they were recorded.
    pub shifts: Vec<Shift>,
    /// How many operations stalled, where latencies were recorded.
    pub stalls: Vec<Stalls>,
    /// Configurations that stand in the sessions several times, and how far their
    /// runs lie apart.
    pub noise: Vec<Repeat>,
    /// What the reader should know before the rows, a sentence each.
    pub notes: Vec<String>,
}

impl Comparison {
    /// What all verdicts come to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.rows.iter().filter_map(|row| row.verdict.as_ref()))
    }

    /// Whether both sides are parts of one session.
    #[must_use]
    pub fn is_of_one_session(&self) -> bool {
        self.sessions.0.len() == 1 && self.sessions.0 == self.sessions.1
    }
}

/// A reason to doubt the numbers of one phase on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Whether the phase is A's.
    pub in_a: bool,
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The doubt, of the first run that has it.
    pub caveat: Caveat,
    /// Runs that have a doubt of this code.
    pub runs: u32,
}

/// One metric of one phase of one cell on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// A's value; `None` when it has none.
    pub a: Option<SideValue>,
    /// B's value.
    pub b: Option<SideValue>,
    /// How far B is from A; `None` when a side has no value or A's is 0.
    pub change: Option<Change>,
    /// The values of each block, in the order of time; empty where there are no
    /// blocks. Several runs of a side in one block are averaged as logarithms.
    pub blocks: Vec<BlockValues>,
    /// The estimate, where there were enough blocks (or runs that the user accepts).
    pub estimate: Option<Estimate>,
    /// The smallest effect of interest that it was judged by, percent; `None` for
    /// metrics that are not judged.
    pub effect_percent: Option<f64>,
    /// What is known of the noise of this cell.
    pub floor: Option<Floor>,
    /// Half the width of the 95 % interval that so many blocks have with that noise,
    /// percent: smaller effects cannot be told from none.
    pub floor_percent: Option<f64>,
    /// The verdict; `None` for metrics that are described and never judged.
    pub verdict: Option<Verdict>,
    /// What the reader should know beside the verdict.
    pub remarks: Vec<Remark>,
}

/// Both sides' values in one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockValues {
    /// A's.
    pub a: f64,
    /// B's.
    pub b: f64,
}

impl BlockValues {
    /// ln(b / a), signed so that B's being better is positive.
    #[must_use]
    pub fn difference(self, better: Better) -> f64 {
        decide::sign(better) * (self.b / self.a).ln()
    }
}

/// A change estimated from blocks of one run a side, or from runs that belong to none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// From what.
    pub method: Method,
    /// The typical change, percent, with the metric's own sign.
    pub change_percent: f64,
    /// The lower end of the exact 95 % interval, percent.
    pub lowest_percent: f64,
    /// The upper end, percent.
    pub highest_percent: f64,
    /// The chance of such a difference anywhere in the comparison without an effect;
    /// in browsing, the share of false ones among those at least as sure.
    pub p_adjusted: f64,
    /// Blocks that it rests on; of runs in no blocks, the fewer of both sides.
    pub blocks: u32,
    /// The smallest change, percent, that so many blocks with such a spread would have
    /// shown four times out of five.
    pub visible_percent: f64,
}

impl Estimate {
    /// Whether the interval leaves 0 out: the difference is real, whatever its size.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.lowest_percent > 0.0 || self.highest_percent < 0.0
    }
}

/// What an estimate rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Differences inside blocks: Hodges-Lehmann with the signed-rank interval.
    Paired,
    /// Runs in no blocks: Hodges-Lehmann with the Mann-Whitney interval. Drift looks
    /// like a difference.
    Unpaired,
}
