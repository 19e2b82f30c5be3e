//! A row done by the engine, in this process.

use std::path::Path;

use stiction_core::{Access, Action, BackendKind, Data, DataShape, Job, Region, Seed, Timing};
use stiction_engine::{Progress, StopFlag, Target, run as run_job};

use crate::rows::{Call, Load};
use crate::sample::{Sample, process_cpu_ns};

/// Does `load` for `seconds`.
///
/// What starting and ending a job costs is measured by a job of one operation just
/// before, and subtracted.
pub(crate) fn run(
    load: &Load,
    path: &Path,
    length_bytes: u64,
    seconds: f64,
) -> Result<Sample, String> {
    let whole = Job {
        duration_ns: Some((seconds * 1e9) as u64),
        ..job(load, length_bytes)
    };
    let one = Job {
        operations_per_worker: Some(1),
        ..whole.clone()
    };
    let fixed = timed(&one, path)?;
    let sample = timed(&whole, path)?;
    Ok(Sample {
        cpu_ns: (sample.cpu_ns - fixed.cpu_ns).max(0.0),
        ..sample
    })
}

fn job(load: &Load, length_bytes: u64) -> Job {
    Job {
        name: "bench".to_owned(),
        access: if load.sequential {
            Access::Sequential
        } else {
            Access::RandomIndependent
        },
        action: if load.write {
            Action::Write
        } else {
            Action::Read
        },
        block_size_bytes: load.block_bytes.into(),
        depth: load.depth,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes,
        }],
        backend: match load.call {
            Call::None => BackendKind::Null,
            Call::Sync => BackendKind::Psync,
            Call::Ring => BackendKind::IoUring,
        },
        direct: load.is_direct(),
        // As fio: the same random bytes again and again.
        data: Data::Unique,
        shape: DataShape {
            refill: false,
            ..DataShape::default()
        },
        once: false,
        interval_ns: 100_000_000,
        timing: Timing::Chained,
        seed: Seed(1),
        ..Job::default()
    }
}

fn timed(job: &Job, path: &Path) -> Result<Sample, String> {
    let targets = [Target::File(path.to_owned())];
    let cpu_before = process_cpu_ns();
    let outcome = run_job(job, &targets, &StopFlag::new(), &Progress::new(1))
        .map_err(|error| error.to_string())?;
    let cpu_ns = process_cpu_ns() - cpu_before;
    match &outcome.workers[0].failure {
        None => Ok(Sample {
            operations: outcome.operations(),
            cpu_ns: cpu_ns as f64,
            wall_ns: outcome.elapsed_ns as f64,
        }),
        Some(failure) => Err(failure.to_string()),
    }
}
