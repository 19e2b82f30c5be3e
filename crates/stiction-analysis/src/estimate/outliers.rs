//! Runs that lie far from the others: flagged, never dropped.
//!
//! The rule of B. Iglewicz and D. C. Hoaglin, "How to detect and handle outliers" (1993):
//! further from the median than 3.5 times the median absolute deviation, which is scaled
//! to be a standard deviation where noise is normal. It is applied to logarithms, so that
//! half the rate is as far out as twice the rate.

use super::quantiles::{DEVIATION_OF_MEDIAN_DISTANCE, median};

/// How many standard deviations are far out.
const FAR: f64 = 3.5;
/// By how much the standard deviation of normal noise exceeds the mean distance: the square
/// root of pi / 2.
const OF_MEAN: f64 = 1.253_314;

/// Whether each of `values` lies far from the others.
///
/// None does where some value is not above 0 or not finite: such a run has failed and is
/// no outlier. Where more than half are equal the median deviation is 0, and the mean
/// deviation takes its place; where all are equal nothing is far.
#[must_use]
pub fn are_far(values: &[f64]) -> Vec<bool> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let none = || vec![false; values.len()];
    let Some(middle) = median(&logs) else {
        return none();
    };
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let typical = median(&distances).unwrap_or(0.0) * DEVIATION_OF_MEDIAN_DISTANCE;
    let mean = distances.iter().sum::<f64>() / distances.len() as f64 * OF_MEAN;
    let spread = if typical > 0.0 { typical } else { mean };
    distances
        .iter()
        .map(|&distance| distance > FAR * spread)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 3, 4 and 100 as logarithms: the median is 3 and R's `mad` is 1.4826, so
    /// 3 +- 5.19 is not far.
    #[test]
    fn only_what_is_beyond_the_limit_is_far() {
        let values = |last: f64| [1.0, 2.0, 3.0, 4.0, last].map(f64::exp);
        let far = |last| are_far(&values(last));
        assert_eq!(far(100.0), [false, false, false, false, true]);
        assert_eq!(far(8.18), [false; 5]);
        assert_eq!(far(8.20), [false, false, false, false, true]);
    }

    #[test]
    fn a_run_among_equal_ones_is_seen() {
        let mut values = [100.0; 10];
        assert_eq!(are_far(&values), [false; 10]);
        values[3] = 50.0;
        let far: Vec<usize> = (0..10).filter(|&run| are_far(&values)[run]).collect();
        assert_eq!(far, [3]);
    }

    #[test]
    fn failed_runs_are_no_outliers() {
        assert_eq!(are_far(&[]), [false; 0]);
        for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(are_far(&[1.0, 1.1, 0.9, odd]), [false; 4], "{odd}");
        }
    }
}
