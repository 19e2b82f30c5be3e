//! From judgements to verdicts: all that rests on blocks is judged together.

use std::collections::BTreeMap;

use stiction_core::Seed;

use super::judge::{self, Judgement};
use super::{CompareOptions, Estimate, Row};
use crate::estimate::{max_t, plan, signed_rank};
use crate::verdict::Verdict;

/// Turns judgements into verdicts: those that rest on blocks are judged together, so
/// that the chance of any false alarm in the comparison is 5 %.
pub(super) fn settle(drafts: Vec<(Row, Judgement)>, options: &CompareOptions) -> Vec<Row> {
    let adjusted = adjusted_p(&drafts, options.seed);
    drafts
        .into_iter()
        .zip(adjusted)
        .map(|((row, judgement), p)| match judgement {
            Judgement::Described => row,
            Judgement::Settled(verdict) => Row {
                verdict: Some(verdict),
                ..row
            },
            Judgement::Blocks {
                differences,
                effect,
            } => judged(row, &differences, effect, p),
        })
        .collect()
}

/// The adjusted p-value of each draft that rests on blocks; 1 for the others.
///
/// Cells with different numbers of blocks cannot be flipped together. Each number of
/// blocks makes a family of its own, and Bonferroni corrects for their number.
fn adjusted_p(drafts: &[(Row, Judgement)], seed: Seed) -> Vec<f64> {
    let mut families: BTreeMap<usize, Vec<(usize, Vec<f64>)>> = BTreeMap::new();
    for (index, (_, judgement)) in drafts.iter().enumerate() {
        if let Judgement::Blocks { differences, .. } = judgement {
            let family = families.entry(differences.len()).or_default();
            family.push((index, differences.clone()));
        }
    }
    let count = families.len() as f64;
    let mut adjusted = vec![1.0; drafts.len()];
    for family in families.into_values() {
        let (indices, cells): (Vec<usize>, Vec<Vec<f64>>) = family.into_iter().unzip();
        let found = max_t::adjusted_p(&cells, seed);
        for (index, p) in indices.into_iter().zip(found) {
            adjusted[index] = (p * count).min(1.0);
        }
    }
    adjusted
}

/// The verdict that blocks allow.
fn judged(row: Row, differences: &[f64], effect: f64, p_adjusted: f64) -> Row {
    let margin = effect.ln_1p();
    let (Some(typical), Some(wide), Some(narrow)) = (
        signed_rank::hodges_lehmann(differences),
        signed_rank::interval(differences, 0.95),
        signed_rank::interval(differences, 0.90),
    ) else {
        return row;
    };
    // Differences are positive where B is better; percentages have the metric's sign.
    let sign = judge::sign(&row.metric);
    let percent = |d: f64| (sign * d).exp_m1() * 100.0;
    let (end, other_end) = (percent(wide.0), percent(wide.1));
    let estimate = Estimate {
        change_percent: percent(typical),
        lowest_percent: end.min(other_end),
        highest_percent: end.max(other_end),
        p_adjusted,
        blocks: differences.len() as u32,
        visible_percent: 100.0
            * plan::smallest_visible(
                plan::deviation(differences).unwrap_or(0.0),
                differences.len() as u32,
            ),
    };
    let real = p_adjusted <= 0.05;
    let verdict = if narrow.0 > -margin && narrow.1 < margin {
        Verdict::Same
    } else if real {
        match (typical > 0.0, typical.abs() >= margin) {
            (true, true) => Verdict::Better,
            (true, false) => Verdict::SlightlyBetter,
            (false, true) => Verdict::Worse,
            (false, false) => Verdict::SlightlyWorse,
        }
    } else {
        undecided(&estimate, differences, effect)
    };
    Row {
        estimate: Some(estimate),
        verdict: Some(verdict),
        ..row
    }
}

fn undecided(estimate: &Estimate, differences: &[f64], effect: f64) -> Verdict {
    let deviation = plan::deviation(differences).unwrap_or(0.0);
    let needed = plan::blocks_needed(deviation, effect);
    Verdict::CannotTell {
        reasons: vec![format!(
            "after {} blocks anything from {:+.1} % to {:+.1} % is possible",
            estimate.blocks, estimate.lowest_percent, estimate.highest_percent
        )],
        // More than there are: the plan rests on an estimate of the spread.
        runs_needed: needed.map(|needed| needed.max(estimate.blocks + 1)),
    }
}
