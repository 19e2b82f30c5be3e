//! The Wilcoxon signed-rank test and what belongs to it, exactly.
//!
//! Null distributions are counted, not approximated: with no effect each of the n
//! ranks is negative or positive with equal chance, so the distribution of the sum
//! of positive ranks follows from a count over sums. Ties give half ranks; ranks are
//! therefore doubled and counted as integers.
//!
//! F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1
//! (1945); J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank
//! tests", Annals of Mathematical Statistics 34 (1963); J. W. Tukey for the interval
//! from Walsh averages, as in M. Hollander and D. A. Wolfe, "Nonparametric
//! statistical methods" (1973), section 3.

use super::{all_finite, quantiles};

/// The two-sided p-value of the hypothesis that `differences` are symmetric about 0.
/// Zeros are left out, as Wilcoxon did; 1 when nothing else is left, and where some
/// difference is not finite.
#[must_use]
pub fn p_two_sided(differences: &[f64]) -> f64 {
    let turned: Vec<f64> = differences.iter().map(|d| -d).collect();
    (2.0 * p_above(differences).min(p_above(&turned))).min(1.0)
}

/// The p-value of the hypothesis that the centre of symmetry is 0 or less; otherwise as
/// [`p_two_sided`].
#[must_use]
pub fn p_above(differences: &[f64]) -> f64 {
    if !all_finite(differences) {
        return 1.0;
    }
    let ranked = doubled_ranks(differences);
    let negative: usize = ranked
        .iter()
        .filter(|(up, _)| !*up)
        .map(|(_, rank)| rank)
        .sum();
    let ranks: Vec<usize> = ranked.into_iter().map(|(_, rank)| rank).collect();
    sums(&ranks)[..=negative].iter().sum::<f64>().min(1.0)
}

/// Sign and doubled mid-rank of each difference that is not 0.
fn doubled_ranks(differences: &[f64]) -> Vec<(bool, usize)> {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut ranked = Vec::with_capacity(sorted.len());
    let mut start = 0;
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        // Ranks start + 1 to start + k; twice their mean is their sum of ends.
        let doubled = 2 * start + 1 + tied.len();
        ranked.extend(tied.iter().map(|&d| (d > 0.0, doubled)));
        start += tied.len();
    }
    ranked
}

/// The chance of each sum of a random subset of `ranks`.
fn sums(ranks: &[usize]) -> Vec<f64> {
    let mut chance = vec![0.0; ranks.iter().sum::<usize>() + 1];
    chance[0] = 1.0;
    let mut highest = 0;
    for &rank in ranks {
        for sum in (0..=highest).rev() {
            let half = chance[sum] / 2.0;
            chance[sum] = half;
            chance[sum + rank] += half;
        }
        highest += rank;
    }
    chance
}

/// The smallest w with P(W <= w) >= `probability` for n untied differences: R's
/// `qsignrank`.
#[must_use]
pub fn quantile(probability: f64, n: usize) -> usize {
    let ranks: Vec<usize> = (1..=n).collect();
    let mut below = 0.0;
    // The tolerance is R's: sums of binary fractions may fall short by rounding.
    let wanted = probability * (1.0 - 64.0 * f64::EPSILON);
    let reached = sums(&ranks).into_iter().position(|chance| {
        below += chance;
        below >= wanted
    });
    reached.unwrap_or(n * (n + 1) / 2)
}

/// The means of every pair of differences, each with itself too, in rising order.
#[must_use]
pub fn walsh_averages(differences: &[f64]) -> Vec<f64> {
    let pairs = differences.iter().enumerate();
    let mut averages: Vec<f64> = pairs
        .flat_map(|(index, first)| {
            let others = differences[index..].iter();
            others.map(move |second| f64::midpoint(*first, *second))
        })
        .collect();
    averages.sort_by(f64::total_cmp);
    averages
}

/// The Hodges-Lehmann estimate: the median of the Walsh averages. `None` of nothing and
/// of differences some of which are not finite.
#[must_use]
pub fn hodges_lehmann(differences: &[f64]) -> Option<f64> {
    if !all_finite(differences) {
        return None;
    }
    quantiles::median_of_sorted(&walsh_averages(differences))
}

