//! Looking at the data before the end, and stopping.

use stiction_core::Better;

use super::{Reading, pairs, readings};
use crate::draws::Draws;
use crate::estimate::looks::{Ending, half_width_wanted};
use crate::selftest::lab::Lab;
use crate::selftest::worlds::{Blocks, World};

/// The effect of interest, half of which is the precision that is wanted.
const EFFECT: f64 = 0.03;
/// Fewest and most blocks until it is precise.
const FEWEST: usize = 6;
const MOST: usize = 30;
/// The spread of runs for planned looks, on logarithms. Ranks and signs do not know it.
const SPREAD: f64 = 0.03;

/// How often the 95 % interval holds the truth, which is no difference, when blocks are
/// added until it is narrow.
pub(super) fn coverage_when_precise(lab: &Lab<'_>) -> Vec<Reading> {
    let name =
        |(world, spread): &(World, f64)| format!("{}, CV {:.0}%", world.name(), 100.0 * spread);
    let cases = pairs(&World::SHAPES, &[0.01, 0.02]);
    readings(cases, name, |number, (world, spread)| {
        lab.share(number, |draws| {
            let differences = equal(world, MOST, spread, draws);
            let wanted = half_width_wanted(EFFECT);
            let stops = |&blocks: &usize| (lab.rules.is_precise)(&differences[..blocks], wanted);
            let blocks = (FEWEST..MOST).find(stops).unwrap_or(MOST);
            let decided = (lab.rules.decide)(&differences[..blocks], Better::More, EFFECT, 1.0);
            decided.is_some_and(|(estimate, _)| {
                estimate.lowest_percent <= 0.0 && 0.0 <= estimate.highest_percent
            })
        })
    })
}

/// How often equal sides are said to differ at any of the looks.
pub(super) fn false_alarms_at_looks(lab: &Lab<'_>) -> Vec<Reading> {
    let looks = (lab.rules.looks)();
    let most = looks.last().map_or(0, |look| look.blocks as usize);
    let worlds = [World::Normal, World::SlowRuns, World::FastDrift];
    let name = |world: &World| world.name().to_owned();
    readings(worlds, name, |number, world| {
        lab.share(number, |draws| {
            let differences = equal(world, most, SPREAD, draws);
            looks.iter().any(|look| {
                let so_far = &differences[..look.blocks as usize];
                let p = (lab.rules.family_p)(&[so_far], draws.seed())[0];
                // Nothing is small beside a margin of nothing: only a difference ends it.
                look.ending(so_far, 0.0, p) == Some(Ending::Different)
            })
        })
    })
}

fn equal(world: World, blocks: usize, spread: f64, draws: &mut Draws) -> Vec<f64> {
    let equal = Blocks {
        world,
        blocks,
        spread,
        truth: 0.0,
    };
    equal.differences(draws)
}
