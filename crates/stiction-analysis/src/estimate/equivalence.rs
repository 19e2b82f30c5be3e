//! Whether a difference is shown to be smaller than a margin: two one-sided tests.
//!
//! That no difference was found does not say that there is none. Equivalence turns the
//! burden round: the hypotheses are "at or beyond the margin below" and "at or beyond it
//! above", and both have to be rejected. At level 5 % that is the same as the 90 %
//! interval lying inside the margins. All cells of a comparison may be claimed the same
//! without a correction, because each of the claims has to hold by itself.
//!
//! D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
//! approach for assessing the equivalence of average bioavailability", Journal of
//! Pharmacokinetics and Biopharmaceutics 15 (1987); R. L. Berger and J. C. Hsu,
//! "Bioequivalence trials, intersection-union tests and equivalence confidence sets",
//! Statistical Science 11 (1996).

use super::signed_rank;
use super::student::Student;

/// Whether the exact interval of confidence 1 - 2 `level` lies inside (-`margin`,
/// `margin`): what [`p_signed_rank`] at or below `level` says.
///
/// `differences` are logarithms and `margin` is ln(1 + effect). False when there are
/// too few of them for such an interval (fewer than five at 5 %), when some are not
/// finite, and when the margin is not above 0.
#[must_use]
pub fn is_shown(differences: &[f64], margin: f64, level: f64) -> bool {
    signed_rank::interval(differences, 1.0 - 2.0 * level)
        .is_some_and(|(lowest, highest)| -margin < lowest && highest < margin)
}

/// The p-value of "the centre lies at or beyond the margins", by two exact signed-rank
/// tests: the larger of the two. 1 where some difference is not finite.
#[must_use]
pub fn p_signed_rank(differences: &[f64], margin: f64) -> f64 {
    let above: Vec<f64> = differences.iter().map(|d| d + margin).collect();
    let below: Vec<f64> = differences.iter().map(|d| margin - d).collect();
    signed_rank::p_above(&above).max(signed_rank::p_above(&below))
}

/// The same by two t-tests, for noise that is normal.
#[must_use]
pub fn p_student(estimate: &Student, margin: f64) -> f64 {
    estimate.p_above(-margin).max(estimate.p_below(margin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn five_equal_signs_are_the_fewest_that_show_it() {
        // One of 2^5 patterns is at most 5 %, one of 2^4 is not.
        let near = [0.001, -0.002, 0.003, -0.001, 0.002];
        assert!(is_shown(&near, 0.03, 0.05));
        assert_eq!(p_signed_rank(&near, 0.03), 1.0 / 32.0);
        assert!(!is_shown(&near[..4], 0.03, 0.05));
        assert_eq!(p_signed_rank(&near[..4], 0.03), 1.0 / 16.0);
    }

    #[test]
    fn exactly_at_the_margin_nothing_is_shown() {
        assert!(!is_shown(&[0.03; 10], 0.03, 0.05));
        assert_eq!(p_signed_rank(&[0.03; 10], 0.03), 1.0);
        assert!(is_shown(&[0.0; 10], 0.03, 0.05), "all equal");
    }

    #[test]
    fn nothing_and_what_is_no_number_show_nothing() {
        for odd in [&[][..], &[0.0], &[f64::NAN; 10], &[f64::INFINITY; 10]] {
            assert!(!is_shown(odd, 0.03, 0.05), "{odd:?}");
            assert!(p_signed_rank(odd, 0.03) >= 0.5, "{odd:?}");
        }
        for margin in [0.0, -1.0, f64::NAN] {
            assert!(!is_shown(&[0.0; 10], margin, 0.05), "{margin}");
        }
    }

    proptest! {
        #[test]
        fn the_interval_and_the_two_tests_agree(
            differences in prop::collection::vec(-0.05f64..0.05, 5..14)
        ) {
            let by_tests = p_signed_rank(&differences, 0.03) <= 0.05;
            prop_assert_eq!(is_shown(&differences, 0.03, 0.05), by_tests);
        }
    }
}
