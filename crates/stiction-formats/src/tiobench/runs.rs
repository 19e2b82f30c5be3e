//! How many runs a report adds up.
//!
//! With `--numruns R` the driver adds up the average latency, the maximum and the
//! shares of slow requests of all runs and never divides, so that they are R times
//! too big; rates and CPU shares are right. Little's law tells R: in one run the
//! operations of `threads` threads cannot take longer than `threads` times the run,
//! so
//!
//! ```text
//! k = mean_ms / 1000 x rate / block / threads
//! ```
//! (time in operations over time of the run, for one thread) is at most 1 for one
//! run and at most R for a sum over R. One thread that only reads is in a read
//! nearly all the time: there k is R to within a few percent.

use super::row::Printed;
use crate::number::{MIB, half_ulp};

/// How far k of one thread may lie from a whole number, as a share of it.
const ONE_THREAD_SLACK: f64 = 0.05;
/// How far rounding of the driver's own clock may lift k above its bound.
const ROUNDING_SLACK: f64 = 0.01;
/// More runs than anybody does; a larger k comes from something else.
const RUNS_MAX: u64 = 100;

/// k of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) k: f64,
    /// The lowest k that the printed digits allow.
    pub(super) k_low: f64,
    pub(super) threads: u64,
    pub(super) is_sequential_read: bool,
    /// Line of the row, from 1.
    pub(super) line: usize,
}

impl Sample {
    /// k of a row whose block size and threads are known.
    pub(super) fn of(
        printed: &Printed,
        block_bytes: u64,
        threads: u64,
        is_sequential_read: bool,
        line: usize,
    ) -> Option<Self> {
        let (mean_ms, rate) = (printed.mean_ms.value?, printed.rate.value?);
        if block_bytes == 0 || threads == 0 {
            return None;
        }
        let k = |mean_ms: f64, rate: f64| {
            mean_ms.max(0.0) / 1000.0 * rate.max(0.0) * MIB / block_bytes as f64 / threads as f64
        };
        Some(Self {
            k: k(mean_ms, rate),
            k_low: k(
                mean_ms - half_ulp(&printed.mean_ms.text),
                rate - half_ulp(&printed.rate.text),
            ),
            threads,
            is_sequential_read,
            line,
        })
    }
}

/// What the text itself says of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// `--numruns` of the driver's command, or what our own report says.
    pub(super) numruns: Option<u64>,
    /// Runs that the figures are means over, as our own report says.
    pub(super) means: Option<u64>,
    /// The highest `Run #N` of a progress line.
    pub(super) progress: Option<u64>,
}

/// How many runs the figures of a text add up, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// So many.
    Known(u64, String),
    /// So many at least, and that many are taken.
    AtLeast(u64, String),
    /// They are means over so many, not sums.
    Means(u64),
    /// Nothing tells.
    Unknown,
    /// The figures contradict each other.
    Contradiction(String),
}

impl Runs {
    /// What the sums are divided by.
    pub(super) fn divisor(&self) -> u64 {
        match self {
            Self::Known(runs, _) | Self::AtLeast(runs, _) => *runs,
            Self::Means(_) | Self::Unknown | Self::Contradiction(_) => 1,
        }
    }

    /// Runs that a figure stands on, where that is certain.
    pub(super) fn certain(&self) -> u64 {
        match self {
            Self::Known(runs, _) | Self::Means(runs) => *runs,
            Self::AtLeast(..) | Self::Unknown | Self::Contradiction(_) => 1,
        }
    }
}

