//! The rules under test, as values: the harness can be shown a broken one.

use stiction_core::{Better, Seed, SteadyRule};

use crate::compare::Estimate;
use crate::compare::decide;
use crate::draws::Draws;
use crate::estimate::plan;
use crate::verdict::Verdict;

/// What is said about one cell, if anything.
pub(super) type Decided = Option<(Estimate, Verdict)>;

/// Everything that a property may ask.
pub(super) struct Rules {
    /// The adjusted p-values of a family of cells.
    pub(super) family_p: fn(&[&[f64]], Seed) -> Vec<f64>,
    /// The estimate and verdict of the blocks of one cell, of which the direction, the
    /// effect of interest and the adjusted p-value are given.
    pub(super) decide: fn(&[f64], Better, f64, f64) -> Decided,
    /// Whether B is first in a block.
    pub(super) b_first: fn(usize, &mut Draws) -> bool,
    /// The number of blocks for a spread of differences and an effect.
    pub(super) plan: fn(f64, f64) -> Option<u32>,
    /// When rounds have become steady.
    pub(super) steady: SteadyRule,
}

impl Rules {
    /// Those that judge real sessions.
    pub(super) const SHIPPED: Self = Self {
        family_p: decide::family_p,
        decide: decide::decide,
        b_first: |_, draws| draws.happens(0.5),
        plan: plan::blocks_needed,
        steady: SteadyRule::HalfWindow { tolerance: 0.03 },
    };
}
