//! From judgements to verdicts: all that rests on blocks is judged together.

use super::decide::{decide, family_p};
use super::judge::Judgement;
use super::{CompareOptions, Row};

/// Turns judgements into verdicts: those that rest on blocks are judged together, so
/// that the chance of any false alarm in the comparison is 5 %.
pub(super) fn settle(drafts: Vec<(Row, Judgement)>, options: &CompareOptions) -> Vec<Row> {
    let cells: Vec<&[f64]> = drafts
        .iter()
        .filter_map(|(_, judgement)| match judgement {
            Judgement::Blocks { differences, .. } => Some(differences.as_slice()),
            _ => None,
        })
        .collect();
    let mut adjusted = family_p(&cells, options.seed).into_iter();
    drafts
        .into_iter()
        .map(|(row, judgement)| match judgement {
            Judgement::Described => row,
            Judgement::Settled(verdict) => Row {
                verdict: Some(verdict),
                ..row
            },
            Judgement::Blocks {
                differences,
                effect,
            } => {
                let p = adjusted.next().unwrap_or(1.0);
                judged(row, &differences, effect, p)
            }
        })
        .collect()
}

fn judged(row: Row, differences: &[f64], effect: f64, p_adjusted: f64) -> Row {
    let Some((estimate, verdict)) = decide(differences, row.metric.better, effect, p_adjusted)
    else {
        return row;
    };
    Row {
        estimate: Some(estimate),
        verdict: Some(verdict),
        ..row
    }
}
