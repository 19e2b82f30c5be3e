//! Percentiles of latency, where it is runs that differ and not operations.

use super::{Reading, readings};
use crate::draws::Draws;
use crate::estimate::quantiles::{Definition, quantile};
use crate::selftest::lab::Lab;

const RUNS: usize = 10;
/// As few as a p99 may rest on.
const OPERATIONS: usize = 1000;
/// The 99 % quantile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;
/// The spread of operations, on logarithms.
const SPREAD: f64 = 0.5;

/// How often the interval of the p99 of a typical run holds the true one.
pub(super) fn coverage(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |spread: &f64| format!("runs differ by {:.0}%", 100.0 * spread);
    readings([0.0, 0.02, 0.05, 0.10], name, |number, spread| {
        let truth = (SPREAD * NORMAL_P99).exp();
        lab.share(number, |draws| {
            let runs: Vec<Vec<f64>> = (0..RUNS).map(|_| run(spread, draws)).collect();
            let p99 = |run: &Vec<f64>| quantile(run, 0.99, Definition::Eight);
            let each: Vec<f64> = runs.iter().filter_map(p99).collect();
            let interval = (lab.rules.tail)(&each, &runs.concat());
            interval.is_some_and(|(lowest, highest)| lowest <= truth && truth <= highest)
        })
    })
}

/// Latencies of one run, of which a typical one is 1.
fn run(spread: f64, draws: &mut Draws) -> Vec<f64> {
    let level = spread * draws.normal();
    let operation = |_| (level + SPREAD * draws.normal()).exp();
    (0..OPERATIONS).map(operation).collect()
}
