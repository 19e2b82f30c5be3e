//! Jobs that pause, batch, go at a pace by direction, or end at a limit.

mod refusing;

use std::time::Duration;

use rustix::io::Errno;
use stiction_core::{
    Access, Action, Arrivals, BackendKind, Batches, CaveatCode, Counted, Data, DepthSearch,
    Direction, Floor, Job, LoopKind, Pace, Rate, RatesByWay, SteadyFigure, SteadyLimit,
    SteadySense, SteadyStop, ThinkTime, Tolerance,
};
use stiction_engine::{Cause, Ended, Operation, Outcome};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{failure, file, read_job, ring_job, run, write_job};

const MS: u64 = 1_000_000;

/// Reads without I/O, so many of them.
fn null_job(operations: u64) -> Job {
    Job {
        backend: BackendKind::Null,
        access: Access::RandomIndependent,
        once: false,
        operations_per_worker: Some(operations),
        ..read_job(64)
    }
}

/// A pause of 5 ms.
const THINK: ThinkTime = ThinkTime {
    pause_ns: 5 * MS,
    spin_ns: 0,
    every_operations: None,
    counted: Counted::Completed,
    every_ns: None,
    pace_waits: false,
};

fn done(outcome: &Outcome, direction: Direction) -> u64 {
    let recordings = outcome.recordings.iter();
    let of_direction = recordings.filter(|one| one.direction == direction);
    of_direction.map(stiction_core::Recording::operations).sum()
}

/// How often the workers paused, by what is told.
fn pauses(outcome: &Outcome) -> u64 {
    let told = outcome.notes.iter().find_map(|note| {
        let rest = note.strip_prefix("workers paused ")?;
        rest.split(' ').next()?.parse().ok()
    });
    told.unwrap_or(0)
}

#[test]
fn pauses_come_after_so_many_operations() {
    // Of 10 operations, after the 3rd, 6th and 9th; of 9, the last is the end.
    for (operations, depth, counted, expected) in [
        (10, 1, Counted::Completed, 3),
        (9, 1, Counted::Completed, 2),
        (10, 4, Counted::Issued, 3),
        // In flight are 4, which are complete together.
        (10, 4, Counted::Completed, 2),
    ] {
        let job = Job {
            depth,
            think: Some(ThinkTime {
                every_operations: Some(3),
                counted,
                spin_ns: 2 * MS,
                ..THINK
            }),
            ..null_job(operations)
        };
        let outcome = run(&job, &[]);
        assert_eq!(
            (pauses(&outcome), outcome.operations()),
            (expected, operations)
        );
        assert!(outcome.elapsed_ns >= expected * 5 * MS);
        assert_eq!(outcome.ended, Ended::Planned);
        // A pause is in no latency.
        let latencies = outcome.workers[0].latencies(Direction::Read);
        assert!(latencies.quantile_ns(0.5).unwrap() < 5 * MS);
    }
}

#[test]
fn pauses_come_after_so_much_time() {
    let job = Job {
        operations_per_worker: None,
        duration_ns: Some(80 * MS),
        think: Some(ThinkTime {
            every_ns: Some(10 * MS),
            pause_ns: 20 * MS,
            ..THINK
        }),
        ..null_job(0)
    };
    let outcome = run(&job, &[]);
    // Every 30 ms at most: the second may be cut short by the end.
    assert!((1..=3).contains(&pauses(&outcome)), "{:?}", outcome.notes);
    assert_eq!(outcome.ended, Ended::Planned);
    // The end does not wait for a pause.
    let long = Job {
        think: Some(ThinkTime {
            every_operations: Some(1),
            pause_ns: 3_600_000 * MS,
            ..THINK
        }),
        ..job
    };
    assert_eq!(run(&long, &[]).operations(), 1);
}

/// 20 operations at 1000 a second, a pause of 50 ms, and 20 more: those were to begin at
/// 20 to 39 ms, and begin after 69 ms, unless the pace waits as well.
#[test]
fn a_pause_makes_a_pace_late_unless_it_waits() {
    let job = |pace_waits| Job {
        pace: Some(pace(Rate::OperationsPerS(1000), None)),
        think: Some(ThinkTime {
            every_operations: Some(20),
            pause_ns: 50 * MS,
            pace_waits,
            ..THINK
        }),
        ..null_job(40)
    };
    let late = |outcome: &Outcome| {
        let late = (outcome.recordings.iter())
            .find(|one| one.direction == Direction::Lateness)
            .unwrap();
        late.total()
    };
    let overdue = run(&job(false), &[]);
    assert_eq!((overdue.operations(), pauses(&overdue)), (40, 1));
    // Late by 49 to 30 ms.
    let late_by: u64 = (30..50).sum();
    assert!(late(&overdue).sum_ns() >= (late_by - 20) * MS);
    assert!(overdue.elapsed_ns >= 69 * MS);
    let waiting = run(&job(true), &[]);
    assert_eq!((waiting.operations(), pauses(&waiting)), (40, 1));
    assert!(waiting.elapsed_ns >= 89 * MS, "{}", waiting.elapsed_ns);
}

