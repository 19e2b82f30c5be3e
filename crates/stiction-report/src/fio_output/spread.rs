//! Least, greatest, mean and deviation, of latencies and of samples.

use stiction_core::Histogram;

/// What fio prints of any set of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    /// Sample standard deviation: divided by one less than there are.
    pub(super) deviation: f64,
    pub(super) count: u64,
}

impl Spread {
    /// Of latencies, ns. The deviation is from the middles of our buckets, which are
    /// 0.1 % wide; all else is exact.
    pub(super) fn of_latencies(latencies: &Histogram) -> Self {
        let (Some(min), Some(max), Some(mean)) =
            (latencies.min_ns(), latencies.max_ns(), latencies.mean_ns())
        else {
            return Self::default();
        };
        let squares = middles(latencies).map(|(middle_ns, count)| {
            let away = middle_ns - mean;
            away * away * count as f64
        });
        Self {
            min,
            max,
            mean,
            deviation: deviation(squares.sum(), latencies.count()),
            count: latencies.count(),
        }
    }

    /// Of samples. As in fio, least and greatest are whole numbers.
    pub(super) fn of_samples(samples: &[f64]) -> Self {
        let count = samples.len() as u64;
        if count == 0 {
            return Self::default();
        }
        let mean = samples.iter().sum::<f64>() / count as f64;
        let squares = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
        Self {
            min: samples.iter().copied().fold(f64::INFINITY, f64::min) as u64,
            max: samples.iter().copied().fold(0.0, f64::max) as u64,
            mean,
            deviation: deviation(squares, count),
            count,
        }
    }
}

fn deviation(squares: f64, count: u64) -> f64 {
    if count < 2 {
        return 0.0;
    }
    (squares / (count - 1) as f64).sqrt()
}

/// Occupied buckets by their middles, ns, and counts. A bucket at 2^m ns and above is
/// 2^(m-10) wide, and below 2048 ns one nanosecond; no middle is beyond the exact least
/// and greatest.
pub(super) fn middles(latencies: &Histogram) -> impl Iterator<Item = (f64, u64)> + '_ {
    let least = latencies.min_ns().unwrap_or(0) as f64;
    let greatest = latencies.max_ns().unwrap_or(0) as f64;
    latencies.buckets().map(move |(highest_ns, count)| {
        let doublings = highest_ns.max(1).ilog2().saturating_sub(10);
        let half = ((1u64 << doublings) - 1) as f64 / 2.0;
        ((highest_ns as f64 - half).clamp(least, greatest), count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_spread_as_arithmetic_has_it() {
        let mut latencies = Histogram::new();
        for ns in [2, 4, 4, 4, 5, 5, 7, 9] {
            latencies.record(ns);
        }
        let spread = Spread::of_latencies(&latencies);
        assert_eq!((spread.min, spread.max, spread.count), (2, 9, 8));
        assert!((spread.mean - 5.0).abs() < 1e-12);
        // The squares of -3 -1 -1 -1 0 0 2 4 add up to 32.
        assert!((spread.deviation - (32f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn long_latencies_spread_to_within_a_bucket() {
        let mut latencies = Histogram::new();
        for ns in [1_000_000, 3_000_000] {
            latencies.record(ns);
        }
        let spread = Spread::of_latencies(&latencies);
        let exact = 2f64.sqrt() * 1e6;
        assert!(
            (spread.deviation - exact).abs() < 1e-3 * exact,
            "{spread:?}"
        );
    }

    #[test]
    fn one_observation_has_no_deviation_and_none_has_nothing() {
        assert_eq!(Spread::of_samples(&[]), Spread::default());
        let one = Spread::of_samples(&[7.9]);
        assert_eq!((one.min, one.max, one.deviation, one.count), (7, 7, 0.0, 1));
    }
}
