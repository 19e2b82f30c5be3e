//! Many cells at once, which move together.

use super::{Reading, pairs, readings};
use crate::draws::Draws;
use crate::selftest::lab::{ANY_EFFECT, Lab, is_claim};
use stiction_core::Better;

const CELLS: usize = 60;
/// Half of a cell's variance is that of its block.
const CORRELATION: f64 = 0.5;
/// The spread of differences, on logarithms.
const SPREAD: f64 = 0.03;
/// What changed cells are better by: 1.5 spreads.
const EFFECT: f64 = 0.045;

/// How often any of sixty cells is said to differ though none does.
pub(super) fn any_false_alarm(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |blocks: &usize| format!("{blocks} blocks");
    readings([8, 10, 16], name, |number, blocks| {
        lab.share(number, |draws| {
            let cells = cells(blocks, draws);
            let family: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
            let adjusted = (lab.rules.family_p)(&family, draws.seed());
            family
                .iter()
                .zip(adjusted)
                .any(|(cell, p)| claims(lab, cell, p))
        })
    })
}

/// The share of false claims among those of a look around, on average; 0 where nothing is
/// claimed.
pub(super) fn false_discoveries(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |(blocks, changed): &(usize, usize)| format!("{blocks} blocks, {changed} changed");
    let cases = pairs(&[8, 12], &[0, 6, 30]);
    readings(cases, name, |number, (blocks, changed)| {
        let shares = lab.each(number, |draws| {
            let mut cells = cells(blocks, draws);
            for cell in &mut cells[..changed] {
                cell.iter_mut().for_each(|d| *d += EFFECT);
            }
            let family: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
            let adjusted = (lab.rules.browse_p)(&family, draws.seed());
            let claims = (0..CELLS).filter(|&cell| claims(lab, family[cell], adjusted[cell]));
            let claimed: Vec<usize> = claims.collect();
            let wrong = claimed.iter().filter(|&&cell| cell >= changed).count();
            wrong as f64 / claimed.len().max(1) as f64
        });
        shares.iter().sum::<f64>() / shares.len() as f64
    })
}

/// Whether a cell with such an adjusted p-value is said to differ.
fn claims(lab: &Lab<'_>, cell: &[f64], p_adjusted: f64) -> bool {
    let decided = (lab.rules.decide)(cell, Better::More, ANY_EFFECT, p_adjusted);
    decided.is_some_and(|(_, verdict)| is_claim(&verdict))
}

/// Differences without effect, cell by cell.
fn cells(blocks: usize, draws: &mut Draws) -> Vec<Vec<f64>> {
    let common: Vec<f64> = (0..blocks).map(|_| draws.normal()).collect();
    let mut cell = || -> Vec<f64> {
        let own = common.iter().map(|common| {
            CORRELATION.sqrt() * common + (1.0 - CORRELATION).sqrt() * draws.normal()
        });
        own.map(|d| SPREAD * d).collect()
    };
    (0..CELLS).map(|_| cell()).collect()
}
