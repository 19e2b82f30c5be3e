//! The table of properties.

mod boots;
mod cells;
mod drift;
mod history;
mod margins;
mod paired;
mod search;
mod steady;
mod stopping;
mod tails;

use super::bound::{Bound, Figure, Limit};
use super::{Property, Reading};

/// All properties, in the order of the table.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "false alarms in blocks, nine worlds",
        bound: share(Limit::AtMost(0.061), 4000),
        quick_replicates: 400,
        measure: paired::false_alarms,
    },
    Property {
        name: "95% intervals hold the truth, five shapes",
        bound: share(Limit::AtLeast(0.939), 4000),
        quick_replicates: 400,
        measure: paired::coverage,
    },
    Property {
        name: "false alarms on equal kernels, runs per boot",
        bound: share(Limit::AtMost(0.061), 4000),
        quick_replicates: 200,
        measure: boots::false_alarms,
    },
    Property {
        name: "a verdict from one boot of each kernel",
        bound: share(Limit::AtMost(0.0), 1000),
        quick_replicates: 100,
        measure: boots::one_boot,
    },
    Property {
        name: "a change is seen with the blocks planned for it",
        bound: share(Limit::AtLeast(0.76), 4000),
        quick_replicates: 400,
        measure: margins::power,
    },
    Property {
        name: "SAME though it differs by the effect of interest",
        bound: share(Limit::AtMost(0.061), 4000),
        quick_replicates: 400,
        measure: margins::same_at_the_margin,
    },
    Property {
        name: "WORSE though nothing differs",
        bound: share(Limit::AtMost(0.033), 4000),
        quick_replicates: 400,
        measure: margins::worse_without_effect,
    },
    Property {
        name: "intervals hold the truth, stopped when precise",
        bound: share(Limit::AtLeast(0.915), 4000),
        quick_replicates: 400,
        measure: stopping::coverage_when_precise,
    },
    Property {
        name: "false alarms at planned looks",
        bound: share(Limit::AtMost(0.061), 4000),
        quick_replicates: 400,
        measure: stopping::false_alarms_at_looks,
    },
    Property {
        name: "any false alarm over 60 cells",
        bound: share(Limit::AtMost(0.071), 1000),
        quick_replicates: 200,
        measure: cells::any_false_alarm,
    },
    Property {
        name: "false share of claims when browsing 60 cells",
        bound: share(Limit::AtMost(0.06), 1000),
        quick_replicates: 200,
        measure: cells::false_discoveries,
    },
    Property {
        name: "changes in a series of independent noise",
        bound: share(Limit::AtMost(0.071), 1000),
        quick_replicates: 200,
        measure: history::in_independent_noise,
    },
    Property {
        name: "changes in a series of autocorrelated noise",
        bound: share(Limit::AtMost(0.15), 1000),
        quick_replicates: 200,
        measure: history::in_autocorrelated_noise,
    },
    Property {
        name: "a change of 2 spreads in a series is found",
        bound: share(Limit::AtLeast(0.85), 1000),
        quick_replicates: 200,
        measure: history::found,
    },
    Property {
        name: "intervals hold the p99 of a typical run",
        bound: share(Limit::AtLeast(0.929), 1000),
        quick_replicates: 200,
        measure: tails::coverage,
    },
    Property {
        name: "steady state declared too early, 95th percentile",
        bound: Bound {
            limit: Limit::AtMost(0.005),
            figure: Figure::Size,
            replicates: 2000,
        },
        quick_replicates: 400,
        measure: steady::bias,
    },
    Property {
        name: "a drift of 2 spreads over 40 runs is told",
        bound: share(Limit::AtLeast(0.91), 1000),
        quick_replicates: 400,
        measure: drift::told,
    },
    Property {
        name: "a drift is told that is none",
        bound: share(Limit::AtMost(0.065), 1000),
        quick_replicates: 400,
        measure: drift::false_alarms,
    },
    Property {
        name: "a search through 1024 commits is right",
        bound: share(Limit::AtLeast(0.94), 1000),
        quick_replicates: 60,
        measure: search::right,
    },
    Property {
        name: "blocks of a search through 1024 commits",
        bound: Bound {
            limit: Limit::AtMost(140.0),
            figure: Figure::Blocks,
            replicates: 1000,
        },
        quick_replicates: 60,
        measure: search::blocks,
    },
];

const fn share(limit: Limit, replicates: u32) -> Bound {
    Bound {
        limit,
        figure: Figure::Share,
        replicates,
    }
}

/// One reading for each case, numbered so that each has chance of its own.
fn readings<T>(
    cases: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> String,
    measure: impl Fn(u64, T) -> f64,
) -> Vec<Reading> {
    let cases = cases.into_iter().enumerate();
    cases
        .map(|(number, case)| Reading {
            case: name(&case),
            value: measure(number as u64, case),
        })
        .collect()
}

/// Every pair of the two lists.
fn pairs<A: Copy, B: Copy>(first: &[A], second: &[B]) -> Vec<(A, B)> {
    let with = |&a: &A| second.iter().map(move |&b| (a, b));
    first.iter().flat_map(with).collect()
}
