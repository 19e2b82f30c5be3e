//! The table of properties.

mod cells;
mod margins;
mod paired;
mod steady;

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
        name: "any false alarm over 60 cells",
        bound: share(Limit::AtMost(0.071), 1000),
        quick_replicates: 200,
        measure: cells::any_false_alarm,
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
