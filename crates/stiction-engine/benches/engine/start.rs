//! How long many workers take to come to their start, and what memory they need.
//!
//! Each run is a process of its own, so that the peak of its memory is that of the
//! workers, and may use all CPUs.

use std::path::Path;
use std::process::Command;

use stiction_core::{Access, BackendKind, Job, Region, Seed};
use stiction_engine::{Progress, StopFlag, Target, run};

use crate::peers;
use crate::rows::{Call, Contender, Load, Place};
use crate::sample::now_ns;

pub(crate) const NAME: &str = "start";
pub(crate) const TITLE: &str = "512 io_uring workers with 32 in flight each, on all CPUs";
/// The argument by which this program starts itself.
pub(crate) const CHILD: &str = "--start-child";

const WORKERS: usize = 512;
const DEPTH: u32 = 32;
/// What is to come out.
pub(crate) const READY_MS_MAX: f64 = 200.0;
pub(crate) const MIB_PER_WORKER_MAX: f64 = 1.0;

/// One start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// From the call to the first operation, ms.
    pub(crate) ready_ms: f64,
    /// From the call to its return after 32 operations of each worker, ms.
    pub(crate) whole_ms: f64,
    /// Growth of the process from before the call to its peak, MiB for each worker.
    pub(crate) mib_per_worker: f64,
}

/// Starts the engine in a process of its own.
pub(crate) fn ours(path: &Path) -> Result<Start, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output =
        (Command::new(program).arg(CHILD).arg(path).output()).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = (text.split_whitespace())
        .filter_map(|figure| figure.parse().ok())
        .collect();
    match figures[..] {
        [ready_ms, whole_ms, mib_per_worker] if output.status.success() => Ok(Start {
            ready_ms,
            whole_ms,
            mib_per_worker,
        }),
        _ => Err(format!(
            "start: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// fio's whole run with as many jobs, by its own start and end, ms.
pub(crate) fn fio(path: &Path) -> Result<f64, String> {
    let load = Load {
        place: Place::SmallCached,
        call: Call::Ring,
        block_bytes: 4096,
        depth: DEPTH,
        sequential: false,
        write: false,
    };
    let length_bytes = load.place.length_bytes();
    let begin = now_ns();
    let status = Command::new("fio")
        .args(peers::common_options(&load, path, length_bytes))
        .arg(format!("--numjobs={WORKERS}"))
        .arg(format!("--number_ios={DEPTH}"))
        .args(["--group_reporting", "--output-format=json"])
        .output()
        .map_err(|error| format!("fio: {error}"))?
        .status;
    if !status.success() {
        return Err(format!("fio: {status}"));
    }
    Ok((now_ns() - begin) as f64 / 1e6)
}

/// Whether fio can be measured too.
pub(crate) fn has_fio() -> bool {
    peers::missing(Contender::Fio).is_none()
}

/// One line of figures, from the process that only does this.
pub(crate) fn child(path: &Path) -> Result<String, String> {
    let region = Region {
        target: 0,
        offset_bytes: 0,
        length_bytes: Place::SmallCached.length_bytes(),
    };
    let job = Job {
        name: NAME.to_owned(),
        access: Access::RandomIndependent,
        depth: DEPTH,
        regions: vec![region; WORKERS],
        backend: BackendKind::IoUring,
        operations_per_worker: Some(DEPTH.into()),
        once: false,
        interval_ns: 100_000_000,
        seed: Seed(1),
        ..Job::default()
    };
    let targets = [Target::File(path.to_owned())];
    let progress = Progress::new(WORKERS);
    let before_kib = memory_kib("VmRSS")?;
    let begin = now_ns();
    let outcome = run(&job, &targets, &StopFlag::new(), &progress);
    let whole_ms = (now_ns() - begin) as f64 / 1e6;
    let outcome = outcome.map_err(|error| error.to_string())?;
    let expected = WORKERS as u64 * u64::from(DEPTH);
    if outcome.operations() != expected {
        return Err(format!(
            "{} operations instead of {expected}",
            outcome.operations()
        ));
    }
    let mib_per_worker = (memory_kib("VmHWM")? - before_kib) / 1024.0 / WORKERS as f64;
    let ready_ms = outcome.ready_ns as f64 / 1e6;
    Ok(format!("{ready_ms} {whole_ms} {mib_per_worker}"))
}

/// A figure of `/proc/self/status`, KiB.
fn memory_kib(name: &str) -> Result<f64, String> {
    let path = "/proc/self/status";
    let status = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok())
        .ok_or_else(|| format!("{path} has no {name}"))
}
