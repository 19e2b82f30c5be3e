//! The Mann-Whitney test for two sides whose runs belong to no blocks, exactly.
//!
//! With no effect each choice of which ranks are B's is equally likely, so the
//! distribution of their sum follows from a count. Ties give half ranks; ranks are
//! doubled and counted as integers.
//!
//! H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is
//! stochastically larger than the other", Annals of Mathematical Statistics 18
//! (1947); L. E. Moses for the interval, as in M. Hollander and D. A. Wolfe,
//! "Nonparametric statistical methods" (1973), section 4.

use super::all_finite;

/// The two-sided p-value of the hypothesis that `a` and `b` come from one
/// distribution; 1 when a side is empty or has a value that is not finite.
#[must_use]
pub fn p_two_sided(a: &[f64], b: &[f64]) -> f64 {
    if !are_sides(a, b) {
        return 1.0;
    }
    let ranked = doubled_ranks(a, b);
    let observed: usize = ranked
        .iter()
        .filter(|(of_b, _)| *of_b)
        .map(|(_, rank)| rank)
        .sum();
    let ranks: Vec<usize> = ranked.into_iter().map(|(_, rank)| rank).collect();
    let distribution = sums_of(&ranks, b.len());
    let below: f64 = distribution[..=observed].iter().sum();
    let above: f64 = distribution[observed..].iter().sum();
    (2.0 * below.min(above)).min(1.0)
}

/// Whether both sides have values, all of them finite.
fn are_sides(a: &[f64], b: &[f64]) -> bool {
    !a.is_empty() && !b.is_empty() && all_finite(a) && all_finite(b)
}

/// Whether each value is B's, and its doubled mid-rank, in rising order.
fn doubled_ranks(a: &[f64], b: &[f64]) -> Vec<(bool, usize)> {
    let of_a = a.iter().map(|&value| (value, false));
    let of_b = b.iter().map(|&value| (value, true));
    let mut sorted: Vec<(f64, bool)> = of_a.chain(of_b).collect();
    sorted.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut ranked = Vec::with_capacity(sorted.len());
    let mut start = 0;
    for tied in sorted.chunk_by(|x, y| x.0 == y.0) {
        // Ranks start + 1 to start + k; twice their mean is the sum of the two ends.
        let doubled = 2 * start + 1 + tied.len();
        ranked.extend(tied.iter().map(|&(_, of_b)| (of_b, doubled)));
        start += tied.len();
    }
    ranked
}

/// The chance of each sum of `chosen` ranks drawn at random without replacement.
fn sums_of(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: number of ways to choose k ranks with the sum s.
    let mut ways = vec![vec![0.0f64; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=chosen).rev() {
            for sum in (rank..=most).rev() {
                ways[k][sum] += ways[k - 1][sum - rank];
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    ways[chosen].iter().map(|count| count / all).collect()
}

/// Every difference of a value of `b` and one of `a`, in rising order.
#[must_use]
pub fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut all = unordered_differences(a, b);
    all.sort_by(f64::total_cmp);
    all
}

fn unordered_differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    b.iter()
        .flat_map(|y| a.iter().map(move |x| y - x))
        .collect()
}

/// The Hodges-Lehmann estimate of how far `b` is shifted from `a`: the median of all
/// differences. `None` when a side is empty or has a value that is not finite.
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    if !are_sides(a, b) {
        return None;
    }
    // There may be hundreds of thousands, of which one or two count.
    let mut all = unordered_differences(a, b);
    let middle = all.len() / 2;
    let is_even = all.len().is_multiple_of(2);
    let (below, &mut upper, _) = all.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    Some(match lower {
        Some(lower) if is_even => f64::midpoint(lower, upper),
        _ => upper,
    })
}

/// The exact interval for the shift that covers at least `confidence`; `None` when
/// so few runs cannot give one (fewer than four a side at 95 %), and where some are not
/// finite.
#[must_use]
pub fn interval(a: &[f64], b: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if !are_sides(a, b) {
        return None;
    }
    innermost(a, b, quantile((1.0 - confidence) / 2.0, a.len(), b.len()))
}

/// The `k`-th lowest and the `k`-th highest difference, from 1; `None` where there are no
/// so many.
#[must_use]
pub fn innermost(a: &[f64], b: &[f64], k: usize) -> Option<(f64, f64)> {
    let mut all = unordered_differences(a, b);
    let (lowest, highest) = (k.checked_sub(1)?, all.len().checked_sub(k)?);
    let mut at = |place| *all.select_nth_unstable_by(place, f64::total_cmp).1;
    Some((at(lowest), at(highest)))
}

