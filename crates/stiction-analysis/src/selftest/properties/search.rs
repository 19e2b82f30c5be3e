//! Searches for the commit that changed a benchmark.

use super::{Reading, pairs, readings};
use crate::bisect::{END_BLOCKS, Method, Scenario, Simulated};
use crate::selftest::lab::Lab;

/// How often the commit that is named is the one. A search by halving gives up with the
/// first commit that its sequential test gives up, and names none: it is asked for in
/// those that name one. A search by posterior has to name one.
pub(super) fn right(lab: &Lab<'_>) -> Vec<Reading> {
    searches(lab, |method, searches| {
        let right = mean(searches, |search| search.right_share);
        let gave_up = mean(searches, |search| search.unsure_share);
        match method {
            Method::Halving => right / (1.0 - gave_up),
            Method::Posterior => right,
        }
    })
}

/// Blocks of a search on average.
pub(super) fn blocks(lab: &Lab<'_>) -> Vec<Reading> {
    searches(lab, |_, searches| {
        mean(searches, |search| search.blocks_mean)
    })
}

fn mean(searches: &[Simulated], figure: impl Fn(&Simulated) -> f64) -> f64 {
    searches.iter().map(figure).sum::<f64>() / searches.len() as f64
}

fn word(method: Method) -> &'static str {
    match method {
        Method::Halving => "halving",
        Method::Posterior => "posterior",
    }
}

fn searches(lab: &Lab<'_>, figure: impl Fn(Method, &[Simulated]) -> f64) -> Vec<Reading> {
    let name = |(method, step): &(Method, f64)| {
        let method = word(*method);
        format!("{method}, step of {step:.0} deviations")
    };
    let cases = pairs(&[Method::Halving, Method::Posterior], &[1.0, 2.0, 3.0]);
    readings(cases, name, |number, (method, step)| {
        let scenario = Scenario {
            commits: 1024,
            step_in_deviations: step,
            end_blocks: END_BLOCKS,
            build_blocks: 4.0,
            method,
        };
        figure(
            method,
            &lab.each(number, |draws| (lab.rules.search)(&scenario, draws.seed())),
        )
    })
}
