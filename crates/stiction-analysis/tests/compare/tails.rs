//! Whole distributions, and operations that stalled.

use crate::lay::{in_blocks, level};
use stiction_analysis::compare::{CompareOptions, Comparison, Side, StallCounts, compare};
use stiction_core::{Direction, Histogram, Interval, Recording, Session, metrics};

/// Eight blocks in which A's reads take 1 ms and B's `b_ms`, but for `slow` of each 1000,
/// which take 3 s in B.
fn recorded(b_ms: u64, slow: u64) -> Session {
    let mut session = in_blocks(&metrics::RATE, &[(1e8, 1e8); 8]);
    for trial in &mut session.trials {
        let is_b = trial.cell.get("configuration") == Some(&level("b"));
        let mut latencies = Histogram::new();
        for operation in 0..1000 {
            let stalls = is_b && operation < slow;
            let usual = if is_b { b_ms } else { 1 };
            latencies.record(if stalls {
                3_000_000_000
            } else {
                usual * 1_000_000
            });
        }
        trial.phases[0].recordings.push(Recording {
            direction: Direction::Read,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 1_000_000_000,
                bytes: 1,
                latencies,
            }],
        });
    }
    session
}

fn compared(session: &Session) -> Comparison {
    let side = |name| Side::at_level(session, "configuration", &level(name));
    compare(&side("a"), &side("b"), &CompareOptions::default())
}

#[test]
fn each_percentile_shifts_by_what_it_shifted() {
    let found = compared(&recorded(2, 0));
    let [shift] = &found.shifts[..] else {
        panic!("{:?}", found.shifts);
    };
    assert_eq!(
        (shift.direction, shift.phase.as_str()),
        (Direction::Read, "read")
    );
    // 8,000 operations a side: enough for p99 and too few for p99.9.
    let percentiles: Vec<f64> = shift.points.iter().map(|point| point.percentile).collect();
    assert_eq!(
        percentiles,
        [
            10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0
        ]
    );
    for point in &shift.points {
        // Buckets are a thousandth wide.
        assert!((point.change_percent - 100.0).abs() < 0.3, "{point:?}");
        let (low, high) = point.interval_percent.unwrap();
        assert!(low <= point.change_percent && point.change_percent <= high);
    }
}

#[test]
fn stalls_are_counted_exactly() {
    let found = compared(&recorded(1, 5));
    let [stalls] = &found.stalls[..] else {
        panic!("{:?}", found.stalls);
    };
    let counts = |over_2s| StallCounts {
        operations: 8000,
        over_2s,
        over_10s: 0,
    };
    assert_eq!((stalls.a, stalls.b), (counts(0), counts(40)));
    // Five more in B in each of eight blocks: 2 of the 256 patterns.
    assert_eq!(stalls.p, Some(2.0 / 256.0));
    let median = found.shifts[0]
        .points
        .iter()
        .find(|point| point.percentile == 50.0);
    assert!(median.unwrap().change_percent.abs() < 0.3);
}

#[test]
fn a_run_without_a_recording_leaves_nothing_to_say() {
    let mut session = recorded(1, 5);
    session.trials[4].phases[0].recordings.clear();
    let found = compared(&session);
    assert_eq!((found.shifts.len(), found.stalls.len()), (0, 0));
}