fn pace(rate: Rate, by_way: Option<RatesByWay>) -> Pace {
    Pace {
        rate,
        by_way,
        arrivals: Arrivals::Fixed,
        kind: LoopKind::Open,
    }
}

/// Of two streams of moments, the earliest come first: of 500 operations, 4 in 5 are of
/// the one that is four times as fast, whatever the mix is said to be.
#[test]
fn each_direction_has_its_own_rate() {
    for (read, write) in [
        (Rate::OperationsPerS(20_000), Rate::OperationsPerS(5000)),
        (Rate::BytesPerS(20_000 * 4096), Rate::OperationsPerS(5000)),
        (Rate::BytesPerS(80_000_000), Rate::BytesPerS(20_000_000)),
    ] {
        let rates = RatesByWay {
            read: Some(read),
            write: Some(write),
            trim: None,
        };
        for reads_percent in [10, 50] {
            let job = Job {
                action: Action::Mixed { reads_percent },
                pace: Some(pace(Rate::OperationsPerS(1), Some(rates))),
                ..null_job(500)
            };
            let outcome = run(&job, &[]);
            let both = (
                done(&outcome, Direction::Read),
                done(&outcome, Direction::Write),
            );
            assert_eq!(both.0 + both.1, 500);
            assert!((399..=401).contains(&both.0), "{both:?}");
            // The 500th was to begin after 399 gaps of 50 us.
            assert!(outcome.elapsed_ns >= 19 * MS);
            assert_eq!(done(&outcome, Direction::Lateness), 500);
        }
    }
}

#[test]
fn a_direction_without_a_rate_goes_as_fast_as_it_can() {
    let rates = RatesByWay {
        write: Some(Rate::OperationsPerS(1000)),
        ..RatesByWay::default()
    };
    let job = Job {
        action: Action::Mixed { reads_percent: 1 },
        pace: Some(pace(Rate::OperationsPerS(1), Some(rates))),
        operations_per_worker: None,
        duration_ns: Some(50 * MS),
        ..null_job(0)
    };
    let outcome = run(&job, &[]);
    let writes = done(&outcome, Direction::Write);
    assert!((1..=51).contains(&writes), "{writes}");
    let reads = done(&outcome, Direction::Read);
    assert!(reads > 10 * writes, "{reads}");
    assert_eq!(done(&outcome, Direction::Lateness), writes);
}

/// A filesystem with a file `f` of 64 blocks, and what it does from then on.
fn faulty(faults: Faults) -> FaultFs {
    let filesystem = FaultFs::mount(Faults::default()).unwrap();
    run(&write_job(64), &file(filesystem.path().join("f")));
    filesystem.set(faults);
    filesystem
}

fn random_reads(operations: u64) -> Job {
    Job {
        access: Access::RandomIndependent,
        once: false,
        operations_per_worker: Some(operations),
        ..read_job(64)
    }
}

/// Reads of 5 ms each are 200 a second at most.
#[test]
fn root_too_little_in_a_window_is_a_failure() {
    testkit::require_root!();
    let filesystem = faulty(Faults {
        delay: Duration::from_millis(5),
        ..Faults::default()
    });
    let path = filesystem.path().join("f");
    let floor = |least| Job {
        floor: Some(Floor {
            read: Some(least),
            write: None,
            trim: None,
            window_ns: 100 * MS,
        }),
        ..random_reads(60)
    };
    for least in [Rate::OperationsPerS(1000), Rate::BytesPerS(1000 * 4096)] {
        let outcome = run(&floor(least), &file(&path));
        let failure = failure(&outcome);
        assert_eq!(failure.operation, Operation::Read);
        assert!(
            matches!(failure.cause, Cause::TooLittle { .. }),
            "{failure}"
        );
        assert!(outcome.operations() <= 21, "{}", outcome.operations());
        assert!(failure.to_string().contains("the job demands"), "{failure}");
        // What is warm-up is not looked at.
        let ramp = Job {
            ramp_ns: 10_000 * MS,
            ..floor(least)
        };
        assert_eq!(run(&ramp, &file(&path)).ended, Ended::Planned);
    }
    let outcome = run(&floor(Rate::OperationsPerS(1)), &file(&path));
    assert_eq!(
        (outcome.ended, outcome.recordings[0].operations()),
        (Ended::Planned, 60)
    );
}

