//! Runs that get slower in the course of a session.

use super::{Reading, readings};
use crate::draws::Draws;
use crate::selftest::lab::Lab;

const RUNS: usize = 40;

/// How often a drift of two spreads over all runs is told.
pub(super) fn told(lab: &Lab<'_>) -> Vec<Reading> {
    drifting(lab, &[2.0])
}

/// How often a drift is told that is none.
pub(super) fn false_alarms(lab: &Lab<'_>) -> Vec<Reading> {
    drifting(lab, &[0.0])
}

fn drifting(lab: &Lab<'_>, drifts: &[f64]) -> Vec<Reading> {
    readings(
        drifts,
        |_| String::new(),
        |number, &drift| lab.share(number, |draws| (lab.rules.drifts)(&session(drift, draws))),
    )
}

/// Runs of two configurations in blocks, the second of them 10 % better.
fn session(drift: f64, draws: &mut Draws) -> Vec<(usize, f64)> {
    let mut last = 0;
    let run = |place: usize| {
        // A block begins with either.
        let configuration = match place % 2 {
            0 => usize::from(draws.happens(0.5)),
            _ => 1 - last,
        };
        last = configuration;
        let slower = drift * place as f64 / (RUNS - 1) as f64;
        let log = 0.1 * configuration as f64 + 0.03 * (draws.normal() - slower);
        (configuration, log.exp())
    };
    (0..RUNS).map(run).collect()
}
