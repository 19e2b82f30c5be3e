//! Two sides in blocks: false alarms, and how often the interval holds the truth.

use stiction_core::Better;

use super::{Reading, pairs, readings};
use crate::selftest::lab::Lab;
use crate::selftest::worlds::{Blocks, World};

/// The spread of runs, on logarithms. Ranks and signs do not know it.
const SPREAD: f64 = 0.03;

/// How often equal sides are said to differ.
pub(super) fn false_alarms(lab: &Lab<'_>) -> Vec<Reading> {
    let cases = pairs(&World::ALL, &[6, 8, 10, 12, 16, 20]);
    readings(cases, name, |number, (world, blocks)| {
        let equal = Blocks {
            world,
            blocks,
            spread: SPREAD,
            truth: 0.0,
        };
        lab.share(number, |draws| {
            let differences = equal.ordered(draws, lab.rules.b_first);
            lab.sees_a_difference(&differences, draws)
        })
    })
}

/// How often the 95 % interval holds a true ratio of 1.05.
pub(super) fn coverage(lab: &Lab<'_>) -> Vec<Reading> {
    const PERCENT: f64 = 5.0;
    let cases = pairs(&World::SHAPES, &[6, 10, 15, 20, 30]);
    readings(cases, name, |number, (world, blocks)| {
        let better = Blocks {
            world,
            blocks,
            spread: SPREAD,
            truth: (PERCENT / 100.0).ln_1p(),
        };
        lab.share(number, |draws| {
            let differences = better.differences(draws);
            let decided = (lab.rules.decide)(&differences, Better::More, 0.03, 1.0);
            decided.is_some_and(|(estimate, _)| {
                estimate.lowest_percent <= PERCENT && PERCENT <= estimate.highest_percent
            })
        })
    })
}

fn name((world, blocks): &(World, usize)) -> String {
    format!("{}, {blocks} blocks", world.name())
}
