//! When a rate or a latency had become steady, as a result and not a promise.
//!
//! A series of rounds (stretches of a recording, or whole runs) is looked at after each
//! of its rounds as it would have been at that moment.

use stiction_core::Recording;

use crate::doubt::series;

/// Rounds before which nothing is called steady by [`Rule::HalfWindow`].
const HALF_WINDOW_ROUNDS_MIN: usize = 10;
/// Shortest window of the same.
const HALF_WINDOW_MIN: usize = 5;
/// Rounds, range and rise of the Solid State Storage Performance Test Specification of
/// SNIA.
const SNIA_ROUNDS: usize = 5;
const SNIA_RANGE: f64 = 0.2;
const SNIA_RISE: f64 = 0.1;
/// Length of a round within a recording: too short a one shows the bursts of queues
/// and throttles instead of the course of things.
const ROUND_NS: u64 = 1_000_000_000;
/// What is cut off as warm-up at least, when the recording says where it ended.
const RAMP_NS_MIN: u64 = 5_000_000_000;

/// When a series counts as steady. Limits are shares of the mean of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// After round 10 or later, over the latest half of all rounds (5 or more): the
    /// fitted line and one standard error of its slope do not rise or fall over the
    /// window by more than `tolerance`, usually 0.03.
    HalfWindow {
        /// Allowed change over the window.
        tolerance: f64,
    },
    /// SNIA's: over 5 rounds, the greatest and the least lie within 20 % of the mean,
    /// and the fitted line does not rise or fall by more than 10 %.
    Snia,
    /// Over `rounds` rounds, none lies further from the mean than `limit` (fio's `iops`
    /// and `bw`).
    Deviation {
        /// Rounds in the window, 2 or more.
        rounds: usize,
        /// Allowed distance.
        limit: f64,
    },
    /// Over `rounds` rounds, the fitted line does not rise or fall by more than `limit`
    /// from one round to the next (fio's `iops_slope` and `bw_slope`).
    Slope {
        /// Rounds in the window, 2 or more.
        rounds: usize,
        /// Allowed change.
        limit: f64,
    },
}

/// The line through a window by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Mean of the rounds.
    pub mean: f64,
    /// Change from one round to the next.
    pub slope: f64,
    /// Standard error of the slope; 0 for a perfect line or two rounds.
    pub slope_error: f64,
}

impl Line {
    /// The line through `rounds`; `None` of fewer than two.
    #[must_use]
    pub fn through(rounds: &[f64]) -> Option<Self> {
        if rounds.len() < 2 {
            return None;
        }
        let n = rounds.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let mean = rounds.iter().sum::<f64>() / n;
        let at = |index: usize| index as f64 - middle;
        let spread: f64 = (0..rounds.len()).map(|index| at(index).powi(2)).sum();
        let points = || rounds.iter().enumerate();
        let slope = points()
            .map(|(index, value)| at(index) * (value - mean))
            .sum::<f64>()
            / spread;
        let residuals: f64 = points()
            .map(|(index, value)| (value - mean - slope * at(index)).powi(2))
            .sum();
        let freedom = n - 2.0;
        let slope_error = if freedom > 0.0 {
            (residuals / freedom / spread).sqrt()
        } else {
            0.0
        };
        Some(Self {
            mean,
            slope,
            slope_error,
        })
    }
}

/// What a series came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// After how many rounds the series was first steady; `None` when it never was.
    pub reached_after: Option<usize>,
    /// The rounds that were looked at then, or at the end: the first of them, and how
    /// many.
    pub window: (usize, usize),
    /// The line through them.
    pub line: Line,
}

impl Rule {
    /// Judges `rounds`, in time order; `None` when there are too few to say anything.
    #[must_use]
    pub fn judge(self, rounds: &[f64]) -> Option<Steadiness> {
        let looks = (1..=rounds.len()).filter_map(|count| self.look(&rounds[..count]));
        let mut last = None;
        for look in looks {
            if look.reached_after.is_some() {
                return Some(look);
            }
            last = Some(look);
        }
        last
    }

