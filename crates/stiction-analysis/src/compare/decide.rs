//! The rule: what blocks of one run a side say about one metric.
//!
//! Pure functions of numbers. What a report prints and what `selftest stats` holds
//! against worlds of which the truth is known is this very code.

use std::collections::BTreeMap;

use stiction_core::{Better, Seed};

use super::comparison::{Estimate, Method};
use crate::estimate::{max_t, plan, rank_sum, sign_flip, signed_rank};
use crate::verdict::Verdict;

/// The chance of a false alarm anywhere in a family that a verdict allows.
pub const LEVEL: f64 = 0.05;

/// The estimate and the verdict that the blocks of one metric allow; `None` for fewer
/// than six, which have no finite interval at 95 %.
///
/// `differences` are ln(b / a) of each block, signed so that B's being better is
/// positive, and finite; `better` turns them back into the metric's own sign; `effect`
/// is the smallest effect of interest as a share; `p_adjusted` is the metric's own of
/// [`family_p`].
#[must_use]
pub fn decide(
    differences: &[f64],
    better: Better,
    effect: f64,
    p_adjusted: f64,
) -> Option<(Estimate, Verdict)> {
    decide_at(LEVEL, differences, better, effect, p_adjusted)
}

/// As [`decide`], where only a part of the level may be spent: `level`, above 0. The estimate
/// and its 95 % interval are the same.
#[must_use]
pub fn decide_at(
    level: f64,
    differences: &[f64],
    better: Better,
    effect: f64,
    p_adjusted: f64,
) -> Option<(Estimate, Verdict)> {
    let shift = Shift {
        method: Method::Paired,
        typical: signed_rank::hodges_lehmann(differences)?,
        wide: signed_rank::interval(differences, 0.95)?,
        narrow: signed_rank::interval(differences, 1.0 - 2.0 * level),
        deviation: plan::deviation(differences).unwrap_or(0.0),
        blocks: differences.len() as u32,
    };
    Some(shift.decided(level, better, effect, p_adjusted))
}

/// As [`decide`], from repetitions that belong to no blocks; `None` for fewer than four
/// a side. `a` and `b` are logarithms, signed so that more is better.
#[must_use]
pub fn decide_apart(
    a: &[f64],
    b: &[f64],
    better: Better,
    effect: f64,
    p_adjusted: f64,
) -> Option<(Estimate, Verdict)> {
    let (of_a, of_b) = (plan::deviation(a)?, plan::deviation(b)?);
    let shift = Shift {
        method: Method::Unpaired,
        typical: rank_sum::hodges_lehmann(a, b)?,
        wide: rank_sum::interval(a, b, 0.95)?,
        narrow: rank_sum::interval(a, b, 1.0 - 2.0 * LEVEL),
        // Of a difference of two independent runs.
        deviation: of_a.hypot(of_b),
        blocks: a.len().min(b.len()) as u32,
    };
    Some(shift.decided(LEVEL, better, effect, p_adjusted))
}

/// How far B lies from A, as logarithms signed so that B's being better is positive.
struct Shift {
    method: Method,
    typical: f64,
    /// The exact interval at 95 %.
    wide: (f64, f64),
    /// The exact interval that two one-sided tests at the level stand for, 90 % at 5 %;
    /// `None` of too few for one.
    narrow: Option<(f64, f64)>,
    /// Standard deviation of the difference of one repetition a side.
    deviation: f64,
    blocks: u32,
}

impl Shift {
    fn decided(
        &self,
        level: f64,
        better: Better,
        effect: f64,
        p_adjusted: f64,
    ) -> (Estimate, Verdict) {
        let sign = sign(better);
        let percent = |d: f64| (sign * d).exp_m1() * 100.0;
        let (end, other_end) = (percent(self.wide.0), percent(self.wide.1));
        let estimate = Estimate {
            method: self.method,
            change_percent: percent(self.typical),
            lowest_percent: end.min(other_end),
            highest_percent: end.max(other_end),
            p_adjusted,
            blocks: self.blocks,
            visible_percent: 100.0 * plan::smallest_visible(self.deviation, self.blocks),
        };
        let margin = effect.ln_1p();
        let typical = self.typical;
        let is_within = |(low, high): (f64, f64)| low > -margin && high < margin;
        let verdict = if self.narrow.is_some_and(is_within) {
            Verdict::Same
        } else if p_adjusted <= level {
            match (typical > 0.0, typical.abs() >= margin) {
                (true, true) => Verdict::Better,
                (true, false) => Verdict::SlightlyBetter,
                (false, true) => Verdict::Worse,
                (false, false) => Verdict::SlightlyWorse,
            }
        } else {
            self.undecided(&estimate, effect)
        };
        (estimate, verdict)
    }

