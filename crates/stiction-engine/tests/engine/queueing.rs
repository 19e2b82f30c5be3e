//! Against devices whose behaviour follows from arithmetic: a simulated device has its
//! own time, so every figure is exact and the same on any machine.

use stiction_core::{
    Access, Arrivals, BackendKind, CaveatCode, Direction, Histogram, Job, LoopKind, Pace, Rate,
    Recording, Seed,
};
use stiction_engine::{Cause, Ended, Outcome, Service, SimulatedFault, Simulation, Target};

use crate::jobs::{read_job, run, try_run, write_job};

const US: u64 = 1_000;
const S: u64 = 1_000_000_000;

/// Random reads, `depth` at once.
fn reads(operations: u64, depth: u32) -> Job {
    Job {
        access: Access::RandomIndependent,
        backend: BackendKind::Null,
        depth,
        once: false,
        operations_per_worker: Some(operations),
        ..read_job(1024)
    }
}

fn at(per_s: u64, arrivals: Arrivals, kind: LoopKind, job: Job) -> Job {
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

fn on(simulation: Simulation, job: &Job) -> Outcome {
    run(job, &[Target::Simulated(simulation)])
}

fn latencies(outcome: &Outcome, direction: Direction) -> Histogram {
    let mut recordings = outcome.recordings.iter();
    let found = recordings.find(|one| one.direction == direction);
    found.map_or_else(Histogram::new, Recording::total)
}

/// Time from arrival to end of operations that one server takes first come, first
/// served: W(n+1) = max(0, W(n) + S(n) - A(n)) (D. V. Lindley, "The theory of queues with
/// a single server", 1952).
fn lindley(gaps_ns: impl Iterator<Item = u64>, service_ns: impl Fn(usize) -> u64) -> Vec<u64> {
    let mut wait_ns = 0;
    let mut times = vec![service_ns(0)];
    for (index, gap_ns) in gaps_ns.enumerate() {
        wait_ns = (wait_ns + service_ns(index)).saturating_sub(gap_ns);
        times.push(wait_ns + service_ns(index + 1));
    }
    times
}

fn recorded(times: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    times.iter().for_each(|&ns| histogram.record(ns));
    histogram
}

/// Every operation is served at once, so it takes the service time and no more; and the
/// whole takes its number over the servers.
#[test]
fn as_many_as_are_served_at_once_wait_for_nothing() {
    for servers in [1, 2, 4] {
        let outcome = on(Simulation::of(servers, 100 * US), &reads(8_000, servers));
        let seen = latencies(&outcome, Direction::Read);
        assert_eq!(
            (seen.min_ns(), seen.max_ns()),
            (Some(100 * US), Some(100 * US))
        );
        assert_eq!(outcome.elapsed_ns, 8_000 / u64::from(servers) * 100 * US);
        assert_eq!(outcome.operations(), 8_000);
        let notes = outcome.notes.join("; ");
        assert!(notes.contains("clock: simulated"), "{notes}");
    }
}

/// By Little's law seven in flight on two servers take 3.5 services each; the first
/// seven take less, since they begin with nobody before them.
#[test]
fn more_than_are_served_at_once_wait_for_the_others() {
    let (depth, servers, service_ns, operations) = (7, 2, 100 * US, 70_000);
    let outcome = on(
        Simulation::of(servers, service_ns),
        &reads(operations, depth),
    );
    assert_eq!(
        outcome.elapsed_ns,
        operations / u64::from(servers) * service_ns
    );
    let mean_ns = latencies(&outcome, Direction::Read).mean_ns().unwrap();
    let by_little = 3.5 * service_ns as f64;
    assert!((mean_ns / by_little - 1.0).abs() < 0.001, "{mean_ns}");
}

/// Arrivals every 125 us, services of 100 us, and a pause of 10 ms before operation 1000.
/// The recursion says what each operation takes; the depth makes no difference, as those
/// that wait for a slot are charged too.
#[test]
fn an_open_loop_is_charged_what_the_recursion_says() {
    let operations = 4_000;
    let simulation = Simulation {
        stalls: vec![(1000, 10_000 * US)],
        ..Simulation::of(1, 100 * US)
    };
    let stalled = |index| if index == 999 { 10_100 * US } else { 100 * US };
    let gaps = std::iter::repeat_n(125 * US, operations as usize - 1);
    let expected = recorded(&lindley(gaps, stalled));
    for depth in [1, 3, 64, 1024] {
        let job = at(
            8_000,
            Arrivals::Fixed,
            LoopKind::Open,
            reads(operations, depth),
        );
        let outcome = on(simulation.clone(), &job);
        let seen = latencies(&outcome, Direction::Read);
        assert!(seen.buckets().eq(expected.buckets()), "depth {depth}");
        // Moments are whole nanoseconds, rounded down.
        assert!(seen.sum_ns() - expected.sum_ns() < operations);
        let kept = outcome.pace.unwrap();
        assert_eq!(kept.asked_operations, operations);
    }
    // 10 ms more than the one before it ends 9.975 ms before, which 25 us each make good:
    // 399 wait for it, and so does the one that pauses.
    let waited: u64 = expected
        .buckets()
        .filter(|bucket| bucket.0 > 101 * US)
        .map(|bucket| bucket.1)
        .sum();
    assert_eq!(waited, 400);
}

/// The same stall in a closed loop, which asks for nothing meanwhile: one operation in
/// 4000 has it, and none waits for another.
#[test]
fn a_closed_loop_hides_the_same_stall() {
    let simulation = Simulation {
        stalls: vec![(1000, 10_000 * US)],
        ..Simulation::of(1, 100 * US)
    };
    let job = at(8_000, Arrivals::Fixed, LoopKind::Closed, reads(4_000, 1));
    let seen = latencies(&on(simulation, &job), Direction::Read);
    assert_eq!(seen.max_ns(), Some(10_100 * US));
    assert!(seen.quantile_ns(0.999) < Some(101 * US));
    assert_eq!(seen.sum_ns(), 3_999 * 100 * US + 10_100 * US);
}

/// The mean time in the system by Pollaczek and Khinchine: for M/D/1
/// S (2 - load) / 2 (1 - load), for M/M/1 S / (1 - load). The mean of 300,000 operations
/// that depend on each other is within 3 %.
#[test]
fn queues_have_the_mean_that_theory_says() {
    let load = 0.7;
    let service_ns = 100 * US;
    let s = service_ns as f64;
    for (service, mean_ns) in [
        (
            Service::Fixed { ns: service_ns },
            s * (2.0 - load) / (2.0 * (1.0 - load)),
        ),
        (
            Service::Exponential {
                mean_ns: service_ns,
            },
            s / (1.0 - load),
        ),
    ] {
        let simulation = Simulation {
            service,
            seed: Seed(3),
            ..Simulation::of(1, service_ns)
        };
        let job = at(
            7_000,
            Arrivals::Poisson,
            LoopKind::Open,
            reads(300_000, 256),
        );
        let seen = latencies(&on(simulation, &job), Direction::Read);
        let seen_ns = seen.mean_ns().unwrap();
        assert!(
            (seen_ns / mean_ns - 1.0).abs() < 0.03,
            "{seen_ns} for {mean_ns}"
        );
        if let Service::Exponential { .. } = service {
            // M/M/1: the time in the system is exponential itself, so 99 of 100 stay
            // within ln(100) of its mean.
            let p99_ns = seen.quantile_ns(0.99).unwrap() as f64;
            assert!(
                (p99_ns / (mean_ns * 100f64.ln()) - 1.0).abs() < 0.06,
                "{p99_ns}"
            );
        }
    }
}

/// Twice as much is asked as one server does in 2 s: half of it is done, and what is done
/// last was to begin a second before.
#[test]
fn an_overload_is_seen_for_what_it_is() {
    let job = Job {
        duration_ns: Some(2 * S),
        operations_per_worker: None,
        ..at(20_000, Arrivals::Fixed, LoopKind::Open, reads(1, 32))
    };
    let outcome = on(Simulation::of(1, 100 * US), &job);
    let kept = outcome.pace.unwrap();
    assert!((kept.fraction() - 0.5).abs() < 0.001, "{kept:?}");
    let codes: Vec<CaveatCode> = outcome.caveats.iter().map(|caveat| caveat.code).collect();
    assert!(codes.contains(&CaveatCode::RateMissed), "{codes:?}");
    let late_ns = latencies(&outcome, Direction::Lateness).max_ns().unwrap();
    assert!(late_ns.abs_diff(S) < S / 500, "{late_ns}");
}

#[test]
fn the_same_seed_gives_the_same_nanoseconds() {
    let simulation = |seed| Simulation {
        service: Service::Exponential { mean_ns: 80 * US },
        seed: Seed(seed),
        ..Simulation::of(2, 1)
    };
    let job = at(20_000, Arrivals::Poisson, LoopKind::Open, reads(5_000, 64));
    let seen = |seed| latencies(&on(simulation(seed), &job), Direction::Read);
    assert_eq!(seen(1), seen(1));
    assert_ne!(seen(1), seen(2));
}

#[test]
fn an_operation_that_fails_is_named_and_ends_the_job() {
    let simulation = Simulation {
        faults: vec![(100, SimulatedFault::Error { errno: libc::EIO })],
        ..Simulation::of(1, US)
    };
    let outcome = on(simulation, &reads(1_000, 1));
    let Ended::Failed(failure) = &outcome.ended else {
        panic!("{:?}", outcome.ended);
    };
    assert_eq!(failure.cause, Cause::Errno(libc::EIO));
    assert_eq!(outcome.operations(), 99);
}

#[test]
fn a_short_operation_is_continued_and_one_without_a_rest_is_found() {
    let with = |fault| Simulation {
        faults: vec![(100, fault)],
        ..Simulation::of(1, US)
    };
    let short = on(with(SimulatedFault::Short { bytes: 512 }), &reads(1_000, 1));
    assert_eq!(short.ended, Ended::Planned);
    assert_eq!(short.bytes(), 1_000 * 4096);
    let notes = short.notes.join("; ");
    assert!(
        notes.contains("1 operations moved their block in more"),
        "{notes}"
    );

    let cut = on(
        with(SimulatedFault::EndOfFile { bytes: 512 }),
        &reads(1_000, 1),
    );
    let Ended::Failed(failure) = &cut.ended else {
        panic!("{:?}", cut.ended);
    };
    let expected = Cause::Short {
        got: 512,
        wanted: 4096,
    };
    assert_eq!(failure.cause, expected);
    assert_eq!(cut.operations(), 99);
}

/// 50 writes and 50 syncs, one after the other.
#[test]
fn syncs_take_their_time_beside_the_writes() {
    let simulation = Simulation {
        sync_ns: 400 * US,
        ..Simulation::of(1, 100 * US)
    };
    let job = Job {
        backend: BackendKind::Null,
        sync_every: Some(stiction_core::SyncEvery {
            writes: 1,
            kind: stiction_core::SyncKind::Fdatasync,
        }),
        ..write_job(50)
    };
    let outcome = on(simulation, &job);
    assert_eq!(outcome.elapsed_ns, 50 * 500 * US);
    for (direction, ns) in [
        (Direction::Write, 100 * US),
        (Direction::Sync, 400 * US),
        (Direction::Commit, 500 * US),
    ] {
        let seen = latencies(&outcome, direction);
        assert_eq!(
            (seen.count(), seen.sum_ns()),
            (50, 50 * ns),
            "{direction:?}"
        );
    }
}

#[test]
fn time_is_simulated_for_all_targets_or_none() {
    let targets = [
        Target::Simulated(Simulation::of(1, US)),
        Target::File("/does/not/exist".into()),
    ];
    let error = try_run(&reads(1, 1), &targets).unwrap_err().to_string();
    assert!(error.contains("all must be, or none"), "{error}");
}