    /// What there is to see after the last of `rounds`.
    fn look(self, rounds: &[f64]) -> Option<Steadiness> {
        let count = rounds.len();
        let length = match self {
            Self::HalfWindow { .. } if count < HALF_WINDOW_ROUNDS_MIN => return None,
            Self::HalfWindow { .. } => HALF_WINDOW_MIN.max(count / 2),
            Self::Snia => SNIA_ROUNDS,
            Self::Deviation { rounds, .. } | Self::Slope { rounds, .. } => rounds,
        };
        let first = count.checked_sub(length)?;
        let window = &rounds[first..];
        let line = Line::through(window)?;
        Some(Steadiness {
            reached_after: self.is_steady(window, line).then_some(count),
            window: (first, length),
            line,
        })
    }

    fn is_steady(self, window: &[f64], line: Line) -> bool {
        let steps = (window.len() - 1) as f64;
        let greatest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = window.iter().copied().fold(f64::INFINITY, f64::min);
        match self {
            Self::HalfWindow { tolerance } => {
                (line.slope.abs() + line.slope_error) * steps <= tolerance * line.mean
            }
            Self::Snia => {
                greatest - least <= SNIA_RANGE * line.mean
                    && line.slope.abs() * steps <= SNIA_RISE * line.mean
            }
            Self::Deviation { limit, .. } => {
                (greatest - line.mean).max(line.mean - least) <= limit * line.mean
            }
            Self::Slope { limit, .. } => line.slope.abs() <= limit * line.mean,
        }
    }
}

/// What is looked at in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Operations per second.
    OperationRate,
    /// Bytes per second.
    ByteRate,
}

/// A recording judged by its seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// In rounds of [`round_ns`](Self::round_ns).
    pub steadiness: Steadiness,
    /// Length of a round: a second, or an interval if that is longer.
    pub round_ns: u64,
}

impl Course {
    /// The course of `figure` in `recording` by `rule`; `None` when it is too short.
    /// Intervals without operations count as such.
    #[must_use]
    pub fn of(recording: &Recording, figure: Figure, rule: Rule) -> Option<Self> {
        let windows = series::windows(recording, ROUND_NS);
        let rates: Vec<f64> = windows
            .iter()
            .map(|window| match figure {
                Figure::OperationRate => window.operation_rate(),
                Figure::ByteRate => window.byte_rate(),
            })
            .collect();
        Some(Self {
            steadiness: rule.judge(&rates)?,
            round_ns: windows.first()?.length_ns,
        })
    }

    /// When it was known to be steady, ns after the start; `None` when it never was.
    #[must_use]
    pub fn reached_ns(&self) -> Option<u64> {
        let rounds = self.steadiness.reached_after?;
        Some(rounds as u64 * self.round_ns)
    }