/// The exact interval for the centre of symmetry that covers at least `confidence`;
/// `None` when so few differences cannot give one (fewer than six at 95 %), and where
/// some are not finite.
#[must_use]
pub fn interval(differences: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if !all_finite(differences) {
        return None;
    }
    let k = quantile((1.0 - confidence) / 2.0, differences.len());
    let averages = walsh_averages(differences);
    let lowest = averages.get(k.checked_sub(1)?)?;
    let highest = averages.get(averages.len().checked_sub(k)?)?;
    Some((*lowest, *highest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Depression scores of nine patients at two visits: Hollander and Wolfe (1973),
    /// p. 29, and the first example of R's help page of `wilcox.test`, which prints
    /// V = 40 and a one-sided p-value of 0.01953.
    #[expect(clippy::approx_constant, reason = "the published figure is 3.14")]
    fn depression() -> Vec<f64> {
        let first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        first.iter().zip(second).map(|(a, b)| a - b).collect()
    }

    #[test]
    fn depression_scores_give_the_published_p_value() {
        // 10 of 512 patterns have a sum of negative ranks of at most 5.
        assert!((p_two_sided(&depression()) - 2.0 * 10.0 / 512.0).abs() < 1e-12);
    }

    /// R: `wilcox.test(x, y, paired = TRUE, conf.int = TRUE)` prints 0.010 to 0.786
    /// and a pseudomedian of 0.46.
    #[test]
    fn depression_scores_give_the_published_interval() {
        let differences = depression();
        let estimate = hodges_lehmann(&differences).unwrap();
        assert!((estimate - 0.46).abs() < 1e-9, "{estimate}");
        let (lowest, highest) = interval(&differences, 0.95).unwrap();
        assert!((lowest - 0.010).abs() < 1e-9, "{lowest}");
        assert!((highest - 0.786).abs() < 1e-9, "{highest}");
    }

    /// The table of lower critical values in Hollander and Wolfe and in every
    /// textbook: the largest w with P(W <= w) <= 0.025.
    #[test]
    fn quantiles_agree_with_the_printed_tables() {
        let critical = [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (12, 13),
            (15, 25),
            (20, 52),
            (25, 89),
        ];
        for (n, largest) in critical {
            assert_eq!(quantile(0.025, n), largest + 1, "n = {n}");
        }
    }

    #[test]
    fn six_blocks_are_the_fewest_with_an_interval() {
        assert_eq!(interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
        assert_eq!(
            interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95),
            Some((1.0, 6.0))
        );
    }

    #[test]
    fn nothing_or_zeros_alone_decide_nothing() {
        assert_eq!(p_two_sided(&[]), 1.0);
        assert_eq!(p_two_sided(&[0.0, 0.0]), 1.0);
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(interval(&[0.0; 8], 0.95), Some((0.0, 0.0)));
    }

    #[test]
    fn what_is_no_number_decides_nothing() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let differences = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, odd];
            assert_eq!(p_two_sided(&differences), 1.0);
            assert_eq!(p_above(&differences), 1.0);
            assert_eq!(hodges_lehmann(&differences), None);
            assert_eq!(interval(&differences, 0.95), None);
        }
    }

    /// The definition: the share of all sign patterns whose sum is as far out.
    fn p_by_enumeration(differences: &[f64]) -> f64 {
        let ranked = doubled_ranks(differences);
        let n = ranked.len();
        let total: usize = ranked.iter().map(|(_, rank)| rank).sum();
        let off_centre = |positive: usize| (2 * positive).abs_diff(total);
        let observed: usize = ranked
            .iter()
            .filter(|(up, _)| *up)
            .map(|(_, rank)| rank)
            .sum();
        let as_far = (0u32..1 << n)
            .filter(|pattern| {
                let chosen = ranked
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| pattern >> i & 1 == 1);
                let positive: usize = chosen.map(|(_, (_, rank))| rank).sum();
                off_centre(positive) >= off_centre(observed)
            })
            .count();
        as_far as f64 / f64::from(1u32 << n)
    }

    proptest! {
        #[test]
        fn p_values_are_shares_of_sign_patterns_with_ties_too(
            // Few distinct values, so that ties and zeros abound.
            differences in prop::collection::vec((-6i32..=6).prop_map(f64::from), 1..12)
        ) {
            let counted = p_two_sided(&differences);
            let enumerated = p_by_enumeration(&differences);
            prop_assert!((counted - enumerated).abs() < 1e-9, "{} {}", counted, enumerated);
        }

        #[test]
        fn an_interval_that_excludes_zero_goes_with_a_small_p_value(
            differences in prop::collection::vec(-1.0f64..1.5, 6..15)
        ) {
            let (lowest, highest) = interval(&differences, 0.95).unwrap();
            let excludes_zero = lowest > 0.0 || highest < 0.0;
            prop_assert_eq!(excludes_zero, p_two_sided(&differences) <= 0.05);
            let estimate = hodges_lehmann(&differences).unwrap();
            prop_assert!(lowest <= estimate && estimate <= highest);
        }
    }
}
