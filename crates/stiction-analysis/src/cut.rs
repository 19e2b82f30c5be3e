//! The figures of a part of what was recorded: warm-up as a cut that can be moved after
//! the fact.
//!
//! Only figures of operations follow a cut, since only they are kept by intervals. What a
//! phase took of CPU, and what its witnesses saw, stays that of the whole phase.

use stiction_core::{
    AllActive, Caveat, CaveatCode, Phase, Session, all_active_within, figures_of_operations,
    format_duration_ns, is_of_operations,
};

/// Which part of each phase is looked at, ns from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What lies before is left out, to the next edge of an interval.
    pub from_ns: u64,
    /// What lies after is left out, from the last edge of an interval before; `None` for
    /// nothing.
    pub to_ns: Option<u64>,
}

impl Cut {
    /// The session with the figures of this part. Phases without recordings, such as
    /// imported ones, stay as they are.
    #[must_use]
    pub fn of(self, session: &Session) -> Session {
        let mut session = session.clone();
        let phases = session
            .trials
            .iter_mut()
            .flat_map(|trial| &mut trial.phases);
        for phase in phases.filter(|phase| phase.has_numbers() && !phase.recordings.is_empty()) {
            self.apply(phase);
        }
        session
    }

    fn apply(self, phase: &mut Phase) {
        let whole_ns = phase.elapsed_ns;
        let to_ns = self.to_ns.unwrap_or(u64::MAX);
        let stretch = all_active(phase);
        for recording in &mut phase.recordings {
            *recording = recording.between(self.from_ns, to_ns);
        }
        let Some((begin_ns, end_ns)) = edges(phase) else {
            phase.measurements.clear();
            phase.caveats.push(Caveat::new(
                CaveatCode::TooShort,
                format!(
                    "it took {}, and nothing of it was recorded {}",
                    format_duration_ns(whole_ns as f64),
                    self.words()
                ),
            ));
            return;
        };
        // The last interval may reach beyond what happened in it.
        phase.elapsed_ns = end_ns.min(whole_ns).saturating_sub(begin_ns);
        let all_active = stretch.and_then(|stretch| all_active_within(phase, stretch));
        let mut figures = figures_of_operations(phase, all_active);
        let others = phase.measurements.drain(..);
        figures.extend(others.filter(|other| !is_of_operations(&other.metric)));
        phase.measurements = figures;
        if let Some(job) = &mut phase.job {
            // As of a job with this warm-up, which whoever works out more figures leaves
            // out of the time once more.
            job.ramp_ns = self.from_ns;
            phase.elapsed_ns += begin_ns;
        }
        phase.notes.push(format!(
            "figures of operations are of {} to {} of {}; all others are of the whole",
            format_duration_ns(begin_ns as f64),
            format_duration_ns(end_ns.min(whole_ns) as f64),
            format_duration_ns(whole_ns as f64)
        ));
    }

    /// `from 5.00 s to 20.0 s`
    fn words(self) -> String {
        let from = format!("from {} on", format_duration_ns(self.from_ns as f64));
        match self.to_ns {
            None => from,
            Some(to_ns) => format!("{from} until {}", format_duration_ns(to_ns as f64)),
        }
    }
}

/// Where what is left begins and ends; `None` when nothing is.
fn edges(phase: &Phase) -> Option<(u64, u64)> {
    let intervals = || phase.recordings.iter().flat_map(|one| &one.intervals);
    let begin_ns = intervals().map(|one| one.start_ns).min()?;
    let end_ns = intervals().map(|one| one.start_ns + one.length_ns).max()?;
    Some((begin_ns, end_ns))
}

