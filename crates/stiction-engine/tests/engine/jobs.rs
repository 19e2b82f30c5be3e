//! Jobs and directories for the tests, and how to run them.

use std::path::{Path, PathBuf};

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, Region, Seed, StartOrder, Timing, WriteSync,
};
use stiction_engine::{Ended, EngineError, IoFailure, Outcome, Progress, StopFlag, Target};

/// A job that writes `blocks` blocks of 4 KiB once, in order, through `pwrite`.
pub(crate) fn write_job(blocks: u64) -> Job {
    Job {
        name: "test".to_owned(),
        access: Access::Sequential,
        action: Action::Write,
        block_size_bytes: 4096,
        depth: 1,
        regions: vec![region(0, 0, blocks * 4096)],
        backend: BackendKind::Psync,
        direct: false,
        write_sync: WriteSync::None,
        sync_every: None,
        create: Create::Truncate,
        data: Data::Unique,
        operations_per_worker: None,
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        interval_ns: 100_000_000,
        timing: Timing::Exact,
        seed: Seed(42),
        ..Job::default()
    }
}

/// A job that reads what [`write_job`] wrote.
pub(crate) fn read_job(blocks: u64) -> Job {
    Job {
        action: Action::Read,
        create: Create::Open,
        ..write_job(blocks)
    }
}

pub(crate) fn region(target: u32, offset_bytes: u64, length_bytes: u64) -> Region {
    Region {
        target,
        offset_bytes,
        length_bytes,
    }
}

/// A job that reads what [`write_job`] wrote, through a ring.
pub(crate) fn ring_job(blocks: u64, depth: u32) -> Job {
    Job {
        backend: BackendKind::IoUring,
        depth,
        ..read_job(blocks)
    }
}

/// A job whose workers have a file each, of `blocks` blocks.
pub(crate) fn with_workers(job: Job, workers: u32, blocks: u64) -> Job {
    Job {
        regions: (0..workers)
            .map(|target| region(target, 0, blocks * job.block_size_bytes))
            .collect(),
        ..job
    }
}

/// A file for each of `workers` workers.
pub(crate) fn files(directory: &Path, workers: u32) -> Vec<Target> {
    let name = |worker| Target::File(directory.join(format!("f{worker}")));
    (0..workers).map(name).collect()
}

pub(crate) fn file(path: impl Into<PathBuf>) -> Vec<Target> {
    vec![Target::File(path.into())]
}

pub(crate) fn run(job: &Job, targets: &[Target]) -> Outcome {
    try_run(job, targets).unwrap()
}

pub(crate) fn try_run(job: &Job, targets: &[Target]) -> Result<Outcome, EngineError> {
    let progress = Progress::new(job.regions.len());
    let outcome = stiction_engine::run(job, targets, &StopFlag::new(), &progress)?;
    assert_eq!(progress.operations(), outcome.operations());
    assert_eq!(progress.bytes(), outcome.bytes());
    Ok(outcome)
}

/// The failure that ended the job.
pub(crate) fn failure(outcome: &Outcome) -> &IoFailure {
    match &outcome.ended {
        Ended::Failed(failure) => failure,
        other => panic!("ended as {other:?}"),
    }
}

pub(crate) fn content(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Runs this test binary once more, for one test alone in its process; `variable`
/// tells it that it is the child, and which directory to use.
pub(crate) fn run_child(
    test: &str,
    variable: &str,
    directory: &Path,
    prepare: impl Fn(&mut std::process::Command),
) {
    let mut child = std::process::Command::new("/proc/self/exe");
    child.args(["--exact", test, "--nocapture"]);
    child.env(variable, directory);
    prepare(&mut child);
    let output = child.output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
