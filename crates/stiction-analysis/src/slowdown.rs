//! By how much one thing takes longer than another: a ratio of times with its interval.
//!
//! Times are compared as logarithms, since what slows a job down multiplies its time.

use crate::estimate::plan::FEWEST_BLOCKS;
use crate::estimate::{rank_sum, signed_rank};

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// One run of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Which round of runs it belongs to, where the things compared took turns.
    pub round: Option<u64>,
    /// Its time, s.
    pub elapsed_s: f64,
}

/// How long one thing takes over another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// The ratio of times: the median of pairwise means of the log ratios of the rounds,
    /// or of all log ratios where there are no rounds (Hodges and Lehmann, 1963).
    pub ratio: f64,
    /// Bounds at 95 %: by the signed ranks of six rounds or more, or by the rank sum of
    /// four runs a side or more. `None` of fewer.
    pub interval: Option<(f64, f64)>,
}

/// How long `loaded` takes over `alone`; `None` when a side has no run, or a time is not
/// above 0.
#[must_use]
pub fn slowdown(alone: &[Run], loaded: &[Run]) -> Option<Slowdown> {
    let is_time = |run: &Run| run.elapsed_s > 0.0 && run.elapsed_s.is_finite();
    if !alone.iter().chain(loaded).all(is_time) {
        return None;
    }
    let logs = |runs: &[Run]| -> Vec<f64> { runs.iter().map(|run| run.elapsed_s.ln()).collect() };
    let (alone_logs, loaded_logs) = (logs(alone), logs(loaded));
    let apart = || rank_sum::interval(&alone_logs, &loaded_logs, CONFIDENCE);
    let (log, interval) = match pairs(alone, loaded) {
        Some(pairs) if pairs.len() >= FEWEST_BLOCKS as usize => (
            signed_rank::hodges_lehmann(&pairs),
            signed_rank::interval(&pairs, CONFIDENCE),
        ),
        Some(_) | None => (rank_sum::hodges_lehmann(&alone_logs, &loaded_logs), apart()),
    };
    Some(Slowdown {
        ratio: log?.exp(),
        interval: interval.map(|(lowest, highest)| (lowest.exp(), highest.exp())),
    })
}

/// The log ratio of each round, where every run has its fellow on the other side.
fn pairs(alone: &[Run], loaded: &[Run]) -> Option<Vec<f64>> {
    if alone.len() != loaded.len() {
        return None;
    }
    let pair = |run: &Run| {
        let round = run.round?;
        let mut fellows = alone.iter().filter(|other| other.round == Some(round));
        let fellow = fellows.next()?;
        fellows
            .next()
            .is_none()
            .then(|| (run.elapsed_s / fellow.elapsed_s).ln())
    };
    loaded.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(times: &[f64]) -> Vec<Run> {
        let numbered = times.iter().zip(0..);
        numbered
            .map(|(&elapsed_s, round)| Run {
                round: Some(round),
                elapsed_s,
            })
            .collect()
    }

    fn unpaired(times: &[f64]) -> Vec<Run> {
        let numbered = runs(times).into_iter();
        numbered.map(|run| Run { round: None, ..run }).collect()
    }

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    #[test]
    fn a_single_run_is_a_ratio_without_bounds() {
        // 307 s under io_halfmem over 259 s, seed 000.
        let found = slowdown(&runs(&[259.47]), &runs(&[306.82])).unwrap();
        assert!(near(found.ratio, 306.82 / 259.47));
        assert_eq!(found.interval, None);
        assert_eq!(slowdown(&[], &runs(&[1.0])), None);
        assert_eq!(slowdown(&runs(&[0.0]), &runs(&[1.0])), None);
    }

    /// Six rounds have an interval from the least to the greatest: 2 of 64 patterns of
    /// signs lie outside, 3.1 %. The drift of the machine, a factor of 8, is in each round
    /// on both sides.
    #[test]
    fn rounds_take_drift_out() {
        let alone = [1.0, 1.5, 2.0, 4.0, 6.0, 8.0];
        let ratios = [2.0, 2.1, 2.2, 1.9, 2.0, 2.05];
        let loaded: Vec<f64> = alone.iter().zip(ratios).map(|(a, r)| a * r).collect();
        let found = slowdown(&runs(&alone), &runs(&loaded)).unwrap();
        let (lowest, highest) = found.interval.unwrap();
        assert!(near(lowest, 1.9) && near(highest, 2.2), "{found:?}");
        assert!(found.ratio > 2.0 && found.ratio < 2.1, "{found:?}");
        let apart = slowdown(&unpaired(&alone), &unpaired(&loaded)).unwrap();
        let (lowest, highest) = apart.interval.unwrap();
        assert!(lowest < 1.0 && highest > 4.0, "{apart:?}");
    }

    /// Four runs a side: 2 of 70 choices lie outside the least and the greatest of the 16
    /// ratios, 2.9 %; three have none.
    #[test]
    fn four_runs_a_side_are_the_fewest() {
        let (alone, loaded) = ([10.0, 10.1, 10.2, 10.4], [20.0, 20.2, 20.4, 21.0]);
        let found = slowdown(&unpaired(&alone), &unpaired(&loaded)).unwrap();
        let (lowest, highest) = found.interval.unwrap();
        assert!(near(lowest, 20.0 / 10.4) && near(highest, 2.1), "{found:?}");
        let few = slowdown(&unpaired(&alone[..3]), &unpaired(&loaded)).unwrap();
        assert_eq!(few.interval, None);
    }
}