    /// What is still possible, and how many repetitions are likely to settle it: as many as
    /// it takes to see a change where the estimate is one of interest, and else to show that
    /// there is none.
    fn undecided(&self, estimate: &Estimate, effect: f64) -> Verdict {
        let needed = if self.typical.abs() < effect.ln_1p() {
            plan::blocks_to_show_same(self.deviation, effect)
        } else {
            plan::blocks_needed(self.deviation, effect)
        };
        Verdict::CannotTell {
            reasons: vec![format!(
                "after {} {} anything from {:+.1} % to {:+.1} % is possible",
                estimate.blocks,
                match estimate.method {
                    Method::Paired => "blocks",
                    Method::Unpaired => "runs a side",
                },
                estimate.lowest_percent,
                estimate.highest_percent
            )],
            // More than there are: the plan rests on an estimate of the spread.
            runs_needed: needed.map(|needed| needed.max(estimate.blocks + 1)),
        }
    }
}

/// 1 where more is better, -1 where less is.
pub(super) fn sign(better: Better) -> f64 {
    if better == Better::Less { -1.0 } else { 1.0 }
}

/// The p-value of one cell as if it were the only one, for what is kept over many of them
/// by other means than [`family_p`].
#[must_use]
pub fn p_alone(differences: &[f64], seed: Seed) -> f64 {
    sign_flip::p_two_sided(differences).unwrap_or_else(|| family_p(&[differences], seed)[0])
}

/// The adjusted p-value of each member of a family of cells, in their order: with
/// 5 % the chance of any false alarm in the whole family is 5 %.
///
/// Cells with different numbers of blocks cannot be flipped together. Each number of
/// blocks makes a family of its own, and Bonferroni corrects for their number.
#[must_use]
pub fn family_p(cells: &[&[f64]], seed: Seed) -> Vec<f64> {
    let mut by_blocks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        by_blocks.entry(cell.len()).or_default().push(index);
    }
    let count = by_blocks.len() as f64;
    let mut adjusted = vec![1.0; cells.len()];
    for indices in by_blocks.into_values() {
        let together: Vec<Vec<f64>> = indices.iter().map(|&i| cells[i].to_vec()).collect();
        let found = max_t::adjusted_p(&together, seed);
        for (index, p) in indices.into_iter().zip(found) {
            adjusted[index] = (p * count).min(1.0);
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: eight equal differences of ln 1.05; of the 128 patterns only the data
    /// themselves are as far out, and every Walsh average is the difference itself.
    #[test]
    fn a_steady_loss_is_worse_in_the_metrics_own_sign() {
        let differences = [-(1.05f64.ln()); 8];
        let p = family_p(&[&differences], Seed(1))[0];
        assert_eq!(p, 1.0 / 128.0);
        let (rate, verdict) = decide(&differences, Better::More, 0.03, p).unwrap();
        assert_eq!(verdict, Verdict::Worse);
        assert!((rate.change_percent - (1.0 / 1.05 - 1.0) * 100.0).abs() < 1e-9);
        let (time, verdict) = decide(&differences, Better::Less, 0.03, p).unwrap();
        assert_eq!(verdict, Verdict::Worse);
        assert!((time.change_percent - 5.0).abs() < 1e-9);
        assert_eq!(decide(&differences[..5], Better::More, 0.03, p), None);
    }

    #[test]
    fn families_of_several_sizes_pay_for_their_number() {
        let (eight, nine) = ([1.0; 8], [1.0; 9]);
        let p = family_p(&[&eight, &nine], Seed(1));
        assert_eq!(p, [2.0 / 128.0, 2.0 / 256.0]);
        assert_eq!(family_p(&[], Seed(1)), [0.0; 0]);
    }
}
