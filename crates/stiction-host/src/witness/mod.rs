//! What stands beside a phase and sees what really happened.

mod cpu;
mod diskstats;
mod extents;
mod pressure;
mod residency;

use std::path::PathBuf;

use stiction_core::{CpuTime, DeviceTraffic, TargetStack, Witnesses};

pub use cpu::{cpu_between, process_cpu, thread_cpu};
pub use extents::{Layout, layout};
pub use residency::residency;

use crate::{HostError, Roots};
use cpu::SystemReading;
use diskstats::Counters;

/// Readings taken before a phase, to be set against those after it.
///
/// What takes long (residency, extents) is read first before the phase and last
/// after it, so that the counters stand as close to the phase as they can.
#[derive(Debug)]
pub struct Witness {
    roots: Roots,
    files: Vec<PathBuf>,
    devices: Vec<(String, Option<Counters>)>,
    system_cpu: Option<SystemReading>,
    process_cpu: CpuTime,
    io_pressure_ns: Option<u64>,
    seen: Witnesses,
}

impl Witness {
    /// Takes the readings before a phase that works on `files` (regular files, or
    /// block devices) on targets that stand on `stacks`. A file that is not there
    /// yet is left out.
    #[must_use]
    pub fn begin(stacks: &[TargetStack], files: &[PathBuf]) -> Self {
        let roots = Roots::live();
        let mut seen = Witnesses::default();
        let present: Vec<PathBuf> = files.iter().filter(|file| file.exists()).cloned().collect();
        if !present.is_empty() {
            let before = residency(&present);
            seen.residency_before = kept(before, "residency before", &mut seen.missing);
            seen.unwritten_bytes = kept(
                layout(&regular(&present)),
                "extents before",
                &mut seen.missing,
            )
            .map(|layout| layout.unwritten_bytes);
        }
        let names = witnessed_devices(stacks);
        if names.is_empty() {
            seen.missing
                .push("device traffic: the target stands on no block device".to_owned());
        }
        let mut witness = Self {
            files: files.to_owned(),
            devices: Vec::new(),
            system_cpu: None,
            process_cpu: CpuTime::default(),
            io_pressure_ns: None,
            roots,
            seen,
        };
        witness.system_cpu = witness.read_system_cpu();
        witness.io_pressure_ns = witness.read_io_pressure_ns();
        let diskstats = witness.read_diskstats();
        witness.devices = names
            .into_iter()
            .map(|name| {
                let counters = diskstats::counters(&diskstats, &name);
                (name, counters)
            })
            .collect();
        witness.process_cpu = process_cpu();
        witness
    }

    /// Takes the readings after the phase.
    #[must_use]
    pub fn finish(self) -> Witnesses {
        let process_cpu = cpu_between(self.process_cpu, process_cpu());
        let diskstats = self.read_diskstats();
        let io_pressure_ns = self.read_io_pressure_ns();
        let system_cpu = self.read_system_cpu();
        let mut seen = self.seen;

        seen.process_cpu = Some(process_cpu);
        for (name, before) in &self.devices {
            match traffic(name, before.as_ref(), &diskstats) {
                Ok(traffic) => seen.devices.push(traffic),
                Err(reason) => seen
                    .missing
                    .push(format!("device traffic of {name}: {reason}")),
            }
        }
        seen.io_pressure_ns = match (self.io_pressure_ns, io_pressure_ns) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => {
                seen.missing
                    .push("io pressure: /proc/pressure/io cannot be read".to_owned());
                None
            }
        };
        seen.system_cpu = match (&self.system_cpu, &system_cpu) {
            (Some(before), Some(after)) => {
                let ticks_per_s = rustix::param::clock_ticks_per_second();
                Some(after.since(before, ticks_per_s))
            }
            _ => {
                seen.missing
                    .push("system CPU: /proc/stat cannot be read".to_owned());
                None
            }
        };
        let present: Vec<PathBuf> = self
            .files
            .into_iter()
            .filter(|file| file.exists())
            .collect();
        if !present.is_empty() {
            seen.residency_after = kept(residency(&present), "residency after", &mut seen.missing);
            seen.extents = kept(
                layout(&regular(&present)),
                "extents after",
                &mut seen.missing,
            )
            .and_then(|layout| layout.extents);
        }
        seen
    }

    fn read_diskstats(&self) -> String {
        // Where it cannot be read, each device says that it is not in it.
        self.roots.text("/proc/diskstats").unwrap_or_default()
    }

    fn read_system_cpu(&self) -> Option<SystemReading> {
        SystemReading::parse(&self.roots.text("/proc/stat").ok()?)
    }

    fn read_io_pressure_ns(&self) -> Option<u64> {
        pressure::some_total_ns(&self.roots.text("/proc/pressure/io").ok()?)
    }
}

/// The devices whose bytes compare with the bytes asked: those that are mounted,
/// or the raw device itself. What lies below them may write more (parity, mirrors)
/// or less (compression).
fn witnessed_devices(stacks: &[TargetStack]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for stack in stacks {
        let own: Vec<String> = match &stack.filesystem {
            Some(filesystem) => filesystem.devices.clone(),
            None => stack
                .layers
                .first()
                .map(|layer| layer.name.clone())
                .into_iter()
                .collect(),
        };
        for name in own {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn traffic(
    name: &str,
    before: Option<&Counters>,
    diskstats: &str,
) -> Result<DeviceTraffic, String> {
    let absent = "not in /proc/diskstats";
    let before = before.ok_or(absent)?;
    let after = diskstats::counters(diskstats, name).ok_or(absent)?;
    diskstats::traffic(name, before, &after).ok_or_else(|| "its counters ran backwards".to_owned())
}

/// Extents are a matter of regular files.
fn regular(files: &[PathBuf]) -> Vec<PathBuf> {
    files
        .iter()
        .filter(|file| file.is_file())
        .cloned()
        .collect()
}

fn kept<T>(result: Result<T, HostError>, what: &str, missing: &mut Vec<String>) -> Option<T> {
    result
        .map_err(|error| missing.push(format!("{what}: {error}")))
        .ok()
}
