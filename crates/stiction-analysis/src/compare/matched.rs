//! The runs of two sides, phase by phase, for whoever looks at more of them than metrics.

use stiction_core::{Cell, Phase};

use super::design::Design;
use super::draft::unit;
use super::environment::sides_difference;
use super::pairing::{self, Pair, Run};
use super::replication::RunOrder;
use super::side::Side;

/// One phase of one cell: its runs on each side, and how they make blocks.
pub(crate) struct Matched<'a> {
    pub(crate) cell: Cell,
    pub(crate) phase: String,
    /// A's runs that have numbers, in the order of time.
    pub(crate) a: Vec<&'a Phase>,
    /// B's; none where there is one side.
    pub(crate) b: Vec<&'a Phase>,
    /// Which runs of each side make a block: places in `a` and `b`.
    pub(crate) blocks: Vec<(Vec<usize>, Vec<usize>)>,
    pub(crate) order: RunOrder,
}

/// The phases that both sides have, in A's order.
pub(crate) fn matched<'a>(a: &Side<'a>, b: &Side<'a>) -> Vec<Matched<'a>> {
    let factors = pairing::side_factors(a, b);
    let (pairs, _) = pairing::pairs(a, b, &factors);
    let environment = sides_difference(a, b, None, &[]);
    let unit = unit(a, b, &environment, &factors);
    let whole = |pair: Pair<'a>| {
        let pair = with_numbers(pair);
        let design = Design::of(&pair, unit);
        let phases = |runs: &[Run<'a>]| runs.iter().map(|run| run.phase).collect();
        let blocks = design.blocks.into_iter().map(|block| (block.a, block.b));
        Matched {
            a: phases(&pair.a),
            b: phases(&pair.b),
            blocks: blocks.collect(),
            order: design.order,
            cell: pair.cell,
            phase: pair.phase,
        }
    };
    let all = pairs.into_iter().map(whole);
    all.filter(|one| !one.a.is_empty() && !one.b.is_empty())
        .collect()
}

/// The phases of one side, in their order.
pub(crate) fn alone<'a>(side: &Side<'a>) -> Vec<Matched<'a>> {
    let (pairs, _) = pairing::pairs(side, side, &[]);
    let whole = |pair: Pair<'a>| {
        let pair = with_numbers(pair);
        Matched {
            a: pair.a.iter().map(|run| run.phase).collect(),
            b: Vec::new(),
            blocks: Vec::new(),
            order: RunOrder::NotInterleaved,
            cell: pair.cell,
            phase: pair.phase,
        }
    };
    let all = pairs.into_iter().map(whole);
    all.filter(|one| !one.a.is_empty()).collect()
}

/// The pair without the runs that have no numbers.
fn with_numbers(mut pair: Pair<'_>) -> Pair<'_> {
    let has_numbers = |run: &Run<'_>| run.phase.has_numbers();
    pair.a.retain(has_numbers);
    pair.b.retain(has_numbers);
    pair
}