/// With the 64 writes before it, the 6th read is the 70th operation.
#[test]
fn root_an_operation_that_takes_too_long_is_a_failure() {
    testkit::require_root!();
    for job in [random_reads(40), ring_job(40, 1)] {
        let filesystem = faulty(Faults {
            stall_every: Some((70, Duration::from_millis(300))),
            ..Faults::default()
        });
        let job = Job {
            latency_ns_max: Some(250 * MS),
            ..job
        };
        let outcome = run(&job, &file(filesystem.path().join("f")));
        let failure = failure(&outcome);
        assert_eq!(failure.operation, Operation::Read);
        assert!(failure.offset_bytes.is_some());
        let Cause::TooLong {
            latency_ns,
            most_ns,
        } = failure.cause
        else {
            panic!("{failure}");
        };
        assert!(latency_ns >= 300 * MS && most_ns == 250 * MS);
        // It is recorded all the same.
        assert_eq!(outcome.operations(), 6);
        let latencies = outcome.workers[0].latencies(Direction::Read);
        assert!(latencies.max_ns().unwrap() >= 300 * MS);
    }
}

#[test]
fn a_search_ends_at_the_depth_that_keeps_the_bound() {
    let search = |latency_ns_max| Job {
        depth: 8,
        depth_search: Some(DepthSearch {
            latency_ns_max,
            share_ppm: 1_000_000,
            window_ns: MS,
            goes_on: false,
        }),
        operations_per_worker: None,
        ..null_job(0)
    };
    let outcome = run(&search(3_600_000 * MS), &[]);
    let found = outcome.workers[0].depth_found.unwrap();
    assert_eq!((found.depth, found.broken_at, found.tried), (8, None, 4));
    assert_eq!(outcome.ended, Ended::Planned);
    let note = "worker 0: depth 8 keeps the bound".to_owned();
    assert!(outcome.notes.contains(&note), "{:?}", outcome.notes);
    // Nothing is done in a nanosecond, not every time.
    let found = run(&search(1), &[]).workers[0].depth_found.unwrap();
    assert_eq!((found.depth, found.is_final), (0, true));
}

/// At a pace that is kept, each round of 20 ms has 40 operations, more or less one that
/// falls to its neighbour; a machine that is busy may delay that, and not prevent it.
#[test]
fn a_job_ends_when_its_rate_is_steady() {
    let steady = |rounds, limit| Job {
        pace: Some(pace(Rate::OperationsPerS(2000), None)),
        operations_per_worker: None,
        duration_ns: Some(20_000 * MS),
        steady_stop: Some(SteadyStop {
            figure: SteadyFigure::Operations,
            sense: SteadySense::Deviation,
            limit,
            rounds,
            round_ns: 20 * MS,
            ramp_ns: 30 * MS,
        }),
        ..null_job(0)
    };
    let job = steady(5, SteadyLimit::Ppm(100_000));
    let outcome = run(
        &Job {
            regions: vec![job.regions[0]; 2],
            ..job
        },
        &[],
    );
    assert_eq!(outcome.ended, Ended::Planned);
    let found = outcome.steady.unwrap();
    let reached_ns = found.reached_ns.unwrap();
    // Five rounds after the warm-up are the least; the end follows it.
    assert!(
        reached_ns >= 130 * MS && reached_ns <= outcome.elapsed_ns,
        "{found:?}"
    );
    assert!(outcome.elapsed_ns < 20_000 * MS);
    assert!((found.mean_per_s - 4000.0).abs() < 400.0, "{found:?}");
    assert_eq!(codes(&outcome), []);
    let note = outcome
        .notes
        .iter()
        .find(|note| note.starts_with("steady after"));
    assert!(note.unwrap().contains(" operations/s"), "{note:?}");
    // Too few rounds to say anything, and that is said.
    let short = Job {
        duration_ns: Some(90 * MS),
        ..steady(5, SteadyLimit::PerS(1))
    };
    let outcome = run(&short, &[]);
    assert_eq!((outcome.steady, &outcome.ended), (None, &Ended::Planned));
    assert_eq!(codes(&outcome), [CaveatCode::NotSteady]);
}

