//! Whether slow operations were slow on the device.

use stiction_core::{BlockTrace, Direction, Histogram, Phase, RequestKind};

/// From this share on of the operations' own, a device's latency is what made them slow.
const DEVICES_OWN: f64 = 0.8;
/// Up to this share it is not.
const ELSEWHERE: f64 = 0.5;
/// Operations that a device had fewer requests for than this share came from the cache,
/// or went there: the two latencies are then of different things.
const SAME_WORK: f64 = 0.5;

/// Where the time of the slowest operations went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailPlace {
    /// The device was about as slow.
    Device,
    /// The device was much faster: queues above it, locks, or a CPU that was not free.
    Elsewhere,
    /// Neither is clear.
    Both,
}

/// Latencies of operations beside those of the device's requests.
#[derive(Clone, Debug, PartialEq)]
pub struct TailBeside {
    /// Reads or writes.
    pub direction: Direction,
    /// Kernel name of the device.
    pub device: String,
    /// p50 and p99 of the operations, ns.
    pub operations_ns: (u64, u64),
    /// p50 and p99 of the requests, ns.
    pub requests_ns: (u64, u64),
    /// What the two p99 say.
    pub place: TailPlace,
}

/// Holds the operations of a phase against the requests of the device that is mounted, or
/// was given; `None` where too few of either were seen, or they are not of the same work.
#[must_use]
pub fn tail_beside(phase: &Phase, direction: Direction) -> Option<TailBeside> {
    let kind = match direction {
        Direction::Read => RequestKind::Read,
        Direction::Write => RequestKind::Write,
        _ => return None,
    };
    let mut recordings = phase.recordings.iter();
    let operations = recordings.find(|one| one.direction == direction)?.total();
    let trace: &BlockTrace = phase.witnesses.block_traces.first()?;
    let requests = trace.kind(kind)?.latencies.as_ref()?;
    if (requests.count() as f64) < SAME_WORK * operations.count() as f64 {
        return None;
    }
    let figures = |of: &Histogram| Some((of.quantile_ns(0.5)?, of.quantile_ns_if_enough(0.99)?));
    let (operations_ns, requests_ns) = (figures(&operations)?, figures(requests)?);
    let share = requests_ns.1 as f64 / operations_ns.1.max(1) as f64;
    Some(TailBeside {
        direction,
        device: trace.device.clone(),
        operations_ns,
        requests_ns,
        place: if share >= DEVICES_OWN {
            TailPlace::Device
        } else if share <= ELSEWHERE {
            TailPlace::Elsewhere
        } else {
            TailPlace::Both
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{DepthCourse, Interval, KindTrace, PhaseKind, Recording, TraceSource};

    fn spread(slow_ns: u64, count: u64) -> Histogram {
        let mut latencies = Histogram::new();
        for number in 0..count {
            latencies.record(if number % 20 == 0 { slow_ns } else { 50_000 });
        }
        latencies
    }

    fn phase(operations: Histogram, requests: Histogram) -> Phase {
        let mut phase = Phase::new("read", PhaseKind::Measure);
        phase.recordings = vec![Recording {
            direction: Direction::Read,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 1,
                bytes: 0,
                latencies: operations,
            }],
        }];
        phase.witnesses.block_traces = vec![BlockTrace {
            device: "vda".to_owned(),
            device_number: (254, 0),
            source: TraceSource::Requests,
            kinds: vec![KindTrace {
                latencies: Some(requests),
                ..KindTrace::new(RequestKind::Read)
            }],
            depth: DepthCourse::default(),
            other_programs: Vec::new(),
            requeues: 0,
            unmatched: 0,
            unfinished: 0,
            lost_records: 0,
        }];
        phase
    }

    /// The case of a machine whose CPUs were contended: 4040 us and 376 us.
    #[test]
    fn a_tail_is_the_device_s_where_the_device_is_as_slow() {
        let place = |operations_ns, requests_ns| {
            let phase = phase(spread(operations_ns, 2000), spread(requests_ns, 2000));
            tail_beside(&phase, Direction::Read).unwrap().place
        };
        assert_eq!(place(4_040_000, 376_000), TailPlace::Elsewhere);
        assert_eq!(place(4_040_000, 4_000_000), TailPlace::Device);
        assert_eq!(place(4_040_000, 2_600_000), TailPlace::Both);
    }

    #[test]
    fn what_the_cache_answered_is_not_held_against_the_device() {
        let beside = |operations, requests| {
            let phase = phase(spread(1_000_000, operations), spread(1_000_000, requests));
            tail_beside(&phase, Direction::Read)
        };
        assert!(beside(5000, 2500).is_some());
        assert_eq!(beside(5000, 2499), None);
        assert_eq!(beside(999, 999), None, "no p99 of so few");
        let phase = phase(spread(1, 2000), spread(1, 2000));
        assert_eq!(tail_beside(&phase, Direction::Write), None);
    }
}
