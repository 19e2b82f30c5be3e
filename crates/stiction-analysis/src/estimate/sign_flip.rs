//! The test of a mean by turning differences round, exactly.
//!
//! With no effect each difference could as well have had the other sign. All patterns of
//! signs are tried: R. A. Fisher, "The design of experiments" (1935), section 21. Unlike
//! ranks it keeps the sizes, so a few large differences weigh more.

/// Most differences of which all patterns are tried: half a million sums.
pub const MOST: usize = 20;

/// The share of all patterns of signs whose sum is as far from 0: the two-sided p-value of
/// the hypothesis that `differences` are symmetric about 0.
///
/// 1 of nothing, of zeros, and where some difference is not finite; `None` of more than
/// [`MOST`], where [`max_t`](super::max_t) draws patterns at random.
#[must_use]
pub fn p_two_sided(differences: &[f64]) -> Option<f64> {
    let turned: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    if !super::all_finite(differences) || turned.is_empty() {
        return Some(1.0);
    }
    if turned.len() > MOST {
        return None;
    }
    let observed = turned.iter().sum::<f64>().abs();
    let size: f64 = turned.iter().map(|d| d.abs()).sum();
    // Equal sums in another order of addition differ in the last bits.
    let as_far = observed - size * 1e-12;
    // Turning all round changes no size: the first may keep its sign.
    let half = 1u32 << (turned.len() - 1);
    let mut sum: f64 = turned.iter().sum();
    let mut signs = turned;
    let mut count = u32::from(sum.abs() >= as_far);
    for step in 1..half {
        // From one pattern to the next in Gray's order a single sign changes.
        let changed = step.trailing_zeros() as usize + 1;
        sum -= 2.0 * signs[changed];
        signs[changed] = -signs[changed];
        count += u32::from(sum.abs() >= as_far);
    }
    Some(f64::from(count) / f64::from(half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_of_one_sign_are_two_patterns() {
        for n in [1, 2, 6, 20] {
            let differences: Vec<f64> = (1..=n).map(f64::from).collect();
            let patterns = f64::from(1u32 << n);
            assert_eq!(p_two_sided(&differences), Some(2.0 / patterns));
        }
    }

    #[test]
    fn nothing_and_what_is_no_number_decide_nothing() {
        for odd in [
            &[][..],
            &[0.0, 0.0],
            &[1.0, f64::NAN],
            &[1.0, f64::INFINITY],
        ] {
            assert_eq!(p_two_sided(odd), Some(1.0), "{odd:?}");
        }
        assert_eq!(p_two_sided(&[1.0; 21]), None);
        // Zeros turn into themselves.
        assert_eq!(p_two_sided(&[0.0, 1.0, 1.0, 0.0]), p_two_sided(&[1.0; 2]));
        assert_eq!(p_two_sided(&[0.0; 30]), Some(1.0));
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_all_patterns(
            // Few distinct values, so that equal sums abound.
            differences in prop::collection::vec((-6i32..=6).prop_map(|d| f64::from(d) / 10.0), 1..11)
        ) {
            let tenths: Vec<i32> = differences.iter().map(|d| (d * 10.0).round() as i32).collect();
            let sum = |pattern: u32| -> i32 {
                let signed = tenths.iter().enumerate();
                signed.map(|(i, d)| if pattern >> i & 1 == 1 { -d } else { *d }).sum()
            };
            let patterns = 1u32 << tenths.len();
            let as_far = (0..patterns).filter(|&p| sum(p).abs() >= sum(0).abs()).count();
            let share = as_far as f64 / f64::from(patterns);
            prop_assert_eq!(p_two_sided(&differences), Some(share));
        }
    }
}
