//! Quantiles of a handful of values, by the two definitions worth having.
//!
//! R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American
//! Statistician 50 (1996), count nine. Latencies are too many to keep; theirs come from
//! histograms.

use super::all_finite;

/// By how much the standard deviation of normal noise exceeds the median distance from its
/// median: 1 over the normal quantile of 3/4.
pub(crate) const DEVIATION_OF_MEDIAN_DISTANCE: f64 = 1.4826;

/// How a quantile between two values is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Type 7: of n values the first is the quantile 0 and the last the quantile 1. What R,
    /// NumPy and spreadsheets print.
    Seven,
    /// Type 8: approximately median-unbiased whatever the distribution; what Hyndman and
    /// Fan recommend.
    Eight,
}

/// The quantile of `values`, in any order; `None` of nothing, of some that are not
/// finite, and for a `probability` that is not within 0 and 1.
#[must_use]
pub fn quantile(values: &[f64], probability: f64, definition: Definition) -> Option<f64> {
    if values.is_empty() || !all_finite(values) || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    // Where it lies among the values, the first of which is at 0.
    let place = match definition {
        Definition::Seven => (n - 1.0) * probability,
        Definition::Eight => (n + 1.0 / 3.0) * probability + 1.0 / 3.0 - 1.0,
    };
    // R's allowance: a product may miss the whole number that it stands for.
    let whole = (place + 4.0 * f64::EPSILON).floor();
    let part = place - whole;
    let part = if part.abs() < 4.0 * f64::EPSILON {
        0.0
    } else {
        part
    };
    let at = |index: f64| sorted[index.clamp(0.0, n - 1.0) as usize];
    let below = at(whole);
    // Equal neighbours give their own value and not one a rounding away.
    Some(if part == 0.0 || below == at(whole + 1.0) {
        below
    } else {
        below + part * (at(whole + 1.0) - below)
    })
}

/// The median of `values`, in any order: the mean of the middle two of an even number.
/// `None` of nothing and of some that are not finite.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if !all_finite(values) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The same of values that are in order and finite.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        even if even % 2 == 0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_and_what_is_no_number_have_no_quantile() {
        for definition in [Definition::Seven, Definition::Eight] {
            for odd in [&[][..], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
                assert_eq!(quantile(odd, 0.5, definition), None, "{odd:?}");
                assert_eq!(median(odd), None, "{odd:?}");
            }
            for probability in [-0.1, 1.1, f64::NAN] {
                assert_eq!(quantile(&[1.0, 2.0], probability, definition), None);
            }
            assert_eq!(quantile(&[3.0], 0.9, definition), Some(3.0));
            assert_eq!(quantile(&[3.0; 5], 0.9, definition), Some(3.0));
        }
    }

    proptest! {
        #[test]
        fn both_definitions_agree_on_the_median_and_stay_inside(
            values in prop::collection::vec(-1e3f64..1e3, 1..20), probability in 0.0f64..=1.0
        ) {
            let middle = median(&values).unwrap();
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for definition in [Definition::Seven, Definition::Eight] {
                let half = quantile(&values, 0.5, definition).unwrap();
                prop_assert!((half - middle).abs() < 1e-9, "{} {}", half, middle);
                let found = quantile(&values, probability, definition).unwrap();
                prop_assert!((lowest..=highest).contains(&found));
            }
        }
    }
}
