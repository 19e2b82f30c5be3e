//! Whether runs drifted in the course of time: Kendall's tau against their order.
//!
//! M. G. Kendall, "A new measure of rank correlation", Biometrika 30 (1938); with ties as
//! in his "Rank correlation methods" (1948). H. B. Mann, "Nonparametric tests against
//! trend", Econometrica 13 (1945), holds it against time.

use statrs::distribution::{ContinuousCDF, Normal};
use stiction_core::Line;

use super::plan::deviation;
use super::quantiles::median;

/// Up to so many values the distribution is counted; beyond it the normal one is close.
const COUNTED: usize = 60;

/// What became of values in the course of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's tau-b: 1 when each value is above the one before, -1 when below.
    pub tau: f64,
    /// Two-sided p-value of the hypothesis that their order is chance.
    pub p: f64,
    /// By which factor the standard deviation of the values exceeds that around the line
    /// through them: what a drift adds to the noise. 1 or more; infinite where all lie on
    /// the line.
    pub inflation: f64,
}

/// The trend of `values`, in time order. `None` of fewer than three, of equal ones, and
/// where some are not finite.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < 3 || !super::all_finite(values) {
        return None;
    }
    let mut concordant = 0u64;
    let mut discordant = 0u64;
    for (later, value) in values.iter().enumerate() {
        for earlier in &values[..later] {
            concordant += u64::from(earlier < value);
            discordant += u64::from(earlier > value);
        }
    }
    let ties = ties(values);
    let untied = (concordant + discordant) as f64;
    if untied == 0.0 {
        return None;
    }
    let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
    let score = concordant as f64 - discordant as f64;
    let p = if n <= COUNTED {
        counted_p(&ties, concordant.min(discordant) as usize)
    } else {
        normal_p(n as f64, &ties, score)
    };
    Some(Trend {
        tau: score / (pairs * untied).sqrt(),
        p,
        inflation: inflation(values)?,
    })
}

/// The trend of what is left of `runs` when each configuration's own level is taken away:
/// its number and its value above 0, in time order. [`trend`] of the logarithms over the
/// configuration's median.
///
/// `None` as for [`trend`], and where a value is not above 0. A p-value of at most 5 % is
/// called a drift: blocks absorb it, but it widens what runs of one configuration show.
#[must_use]
pub fn of_runs(runs: &[(usize, f64)]) -> Option<Trend> {
    let mut logs: std::collections::BTreeMap<usize, Vec<f64>> = std::collections::BTreeMap::new();
    for &(configuration, value) in runs {
        logs.entry(configuration).or_default().push(value.ln());
    }
    let residual = |&(configuration, value): &(usize, f64)| {
        Some(value.ln() - median(logs.get(&configuration)?)?)
    };
    trend(&runs.iter().map(residual).collect::<Option<Vec<f64>>>()?)
}

/// The sizes of the groups of equal values.
fn ties(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// The share of all orders of values with such ties that have at most `fewer` pairs one
/// way round, doubled for the other way.
///
/// Groups are put among those before them one after the other; each way is equally likely,
/// and the pairs that are turned round add up.
fn counted_p(ties: &[usize], fewer: usize) -> f64 {
    let mut chances = vec![1.0];
    let mut placed = 0;
    for &size in ties {
        chances = if size == 1 {
            spread(&chances, placed)
        } else {
            convolve(&chances, &turned_pairs(placed, size))
        };
        placed += size;
    }
    (2.0 * chances[..=fewer].iter().sum::<f64>()).min(1.0)
}

/// The chance of each number of pairs that are turned round when `size` equal values are
/// put at random among `placed` smaller ones: the Gaussian binomial coefficients, which
/// are whole numbers that a float holds exactly up to sixty values.
fn turned_pairs(placed: usize, size: usize) -> Vec<f64> {
    let most = placed * size;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for index in 1..=size {
        // Times 1 - q^(placed + index), over 1 - q^index.
        for power in (placed + index..=most).rev() {
            ways[power] -= ways[power - placed - index];
        }
        for power in index..=most {
            ways[power] += ways[power - index];
        }
    }
    let all: f64 = ways.iter().sum();
    ways.iter().map(|ways| ways / all).collect()
}

/// What [`convolve`] makes of a single value put among `placed` others, which turns 0 to
/// `placed` pairs round with the same chance each.
fn spread(chances: &[f64], placed: usize) -> Vec<f64> {
    let mut sum = 0.0;
    (0..chances.len() + placed)
        .map(|turned| {
            sum += chances.get(turned).copied().unwrap_or(0.0);
            if let Some(passed) = turned.checked_sub(placed + 1) {
                sum -= chances[passed];
            }
            sum / (placed + 1) as f64
        })
        .collect()
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sums[i + j] += x * y;
        }
    }
    sums
}

