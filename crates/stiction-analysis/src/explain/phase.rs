//! What is known of one phase.

use stiction_core::{Action, Cell, Phase, Seed};

use super::check::{Check, checks};
use super::lie::{Lie, LieChange};
use super::reading::Reading;
use super::score::{self, Score};
use super::score_row;
use super::symbols::{Symbols, symbols};
use super::time::{TimeSplit, per, time_split};
use super::together::{Gathered, Together, together};
use crate::compare::{Comparison, Matched, RunOrder};

/// What is known of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseExplanation {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// Runs of A and of B.
    pub runs: (u32, u32),
    /// How they lie in time.
    pub order: RunOrder,
    /// The figure that counters are held against.
    pub score: Option<Score>,
    /// Where A's time and B's went.
    pub times: (Option<TimeSplit>, Option<TimeSplit>),
    /// Identities on A's side and on B's.
    pub checks: (Vec<Check>, Vec<Check>),
    /// What moved together with the score; `None` where there is one side.
    pub together: Option<Together>,
    /// Whether data were read in it, or may have been: how files lie matters to that.
    pub reads: bool,
    /// How A's files lie, and B's.
    pub lie: (Option<Lie>, Option<Lie>),
    /// Functions that CPUs were found in.
    pub symbols: Symbols,
    /// What all of it is consistent with.
    pub readings: Vec<Reading>,
}

impl PhaseExplanation {
    /// How the files of both sides lie, where both are known.
    #[must_use]
    pub fn lie_change(&self) -> Option<LieChange> {
        let (a, b) = self.lie;
        Some(LieChange { a: a?, b: b? })
    }
}

/// A phase of one side.
pub(super) fn of_one(matched: &Matched<'_>, cpus: Option<u32>) -> PhaseExplanation {
    let phases = &matched.a;
    PhaseExplanation {
        cell: matched.cell.clone(),
        phase: matched.phase.clone(),
        runs: (phases.len() as u32, 0),
        order: matched.order,
        score: Score::of_one(phases),
        times: (time_split(phases, per(phases.iter().copied())), None),
        checks: (checks(phases, cpus), Vec::new()),
        together: None,
        reads: reads(phases),
        lie: (Lie::of(phases), None),
        symbols: symbols(phases, &[], &[]),
        readings: Vec::new(),
    }
}

/// The phases of two sides, their counters tested together.
pub(super) fn of_both(
    all: &[Matched<'_>],
    comparison: &Comparison,
    cpus: (Option<u32>, Option<u32>),
    seed: Seed,
) -> Vec<PhaseExplanation> {
    let gathered: Vec<Gathered> = all
        .iter()
        .map(|matched| {
            let metric = score_row(comparison, matched).map(|row| &row.metric);
            let of = |phases: &[_]| match metric {
                Some(metric) => score::of_runs(metric, phases),
                None => vec![f64::NAN; phases.len()],
            };
            Gathered::of(matched, (of(&matched.a), of(&matched.b)))
        })
        .collect();
    let found = together(&gathered, seed);
    let both = all.iter().zip(found);
    both.map(|(matched, together)| {
        let (a, b) = (&matched.a, &matched.b);
        let per = per(a.iter().chain(b).copied());
        PhaseExplanation {
            cell: matched.cell.clone(),
            phase: matched.phase.clone(),
            runs: (a.len() as u32, b.len() as u32),
            order: matched.order,
            score: score_row(comparison, matched).and_then(Score::of_row),
            times: (time_split(a, per), time_split(b, per)),
            checks: (checks(a, cpus.0), checks(b, cpus.1)),
            together: Some(together),
            reads: reads(a) || reads(b),
            lie: (Lie::of(a), Lie::of(b)),
            symbols: symbols(a, b, &matched.blocks),
            readings: Vec::new(),
        }
    })
    .collect()
}

/// Whether some run read data; of a command nothing says that it did not.
fn reads(phases: &[&Phase]) -> bool {
    let may_have = |phase: &&Phase| match phase.job.as_ref().map(|job| job.action) {
        Some(action) => matches!(action, Action::Read | Action::Mixed { .. }),
        None => true,
    };
    phases.iter().any(may_have)
}
