//! What all workers did together, round by round, and whether that has become steady.
//!
//! Workers add what they did in a round when it is over; somebody who is no worker
//! judges the rounds that all of them have closed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use stiction_core::{Job, Steadiness, SteadyFigure, SteadyStop, format_duration_ns};

/// Most rounds that are looked at; after them nothing becomes steady any more.
const ROUNDS_MAX: u64 = 1 << 16;

/// What a rate came to that was to become steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Which rate.
    pub figure: SteadyFigure,
    /// When it was known to be steady, ns after the job began; `None` when it never
    /// was.
    pub reached_ns: Option<u64>,
    /// Mean rate in the window that was looked at last, per second.
    pub mean_per_s: f64,
    /// Change of the rate from one round to the next, by the line through that window,
    /// per second.
    pub slope_per_s: f64,
    /// Length of a round, ns.
    pub round_ns: u64,
}

impl std::fmt::Display for Steady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.reached_ns {
            Some(ns) => write!(f, "steady after {}", format_duration_ns(ns as f64))?,
            None => f.write_str("not steady at the end")?,
        }
        let unit = match self.figure {
            SteadyFigure::Operations => "operations",
            SteadyFigure::Bytes => "bytes",
        };
        let change = if self.mean_per_s > 0.0 {
            100.0 * self.slope_per_s / self.mean_per_s
        } else {
            0.0
        };
        write!(
            f,
            ": {:.0} {unit}/s, changing by {change:+.3} % in each {}",
            self.mean_per_s,
            format_duration_ns(self.round_ns as f64)
        )
    }
}

/// The rounds of a job, which its workers fill.
#[derive(Debug)]
pub(crate) struct Rounds {
    stop: SteadyStop,
    workers: u32,
    rounds: Box<[Round]>,
    reached: OnceLock<Steadiness>,
}

/// One round.
#[derive(Debug, Default)]
struct Round {
    /// Operations or bytes.
    amount: AtomicU64,
    /// Workers that have added theirs.
    closed: AtomicU32,
}

impl Rounds {
    /// Empty rounds for `job`, if it is to end when it is steady.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let stop = job.steady_stop?;
        let longest_ns = job.duration_ns.unwrap_or(u64::MAX);
        let count = (longest_ns / stop.round_ns.max(1)).min(ROUNDS_MAX);
        Some(Self {
            stop,
            workers: job.workers() as u32,
            rounds: (0..count).map(|_| Round::default()).collect(),
            reached: OnceLock::new(),
        })
    }

    /// Length of a round, ns, and of what comes before the first, ns.
    pub(crate) fn measure_ns(&self) -> (u64, u64) {
        (self.stop.round_ns, self.stop.ramp_ns)
    }

    /// Adds what a worker did in round `round`, which is over.
    pub(crate) fn close(&self, round: u64, operations: u64, bytes: u64) {
        let amount = match self.stop.figure {
            SteadyFigure::Operations => operations,
            SteadyFigure::Bytes => bytes,
        };
        if let Some(round) = self.rounds.get(round as usize) {
            round.amount.fetch_add(amount, Ordering::Relaxed);
            round.closed.fetch_add(1, Ordering::Release);
        }
    }

    /// Judges what has been closed beyond the `known` first rounds, and remembers when
    /// it is steady. Returns how many are known now, and whether it is steady.
    pub(crate) fn look(&self, known: &mut Vec<f64>) -> bool {
        let round_s = self.stop.round_ns as f64 / 1e9;
        while let Some(round) = self.rounds.get(known.len())
            && round.closed.load(Ordering::Acquire) == self.workers
        {
            known.push(round.amount.load(Ordering::Relaxed) as f64 / round_s);
            let steady = self.stop.judge(known);
            if let Some(steady) = steady.filter(|one| one.reached_after.is_some()) {
                self.reached.get_or_init(|| steady);
                return true;
            }
        }
        false
    }

    /// What it came to; `None` when there were too few rounds to say anything.
    pub(crate) fn result(&self) -> Option<Steady> {
        let mut known = Vec::new();
        let steadiness = self.reached.get().copied().or_else(|| {
            self.look(&mut known);
            self.stop.judge(&known)
        })?;
        let SteadyStop {
            figure,
            round_ns,
            ramp_ns,
            ..
        } = self.stop;
        let reached = steadiness.reached_after;
        Some(Steady {
            figure,
            reached_ns: reached.map(|rounds| ramp_ns + rounds as u64 * round_ns),
            mean_per_s: steadiness.line.mean,
            slope_per_s: steadiness.line.slope,
            round_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{Region, SteadyLimit, SteadySense};

    use super::*;

    fn rounds(workers: usize) -> Rounds {
        let region = Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: 4096,
        };
        let job = Job {
            regions: vec![region; workers],
            steady_stop: Some(SteadyStop {
                figure: SteadyFigure::Operations,
                sense: SteadySense::Slope,
                limit: SteadyLimit::Ppm(10_000),
                rounds: 3,
                round_ns: 500_000_000,
                ramp_ns: 2_000_000_000,
            }),
            ..Job::default()
        };
        Rounds::new(&job).unwrap()
    }

    /// Two workers: 100, 200, 300, 301 and 300 operations in half a second are twice as
    /// many in a second; from 300 over 301 to 300 the line is level.
    #[test]
    fn rounds_count_when_all_workers_have_closed_them() {
        let rounds = rounds(2);
        let mut known = Vec::new();
        for (round, half) in [50, 100, 150, 150, 150].into_iter().enumerate() {
            rounds.close(round as u64, half, 0);
        }
        assert!(!rounds.look(&mut known) && known.is_empty());
        for (round, half) in [50, 100, 150, 151].into_iter().enumerate() {
            rounds.close(round as u64, half, 0);
        }
        assert!(!rounds.look(&mut known));
        assert_eq!(known, [200.0, 400.0, 600.0, 602.0]);
        rounds.close(4, 150, 0);
        assert!(rounds.look(&mut known));
        let steady = rounds.result().unwrap();
        // Five rounds of half a second after the two that are left out.
        assert_eq!(steady.reached_ns, Some(4_500_000_000));
        assert!((steady.mean_per_s - 1802.0 / 3.0).abs() < 1e-9);
        assert!(steady.slope_per_s.abs() < 1e-9);
        let said = "steady after 4.50 s: 601 operations/s, changing by +0.000 % in each 500 ms";
        assert_eq!(steady.to_string(), said);
    }

    #[test]
    fn what_never_was_steady_is_told_by_its_last_window() {
        let rounds = rounds(1);
        assert_eq!(rounds.result(), None);
        for round in 0..4 {
            rounds.close(round, 100 * (round + 1), 0);
        }
        let steady = rounds.result().unwrap();
        assert_eq!((steady.reached_ns, steady.mean_per_s), (None, 600.0));
        assert_eq!(steady.slope_per_s, 200.0);
        // Beyond the last round there is nothing to close.
        rounds.close(u64::MAX, 1, 1);
    }
}
