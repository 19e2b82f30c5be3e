//! From judgements to verdicts: all that rests on repetitions is judged together.

use stiction_core::Seed;

use super::decide::{decide_apart, decide_at, family_p, p_alone};
use super::judge::{Evidence, Judgement};
use super::options::Control;
use super::{CompareOptions, Row};
use crate::estimate::{correct, rank_sum};
use crate::verdict::Verdict;

/// A row on its way to its verdict.
pub(super) struct Draft {
    pub(super) row: Row,
    pub(super) judgement: Judgement,
    /// The level that its blocks are judged at.
    pub(super) level: f64,
}

/// Turns judgements into verdicts: those that rest on repetitions are judged together,
/// so that what is kept at 5 % is kept over all `drafts`.
pub(super) fn settle(drafts: Vec<Draft>, options: &CompareOptions) -> Vec<Row> {
    let evidence: Vec<&Evidence> = drafts
        .iter()
        .filter_map(|draft| match &draft.judgement {
            Judgement::Open(evidence) => Some(evidence),
            _ => None,
        })
        .collect();
    let mut adjusted = adjusted_p(&evidence, options).into_iter();
    drafts
        .into_iter()
        .map(
            |Draft {
                 row,
                 judgement,
                 level,
             }| match judgement {
                Judgement::Described => row,
                Judgement::Settled(verdict) => Row {
                    verdict: Some(verdict),
                    ..row
                },
                Judgement::Open(evidence) => {
                    judged(row, &evidence, level, adjusted.next().unwrap_or(1.0))
                }
            },
        )
        .collect()
}

fn judged(row: Row, evidence: &Evidence, level: f64, p_adjusted: f64) -> Row {
    let effect = row.effect_percent.unwrap_or_default() / 100.0;
    let better = row.metric.better;
    let decided = match evidence {
        Evidence::Blocks(differences) => decide_at(level, differences, better, effect, p_adjusted),
        Evidence::Apart(a, b) => decide_apart(a, b, better, effect, p_adjusted),
    };
    let Some((estimate, verdict)) = decided else {
        return row;
    };
    Row {
        estimate: Some(estimate),
        verdict: Some(verdict),
        ..row
    }
}

/// A row of a configuration beside itself: what looks like an effect is known to be
/// noise, and is called so.
pub(super) fn of_one_configuration(row: Row) -> Row {
    let claims = matches!(
        row.verdict,
        Some(Verdict::Worse | Verdict::Better | Verdict::SlightlyWorse | Verdict::SlightlyBetter)
    );
    if !claims {
        return row;
    }
    let reason = "both sides are one configuration: what looks like an effect is noise, as 1 \
                  comparison of 20 shows it";
    Row {
        verdict: Some(Verdict::CannotTell {
            reasons: vec![reason.to_owned()],
            runs_needed: None,
        }),
        ..row
    }
}

/// The p-value of each piece of evidence, adjusted for all of them.
fn adjusted_p(evidence: &[&Evidence], options: &CompareOptions) -> Vec<f64> {
    match options.control {
        Control::ShareOfFalse => {
            let each: Vec<f64> = evidence
                .iter()
                .map(|evidence| alone(evidence, options.seed))
                .collect();
            correct::benjamini_hochberg(&each)
        }
        Control::AnyFalseAlarm => any_false_alarm(evidence, options.seed),
    }
}

/// Blocks are flipped together, runs in no blocks corrected after Holm; where there are
/// both, each pays for the other.
fn any_false_alarm(evidence: &[&Evidence], seed: Seed) -> Vec<f64> {
    let mut blocks: Vec<&[f64]> = Vec::new();
    let mut apart: Vec<f64> = Vec::new();
    for piece in evidence {
        match piece {
            Evidence::Blocks(differences) => blocks.push(differences),
            Evidence::Apart(a, b) => apart.push(rank_sum::p_two_sided(a, b)),
        }
    }
    let kinds = if blocks.is_empty() || apart.is_empty() {
        1.0
    } else {
        2.0
    };
    let mut of_blocks = family_p(&blocks, seed).into_iter();
    let mut of_apart = correct::holm(&apart).into_iter();
    evidence
        .iter()
        .map(|piece| {
            let p = match piece {
                Evidence::Blocks(_) => of_blocks.next(),
                Evidence::Apart(..) => of_apart.next(),
            };
            (p.unwrap_or(1.0) * kinds).min(1.0)
        })
        .collect()
}

/// The p-value of one piece of evidence as if it were the only one.
fn alone(evidence: &Evidence, seed: Seed) -> f64 {
    match evidence {
        Evidence::Blocks(differences) => p_alone(differences, seed),
        Evidence::Apart(a, b) => rank_sum::p_two_sided(a, b),
    }
}
