//! When to stop adding blocks: at a precision, or at planned looks.
//!
//! Looking after every block and stopping at the first p-value below 5 % raises a false
//! alarm in every fifth comparison of thirty blocks. Two rules do not: stopping when the
//! interval is narrow, whatever it says, and looking at a few planned places with a part
//! of the level for each.
//!
//! The parts come from the spending function of K. K. G. Lan and D. L. DeMets, "Discrete
//! sequential boundaries for clinical trials", Biometrika 70 (1983), that follows P. C.
//! O'Brien and T. R. Fleming: little early, most at the end. Each look is given what is
//! spent since the one before, so that the level holds whatever the looks have to do with
//! each other.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{equivalence, signed_rank};

/// The blocks after which a comparison is looked at, unless others are planned.
pub const PLANNED: [u32; 5] = [8, 12, 16, 24, 32];
/// Fewest blocks after which a precision may stop a comparison.
pub const PRECISE_BLOCKS_MIN: usize = 6;
/// The narrowest half width that is asked for, as a share.
const HALF_WIDTH_MIN: f64 = 0.01;

/// A planned look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// After how many blocks.
    pub blocks: u32,
    /// What of the level may be spent up to here.
    pub spent: f64,
    /// The level of the tests at this look: what was not spent before it.
    pub level: f64,
}

/// Why a comparison may end at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The sides differ.
    Different,
    /// They differ by less than the margin.
    Same,
}

/// The looks after `blocks`, which rise, with the overall `level`. All of it is spent at
/// the last of them.
#[must_use]
pub fn planned(blocks: &[u32], level: f64) -> Vec<Look> {
    let last = blocks.last().map_or(1.0, |&last| f64::from(last));
    let mut before = 0.0;
    let look = |&blocks: &u32| {
        let spent = spent(f64::from(blocks) / last, level);
        let look = Look {
            blocks,
            spent,
            level: spent - before,
        };
        before = spent;
        look
    };
    blocks.iter().map(look).collect()
}

/// The level of the tests after `blocks` blocks where looks were planned after `planned`, which
/// rise: what may be spent up to here and was not at an earlier look. Where the blocks ended
/// between two looks that is less than what the next one would have had.
#[must_use]
pub fn level_after(blocks: u32, planned: &[u32], level: f64) -> f64 {
    let last = planned.last().copied().unwrap_or(blocks);
    let up_to = |blocks: u32| spent(f64::from(blocks) / f64::from(last), level);
    let here = blocks.min(last);
    let earlier = planned.iter().rfind(|&&look| look < here);
    up_to(here) - earlier.map_or(0.0, |&earlier| up_to(earlier))
}

/// What of `level`, two-sided, may be spent when the share `done` of the blocks is done:
/// 2 - 2 Phi(z / sqrt(done)), where z belongs to the level. 0 at the beginning, and for a
/// share that is no number.
#[must_use]
pub fn spent(done: f64, level: f64) -> f64 {
    if done.is_nan() || done <= 0.0 {
        return 0.0;
    }
    if done >= 1.0 {
        return level;
    }
    let normal = Normal::standard();
    let z = normal.inverse_cdf(1.0 - level / 2.0);
    2.0 * normal.sf(z / done.sqrt())
}

impl Look {
    /// Whether a comparison ends here. `differences` are those of one cell up to here,
    /// `p_adjusted` its p-value in its family, `margin` the logarithm of 1 + effect.
    ///
    /// Equality goes before difference, as in a verdict: a real but small change is small.
    #[must_use]
    pub fn ending(&self, differences: &[f64], margin: f64, p_adjusted: f64) -> Option<Ending> {
        if equivalence::is_shown(differences, margin, self.level) {
            Some(Ending::Same)
        } else if p_adjusted <= self.level {
            Some(Ending::Different)
        } else {
            None
        }
    }
}

/// The half width at which a comparison with the smallest effect of interest `effect`, as
/// a share, is precise: half of it, and 1 % at least. A logarithm.
#[must_use]
pub fn half_width_wanted(effect: f64) -> f64 {
    (effect / 2.0).max(HALF_WIDTH_MIN).ln_1p()
}

/// Half the length of the 95 % interval; `None` where there is none.
#[must_use]
pub fn half_width(differences: &[f64]) -> Option<f64> {
    let (lowest, highest) = signed_rank::interval(differences, 0.95)?;
    Some((highest - lowest) / 2.0)
}

/// Whether a comparison may stop since it is precise: after six blocks or more the half
/// width is at most `wanted`.
#[must_use]
pub fn is_precise(differences: &[f64], wanted: f64) -> bool {
    differences.len() >= PRECISE_BLOCKS_MIN
        && half_width(differences).is_some_and(|half| half <= wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_level_is_spent_at_the_last_look_and_none_before_the_first() {
        let looks = planned(&PLANNED, 0.05);
        assert_eq!(looks.len(), 5);
        let sum: f64 = looks.iter().map(|look| look.level).sum();
        assert!((sum - 0.05).abs() < 1e-12, "{sum}");
        assert!(looks.windows(2).all(|pair| pair[0].level < pair[1].level));
        assert_eq!(spent(0.0, 0.05), 0.0);
        assert_eq!(spent(f64::NAN, 0.05), 0.0);
        assert_eq!(spent(2.0, 0.05), spent(1.0, 0.05));
        assert_eq!(planned(&[], 0.05), []);
    }

    #[test]
    fn after_a_look_the_level_is_that_of_the_look_and_less_before_it() {
        for look in planned(&PLANNED, 0.05) {
            assert_eq!(level_after(look.blocks, &PLANNED, 0.05), look.level);
        }
        let between = level_after(20, &PLANNED, 0.05);
        assert!(between > 0.0 && between < level_after(24, &PLANNED, 0.05));
        assert_eq!(level_after(10, &[], 0.05), 0.05, "nothing was planned");
    }

    #[test]
    fn a_clear_difference_ends_at_the_second_look() {
        // All twelve of one sign: p = 2 / 4096 is below the second level and not below the
        // first, which eight blocks cannot reach at all.
        let looks = planned(&PLANNED, 0.05);
        let loss = [-0.2; 12];
        let p = |blocks: usize| signed_rank::p_two_sided(&loss[..blocks]);
        assert_eq!(looks[0].ending(&loss[..8], 0.03, p(8)), None);
        let ending = looks[1].ending(&loss, 0.03, p(12));
        assert_eq!(ending, Some(Ending::Different));
        assert_eq!(looks[1].ending(&loss, 0.3, p(12)), Some(Ending::Same));
    }

    #[test]
    fn six_equal_blocks_are_precise_and_five_are_not() {
        assert!(!is_precise(&[0.01; 5], 0.01));
        assert!(is_precise(&[0.01; 6], 0.01));
        // The interval of six goes from the smallest to the largest.
        let wide = [0.0, 0.01, 0.02, 0.03, 0.04, 0.06];
        assert!((half_width(&wide).unwrap() - 0.03).abs() < 1e-15);
        assert!(is_precise(&wide, 0.031) && !is_precise(&wide, 0.029));
        assert_eq!(half_width(&[f64::NAN; 8]), None);
        assert!(!is_precise(&[f64::NAN; 8], 1.0));
    }

    #[test]
    fn half_of_the_effect_is_wanted_but_no_less_than_one_percent() {
        assert_eq!(half_width_wanted(0.03), 0.015f64.ln_1p());
        assert_eq!(half_width_wanted(0.001), 0.01f64.ln_1p());
    }
}
