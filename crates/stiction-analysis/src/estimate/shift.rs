//! How a whole distribution shifts: "median better, tail worse" in one picture.
//!
//! The shift function of K. Doksum, "Empirical probability plots and statistical inference
//! for nonlinear models in the two-sample case", Annals of Statistics 2 (1974), at some
//! quantiles, as ratios. Each block gives one ratio a quantile, so that it is runs that are
//! compared and not operations; intervals hold for all quantiles together.

use stiction_core::Seed;

use super::{max_t, signed_rank};

/// The deciles and the tail, percent.
pub const PERCENTILES: [f64; 12] = [
    10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.9,
];

/// One quantile on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The typical logarithm of B's value over A's.
    pub typical: f64,
    /// The interval that covers it together with those of all other quantiles; `None` of
    /// fewer than six blocks.
    pub interval: Option<(f64, f64)>,
    /// The p-value, adjusted for the number of quantiles.
    pub p_adjusted: f64,
}

/// The shift of each quantile. `ratios` holds, quantile by quantile, the logarithm of B's
/// value over A's in each block; all have the same blocks in the same order. `None` of
/// no blocks, and of a quantile with a value that is not finite.
///
/// # Panics
/// When quantiles have different numbers of blocks.
#[must_use]
pub fn shifts(ratios: &[Vec<f64>], confidence: f64, seed: Seed) -> Vec<Option<Shift>> {
    let adjusted = max_t::adjusted_p(ratios, seed);
    let intervals = max_t::intervals(ratios, confidence, seed);
    let of_all = ratios.iter().zip(adjusted).zip(intervals);
    of_all
        .map(|((ratios, p_adjusted), interval)| {
            Some(Shift {
                typical: signed_rank::hodges_lehmann(ratios)?,
                interval,
                p_adjusted,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn a_better_median_and_a_worse_tail_are_both_seen() {
        let mut draws = Draws::new(Seed(2));
        let truths = [0.8f64.ln(), 0.0, 2f64.ln()];
        let mut ratios = vec![Vec::new(); 3];
        for _ in 0..10 {
            // What a run shares moves all of its quantiles.
            let shared = 0.02 * draws.normal();
            for (ratios, truth) in ratios.iter_mut().zip(truths) {
                ratios.push(truth + shared + 0.01 * draws.normal());
            }
        }
        let found = shifts(&ratios, 0.95, Seed(1));
        for (found, truth) in found.iter().flatten().zip(truths) {
            let (lowest, highest) = found.interval.unwrap();
            assert!(lowest < truth && truth < highest, "{found:?} {truth}");
            assert_eq!(found.p_adjusted <= 0.01, truth != 0.0, "{found:?}");
        }
        assert!(found[0].unwrap().typical < -0.2 && found[2].unwrap().typical > 0.6);
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_shift() {
        assert_eq!(shifts(&[], 0.95, Seed(1)), []);
        assert_eq!(shifts(&[vec![]], 0.95, Seed(1)), [None]);
        let found = shifts(&[vec![f64::NAN; 8], vec![0.5; 8]], 0.95, Seed(1));
        assert_eq!(found[0], None);
        let equal = found[1].unwrap();
        assert_eq!((equal.typical, equal.interval), (0.5, Some((0.5, 0.5))));
    }
}
