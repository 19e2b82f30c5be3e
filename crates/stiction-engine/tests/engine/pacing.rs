//! Jobs at a set pace: what is charged to whom when the target stalls.

use std::time::Duration;

use stiction_core::{
    Access, Arrivals, BackendKind, CaveatCode, Create, Direction, Histogram, Job, LoopKind, Pace,
    Rate,
};
use stiction_engine::{Ended, Outcome};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{file, read_job, run, try_run, write_job};

const OPERATIONS: u64 = 660;
const STALL_MS: u64 = 400;

fn paced(job: Job, per_s: u64, arrivals: Arrivals, kind: LoopKind) -> Job {
    Job {
        pace: Some(Pace {
            rate: Rate::OperationsPerS(per_s),
            by_way: None,
            arrivals,
            kind,
        }),
        ..job
    }
}

fn latencies(outcome: &Outcome, direction: Direction) -> Histogram {
    let mut recordings = outcome.recordings.iter();
    let found = recordings.find(|one| one.direction == direction);
    found.map_or_else(Histogram::new, stiction_core::Recording::total)
}

/// Operations that took so long or longer.
fn at_least(histogram: &Histogram, latency_ns: u64) -> u64 {
    let buckets = histogram.buckets();
    buckets
        .filter(|bucket| bucket.0 >= latency_ns)
        .map(|bucket| bucket.1)
        .sum()
}

/// 660 reads at 500 a second, of which two stall for 400 ms: those that with the 64
/// writes before them are the 250th and the 500th. After both, 200 and more follow.
fn through_stalls(kind: LoopKind) -> Histogram {
    let target = FaultFs::mount(Faults::default()).unwrap();
    let path = target.path().join("f");
    run(&write_job(64), &file(&path));
    target.set(Faults {
        stall_every: Some((250, Duration::from_millis(STALL_MS))),
        ..Faults::default()
    });
    let job = Job {
        access: Access::RandomIndependent,
        once: false,
        operations_per_worker: Some(OPERATIONS),
        ..paced(read_job(64), 500, Arrivals::Fixed, kind)
    };
    let outcome = run(&job, &file(&path));
    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(latencies(&outcome, Direction::Lateness).count(), OPERATIONS);
    let latencies = latencies(&outcome, Direction::Read);
    assert_eq!(latencies.count(), OPERATIONS);
    latencies
}

/// In 400 ms, 200 operations are to begin, every 2 ms one; each waits for what is left
/// of the stall. Of 2 x 200 operations, those that were to begin in the first `400 - x`
/// ms of a stall take `x` ms or more: `400 - x` of them. A slow machine makes them take
/// longer, never shorter.
#[test]
fn root_an_open_loop_charges_a_stall_and_a_closed_one_hides_it() {
    testkit::require_root!();
    let ms = 1_000_000;
    let open = through_stalls(LoopKind::Open);
    for least_ms in [10, 100, 200, 300, 380] {
        let charged = at_least(&open, least_ms * ms);
        // The stall counts from an operation that began a little late itself, and the
        // buckets are a thousandth wide.
        let expected = STALL_MS - least_ms - 2;
        assert!(
            charged >= expected,
            "{charged} of {expected} took {least_ms} ms"
        );
    }
    // 90 % take less than x where (400 - x) / 660 is a tenth: 334 ms; half, 70 ms.
    assert!(open.quantile_ns(0.9).unwrap() >= 330 * ms);
    assert!(open.quantile_ns(0.5).unwrap() >= 66 * ms);

    let closed = through_stalls(LoopKind::Closed);
    let charged = at_least(&closed, 200 * ms);
    // Two, were the machine ours alone.
    assert!((2..OPERATIONS / 20).contains(&charged), "{charged}");
    assert!(closed.max_ns().unwrap() >= STALL_MS * ms);
}

/// 1100 reads at 400 a second, of which the 200th stalls for 2 s: it is the 1000th
/// operation of a target that stalls once in a thousand.
fn through_a_stall_of_2_s(kind: LoopKind) -> Histogram {
    let target = FaultFs::mount(Faults {
        stall_every: Some((1000, Duration::from_secs(2))),
        ..Faults::default()
    })
    .unwrap();
    let path = target.path().join("f");
    run(&write_job(64), &file(&path));
    let reads = |operations| Job {
        access: Access::RandomIndependent,
        once: false,
        operations_per_worker: Some(operations),
        ..read_job(64)
    };
    run(&reads(1000 - 64 - 200), &file(&path));
    let job = paced(reads(1100), 400, Arrivals::Fixed, kind);
    let outcome = run(&job, &file(&path));
    assert_eq!(
        (&outcome.ended, target.counts().reads),
        (&Ended::Planned, 1836)
    );
    latencies(&outcome, Direction::Read)
}

