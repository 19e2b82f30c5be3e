//! A typical run of one side: its value, and how well it is known.
//!
//! For percentiles of latency this is the interval to show: one value a run, its
//! logarithm. Pooling the operations of all runs and taking the binomial interval for their
//! percentile counts operations, where it is runs that differ: with 2 % between runs it
//! covers 73 % instead of 95 %.

use super::signed_rank;

/// A typical run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typical {
    /// The Hodges-Lehmann estimate of the logarithms, turned back.
    pub value: f64,
    /// The exact interval; `None` of too few runs for one (fewer than six at 95 %).
    pub interval: Option<(f64, f64)>,
    /// How many runs there are.
    pub runs: usize,
}

/// The typical one of `values`, one a run and above 0; `None` of nothing and where some
/// value has no finite logarithm.
#[must_use]
pub fn typical(values: &[f64], confidence: f64) -> Option<Typical> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let interval = signed_rank::interval(&logs, confidence);
    Some(Typical {
        value: signed_rank::hodges_lehmann(&logs)?.exp(),
        interval: interval.map(|(lowest, highest)| (lowest.exp(), highest.exp())),
        runs: values.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_typically_their_middle_one() {
        let found = typical(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 0.95).unwrap();
        assert!((found.value - 8.0).abs() < 1e-12, "{found:?}");
        // qsignrank(.025, 7) = 3: the third averages are those of 2 and 2, 32 and 32.
        let (lowest, highest) = found.interval.unwrap();
        assert!(
            (lowest - 2.0).abs() < 1e-12 && (highest - 32.0).abs() < 1e-12,
            "{found:?}"
        );
    }

    #[test]
    fn few_runs_have_a_value_and_no_interval() {
        let one = typical(&[3.0], 0.95).unwrap();
        assert!((one.value - 3.0).abs() < 1e-15 && one.interval.is_none());
        for odd in [&[][..], &[0.0], &[-1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(typical(odd, 0.95), None, "{odd:?}");
        }
    }
}
