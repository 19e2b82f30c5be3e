//! Series of figures over time: changes that are none, and one that is.

use super::{Reading, pairs, readings};
use crate::selftest::lab::Lab;
use crate::selftest::worlds::World;

/// The chance of finding a change in noise that the false alarms are held against.
const LOOSE: f64 = 0.05;
/// The chance that real series are judged with.
const STRICT: f64 = 0.01;
/// Points of the series with a change.
const POINTS: usize = 50;
/// How large the change is, in spreads.
const STEP: f64 = 2.0;
/// How far off it may be found.
const NEAR: usize = 2;

/// How often a series of independent noise is said to have changed, at 5 %.
pub(super) fn in_independent_noise(lab: &Lab<'_>) -> Vec<Reading> {
    let worlds = [World::Normal, World::TwoModes];
    false_alarms(lab, &worlds)
}

/// How often a series is, of which each point keeps half of the last one's deviation.
pub(super) fn in_autocorrelated_noise(lab: &Lab<'_>) -> Vec<Reading> {
    false_alarms(lab, &[World::Autocorrelated])
}

fn false_alarms(lab: &Lab<'_>, worlds: &[World]) -> Vec<Reading> {
    let name = |(world, points): &(World, usize)| format!("{}, {points} points", world.name());
    readings(
        pairs(worlds, &[50, 100]),
        name,
        |number, (world, points)| {
            lab.share(number, |draws| {
                let series = world.runs(points, draws);
                !(lab.rules.changes)(&series, LOOSE, draws.seed()).is_empty()
            })
        },
    )
}

/// How often a change of two spreads, ten points from the ends or further, is found within
/// two points.
pub(super) fn found(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |place: &usize| format!("after {place} of {POINTS} points");
    readings([10, 25, 40], name, |number, place| {
        lab.share(number, |draws| {
            let mut series = World::Normal.runs(POINTS, draws);
            series[place..].iter_mut().for_each(|point| *point += STEP);
            let changes = (lab.rules.changes)(&series, STRICT, draws.seed());
            changes.iter().any(|change| change.abs_diff(place) <= NEAR)
        })
    })
}
