//! When a rate or a latency had become steady, as a result and not a promise.
//!
//! A series of rounds (stretches of a recording, or whole runs) is looked at after each
//! of its rounds as it would have been at that moment.

use stiction_core::Recording;
pub use stiction_core::{Line, Steadiness, SteadyRule as Rule};

use crate::doubt::series;

/// Length of a round within a recording: too short a one shows the bursts of queues
/// and throttles instead of the course of things.
const ROUND_NS: u64 = 1_000_000_000;
/// What is cut off as warm-up at least, when the recording says where it ended.
const RAMP_NS_MIN: u64 = 5_000_000_000;

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
    use stiction_core::{Direction, Histogram, Interval};

    use super::*;

    const HALF: Rule = Rule::HalfWindow { tolerance: 0.03 };

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
