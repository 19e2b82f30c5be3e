//! Many workers, their order, and their end.

use std::sync::Arc;

use stiction_core::{Access, BackendKind, Direction, Job, Recording, StartOrder, SyncKind};
use stiction_engine::{AllActive, Ended, Progress, StopFlag};
use testkit::scratch_folder;

use crate::jobs::{file, files, read_job, region, ring_job, run, with_workers, write_job};

#[test]
fn thousands_of_workers_share_a_file() {
    let directory = scratch_folder();
    let targets = file(directory.path().join("f"));
    let workers = 4096;
    let mut job = write_job(1);
    job.regions = (0..workers)
        .map(|worker| region(0, worker * 8192, 8192))
        .collect();
    let outcome = run(&job, &targets);
    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(outcome.bytes(), workers * 8192);
    assert_eq!(targets[0].path().metadata().unwrap().len(), workers * 8192);
    assert!(
        outcome
            .workers
            .iter()
            .all(|worker| worker.summary.operations == 2)
    );
    assert_eq!(outcome.recordings[0].operations(), 2 * workers);
}

#[test]
fn a_thousand_rings_have_a_file_each() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 1024);
    run(&with_workers(write_job(1), 1024, 4), &targets);
    let outcome = run(&with_workers(ring_job(1, 4), 1024, 4), &targets);
    assert_eq!(outcome.bytes(), 1024 * 4 * 4096);
    assert_eq!(
        outcome
            .notes
            .iter()
            .filter(|note| note.starts_with("io_uring"))
            .count(),
        1
    );
}

#[test]
fn workers_draw_different_data_and_orders() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2);
    run(&with_workers(write_job(1), 2, 16), &targets);
    let content = |worker: usize| std::fs::read(targets[worker].path()).unwrap();
    let pairs = content(0);
    let other = content(1);
    let same = pairs
        .chunks(512)
        .zip(other.chunks(512))
        .filter(|(a, b)| a == b);
    assert_eq!(same.count(), 0);
}

#[test]
fn one_after_another_never_overlap() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 5);
    let mut job = with_workers(write_job(1), 5, 200);
    job.start = StartOrder::OneAfterAnother;
    job.sync_at_end = Some(SyncKind::Fsync);
    let outcome = run(&job, &targets);
    let summaries: Vec<_> = outcome
        .workers
        .iter()
        .map(|worker| worker.summary)
        .collect();
    assert_eq!(outcome.operations(), 1000);
    for pair in summaries.windows(2) {
        assert!(pair[0].last_ns <= pair[1].first_ns, "{summaries:?}");
    }
    assert!(summaries[4].last_ns <= outcome.elapsed_ns);
    assert_eq!(outcome.all_active, None);
}

/// Each has the whole duration to itself.
#[test]
fn one_after_another_each_have_their_time() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 3);
    run(&with_workers(write_job(1), 3, 10), &targets);
    let mut job = with_workers(read_job(1), 3, 10);
    (job.once, job.duration_ns) = (false, Some(30_000_000));
    job.start = StartOrder::OneAfterAnother;
    let outcome = run(&job, &targets);
    let ends_ns: Vec<u64> = outcome
        .workers
        .iter()
        .map(|worker| worker.summary.last_ns)
        .collect();
    assert!(ends_ns[0] >= 30_000_000, "{ends_ns:?}");
    assert!(ends_ns[1] - ends_ns[0] >= 30_000_000, "{ends_ns:?}");
    assert!(ends_ns[2] - ends_ns[1] >= 30_000_000, "{ends_ns:?}");
}

