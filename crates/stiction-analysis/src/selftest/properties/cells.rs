//! Many cells at once, which move together.

use super::{Reading, readings};
use crate::draws::Draws;
use crate::selftest::lab::{Lab, is_claim};
use stiction_core::Better;

const CELLS: usize = 60;
/// Half of a cell's variance is that of its block.
const CORRELATION: f64 = 0.5;

/// How often any of sixty cells is said to differ though none does.
pub(super) fn any_false_alarm(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |blocks: &usize| format!("{blocks} blocks");
    readings([8, 10, 16], name, |number, blocks| {
        lab.share(number, |draws| {
            let cells = cells(blocks, draws);
            let family: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
            let adjusted = (lab.rules.family_p)(&family, draws.seed());
            family.iter().zip(adjusted).any(|(cell, p)| {
                let decided = (lab.rules.decide)(cell, Better::More, 1e-9, p);
                decided.is_some_and(|(_, verdict)| is_claim(&verdict))
            })
        })
    })
}

/// Differences without effect, cell by cell.
fn cells(blocks: usize, draws: &mut Draws) -> Vec<Vec<f64>> {
    let common: Vec<f64> = (0..blocks).map(|_| draws.normal()).collect();
    let mut cell = || -> Vec<f64> {
        let own = common.iter().map(|common| {
            CORRELATION.sqrt() * common + (1.0 - CORRELATION).sqrt() * draws.normal()
        });
        own.map(|d| 0.03 * d).collect()
    };
    (0..CELLS).map(|_| cell()).collect()
}
