//! How well it is known how far one stretch of a series lies from the one before.

use crate::estimate::rank_sum;

/// Points of both stretches together up to which the interval is exact. Beyond it the sum
/// of ranks is as good as normal, and counting its ways takes long.
const MOST_EXACT: usize = 60;

/// The 97.5 % quantile of the normal distribution.
const TWO_SIDED: f64 = 1.959_963_984_540;

/// The interval of Moses that covers how far `after` is shifted from `before` with 95 %;
/// `None` where there are too few points for one.
pub(super) fn interval(before: &[f64], after: &[f64]) -> Option<(f64, f64)> {
    let (m, n) = (before.len(), after.len());
    if m + n <= MOST_EXACT {
        rank_sum::interval(before, after, 0.95)
    } else {
        rank_sum::innermost(before, after, normal_quantile(m, n))
    }
}

/// What `rank_sum::quantile` is at 2.5 %, by the normal approximation: M. Hollander and D. A.
/// Wolfe, "Nonparametric statistical methods" (1973), chapter 4.
fn normal_quantile(m: usize, n: usize) -> usize {
    let (m, n) = (m as f64, n as f64);
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    (m * n / 2.0 - TWO_SIDED * deviation).floor().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where both are at hand, they differ by a rank or two of hundreds.
    #[test]
    fn the_approximation_is_near_the_exact_quantile() {
        for (m, n) in [(30, 30), (10, 50), (25, 40)] {
            let (exact, near) = (rank_sum::quantile(0.025, m, n), normal_quantile(m, n));
            assert!(exact.abs_diff(near) <= 2, "{m} {n}: {exact} {near}");
        }
    }

    #[test]
    fn a_shift_of_many_points_lies_in_its_interval() {
        let before: Vec<f64> = (0..100).map(f64::from).collect();
        let after: Vec<f64> = before.iter().map(|value| value + 7.0).collect();
        let (lowest, highest) = interval(&before, &after).unwrap();
        assert!(lowest < 7.0 && highest > 7.0 && highest - lowest < 20.0);
    }

    #[test]
    fn few_points_have_no_interval() {
        assert_eq!(interval(&[], &[1.0]), None);
        assert_eq!(interval(&[1.0], &[2.0]), None);
    }
}
