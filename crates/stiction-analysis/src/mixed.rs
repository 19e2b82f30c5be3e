//! Reads and writes apart: the figures of each direction of a phase that did both.
//!
//! What a mix comes to as a whole hides which half of it moved: reads that wait longer
//! while writes wait less leave the mean where it was.

use std::borrow::Cow;

use stiction_core::{
    Direction, Measurement, Metric, Phase, PhaseKind, Session, figures_of_operations, metrics,
};

/// The directions that are told apart, with what their metrics begin with.
const DIRECTIONS: [(Direction, &str); 3] = [
    (Direction::Read, "read"),
    (Direction::Write, "write"),
    (Direction::Trim, "trim"),
];

/// The session, each measured phase that moved data in several directions with the
/// figures of each direction added: `read_rate_bytes_per_s`, `write_latency_ns_p99`.
/// They have the unit, the class and the better side of the figure of the whole.
#[must_use]
pub fn directions_apart(mut session: Session) -> Session {
    let phases = session
        .trials
        .iter_mut()
        .flat_map(|trial| &mut trial.phases);
    for phase in phases.filter(|one| one.kind == PhaseKind::Measure && one.has_numbers()) {
        let found = of_directions(phase);
        phase.measurements.extend(found);
    }
    session
}

/// The figures of each direction; none where there is one direction alone.
fn of_directions(phase: &Phase) -> Vec<Measurement> {
    let moved = |direction: Direction| {
        let mut recordings = phase.recordings.iter();
        recordings.any(|one| one.direction == direction && one.operations() > 0)
    };
    let present = DIRECTIONS.iter().filter(|(direction, _)| moved(*direction));
    let present: Vec<_> = present.collect();
    if present.len() < 2 {
        return Vec::new();
    }
    let ramp_ns = phase.job.as_ref().map_or(0, |job| job.ramp_ns);
    let counted = phase.after_ramp(ramp_ns);
    present
        .into_iter()
        .flat_map(|&(direction, word)| {
            let recordings = counted.recordings.iter();
            let part = Phase {
                elapsed_ns: counted.elapsed_ns,
                recordings: recordings
                    .filter(|one| one.direction == direction)
                    .cloned()
                    .collect(),
                ..Phase::new(phase.name.clone(), PhaseKind::Measure)
            };
            let figures = figures_of_operations(&part, None).into_iter();
            let figures = figures.filter(|one| !is_of_the_whole(&one.metric));
            figures.map(move |one| named(one, word))
        })
        .collect()
}

/// Whether a figure says nothing of one direction that it does not say of the whole.
fn is_of_the_whole(metric: &Metric) -> bool {
    *metric == metrics::ELAPSED
}

fn named(figure: Measurement, word: &str) -> Measurement {
    Measurement {
        metric: Metric {
            name: Cow::Owned(format!("{word}_{}", figure.metric.name)),
            ..figure.metric
        },
        ..figure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Cell, Histogram, Interval, Recording, Trial};

    const SECOND_NS: u64 = 1_000_000_000;

    fn recording(direction: Direction, bytes: u64, latency_ns: u64, count: u64) -> Recording {
        let mut latencies = Histogram::new();
        (0..count).for_each(|_| latencies.record(latency_ns));
        Recording {
            direction,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 2 * SECOND_NS,
                bytes,
                latencies,
            }],
        }
    }

    fn session(recordings: Vec<Recording>) -> Session {
        let mut session = testkit::sessions::sample(1);
        let phase = Phase {
            elapsed_ns: 2 * SECOND_NS,
            recordings,
            measurements: vec![Measurement::new(metrics::ELAPSED, 2.0, 1)],
            ..Phase::new("mix", PhaseKind::Measure)
        };
        session.trials = vec![Trial {
            phases: vec![phase],
            ..Trial::new(Cell::new(), 0)
        }];
        session
    }

    fn value(session: &Session, name: &str) -> Option<f64> {
        let mut figures = session.trials[0].phases[0].measurements.iter();
        let found = figures.find(|one| one.metric.name == name);
        found.map(|one| one.value)
    }

    /// 400 bytes read in 2 s are 200 bytes/s, 100 written are 50; 4 operations in 2 s are
    /// 2 a second.
    #[test]
    fn each_direction_has_its_rate_and_its_latency() {
        let mix = vec![
            recording(Direction::Read, 400, 1000, 4),
            recording(Direction::Write, 100, 5000, 2),
            recording(Direction::Sync, 0, 9000, 1),
        ];
        let session = directions_apart(session(mix));
        for (name, expected) in [
            ("read_rate_bytes_per_s", Some(200.0)),
            ("write_rate_bytes_per_s", Some(50.0)),
            ("read_latency_ns_mean", Some(1000.0)),
            ("write_latency_ns_mean", Some(5000.0)),
            ("read_operations_per_s", Some(2.0)),
            ("sync_rate_bytes_per_s", None),
            ("read_elapsed_s", None),
        ] {
            assert_eq!(value(&session, name), expected, "{name}");
        }
    }

    #[test]
    fn one_direction_alone_stays_as_it_was() {
        let only = vec![
            recording(Direction::Write, 100, 5000, 2),
            recording(Direction::Sync, 0, 9000, 1),
        ];
        let session = session(only);
        assert_eq!(directions_apart(session.clone()), session);
    }
}