#[test]
fn a_duration_is_an_end_and_intervals_cover_it() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2);
    run(&with_workers(write_job(1), 2, 64), &targets);
    let mut job = with_workers(read_job(1), 2, 64);
    (job.once, job.duration_ns) = (false, Some(100_000_000));
    (job.access, job.interval_ns) = (Access::RandomPermutation, 10_000_000);
    let outcome = run(&job, &targets);
    assert_eq!(outcome.ended, Ended::Planned);
    assert!(outcome.elapsed_ns >= 100_000_000);
    let intervals = &outcome.recordings[0].intervals;
    assert_eq!(
        intervals.len() as u64,
        outcome.elapsed_ns.div_ceil(10_000_000)
    );
    let mut end_ns = 0;
    for interval in intervals {
        assert_eq!(interval.start_ns, end_ns);
        end_ns += interval.length_ns;
    }
    assert_eq!(end_ns, outcome.elapsed_ns);
    let counted: u64 = intervals
        .iter()
        .map(|interval| interval.latencies.count())
        .sum();
    assert_eq!(counted, outcome.operations());

    // Whole intervals in which both workers were active: how many there are depends
    // on how soon the system let both run.
    let summaries = || outcome.workers.iter().map(|worker| worker.summary);
    let begin_ns = summaries().map(|summary| summary.first_ns).max().unwrap();
    let end_ns = summaries().map(|summary| summary.last_ns).min().unwrap();
    let shared: Vec<_> = intervals
        .iter()
        .filter(|interval| interval.start_ns >= begin_ns)
        .filter(|interval| interval.start_ns + 10_000_000 <= end_ns)
        .collect();
    let expected = shared.first().map(|first| AllActive {
        start_ns: first.start_ns,
        end_ns: first.start_ns + 10_000_000 * shared.len() as u64,
        bytes: shared.iter().map(|interval| interval.bytes).sum(),
    });
    assert_eq!(outcome.all_active, expected);
}

#[test]
fn the_stop_flag_ends_a_job_without_end() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 3);
    run(&with_workers(write_job(1), 3, 16), &targets);
    for job in [
        with_workers(read_job(1), 3, 16),
        with_workers(ring_job(1, 8), 3, 16),
    ] {
        let job = Job { once: false, ..job };
        let (stop, progress) = (StopFlag::new(), Arc::new(Progress::new(3)));
        let outcome = std::thread::scope(|scope| {
            let (flag, seen) = (stop.clone(), Arc::clone(&progress));
            scope.spawn(move || {
                while seen.operations() < 1000 {
                    std::thread::yield_now();
                }
                flag.raise();
            });
            stiction_engine::run(&job, &targets, &stop, &progress).unwrap()
        });
        assert_eq!(outcome.ended, Ended::Stopped);
        assert_eq!(
            outcome.caveats[0].code,
            stiction_core::CaveatCode::Interrupted
        );
        assert_eq!(progress.operations(), outcome.operations());
        assert_eq!(outcome.recordings[0].operations(), outcome.operations());
    }
}

#[test]
fn a_stopped_job_does_not_sync_for_long() {
    let directory = scratch_folder();
    let targets = file(directory.path().join("f"));
    let mut job = write_job(1000);
    job.once = false;
    job.sync_at_end = Some(SyncKind::Fsync);
    let (stop, progress) = (StopFlag::new(), Progress::new(1));
    stop.raise();
    let outcome = stiction_engine::run(&job, &targets, &stop, &progress).unwrap();
    assert_eq!(outcome.ended, Ended::Stopped);
    let syncs = outcome
        .recordings
        .iter()
        .filter(|one| one.direction == Direction::Sync);
    assert_eq!(syncs.map(Recording::operations).sum::<u64>(), 0);
}

#[test]
fn opening_in_time_is_in_the_time() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 4);
    let mut job = with_workers(write_job(1), 4, 20);
    job.open_in_time = true;
    for backend in [BackendKind::Psync, BackendKind::IoUring, BackendKind::Mmap] {
        job.backend = backend;
        let outcome = run(&job, &targets);
        assert_eq!(outcome.operations(), 80);
        let last = outcome
            .workers
            .iter()
            .map(|worker| worker.summary.last_ns)
            .max();
        assert!(
            last.unwrap() < outcome.elapsed_ns,
            "closing comes after the last operation"
        );
    }
}

#[test]
fn cpu_time_is_the_workers_own() {
    let mut job = read_job(1000);
    (job.backend, job.once) = (BackendKind::Null, false);
    job.operations_per_worker = Some(2_000_000);
    let outcome = run(&job, &[]);
    let worker = &outcome.workers[0];
    assert!(worker.cpu.total_ns > 2_000_000, "{:?}", worker.cpu);
    assert_eq!(worker.cpu.total_ns, worker.summary.cpu_ns);
    assert!(worker.cpu.total_ns <= outcome.elapsed_ns + 10_000_000);
}