/// How many runs `samples`, all of one text, add up.
pub(super) fn infer(samples: &[Sample], said: Said) -> Runs {
    let highest = samples
        .iter()
        .copied()
        .max_by(|a, b| a.k_low.total_cmp(&b.k_low));
    let bound = highest.map_or(0, |sample| runs_needed(sample.k_low));
    if bound > RUNS_MAX {
        return Runs::Contradiction(format!(
            "latency x rate of {} say that {bound} runs were added up",
            place(highest)
        ));
    }
    if let Some(runs) = said.means {
        return Runs::Means(runs);
    }
    if let Some(runs) = said.numruns {
        return if bound > runs {
            Runs::Contradiction(format!(
                "the text says {runs} runs, but latency x rate of {} need {bound}",
                place(highest)
            ))
        } else {
            Runs::Known(runs, format!("the text says {runs} runs"))
        };
    }
    if let Some((sample, runs)) = samples.iter().find_map(one_thread) {
        return Runs::Known(
            runs,
            format!(
                "one thread that only reads was in reads for {:.2} times the length of a run \
                 (line {})",
                sample.k, sample.line
            ),
        );
    }
    let progress = said.progress.unwrap_or(0);
    if progress > bound {
        return Runs::AtLeast(progress, format!("a progress line says run {progress}"));
    }
    match highest {
        Some(sample) if bound >= 2 => Runs::AtLeast(
            bound,
            format!(
                "each of {} threads was in operations for {:.2} times the length of a run \
                 (line {}), so at least {bound} runs were added up",
                sample.threads, sample.k, sample.line
            ),
        ),
        Some(sample) if sample.k > 0.5 => {
            Runs::Known(1, "no thread's operations exceed one run".to_owned())
        }
        _ => Runs::Unknown,
    }
}

/// The fewest runs that allow `k_low`.
fn runs_needed(k_low: f64) -> u64 {
    (k_low - ROUNDING_SLACK).ceil().clamp(0.0, 1e9) as u64
}

/// The runs that a row of one reading thread shows.
fn one_thread(sample: &Sample) -> Option<(Sample, u64)> {
    let runs = sample.k.round();
    let is_near = (sample.k - runs).abs() <= ONE_THREAD_SLACK * runs;
    let is_one = sample.threads == 1 && sample.is_sequential_read;
    (is_one && is_near && (1.0..=RUNS_MAX as f64).contains(&runs)).then_some((*sample, runs as u64))
}

fn place(sample: Option<Sample>) -> String {
    sample.map_or_else(String::new, |sample| format!("line {}", sample.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(k: f64, threads: u64) -> Sample {
        Sample {
            k,
            k_low: k * 0.999,
            threads,
            is_sequential_read: true,
            line: 7,
        }
    }

    fn runs(samples: &[Sample]) -> Runs {
        infer(samples, Said::default())
    }

    /// The values of k that published reports have: 2.96 to 3.01 at one thread for
    /// three runs, 0.99 for one, 1.72 at most for two.
    #[test]
    fn one_thread_tells_the_number_of_runs() {
        assert!(matches!(
            runs(&[sample(2.96, 1), sample(2.1, 64)]),
            Runs::Known(3, _)
        ));
        assert!(matches!(runs(&[sample(3.01, 1)]), Runs::Known(3, _)));
        assert!(matches!(
            runs(&[sample(0.99, 1), sample(0.77, 256)]),
            Runs::Known(1, _)
        ));
    }

    #[test]
    fn many_threads_give_a_bound() {
        assert!(matches!(
            runs(&[sample(1.72, 8), sample(0.9, 16)]),
            Runs::AtLeast(2, _)
        ));
        assert!(matches!(runs(&[sample(2.5, 10)]), Runs::AtLeast(3, _)));
        assert!(matches!(runs(&[sample(1.005, 10)]), Runs::Known(1, _)));
        assert_eq!(runs(&[sample(0.1, 10)]), Runs::Unknown);
        assert_eq!(runs(&[]), Runs::Unknown);
    }

    #[test]
    fn what_the_text_says_comes_first_unless_it_cannot_be() {
        let said = |numruns, progress| Said {
            numruns,
            progress,
            ..Said::default()
        };
        assert!(matches!(
            infer(&[sample(0.1, 8)], said(Some(5), None)),
            Runs::Known(5, _)
        ));
        assert!(matches!(
            infer(&[sample(0.9, 8)], said(None, Some(2))),
            Runs::AtLeast(2, _)
        ));
        assert!(matches!(
            infer(&[sample(2.9, 8)], said(Some(1), None)),
            Runs::Contradiction(_)
        ));
        assert!(matches!(runs(&[sample(4000.0, 8)]), Runs::Contradiction(_)));
        let means = Said {
            means: Some(3),
            ..Said::default()
        };
        assert_eq!(infer(&[sample(0.99, 1)], means), Runs::Means(3));
    }
}