/// The normal approximation, with Kendall's variance for ties and a correction for the
/// score's being whole.
fn normal_p(n: f64, ties: &[usize], score: f64) -> f64 {
    let part = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let tied: f64 = ties.iter().map(|&size| part(size as f64)).sum();
    let deviation = ((part(n) - tied) / 18.0).sqrt();
    let z = (score.abs() - 1.0).max(0.0) / deviation;
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// The standard deviation over that around the fitted line.
fn inflation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let line = Line::through(values)?;
    // The standard error of a slope against 0, 1, 2, ... turned back.
    let around = line.slope_error * (n * (n * n - 1.0) / 12.0).sqrt();
    Some((deviation(values)? / around).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_straight_line_is_the_least_likely_order() {
        let rising: Vec<f64> = (0..6).map(f64::from).collect();
        let found = trend(&rising).unwrap();
        // One of 720 orders, and one of falling ones.
        assert_eq!(found.tau, 1.0);
        assert!((found.p - 2.0 / 720.0).abs() < 1e-15, "{}", found.p);
        let falling: Vec<f64> = rising.iter().map(|x| -x).collect();
        assert_eq!(trend(&falling).unwrap().tau, -1.0);
    }

    #[test]
    fn a_configurations_own_level_is_no_drift() {
        // Two levels a factor ten apart, and each rises by the same from block to block.
        let steps = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06];
        let order = [(0, 1), (1, 0), (1, 0), (0, 1), (1, 0), (0, 1), (0, 1)];
        let runs: Vec<(usize, f64)> = order
            .into_iter()
            .zip(steps)
            .flat_map(|((first, second), step)| {
                let level = |of: usize| (of, if of == 0 { step } else { 10.0 * step });
                [level(first), level(second)]
            })
            .collect();
        let found = of_runs(&runs).unwrap();
        assert!(found.p < 1e-6 && found.tau > 0.9, "{found:?}");
        assert!(found.inflation > 5.0, "{found:?}");
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_trend() {
        for odd in [
            &[][..],
            &[1.0, 2.0],
            &[3.0; 10],
            &[1.0, 2.0, f64::NAN],
            &[1.0, 2.0, f64::INFINITY],
        ] {
            assert_eq!(trend(odd), None, "{odd:?}");
        }
        assert_eq!(of_runs(&[(0, 1.0), (0, 2.0), (0, 0.0)]), None);
        assert_eq!(of_runs(&[(0, 1.0), (0, 2.0), (0, -1.0)]), None);
        assert_eq!(of_runs(&[]), None);
    }

    /// The definition: the share of all orders as far out.
    fn p_by_enumeration(values: &[f64]) -> f64 {
        let score = |values: &[f64]| -> i32 {
            let pairs = (0..values.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
            let sign = |(i, j): (usize, usize)| {
                i32::from(values[i] < values[j]) - i32::from(values[i] > values[j])
            };
            pairs.map(sign).sum()
        };
        fn orders(values: &mut Vec<f64>, from: usize, take: &mut impl FnMut(&[f64])) {
            if from == values.len() {
                return take(values);
            }
            for other in from..values.len() {
                values.swap(from, other);
                orders(values, from + 1, take);
                values.swap(from, other);
            }
        }
        let observed = score(values).abs();
        let (mut all, mut as_far) = (0, 0);
        orders(&mut values.to_vec(), 0, &mut |order| {
            all += 1;
            as_far += i32::from(score(order).abs() >= observed);
        });
        f64::from(as_far) / f64::from(all)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn p_values_are_shares_of_all_orders_with_ties_too(
            values in prop::collection::vec((0i32..5).prop_map(f64::from), 3..7)
        ) {
            if let Some(found) = trend(&values) {
                let p = p_by_enumeration(&values);
                prop_assert!((found.p - p).abs() < 1e-9, "{} {}", found.p, p);
            }
        }

        #[test]
        fn the_normal_distribution_is_close_where_it_takes_over(
            values in prop::collection::vec((0i32..40).prop_map(f64::from), COUNTED..=COUNTED)
        ) {
            let found = trend(&values).unwrap();
            let score = found.tau * {
                let pairs = 60.0 * 59.0 / 2.0;
                let tied: f64 = ties(&values).iter().map(|&t| (t * (t - 1)) as f64 / 2.0).sum();
                (pairs * (pairs - tied)).sqrt()
            };
            let normal = normal_p(60.0, &ties(&values), score.round());
            prop_assert!((found.p - normal).abs() < 2e-3, "{} {}", found.p, normal);
        }
    }
}