/// The stretch in which every worker was active, by their first and last operations. Its
/// bytes are counted anew by intervals.
fn all_active(phase: &Phase) -> Option<AllActive> {
    Some(AllActive {
        start_ns: phase.workers.iter().map(|worker| worker.first_ns).max()?,
        end_ns: phase.workers.iter().map(|worker| worker.last_ns).min()?,
        bytes: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{
        Direction, Histogram, Interval, Job, Measurement, Metric, PhaseKind, Recording, metrics,
    };

    const S: u64 = 1_000_000_000;

    /// Ten seconds: in the first four 100 reads of 4 KiB a second that take 5 ms each, and
    /// then 1000 that take 1 ms.
    fn phase() -> Phase {
        let interval = |index: u64| {
            let (count, ns) = if index < 4 {
                (100, 5_000_000)
            } else {
                (1000, 1_000_000)
            };
            let mut latencies = Histogram::new();
            (0..count).for_each(|_| latencies.record(ns));
            Interval {
                start_ns: index * S,
                length_ns: S,
                bytes: count * 4096,
                latencies,
            }
        };
        Phase {
            elapsed_ns: 10 * S,
            job: Some(Job::default()),
            recordings: vec![Recording {
                direction: Direction::Read,
                intervals: (0..10).map(interval).collect(),
            }],
            measurements: vec![
                Measurement::new(metrics::OPERATION_RATE, 640.0, 6400),
                Measurement::new(metrics::LATENCY_P9999, 5e6, 6400),
                Measurement::new(metrics::CPU_PERCENT, 25.0, 1),
            ],
            ..Phase::new("read", PhaseKind::Measure)
        }
    }

    fn cut(from_ns: u64, to_ns: Option<u64>) -> Phase {
        let mut phase = phase();
        Cut { from_ns, to_ns }.apply(&mut phase);
        phase
    }

    fn value(phase: &Phase, metric: &Metric) -> Option<f64> {
        phase.value(metric)
    }

    #[test]
    fn figures_are_those_of_the_part_and_cpu_is_of_the_whole() {
        let warm = cut(4 * S, None);
        assert_eq!(value(&warm, &metrics::OPERATION_RATE), Some(1000.0));
        assert_eq!(value(&warm, &metrics::ELAPSED), Some(6.0));
        assert_eq!(value(&warm, &metrics::LATENCY_MAX), Some(1e6));
        assert_eq!(value(&warm, &metrics::CPU_PERCENT), Some(25.0));
        // 6000 operations are too few for this one; the old value is gone.
        assert_eq!(value(&warm, &metrics::LATENCY_P9999), None);
        assert_eq!(
            warm.measurements.len(),
            warm.measurements
                .iter()
                .map(|m| &m.metric.name)
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        );
        assert!(
            warm.notes[0].contains("4.00 s to 10.0 s of 10.0 s"),
            "{:?}",
            warm.notes
        );

        let cold = cut(0, Some(4 * S + 1));
        assert_eq!(value(&cold, &metrics::OPERATION_RATE), Some(100.0));
        assert_eq!(value(&cold, &metrics::LATENCY_MEAN), Some(5e6));

        let middle = cut(3 * S - 1, Some(5 * S));
        assert_eq!(value(&middle, &metrics::OPERATIONS), Some(1100.0));
        assert_eq!(value(&middle, &metrics::OPERATION_RATE), Some(550.0));
    }

    /// Reports work out figures of their own from what is left.
    #[test]
    fn the_part_is_as_a_phase_with_that_warm_up() {
        for (from_ns, to_ns, elapsed_ns) in [
            (4 * S, None, 6 * S),
            (0, Some(5 * S), 5 * S),
            (3 * S - 1, Some(5 * S), 2 * S),
        ] {
            let part = cut(from_ns, to_ns);
            let ramp_ns = part.job.as_ref().unwrap().ramp_ns;
            let counted = part.after_ramp(ramp_ns);
            assert_eq!(counted.elapsed_ns, elapsed_ns);
            assert_eq!(counted.recordings, part.recordings);
            let seconds = elapsed_ns as f64 / S as f64;
            assert_eq!(value(&part, &metrics::ELAPSED), Some(seconds));
        }
    }

    #[test]
    fn a_cut_at_nothing_is_the_whole() {
        let whole = cut(0, None);
        assert_eq!(value(&whole, &metrics::OPERATION_RATE), Some(640.0));
        assert_eq!(whole.recordings, phase().recordings);
    }

    #[test]
    fn a_cut_that_leaves_nothing_says_so() {
        let gone = cut(11 * S, None);
        assert!(!gone.has_numbers());
        assert_eq!(gone.caveats[0].code, CaveatCode::TooShort);
        assert!(
            gone.caveats[0].detail.contains("10.0 s"),
            "{:?}",
            gone.caveats
        );
    }
}
