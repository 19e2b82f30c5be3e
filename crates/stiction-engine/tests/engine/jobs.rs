//! Jobs and directories for the tests, and how to run them.

use std::path::{Path, PathBuf};

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, Region, Seed, StartOrder, Timing, WriteSync,
};
use stiction_engine::{EngineError, Outcome, Progress, StopFlag, Target};

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
        sync_at_end: None,
        create: Create::Truncate,
        data: Data::Unique,
        verify: false,
        operations_per_worker: None,
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        open_in_time: false,
        interval_ns: 100_000_000,
        timing: Timing::Exact,
        seed: Seed(42),
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

/// A directory of the test's own on the filesystem of the build directory, which
/// is a disk's, where the system's temporary directory may be memory.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
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

pub(crate) fn content(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