/// In the 2 s, 800 operations are to begin, one every 2.5 ms, and each waits for what is
/// left of the stall. `(2 - x) * 400` of 1100 take `x` s or longer: half of them (550)
/// 0.625 s, a tenth (110) 1.725 s, a hundredth (11) 1.9725 s. Who asks one after another
/// sees one such operation in 1100, which none of these shows.
#[test]
fn root_a_stall_of_2_s_is_in_the_quantiles_of_an_open_loop_only() {
    testkit::require_root!();
    let (open, closed) = std::thread::scope(|scope| {
        let open = scope.spawn(|| through_a_stall_of_2_s(LoopKind::Open));
        let closed = scope.spawn(|| through_a_stall_of_2_s(LoopKind::Closed));
        (open.join().unwrap(), closed.join().unwrap())
    });
    assert_eq!((open.count(), closed.count()), (1100, 1100));
    let ms = 1_000_000u64;
    for (share, expected_ms) in [(0.5, 625.0), (0.9, 1725.0), (0.99, 1972.5)] {
        let charged_ms = open.quantile_ns(share).unwrap() as f64 / ms as f64;
        // One operation more or less, and half a bucket. A slow machine adds to it.
        let least_ms = (expected_ms - 2.5) * 0.996;
        assert!(
            charged_ms >= least_ms,
            "{share}: {charged_ms} of {expected_ms}"
        );
        let hidden_ms = closed.quantile_ns(share).unwrap() as f64 / ms as f64;
        assert!(hidden_ms < 625.0, "{share}: {hidden_ms}");
    }
    assert!(open.max_ns().unwrap() >= 2000 * ms && closed.max_ns().unwrap() >= 2000 * ms);
}

/// Each read takes 5 ms or more, so in 500 ms there are 100 at most, and 500 were to be.
#[test]
fn root_a_pace_that_is_too_fast_is_called_missed() {
    testkit::require_root!();
    let target = FaultFs::mount(Faults::default()).unwrap();
    let path = target.path().join("f");
    run(&write_job(64), &file(&path));
    target.set(Faults {
        delay: Duration::from_millis(5),
        ..Faults::default()
    });
    let job = Job {
        access: Access::RandomIndependent,
        once: false,
        duration_ns: Some(500_000_000),
        ..paced(read_job(64), 1000, Arrivals::Fixed, LoopKind::Open)
    };
    let outcome = run(&job, &file(&path));
    let kept = outcome.pace.unwrap();
    assert!(kept.asked_operations >= 500, "{kept:?}");
    assert_eq!(kept.done_operations, outcome.operations());
    // The one that is under way when the time is up is done as well.
    assert!(kept.done_operations <= 101, "{kept:?}");
    let codes: Vec<CaveatCode> = outcome.caveats.iter().map(|caveat| caveat.code).collect();
    assert!(codes.contains(&CaveatCode::RateMissed), "{codes:?}");
}

#[test]
fn all_that_was_asked_is_done_where_there_is_time() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    for (backend, depth) in [
        (BackendKind::Null, 1),
        (BackendKind::Psync, 1),
        (BackendKind::Mmap, 1),
        (BackendKind::IoUring, 4),
    ] {
        for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
            let mut job = paced(write_job(100), 2000, arrivals, LoopKind::Open);
            (job.backend, job.depth) = (backend, depth);
            let outcome = run(&job, &file(&path));
            assert_eq!((outcome.operations(), outcome.bytes()), (100, 100 * 4096));
            let kept = outcome.pace.unwrap();
            let both = (kept.asked_operations, kept.done_operations);
            assert_eq!(both, (100, 100), "{backend:?}");
            let late = latencies(&outcome, Direction::Lateness);
            assert_eq!(late.count(), 100);
            // The last was to begin after 99 gaps of half a millisecond.
            assert!(arrivals == Arrivals::Poisson || outcome.elapsed_ns >= 49_500_000);
            // From the intended start: never less than the lateness, all in all.
            let charged = latencies(&outcome, Direction::Write).sum_ns();
            assert!(charged >= late.sum_ns(), "{charged}");
        }
    }
}

#[test]
fn handing_over_is_timed_apart_when_asked() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(100), &file(&path));
    for pace in [
        None,
        paced(read_job(1), 10_000, Arrivals::Fixed, LoopKind::Closed).pace,
    ] {
        let job = Job {
            backend: BackendKind::IoUring,
            depth: 8,
            time_submission: true,
            create: Create::Open,
            pace,
            ..read_job(100)
        };
        let outcome = run(&job, &file(&path));
        let submissions = latencies(&outcome, Direction::Submit);
        assert_eq!(submissions.count(), 100);
        assert!(submissions.sum_ns() > 0);
        assert_eq!(latencies(&outcome, Direction::Read).count(), 100);
        assert_eq!(outcome.bytes(), 100 * 4096);
    }
}

#[test]
fn paces_that_mean_nothing_are_refused() {
    let zero = paced(read_job(1), 0, Arrivals::Fixed, LoopKind::Open);
    let apart = Job {
        time_submission: true,
        ..read_job(1)
    };
    for (job, expected) in [
        (zero, "to begin 0 a second"),
        (apart, "in the call that submits it"),
    ] {
        let error = try_run(&job, &file("/does/not/exist"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
