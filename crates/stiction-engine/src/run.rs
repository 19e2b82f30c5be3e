//! Runs a job.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::sync::Barrier;
use std::time::Instant;

use stiction_core::{
    Action, BackendKind, Create, Direction, Histogram, Interval, Job, Recording, WorkerSummary,
};

use crate::failure::{Cause, Operation};
use crate::{
    Ended, EngineError, IoFailure, Outcome, Progress, StopFlag, Target, Unavailable, WorkerOutcome,
};

/// Runs `job` on `targets`.
///
/// # Errors
/// When nothing was done; see [`EngineError`].
pub fn run(
    job: &Job,
    targets: &[Target],
    stop: &StopFlag,
    progress: &Progress,
) -> Result<Outcome, EngineError> {
    probe(job.backend)?;
    let barrier = Barrier::new(job.regions.len() + 1);
    let (start, workers) = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..job.regions.len())
            .map(|worker| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let file = open(job, targets, worker);
                    barrier.wait();
                    file.map(|file| work(job, targets, worker, &file, stop, progress))
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        let workers: Result<Vec<_>, IoFailure> = handles
            .into_iter()
            .map(|handle| handle.join().expect("a worker does not panic"))
            .collect();
        (start, workers)
    });
    let workers = workers?;
    let elapsed_ns = nanoseconds(start);
    let direction = direction(job);
    let mut latencies = Histogram::new();
    workers
        .iter()
        .for_each(|worker| latencies.merge(&worker.latencies(direction)));
    let bytes = workers.iter().map(|worker| worker.summary.bytes).sum();
    let failure = workers.iter().find_map(|worker| worker.failure.clone());
    Ok(Outcome {
        recordings: vec![Recording {
            direction,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: elapsed_ns,
                bytes,
                latencies,
            }],
        }],
        elapsed_ns,
        all_active: None,
        ended: match failure {
            Some(failure) => Ended::Failed(failure),
            None if stop.is_raised() => Ended::Stopped,
            None => Ended::Planned,
        },
        direct_granted: None,
        notes: Vec::new(),
        caveats: Vec::new(),
        workers,
    })
}

/// Whether `backend` can be had on this system.
///
/// # Errors
/// [`Unavailable`] with the kernel's words.
pub fn probe(backend: BackendKind) -> Result<(), Unavailable> {
    match backend {
        BackendKind::Psync => Ok(()),
        _ => Err(Unavailable {
            backend,
            reason: "this build has no such backend".to_owned(),
        }),
    }
}

fn direction(job: &Job) -> Direction {
    match job.action {
        Action::Read => Direction::Read,
        Action::Write => Direction::Write,
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn open(job: &Job, targets: &[Target], worker: usize) -> Result<File, IoFailure> {
    let target = &targets[job.regions[worker].target as usize];
    OpenOptions::new()
        .read(true)
        .write(job.action == Action::Write)
        .create(job.create != Create::Open)
        .truncate(job.create == Create::Truncate)
        .open(target.path())
        .map_err(|error| IoFailure {
            worker: worker as u32,
            operation: Operation::Open,
            path: target.path().to_owned(),
            offset_bytes: None,
            cause: Cause::Errno(error.raw_os_error().unwrap_or(0)),
        })
}

fn work(
    job: &Job,
    targets: &[Target],
    worker: usize,
    file: &File,
    stop: &StopFlag,
    progress: &Progress,
) -> WorkerOutcome {
    let region = job.regions[worker];
    let mut buffer = vec![0; job.block_size_bytes as usize];
    let blocks = job.blocks(worker);
    let limit = job.operations_per_worker.unwrap_or(u64::MAX);
    let limit = if job.once { limit.min(blocks) } else { limit };
    let start = Instant::now();
    let mut latencies = Histogram::new();
    let mut summary = WorkerSummary::default();
    let mut failure = None;
    while summary.operations < limit
        && !stop.is_raised()
        && job
            .duration_ns
            .is_none_or(|limit| nanoseconds(start) < limit)
    {
        let offset = region.offset_bytes + summary.operations % blocks * job.block_size_bytes;
        let before = Instant::now();
        let done = match job.action {
            Action::Read => file.read_exact_at(&mut buffer, offset),
            Action::Write => file.write_all_at(&buffer, offset),
        };
        if let Err(error) = done {
            failure = Some(IoFailure {
                worker: worker as u32,
                operation: Operation::Write,
                path: targets[region.target as usize].path().to_owned(),
                offset_bytes: Some(offset),
                cause: Cause::Errno(error.raw_os_error().unwrap_or(0)),
            });
            break;
        }
        latencies.record(nanoseconds(before));
        summary.operations += 1;
        summary.bytes += job.block_size_bytes;
    }
    summary.last_ns = nanoseconds(start);
    progress.publish(worker, summary.operations, summary.bytes);
    WorkerOutcome {
        summary,
        cpu: stiction_core::CpuTime::default(),
        failure,
        mismatches: Vec::new(),
        mismatch_count: 0,
        latencies: vec![(direction(job), latencies)],
    }
}
