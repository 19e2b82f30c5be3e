//! What stands beside a phase and sees what really happened.

mod cpu;
mod diskstats;
mod explaining;
mod extents;
mod filesystem_stats;
mod filesystems;
mod group_io;
mod heat;
mod journal;
mod own_process;
mod pages;
mod perf;
mod pressure;
mod residency;
mod taskstats;
mod traffic;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use stiction_core::{CpuTime, FileMap, Layout, TargetStack, WitnessCost, WitnessLevel, Witnesses};

pub(crate) use cpu::SystemReading;
pub use cpu::{cpu_between, process_cpu};
pub use extents::{file_map, unwritten_bytes};
pub(crate) use pages::Pages;
pub use pressure::pressure;
pub(crate) use pressure::pressure_in;
pub(crate) use residency::of_file as residency_of_file;
pub use residency::residency;
pub(crate) use traffic::{Traffic, own_devices};

use crate::{HostError, Roots};
use explaining::Explaining;
use perf::Recorders;
use pressure::GroupPressure;

/// Readings taken before a phase, to be set against those after it.
///
/// What takes long (residency, extents) is read first before the phase and last
/// after it, so that the counters stand as close to the phase as they can.
#[derive(Debug)]
pub struct Witness {
    level: WitnessLevel,
    files: FileWitness,
    /// `None` where nothing is to be watched, as are the counters.
    explaining: Option<Explaining>,
    counters: Option<Counters>,
    counters_took: Duration,
    /// What records while the phase runs.
    recorders: Option<Recorders>,
    process_cpu: CpuTime,
}

impl Witness {
    /// Takes the readings before a phase that works on `files` (regular files, or
    /// block devices) on targets that stand on `stacks`. A file that is not there
    /// yet is left out.
    #[must_use]
    pub fn begin(level: WitnessLevel, stacks: &[TargetStack], files: &[PathBuf]) -> Self {
        let files = FileWitness::begin(level, files);
        let roots = Roots::live();
        let is_watched = level != WitnessLevel::None;
        let mut recorders = (level == WitnessLevel::Full).then(|| Recorders::open(stacks));
        let explaining = is_watched.then(|| Explaining::begin(&roots, stacks));
        let begun = Instant::now();
        let counters = is_watched.then(|| Counters::read(roots, stacks));
        let counters_took = begun.elapsed();
        if let Some(recorders) = &mut recorders {
            recorders.start();
        }
        Self {
            level,
            files,
            explaining,
            counters,
            counters_took,
            recorders,
            process_cpu: process_cpu(),
        }
    }

    /// Takes the readings after the phase.
    #[must_use]
    pub fn finish(mut self) -> Witnesses {
        let process_cpu = cpu_between(self.process_cpu, process_cpu());
        let recording_ns = self.recorders.as_ref().map_or(0, Recorders::cpu_ns);
        if let Some(recorders) = &mut self.recorders {
            recorders.stop();
        }
        let mut seen = Witnesses {
            level: self.level,
            process_cpu: Some(without(process_cpu, recording_ns)),
            ..Witnesses::default()
        };
        let (Some(explaining), Some(counters)) = (self.explaining, self.counters) else {
            miss(
                &mut seen,
                "everything but our own CPU time: nothing was to be watched",
            );
            return seen;
        };
        let begun = Instant::now();
        let roots = counters.finish(&mut seen);
        let took = self.counters_took + begun.elapsed();
        seen.costs.push(cost("counters", took));
        explaining.finish(&roots, &mut seen);
        if let Some(recorders) = self.recorders {
            recorders.finish(&mut seen);
        }
        self.files.finish(&mut seen);
        seen
    }
}

/// Counters of the machine before a phase.
#[derive(Debug)]
struct Counters {
    roots: Roots,
    pressure: Option<GroupPressure>,
    system_cpu: Option<SystemReading>,
    pages: Option<Pages>,
    traffic: Traffic,
}

impl Counters {
    fn read(roots: Roots, stacks: &[TargetStack]) -> Self {
        Self {
            pressure: GroupPressure::read(&roots),
            system_cpu: read_system_cpu(&roots),
            pages: Pages::read(&roots),
            traffic: Traffic::begin(&roots, stacks),
            roots,
        }
    }

