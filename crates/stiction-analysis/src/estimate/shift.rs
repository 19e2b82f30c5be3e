//! How a whole distribution of latencies shifts: "median better, tail worse" in one picture.
//!
//! The shift function of K. Doksum, "Empirical probability plots and statistical inference
//! for nonlinear models in the two-sample case", Annals of Statistics 2 (1974), at some
//! percentiles, as ratios. Each block gives one ratio a percentile, so that it is runs that
//! are compared and not operations; intervals hold for all percentiles together.

use stiction_core::{Histogram, Seed};

use super::{max_t, signed_rank};

/// The deciles and the tail, as shares.
pub const QUANTILES: [f64; 12] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999,
];

/// One quantile on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Which, as a share: 0.999.
    pub quantile: f64,
    /// The typical logarithm of B's latency over A's: above 0 B is slower.
    pub typical: f64,
    /// The interval that covers it together with those of all other quantiles; `None` of
    /// fewer than six blocks.
    pub interval: Option<(f64, f64)>,
    /// The p-value, adjusted for the number of quantiles.
    pub p_adjusted: f64,
}

/// The shift of each of [`QUANTILES`] that has enough operations behind it (10 over
/// 1 - quantile) on both sides of every block; `blocks` holds A's and B's latencies.
#[must_use]
pub fn shift(blocks: &[(&Histogram, &Histogram)], confidence: f64, seed: Seed) -> Vec<Shift> {
    let (quantiles, ratios): (Vec<f64>, Vec<Vec<f64>>) = QUANTILES
        .into_iter()
        .filter_map(|quantile| Some((quantile, log_ratios(blocks, quantile)?)))
        .unzip();
    let adjusted = max_t::adjusted_p(&ratios, seed);
    let intervals = max_t::intervals(&ratios, confidence, seed);
    let found = quantiles
        .into_iter()
        .zip(ratios)
        .zip(adjusted)
        .zip(intervals);
    found
        .filter_map(|(((quantile, ratios), p_adjusted), interval)| {
            Some(Shift {
                quantile,
                typical: signed_rank::hodges_lehmann(&ratios)?,
                interval,
                p_adjusted,
            })
        })
        .collect()
}

/// The logarithm of B's latency over A's in each block.
fn log_ratios(blocks: &[(&Histogram, &Histogram)], quantile: f64) -> Option<Vec<f64>> {
    let at = |side: &Histogram| Some(side.quantile_ns_if_enough(quantile)?.max(1) as f64);
    blocks
        .iter()
        .map(|(a, b)| Some((at(b)? / at(a)?).ln()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    /// A thousand latencies, the slowest two percent of them `tail` times as slow.
    fn run(draws: &mut Draws, median_ns: f64, tail: f64) -> Histogram {
        let mut histogram = Histogram::new();
        let noise = (0.02 * draws.normal()).exp();
        for index in 0..1000 {
            let slower = if index >= 980 { tail } else { 1.0 };
            let spread = 1.0 + f64::from(index) / 1000.0;
            histogram.record((median_ns * noise * spread * slower) as u64);
        }
        histogram
    }

    #[test]
    fn a_better_median_and_a_worse_tail_are_both_seen() {
        let mut draws = Draws::new(Seed(2));
        let runs: Vec<(Histogram, Histogram)> = (0..10)
            .map(|_| (run(&mut draws, 1e5, 2.0), run(&mut draws, 0.8e5, 5.0)))
            .collect();
        let blocks: Vec<(&Histogram, &Histogram)> = runs.iter().map(|(a, b)| (a, b)).collect();
        let found = shift(&blocks, 0.95, Seed(1));
        // A thousand operations are enough for p99 and not for p99.9.
        assert_eq!(found.len(), QUANTILES.len() - 1);
        let at = |quantile: f64| *found.iter().find(|at| at.quantile == quantile).unwrap();
        let (median, tail) = (at(0.5), at(0.99));
        let truth = (0.8f64.ln(), (0.8f64 * 2.5).ln());
        for (point, truth) in [(median, truth.0), (tail, truth.1)] {
            let (lowest, highest) = point.interval.unwrap();
            assert!(lowest < truth && truth < highest, "{point:?} {truth}");
            assert!(
                highest - lowest < 0.08 && point.p_adjusted < 0.01,
                "{point:?}"
            );
        }
        assert!(median.typical < 0.0 && tail.typical > 0.0);
    }

    #[test]
    fn nothing_has_no_shift() {
        assert_eq!(shift(&[], 0.95, Seed(1)), []);
        let empty = Histogram::new();
        assert_eq!(shift(&[(&empty, &empty)], 0.95, Seed(1)), []);
    }
}
