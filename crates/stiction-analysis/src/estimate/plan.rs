//! How many blocks it takes, and how small a change could have been seen.

/// Normal quantiles for 5 % two-sided and for a power of 80 %.
const Z_TEST: f64 = 1.959_964;
const Z_POWER: f64 = 0.841_621;

/// The same for two one-sided tests at 5 %, both of which have to reject: each may fail in
/// half of the 20 %.
const Z_TEST_SAME: f64 = 1.644_854;
const Z_POWER_SAME: f64 = 1.281_552;

/// Efficiency of the signed-rank test against the t-test for normal noise: 3 / pi,
/// Hodges and Lehmann (1956).
const EFFICIENCY: f64 = 0.955;

/// What the spread of the estimate of the noise itself costs: half the square of the
/// normal quantile, W. C. Guenther, "Sample size formulas for normal theory T tests",
/// The American Statistician 35 (1981).
const ESTIMATED_SPREAD: f64 = 1.92;

/// Fewest blocks with a finite interval at 95 %: each of the 2^n patterns of signs is equally
/// likely, and 2^-5 is more than 2.5 %.
pub const FEWEST_BLOCKS: u32 = 6;

/// Most blocks worth naming.
const MOST: u32 = 1000;

/// Blocks of one run a side for a power of 80 % to see a change by the share
/// `effect`, when the log differences of blocks have the standard deviation
/// `deviation`. At least 6; `None` beyond a thousand, where it is no plan any more.
#[must_use]
pub fn blocks_needed(deviation: f64, effect: f64) -> Option<u32> {
    blocks_for(Z_TEST + Z_POWER, deviation, effect)
}

/// As [`blocks_needed`], for a power of 80 % to show that two sides are the same within the
/// share `effect` when they are equal.
#[must_use]
pub fn blocks_to_show_same(deviation: f64, effect: f64) -> Option<u32> {
    blocks_for(Z_TEST_SAME + Z_POWER_SAME, deviation, effect)
}

fn blocks_for(quantiles: f64, deviation: f64, effect: f64) -> Option<u32> {
    let margin = effect.ln_1p();
    if margin <= 0.0 {
        return None;
    }
    let quotient = quantiles * deviation / margin;
    let blocks = (quotient * quotient / EFFICIENCY + ESTIMATED_SPREAD).ceil();
    (blocks <= f64::from(MOST)).then(|| (blocks as u32).max(FEWEST_BLOCKS))
}

/// As [`blocks_needed`], from the runs of two sides that were not made in blocks;
/// `None` when a side has a single run or a run not above 0.
#[must_use]
pub fn runs_needed(a: &[f64], b: &[f64], effect: f64) -> Option<u32> {
    let variance_a = log_variance(a)?;
    let variance_b = log_variance(b)?;
    // The variance of a difference of two independent runs.
    blocks_needed((variance_a + variance_b).sqrt(), effect)
}

/// The smallest change, as a share, that `blocks` blocks would have shown with a
/// power of 80 %.
#[must_use]
pub fn smallest_visible(deviation: f64, blocks: u32) -> f64 {
    ((Z_TEST + Z_POWER) * deviation / (EFFICIENCY * f64::from(blocks)).sqrt()).exp_m1()
}

/// The sample variance of the logarithms.
fn log_variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 || values.iter().any(|&value| value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let deviation = deviation(&logs)?;
    Some(deviation * deviation)
}

/// The sample standard deviation, with n - 1; `None` of fewer than two values, and where
/// some are not finite.
#[must_use]
pub fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 || !super::all_finite(values) {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of blocks by coefficient of variation and change worked out for the
    /// design; deviation = sqrt(2) * CV.
    #[test]
    fn blocks_agree_with_the_table() {
        let table: [(f64, [u32; 5]); 5] = [
            (0.01, [19, 7, 6, 6, 6]),
            (0.02, [69, 19, 10, 6, 6]),
            (0.03, [152, 40, 19, 9, 6]),
            (0.05, [417, 107, 49, 20, 7]),
            (0.10, [1663, 422, 191, 71, 21]),
        ];
        for (variation, row) in table {
            let effects = [0.01, 0.02, 0.03, 0.05, 0.10];
            for (effect, want) in effects.into_iter().zip(row) {
                let found = blocks_needed(2f64.sqrt() * variation, effect);
                let want = (want <= MOST).then_some(want);
                assert_eq!(found, want, "CV {variation} effect {effect}");
            }
        }
    }

    /// Runs that spread by 2 %: for an effect of 3 %, (1.645 + 1.282)^2 * 2 * 0.02^2 over
    /// ln(1.03)^2 over 0.955, and 1.92, is 10.1. Simulated, 10 blocks show equality in 78 %
    /// and 16 in 97 %.
    #[test]
    fn to_show_that_nothing_differs_takes_a_little_longer() {
        let deviation = 2f64.sqrt() * 0.02;
        assert_eq!(blocks_to_show_same(deviation, 0.03), Some(11));
        assert_eq!(blocks_needed(deviation, 0.03), Some(10));
    }

    #[test]
    fn what_could_be_seen_turns_the_plan_round() {
        let deviation = 0.03;
        let blocks = blocks_needed(deviation, 0.02).unwrap();
        let seen = smallest_visible(deviation, blocks);
        // The plan adds the cost of the estimated spread, so it sees a little less than asked.
        assert!(seen < 0.02 && seen > 0.0185, "{seen}");
    }

    #[test]
    fn a_single_run_has_no_spread() {
        assert_eq!(runs_needed(&[1.0], &[1.0, 1.1], 0.03), None);
        assert_eq!(
            runs_needed(&[1.0, 1.0], &[1.0, 1.0], 0.03),
            Some(FEWEST_BLOCKS)
        );
        assert_eq!(
            deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]),
            Some((32f64 / 7.0).sqrt())
        );
    }

    #[test]
    fn what_is_no_number_makes_no_plan() {
        for odd in [f64::NAN, f64::INFINITY] {
            assert_eq!(deviation(&[1.0, odd]), None);
            assert_eq!(blocks_needed(odd, 0.03), None);
            assert_eq!(blocks_needed(0.03, -odd), None);
            assert_eq!(runs_needed(&[1.0, 2.0], &[1.0, odd], 0.03), None);
        }
        for effect in [0.0, -0.5, -2.0, f64::NAN] {
            assert_eq!(blocks_needed(0.03, effect), None, "{effect}");
        }
        assert_eq!(blocks_needed(0.0, 0.03), Some(FEWEST_BLOCKS), "no noise");
        assert_eq!(smallest_visible(0.0, 10), 0.0);
    }
}