    /// How much of the beginning is warm-up, ns: what lies before the window that was
    /// steady, and 5 s at least. `None` when there is no steady part.
    #[must_use]
    pub fn ramp_ns(&self) -> Option<u64> {
        self.steadiness.reached_after?;
        let (first, _) = self.steadiness.window;
        Some((first as u64 * self.round_ns).max(RAMP_NS_MIN))
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{Direction, Histogram, Interval, Seed};

    use super::*;

    const HALF: Rule = Rule::HalfWindow { tolerance: 0.03 };

    /// The textbook's five points: slope 6/10, residual sum of squares 2.4, so the error
    /// is sqrt(2.4 / 3 / 10).
    #[test]
    fn the_line_is_that_of_least_squares() {
        let line = Line::through(&[2.0, 4.0, 5.0, 4.0, 5.0]).unwrap();
        assert!((line.mean - 4.0).abs() < 1e-12);
        assert!((line.slope - 0.6).abs() < 1e-12);
        assert!((line.slope_error - 0.08f64.sqrt()).abs() < 1e-12);
        assert_eq!(Line::through(&[1.0]), None);
        let two = Line::through(&[1.0, 3.0]).unwrap();
        assert_eq!((two.slope, two.slope_error), (2.0, 0.0));
    }

    #[test]
    fn what_never_changes_is_steady_as_soon_as_it_may_be() {
        let level = [100.0; 30];
        assert_eq!(HALF.judge(&level).unwrap().reached_after, Some(10));
        assert_eq!(HALF.judge(&level).unwrap().window, (5, 5));
        assert_eq!(Rule::Snia.judge(&level).unwrap().reached_after, Some(5));
        assert_eq!(HALF.judge(&level[..9]), None);
        assert_eq!(Rule::Snia.judge(&level[..4]), None);
    }

    #[test]
    fn what_rises_by_one_in_a_hundred_a_round_is_not_steady() {
        let rising: Vec<f64> = (0..60).map(|round| 100.0 * 1.01f64.powi(round)).collect();
        let seen = HALF.judge(&rising).unwrap();
        assert_eq!(seen.reached_after, None);
        assert_eq!(seen.window, (30, 30));
        // Over five rounds that is 4 %, which SNIA's rule lets pass.
        assert_eq!(Rule::Snia.judge(&rising).unwrap().reached_after, Some(5));
    }

    /// By hand: 100 and 104 lie 2 % from their mean of 102.
    #[test]
    fn deviation_and_slope_have_windows_of_their_own() {
        let rounds = [80.0, 100.0, 104.0, 100.0];
        let judge = |rule: Rule| rule.judge(&rounds).unwrap().reached_after;
        let deviation = |limit| Rule::Deviation { rounds: 2, limit };
        assert_eq!(judge(deviation(0.0197)), Some(3));
        assert_eq!(judge(deviation(0.0195)), None);
        // From 80 to 100 the slope is 20 of 90, then 4 of 102 and -4 of 102.
        let slope = |limit| Rule::Slope { rounds: 2, limit };
        assert_eq!(judge(slope(0.23)), Some(2));
        assert_eq!(judge(slope(0.04)), Some(3));
        assert_eq!(judge(slope(0.039)), None);
    }

    /// Levels that approach 1 as 1 - exp(-round / tau), with normal noise (the sum of
    /// twelve draws): at the moment of declaration the true level is within 0.3 % of the
    /// plateau, to that digit, in 95 of 100 series.
    #[test]
    fn declared_levels_are_the_plateau() {
        for tau in [3.0, 10.0, 25.0] {
            for noise in [0.01, 0.05] {
                let mut errors: Vec<f64> = (0..200)
                    .map(|series| {
                        let level = |round: usize| 1.0 - (-(round as f64) / tau).exp();
                        let chance = |round: usize| {
                            let seed = Seed(series).stream(round as u64);
                            let draw = |n| seed.stream(n).0 as f64 / u64::MAX as f64;
                            (0..12).map(draw).sum::<f64>() - 6.0
                        };
                        let rounds: Vec<f64> = (0..400)
                            .map(|round| level(round) + noise * chance(round))
                            .collect();
                        let reached = HALF.judge(&rounds).unwrap().reached_after;
                        1.0 - level(reached.expect("400 rounds are enough"))
                    })
                    .collect();
                errors.sort_by(f64::total_cmp);
                let worst = errors[189];
                assert!(worst < 0.0035, "tau {tau}, noise {noise}: {worst}");
            }
        }
    }

    fn recording(operations: &[u64]) -> Recording {
        let length_ns = 250_000_000;
        let interval = |(index, &count): (usize, &u64)| {
            let mut latencies = Histogram::new();
            (0..count).for_each(|_| latencies.record(1000));
            Interval {
                start_ns: index as u64 * length_ns,
                length_ns,
                bytes: count * 4096,
                latencies,
            }
        };
        Recording {
            direction: Direction::Read,
            intervals: operations.iter().enumerate().map(interval).collect(),
        }
    }

    #[test]
    fn a_recording_is_judged_by_its_seconds() {
        // Six seconds at a fifth, then sixteen at the full rate, in quarters.
        let quarters = [vec![20; 24], vec![100; 64]].concat();
        let recording = recording(&quarters);
        let course = Course::of(&recording, Figure::ByteRate, HALF).unwrap();
        assert_eq!(course.round_ns, 1_000_000_000);
        // The last five of eleven rounds are the first five that lie in the steady part.
        assert_eq!(course.reached_ns(), Some(11_000_000_000));
        assert_eq!(course.ramp_ns(), Some(6_000_000_000));
        let rate = course.steadiness.line.mean;
        assert!((rate - 4.0 * 100.0 * 4096.0).abs() < 1e-6, "{rate}");
        let cut = recording.after(course.ramp_ns().unwrap());
        assert_eq!(cut.operations(), 6400);
    }

    #[test]
    fn five_seconds_are_cut_off_at_least() {
        let course = Course::of(&recording(&[100; 60]), Figure::OperationRate, HALF).unwrap();
        assert_eq!(course.reached_ns(), Some(10_000_000_000));
        assert_eq!(course.ramp_ns(), Some(5_000_000_000));
        assert_eq!(
            Course::of(&recording(&[100; 20]), Figure::OperationRate, HALF),
            None
        );
    }
}
