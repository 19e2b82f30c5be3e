//! The figures of a job or a group by direction, its warm-up cut off.

use std::borrow::Cow;

use stiction_core::{
    Direction, Measurement, Metric, Phase, PhaseKind, Recording, Subject, figures_of_operations,
    metrics,
};

use crate::figure::figure;
use crate::page::{Role, Span};

/// Directions that have rows of their own, with their names.
const SHOWN: [(Direction, &str); 5] = [
    (Direction::Read, "read"),
    (Direction::Write, "write"),
    (Direction::Trim, "trim"),
    (Direction::Sync, "sync"),
    (Direction::Lateness, "late by"),
];

/// What counts of one or more phases.
pub(super) struct Counted<'a> {
    recordings: Vec<Cow<'a, Recording>>,
    start_ns: u64,
    end_ns: u64,
}

impl<'a> Counted<'a> {
    /// What counts of a phase: all but its warm-up.
    pub(super) fn of(phase: &'a Phase) -> Self {
        let ramp_ns = phase.job.as_ref().map_or(0, |job| job.ramp_ns);
        let end_ns = phase.start_ns + phase.elapsed_ns;
        if ramp_ns == 0 {
            return Self {
                recordings: phase.recordings.iter().map(Cow::Borrowed).collect(),
                start_ns: phase.start_ns,
                end_ns,
            };
        }
        let counted = phase.after_ramp(ramp_ns);
        Self {
            start_ns: end_ns.saturating_sub(counted.elapsed_ns),
            recordings: counted.recordings.into_iter().map(Cow::Owned).collect(),
            end_ns,
        }
    }

    /// Several as one, from the first start to the last end.
    pub(super) fn together(each: &'a [Self]) -> Option<Self> {
        let recordings = each.iter().flat_map(|one| &one.recordings);
        Some(Self {
            recordings: recordings.map(|one| Cow::Borrowed(&**one)).collect(),
            start_ns: each.iter().map(|one| one.start_ns).min()?,
            end_ns: each.iter().map(|one| one.end_ns).max()?,
        })
    }

    /// Bytes read, written and trimmed.
    pub(super) fn bytes(&self) -> u64 {
        let counted = self.recordings.iter();
        counted
            .filter(|recording| recording.direction.is_data())
            .map(|recording| recording.bytes())
            .sum()
    }
}

/// The row of one direction.
pub(super) struct Row {
    name: &'static str,
    direction: Direction,
    figures: Vec<Measurement>,
}

/// A row for each direction in which something happened.
pub(super) fn of(counted: &Counted<'_>) -> Vec<Row> {
    SHOWN
        .into_iter()
        .filter_map(|(direction, name)| {
            let of_direction: Vec<Recording> = counted
                .recordings
                .iter()
                .filter(|recording| recording.direction == direction)
                .map(|recording| Recording {
                    direction: as_data(direction),
                    ..recording.clone().into_owned()
                })
                .collect();
            let operations: u64 = of_direction.iter().map(Recording::operations).sum();
            let phase = Phase {
                elapsed_ns: counted.end_ns - counted.start_ns,
                recordings: of_direction,
                ..Phase::new(name, PhaseKind::Measure)
            };
            (operations > 0).then(|| Row {
                name,
                direction,
                figures: figures_of_operations(&phase, None),
            })
        })
        .collect()
}

/// Syncs and lateness have the same percentiles as operations that move data.
fn as_data(direction: Direction) -> Direction {
    match direction {
        Direction::Sync | Direction::Lateness => Direction::Write,
        other => other,
    }
}

impl Row {
    /// The cells, with what they are about where that is known.
    pub(super) fn cells(&self, subject: Option<Subject>) -> Vec<Span> {
        let moves = self.direction.is_data();
        let cell = |metric: &Metric| {
            let mut figures = self.figures.iter();
            figures
                .find(|one| one.metric.name == metric.name)
                .map_or_else(|| Span::from("-"), |one| Span::from(figure(one)))
        };
        let of_bytes = |metric: &Metric| if moves { cell(metric) } else { "".into() };
        let counts = moves || self.direction == Direction::Sync;
        let subject = subject.filter(|_| moves);
        vec![
            self.name.into(),
            subject.map_or_else(
                || Span::from(""),
                |subject| Span::new(Role::of(subject), subject.to_string()),
            ),
            of_bytes(&metrics::BYTES),
            of_bytes(&metrics::RATE),
            if counts {
                cell(&metrics::OPERATION_RATE)
            } else {
                "".into()
            },
            cell(&metrics::LATENCY_P50),
            cell(&metrics::LATENCY_P99),
            cell(&metrics::LATENCY_P999),
            cell(&metrics::LATENCY_MAX),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use stiction_core::{Histogram, Interval, Job};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A phase of two seconds that reads `bytes` in each.
    fn phase(start_s: u64, bytes: u64, ramp_s: u64) -> Phase {
        let interval = |second: u64| {
            let mut latencies = Histogram::new();
            latencies.record(1000);
            Interval {
                start_ns: second * SECOND_NS,
                length_ns: SECOND_NS,
                bytes,
                latencies,
            }
        };
        Phase {
            start_ns: start_s * SECOND_NS,
            elapsed_ns: 2 * SECOND_NS,
            recordings: vec![Recording {
                direction: Direction::Read,
                intervals: vec![interval(0), interval(1)],
            }],
            job: Some(Job {
                ramp_ns: ramp_s * SECOND_NS,
                ..Job::default()
            }),
            ..Phase::new("x", PhaseKind::Measure)
        }
    }

    fn rate(counted: &Counted<'_>) -> f64 {
        let rows = of(counted);
        assert_eq!(rows.len(), 1);
        let mut figures = rows[0].figures.iter();
        let rate = figures.find(|one| one.metric.name == metrics::RATE.name);
        rate.unwrap().value
    }

    /// 2 x 100 bytes from 0 to 2 s and 2 x 300 bytes from 1 to 3 s: 800 bytes in 3 s.
    #[test]
    fn a_group_counts_from_the_first_start_to_the_last_end() {
        let (first, second) = (phase(0, 100, 0), phase(1, 300, 0));
        let each = [Counted::of(&first), Counted::of(&second)];
        assert_eq!(rate(&each[0]), 100.0);
        let total = Counted::together(&each).unwrap();
        assert_eq!(total.bytes(), 800);
        assert!((rate(&total) - 800.0 / 3.0).abs() < 1e-9);
    }

    /// The second of 2 s alone: 100 bytes in 1 s.
    #[test]
    fn warm_up_does_not_count() {
        let warmed = phase(0, 100, 1);
        let counted = Counted::of(&warmed);
        assert_eq!((counted.bytes(), rate(&counted)), (100, 100.0));
    }
}