#[test]
fn batches_do_all_there_is_to_do() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let stamped = Job {
        data: Data::Stamped,
        ..write_job(1000)
    };
    run(&stamped, &file(&path));
    for backend in [BackendKind::IoUring, BackendKind::Libaio] {
        for (complete_min, complete_max, refill_below) in [
            (1, 1, None),
            (4, 8, Some(2)),
            (0, 3, Some(16)),
            (64, 64, None),
        ] {
            let batches = Batches {
                submit: 5,
                complete_min,
                complete_max,
                refill_below,
            };
            let job = Job {
                backend,
                depth: 32,
                batches: Some(batches),
                data: Data::Stamped,
                verify: true,
                time_submission: true,
                ..read_job(1000)
            };
            let outcome = run(&job, &file(&path));
            assert_eq!(outcome.ended, Ended::Planned, "{backend:?} {batches:?}");
            let both = (outcome.operations(), outcome.mismatch_count());
            assert_eq!(both, (1000, 0), "{backend:?} {batches:?}");
            assert_eq!(done(&outcome, Direction::Submit), 1000);
        }
    }
}

fn codes(outcome: &Outcome) -> Vec<CaveatCode> {
    outcome.caveats.iter().map(|caveat| caveat.code).collect()
}

/// Every 10th operation fails: of 100 reads, 10.
#[test]
fn root_failures_are_counted_by_kind() {
    testkit::require_root!();
    let eio = Errno::IO.raw_os_error();
    let faults = Faults {
        error_every: Some((10, eio)),
        ..Faults::default()
    };
    let tolerance = Tolerance {
        reads: true,
        ..Tolerance::default()
    };
    let expected = Tolerance {
        expected_of_reads: vec![eio],
        ..Tolerance::default()
    };
    for job in [random_reads(100), ring_job(64, 4)] {
        for (tolerance, is_expected) in [(&tolerance, false), (&expected, true)] {
            let filesystem = faulty(faults);
            let job = Job {
                once: false,
                operations_per_worker: Some(100),
                tolerance: tolerance.clone(),
                ..job.clone()
            };
            let outcome = run(&job, &file(filesystem.path().join("f")));
            assert_eq!(outcome.ended, Ended::Planned);
            assert_eq!(outcome.operations(), 90);
            assert_eq!(done(&outcome, Direction::Read), 90);
            let [kind] = outcome.tolerated()[..] else {
                panic!("{:?}", outcome.tolerated());
            };
            assert_eq!(
                (kind.operation, kind.cause),
                (Operation::Read, Cause::Errno(eio))
            );
            assert_eq!((kind.count, kind.expected), (10, is_expected));
            let doubts = if is_expected {
                vec![]
            } else {
                vec![CaveatCode::OperationsFailed]
            };
            assert_eq!(codes(&outcome), doubts);
        }
    }
    // What is allowed for reads is not for writes, and only so often: with the 64 writes,
    // the 6th, 16th and 26th read fail, and the 36th is one too many.
    let filesystem = faulty(faults);
    let path = filesystem.path().join("f");
    let few = Job {
        tolerance: Tolerance {
            failures_max: Some(3),
            ..tolerance.clone()
        },
        ..random_reads(100)
    };
    let outcome = run(&few, &file(&path));
    assert_eq!(failure(&outcome).errno(), Some(eio));
    assert_eq!(
        (outcome.tolerated()[0].count, outcome.operations()),
        (3, 32)
    );
    let writes = Job {
        tolerance,
        ..write_job(64)
    };
    assert!(matches!(run(&writes, &file(&path)).ended, Ended::Failed(_)));
}

/// A filesystem of 256 blocks: of 300 writes, 44 find no room.
#[test]
fn root_writes_without_room_are_gone_on_after() {
    testkit::require_root!();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        let job = Job {
            backend,
            depth,
            tolerance: Tolerance {
                writes: true,
                ..Tolerance::default()
            },
            ..write_job(300)
        };
        let outcome = run(&job, &file(tmpfs.path().join("f")));
        assert_eq!(
            (outcome.operations(), &outcome.ended),
            (256, &Ended::Planned)
        );
        assert_eq!(outcome.tolerated()[0].count, 44);
        assert_eq!(codes(&outcome), [CaveatCode::OperationsFailed]);
    }
}
