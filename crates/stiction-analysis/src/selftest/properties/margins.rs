//! The smallest effect of interest: seen as planned, not called the same, not invented.

use super::{Reading, pairs, readings};
use crate::selftest::lab::Lab;
use crate::selftest::worlds::{Blocks, World};
use crate::verdict::Verdict;

/// The effect of interest of the last two properties.
const EFFECT: f64 = 0.03;
/// Spreads of runs, on logarithms.
const SPREADS: [f64; 4] = [0.01, 0.02, 0.03, 0.05];
/// Numbers of blocks.
const BLOCKS: [usize; 4] = [6, 10, 16, 24];
/// Most blocks that are simulated for power; the formula does not change beyond.
const MOST_BLOCKS: u32 = 71;

/// How often a true change is seen with the number of blocks that was planned for it,
/// where the plan is more than the fewest.
pub(super) fn power(lab: &Lab<'_>) -> Vec<Reading> {
    let plans = pairs(
        &[0.01, 0.02, 0.03, 0.05, 0.10],
        &[0.01, 0.02, 0.03, 0.05, 0.10],
    );
    let cases = plans.into_iter().filter_map(|(spread, effect)| {
        let blocks = (lab.rules.plan)(2f64.sqrt() * spread, effect)?;
        (7..=MOST_BLOCKS)
            .contains(&blocks)
            .then_some((spread, effect, blocks))
    });
    let name = |&(spread, effect, blocks): &(f64, f64, u32)| {
        let (spread, effect) = (100.0 * spread, 100.0 * effect);
        format!("{effect:.0}% at CV {spread:.0}%, {blocks} blocks")
    };
    readings(cases, name, |number, (spread, effect, blocks)| {
        let changed = blocks_of(spread, blocks as usize, -effect.ln_1p());
        lab.share(number, |draws| {
            let differences = changed.differences(draws);
            lab.sees_a_difference(&differences, draws)
        })
    })
}

/// How often sides are called the same that differ by the effect of interest.
pub(super) fn same_at_the_margin(lab: &Lab<'_>) -> Vec<Reading> {
    verdicts(lab, -EFFECT.ln_1p(), &Verdict::Same)
}

/// How often B is called worse that is equal to A.
pub(super) fn worse_without_effect(lab: &Lab<'_>) -> Vec<Reading> {
    verdicts(lab, 0.0, &Verdict::Worse)
}

/// How often a truth brings a verdict.
fn verdicts(lab: &Lab<'_>, truth: f64, verdict: &Verdict) -> Vec<Reading> {
    let name =
        |&(spread, blocks): &(f64, usize)| format!("CV {:.0}%, {blocks} blocks", 100.0 * spread);
    readings(
        pairs(&SPREADS, &BLOCKS),
        name,
        |number, (spread, blocks)| {
            let session = blocks_of(spread, blocks, truth);
            lab.share(number, |draws| {
                let differences = session.differences(draws);
                lab.verdict(&differences, EFFECT, draws).as_ref() == Some(verdict)
            })
        },
    )
}

fn blocks_of(spread: f64, blocks: usize, truth: f64) -> Blocks {
    Blocks {
        world: World::Normal,
        blocks,
        spread,
        truth,
    }
}
