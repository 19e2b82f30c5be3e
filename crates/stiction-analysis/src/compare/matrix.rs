//! Several candidates held against one baseline, judged as one family.

use stiction_core::{Seed, SessionId};

use super::summary::SummaryTable;
use super::{Comparison, Control, Row};
use crate::verdict::Outcome;

/// Several candidates held against one baseline. The chance of a false alarm, or the
/// share of false ones, is that of the whole matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The baseline's name: A of every comparison.
    pub baseline: String,
    /// One comparison for each candidate, in the order in which they were named.
    pub comparisons: Vec<Comparison>,
    /// Each metric of each phase over the cells, a row for each candidate.
    pub tables: Vec<SummaryTable>,
    /// Which factors make the columns and the rows.
    pub projection: Projection,
    /// What was judged together.
    pub family: Family,
    /// What all sides were measured on, and by which commands.
    pub setup: Setup,
}

impl Matrix {
    /// What all verdicts come to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.rows().filter_map(|(_, row)| row.verdict.as_ref()))
    }

    /// Every row with the comparison that it is of, candidate by candidate.
    pub fn rows(&self) -> impl Iterator<Item = (&Comparison, &Row)> {
        let of = |comparison| Comparison::rows_of(comparison);
        self.comparisons.iter().flat_map(of)
    }
}

impl Comparison {
    fn rows_of(&self) -> impl Iterator<Item = (&Self, &Row)> {
        self.rows.iter().map(move |row| (self, row))
    }
}

/// Which factors make the columns and the rows of a matrix, as in benchstat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// The factor whose levels are the sides; `None` where sides are sessions or labels.
    pub column: Option<String>,
    /// The factor whose levels are the rows of a table; `None` where whole cells are.
    pub row: Option<String>,
    /// Other factors that have several levels. Each combination of these has a table
    /// of its own.
    pub rest: Vec<String>,
}

/// The cells that were judged together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// What is kept at 5 %.
    pub control: Control,
    /// Metrics of cells that rest on blocks or runs and were decided together.
    pub judged: u32,
    /// Fewest and most blocks that a judged one rests on; `None` when none does.
    pub blocks: Option<(u32, u32)>,
    /// The smallest changes that the judged ones would have shown four times out of
    /// five, percent: of the quietest and of the noisiest. `None` when none was judged.
    pub visible_percent: Option<(f64, f64)>,
    /// Seed of the sign patterns.
    pub seed: Seed,
}

/// What the sides have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Facts of the environment that are known of all sides and equal, those that
    /// usually weigh most first.
    pub common: Vec<Fact>,
    /// The command of each session, without paths outside its target; a session of an
    /// imported table has none.
    pub commands: Vec<(SessionId, Vec<String>)>,
}

/// One fact of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Which: `kernel.release`, `target.filesystem`.
    pub key: String,
    /// What it is.
    pub value: String,
}
