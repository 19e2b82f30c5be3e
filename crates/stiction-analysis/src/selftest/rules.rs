//! The rules under test, as values: the harness can be shown a broken one.

use stiction_core::{Better, Seed, SteadyRule};

use super::boots::{Boots, compared};
use crate::bisect::{Scenario, Simulated, simulate};
use crate::compare::Estimate;
use crate::compare::decide::{LEVEL, decide, family_p, p_alone};
use crate::draws::Draws;
use crate::estimate::looks::{Look, PLANNED, is_precise, planned};
use crate::estimate::trend::of_runs;
use crate::estimate::typical::typical;
use crate::estimate::{correct, plan};
use crate::history::divisive::{Rule, change_points};
use crate::verdict::Verdict;

/// What is said about one cell, if anything.
pub(super) type Decided = Option<(Estimate, Verdict)>;

/// The ends of an interval, if there is one.
pub(super) type Interval = Option<(f64, f64)>;

/// Everything that a property may ask.
pub(super) struct Rules {
    /// The adjusted p-values of a family of cells.
    pub(super) family_p: fn(&[&[f64]], Seed) -> Vec<f64>,
    /// The same where the share of false claims is kept.
    pub(super) browse_p: fn(&[&[f64]], Seed) -> Vec<f64>,
    /// The estimate and verdict of the blocks of one cell, of which the direction, the
    /// effect of interest and the adjusted p-value are given.
    pub(super) decide: fn(&[f64], Better, f64, f64) -> Decided,
    /// The verdict on two kernels from their boots.
    pub(super) of_boots: fn(&Boots) -> Option<Verdict>,
    /// Whether B is first in a block.
    pub(super) b_first: fn(usize, &mut Draws) -> bool,
    /// The number of blocks for a spread of differences and an effect.
    pub(super) plan: fn(f64, f64) -> Option<u32>,
    /// Whether blocks are so many that the interval is no wider than wanted.
    pub(super) is_precise: fn(&[f64], f64) -> bool,
    /// When a comparison is looked at, and at which level.
    pub(super) looks: fn() -> Vec<Look>,
    /// The places where a series changed, at a chance of doing so in noise.
    pub(super) changes: fn(&[f64], f64, Seed) -> Vec<usize>,
    /// The 95 % interval of the p99 of a typical run, from that of each and from all
    /// operations together.
    pub(super) tail: fn(&[f64], &[f64]) -> Interval,
    /// Whether runs of several configurations, in time order, drifted.
    pub(super) drifts: fn(&[(usize, f64)]) -> bool,
    /// A search for a commit.
    pub(super) search: fn(&Scenario, Seed) -> Simulated,
    /// When rounds have become steady.
    pub(super) steady: SteadyRule,
}

impl Rules {
    /// Those that judge real sessions.
    pub(super) const SHIPPED: Self = Self {
        family_p,
        browse_p: |cells, seed| {
            let each: Vec<f64> = cells.iter().map(|cell| p_alone(cell, seed)).collect();
            correct::benjamini_hochberg(&each)
        },
        decide,
        of_boots: compared,
        b_first: |_, draws| draws.happens(0.5),
        plan: plan::blocks_needed,
        is_precise,
        looks: || planned(&PLANNED, LEVEL),
        changes: |values, alpha, seed| {
            let rule = Rule {
                alpha,
                ..Rule::default()
            };
            let found = change_points(values, &rule, seed);
            found.into_iter().map(|change| change.at).collect()
        },
        tail: |of_runs, _| typical(of_runs, 0.95)?.interval,
        drifts: |runs| of_runs(runs).is_some_and(|trend| trend.p <= LEVEL),
        search: |scenario, seed| simulate(scenario, 1, seed),
        steady: SteadyRule::HalfWindow { tolerance: 0.03 },
    };
}