/// The smallest u with P(U <= u) >= `probability` for untied samples of m and n: R's
/// `qwilcox`.
#[must_use]
pub fn quantile(probability: f64, m: usize, n: usize) -> usize {
    // U is the rank sum less its smallest value; ranks here are not doubled.
    let ranks: Vec<usize> = (1..=m + n).collect();
    let smallest = n * (n + 1) / 2;
    let chances = sums_of(&ranks, n);
    let mut below = 0.0;
    // The tolerance is R's: sums of fractions may fall short by rounding.
    let wanted = probability * (1.0 - 64.0 * f64::EPSILON);
    let reached = chances[smallest..].iter().position(|chance| {
        below += chance;
        below >= wanted
    });
    reached.unwrap_or(m * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Permeability of the human chorioamnion at term and earlier: Hollander and Wolfe
    /// (1973), p. 69, and R's help page of `wilcox.test`, which prints W = 35 and a
    /// one-sided p-value of 0.1272.
    #[test]
    fn permeability_constants_give_the_published_p_value() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let earlier = [1.15, 0.88, 0.90, 0.74, 1.21];
        let p = p_two_sided(&earlier, &term);
        assert!((p - 2.0 * 0.1272).abs() < 1e-4, "{p}");
        let above = differences(&earlier, &term)
            .iter()
            .filter(|&&d| d > 0.0)
            .count();
        assert_eq!(above, 35, "the statistic that R calls W");
    }

    /// The tables of critical values, two-sided 5 %: the largest u with
    /// P(U <= u) <= 0.025.
    #[test]
    fn quantiles_agree_with_the_printed_tables() {
        let critical = [
            (4, 4, 0),
            (5, 5, 2),
            (6, 6, 5),
            (8, 8, 13),
            (10, 10, 23),
            (5, 10, 8),
        ];
        for (m, n, largest) in critical {
            assert_eq!(quantile(0.025, m, n), largest + 1, "{m} and {n}");
        }
    }

    #[test]
    fn four_runs_a_side_are_the_fewest_with_an_interval() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0, 14.0]);
        assert_eq!(interval(&a[..3], &b[..3], 0.95), None);
        assert_eq!(interval(&a, &b, 0.95), Some((7.0, 13.0)));
        assert_eq!(hodges_lehmann(&a, &b), Some(10.0));
        assert_eq!(p_two_sided(&a, &b), 2.0 / 70.0);
    }

    #[test]
    fn an_empty_side_decides_nothing() {
        assert_eq!(p_two_sided(&[], &[1.0]), 1.0);
        assert_eq!(interval(&[1.0], &[], 0.95), None);
        assert_eq!(hodges_lehmann(&[], &[]), None);
        for odd in [f64::NAN, f64::INFINITY] {
            let side = [1.0, 2.0, 3.0, odd];
            assert_eq!(p_two_sided(&side, &[1.0; 4]), 1.0);
            assert_eq!(interval(&side, &[1.0; 4], 0.95), None);
            assert_eq!(hodges_lehmann(&[1.0], &side), None);
        }
        assert_eq!(p_two_sided(&[2.0; 4], &[2.0; 4]), 1.0, "all equal");
    }

    /// The definition: the share of all ways to choose B's ranks that are as far out.
    fn p_by_enumeration(a: &[f64], b: &[f64]) -> f64 {
        let ranked = doubled_ranks(a, b);
        let sum_of = |chosen: u32| -> usize {
            let picked = ranked
                .iter()
                .enumerate()
                .filter(|(i, _)| chosen >> i & 1 == 1);
            picked.map(|(_, (_, rank))| rank).sum()
        };
        let observed: usize = ranked
            .iter()
            .filter(|(of_b, _)| *of_b)
            .map(|(_, r)| r)
            .sum();
        let choices = (0u32..1 << ranked.len()).filter(|c| c.count_ones() as usize == b.len());
        let sums: Vec<usize> = choices.map(sum_of).collect();
        let share = |as_far: &dyn Fn(usize) -> bool| {
            sums.iter().filter(|&&sum| as_far(sum)).count() as f64 / sums.len() as f64
        };
        let below = share(&|sum| sum <= observed);
        let above = share(&|sum| sum >= observed);
        (2.0 * below.min(above)).min(1.0)
    }

    proptest! {
        #[test]
        fn p_values_are_shares_of_all_choices_with_ties_too(
            // Few distinct values, so that ties abound.
            a in prop::collection::vec((0i32..8).prop_map(f64::from), 1..6),
            b in prop::collection::vec((0i32..8).prop_map(f64::from), 1..6),
        ) {
            let counted = p_two_sided(&a, &b);
            let enumerated = p_by_enumeration(&a, &b);
            prop_assert!((counted - enumerated).abs() < 1e-9, "{} {}", counted, enumerated);
        }

        #[test]
        fn an_interval_that_excludes_zero_goes_with_a_small_p_value(
            a in prop::collection::vec(-1.0f64..1.0, 4..9),
            b in prop::collection::vec(-0.5f64..2.0, 4..9),
        ) {
            let (lowest, highest) = interval(&a, &b, 0.95).unwrap();
            let excludes_zero = lowest > 0.0 || highest < 0.0;
            prop_assert_eq!(excludes_zero, p_two_sided(&a, &b) <= 0.05);
        }
    }
}