    /// Reads them again, and enters what they grew by.
    fn finish(self, seen: &mut Witnesses) -> Roots {
        let roots = &self.roots;
        self.traffic.finish(roots, seen);
        let system_cpu = read_system_cpu(roots);
        let pressure = GroupPressure::read(roots);
        let pages = Pages::read(roots);

        match (&self.system_cpu, &system_cpu) {
            (Some(before), Some(after)) => {
                let ticks_per_s = rustix::param::clock_ticks_per_second();
                seen.system_cpu = Some(after.since(before, ticks_per_s));
            }
            _ => miss(seen, "system CPU: /proc/stat cannot be read"),
        }
        match (self.pressure, pressure) {
            (Some(before), Some(after)) => seen.pressure = after.since(&before),
            _ => miss(seen, "io pressure: /proc/pressure/io cannot be read"),
        }
        let waited = seen.pressure.as_ref().map(|pressure| pressure.waited);
        seen.io_pressure_ns = waited.and_then(|waited| waited.io_some_ns);
        match (self.pages, pages) {
            (Some(before), Some(after)) => seen.pages = Some(after.since(before)),
            _ => miss(seen, "pages: /proc/vmstat cannot be read"),
        }
        self.roots
    }
}

/// The readings that are about files alone: what memory holds of them, and how they lie
/// on the device. Jobs that run at the same time have them each for its own files.
#[derive(Debug)]
pub struct FileWitness {
    files: Vec<PathBuf>,
    before: Witnesses,
    took: Duration,
}

impl FileWitness {
    /// Takes the readings before a phase. A file that is not there yet is left out; all
    /// are where nothing is to be watched.
    #[must_use]
    pub fn begin(level: WitnessLevel, files: &[PathBuf]) -> Self {
        let begun = Instant::now();
        let mut before = Witnesses::default();
        let files = match level {
            WitnessLevel::None => Vec::new(),
            WitnessLevel::Light | WitnessLevel::Full => files.to_owned(),
        };
        look_at_files_before(&files, &mut before);
        Self {
            files,
            before,
            took: begun.elapsed(),
        }
    }

    /// Takes the readings after the phase, and enters both into `seen`.
    pub fn finish(self, seen: &mut Witnesses) {
        if self.files.is_empty() {
            return;
        }
        let begun = Instant::now();
        seen.residency_before = self.before.residency_before;
        seen.unwritten_bytes = self.before.unwritten_bytes;
        seen.missing.extend(self.before.missing);
        look_at_files_after(&self.files, seen);
        seen.costs.push(cost("files", self.took + begun.elapsed()));
    }
}

/// CPU time without that of a thread that read records; it does so in user mode.
fn without(cpu: CpuTime, recording_ns: u64) -> CpuTime {
    CpuTime {
        total_ns: cpu.total_ns.saturating_sub(recording_ns),
        user_ns: cpu.user_ns.saturating_sub(recording_ns),
        ..cpu
    }
}

/// What readings before and after a phase took.
fn cost(witness: &str, beside: Duration) -> WitnessCost {
    WitnessCost {
        witness: witness.to_owned(),
        beside_ns: u64::try_from(beside.as_nanos()).unwrap_or(u64::MAX),
        during_cpu_ns: 0,
        records: 0,
    }
}

fn look_at_files_before(files: &[PathBuf], seen: &mut Witnesses) {
    let present = present(files);
    if present.is_empty() {
        return;
    }
    seen.residency_before = kept(residency(&present), "residency before", seen);
    let regular = regular(&present);
    if !regular.is_empty() {
        seen.unwritten_bytes = kept(unwritten_bytes(&regular), "extents before", seen);
    }
}

fn look_at_files_after(files: &[PathBuf], seen: &mut Witnesses) {
    let present = present(files);
    if present.is_empty() {
        return;
    }
    seen.residency_after = kept(residency(&present), "residency after", seen);
    let regular = regular(&present);
    if !regular.is_empty() {
        let maps: Result<Vec<FileMap>, HostError> =
            regular.iter().map(|path| file_map(path, false)).collect();
        seen.layout = kept(maps, "extents after", seen).and_then(|maps| Layout::of(&maps));
        seen.extents = seen.layout.map(|layout| layout.extents);
    }
}

fn present(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().filter(|file| file.exists()).cloned().collect()
}

/// Extents are a matter of regular files.
fn regular(files: &[PathBuf]) -> Vec<PathBuf> {
    files
        .iter()
        .filter(|file| file.is_file())
        .cloned()
        .collect()
}

fn kept<T>(result: Result<T, HostError>, what: &str, seen: &mut Witnesses) -> Option<T> {
    result
        .map_err(|error| seen.missing.push(format!("{what}: {error}")))
        .ok()
}

fn miss(seen: &mut Witnesses, what: &str) {
    seen.missing.push(what.to_owned());
}

fn read_system_cpu(roots: &Roots) -> Option<SystemReading> {
    SystemReading::parse(&roots.text("/proc/stat").ok()?)
}
