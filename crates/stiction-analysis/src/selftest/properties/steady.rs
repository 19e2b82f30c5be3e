//! A device that decays from two and a half times its plateau.

use super::{Reading, pairs, readings};
use crate::selftest::lab::Lab;

/// Rounds after which preconditioning ends, steady or not.
const MOST_ROUNDS: usize = 200;
/// How far above the plateau it begins.
const EXCESS: f64 = 1.5;

/// How far the true level is from the plateau when it is called steady: the 95th
/// percentile of the sessions in which it ever is. The others claim nothing; where all
/// are such, the rule says nothing and counts as infinitely far.
pub(super) fn bias(lab: &Lab<'_>) -> Vec<Reading> {
    let cases = pairs(&[3.0, 10.0, 25.0], &[0.01, 0.05]);
    let name = |&(constant, noise): &(f64, f64)| {
        format!("{constant:.0} rounds, noise {:.0}%", 100.0 * noise)
    };
    readings(cases, name, |number, (constant, noise)| {
        let level = |round: usize| 1.0 + EXCESS * (-(round as f64) / constant).exp();
        let found = lab.each(number, |draws| {
            let rounds: Vec<f64> = (0..MOST_ROUNDS)
                .map(|round| level(round) * (noise * draws.normal()).exp())
                .collect();
            let judged = lab.rules.steady.judge(&rounds);
            let reached = judged.and_then(|steadiness| steadiness.reached_after);
            reached.map(|after| level(after - 1) - 1.0)
        });
        let mut biases: Vec<f64> = found.into_iter().flatten().collect();
        biases.sort_by(f64::total_cmp);
        let place = (biases.len() * 95).div_ceil(100);
        let last_of_95 = place.checked_sub(1).map(|index| biases[index]);
        last_of_95.unwrap_or(f64::INFINITY)
    })
}
