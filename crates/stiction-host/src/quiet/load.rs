//! Whether CPUs and memory are free.

use std::time::Duration;

use stiction_core::{Pressure, Spoiler, SpoilerKind, format_bytes};

use crate::Roots;
use crate::witness::{Pages, SystemReading, pressure_in};

/// Share of time in which some task waited for a CPU that is too much.
const WAITED_FRACTION: f64 = 0.1;
/// Share of the CPUs' time that others may take, and that a hypervisor may.
const BUSY_FRACTION: f64 = 0.25;
const STEAL_FRACTION: f64 = 0.1;
/// Share of memory that is to be available.
const AVAILABLE_FRACTION: f64 = 0.05;

/// A reading of what CPUs and swap did.
#[derive(Debug)]
pub(super) struct Load {
    cpu: Option<SystemReading>,
    pressure: Pressure,
    pages: Option<Pages>,
    /// Tasks that run or could, this one included, and CPUs.
    runnable: Option<(u64, u64)>,
}

impl Load {
    pub(super) fn read(roots: &Roots) -> Self {
        let stat = roots.text("/proc/stat").unwrap_or_default();
        let cpus = stat.lines().filter(|line| is_of_one_cpu(line)).count() as u64;
        let load = roots.text("/proc/loadavg").unwrap_or_default();
        Self {
            cpu: SystemReading::parse(&stat),
            pressure: pressure_in(roots),
            pages: Pages::read(roots),
            runnable: runnable(&load).map(|tasks| (tasks, cpus)),
        }
    }

    /// What spoils, seen between the earlier reading and this one.
    pub(super) fn since(self, before: &Self, elapsed: Duration) -> Vec<Spoiler> {
        let mut found = Vec::new();
        let spoiler = |kind, detail| Spoiler { kind, detail };
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        let cpu = match (&self.cpu, &before.cpu) {
            (Some(after), Some(before)) => Some(after.since(before, ticks_per_s)),
            _ => None,
        };
        let share = |part: u64| {
            let all = cpu.map_or(0, |cpu| cpu.busy_ns() + cpu.idle_ns + cpu.io_wait_ns);
            if all == 0 {
                0.0
            } else {
                part as f64 / all as f64
            }
        };
        let busy = share(cpu.map_or(0, |cpu| cpu.busy_ns() - cpu.steal_ns));
        let stolen = share(cpu.map_or(0, |cpu| cpu.steal_ns));
        let waited_ns = self.pressure.since(before.pressure).cpu_some_ns;
        let waited = waited_ns.unwrap_or(0) as f64 / elapsed.as_nanos().max(1) as f64;
        let load = match self.runnable {
            Some((tasks, cpus)) if tasks > cpus && cpus > 0 => Some(format!(
                "{} other tasks ran, or were ready to, on {cpus} CPUs",
                tasks - 1
            )),
            _ if waited >= WAITED_FRACTION => Some(format!(
                "tasks waited for a CPU in {:.0} % of the time",
                100.0 * waited.min(1.0)
            )),
            _ if busy >= BUSY_FRACTION => Some(format!(
                "the CPUs were busy for {:.0} % of the time",
                100.0 * busy
            )),
            _ => None,
        };
        found.extend(load.map(|detail| spoiler(SpoilerKind::Load, detail)));
        if stolen >= STEAL_FRACTION {
            let detail = format!(
                "a hypervisor took {:.0} % of the CPUs' time",
                100.0 * stolen
            );
            found.push(spoiler(SpoilerKind::Steal, detail));
        }
        if let (Some(after), Some(before)) = (self.pages, before.pages) {
            let pages = after.since(before);
            let swapped = pages.swapped_in_bytes + pages.swapped_out_bytes;
            if swapped > 0 {
                let detail = format!("{} went to swap or came back", format_bytes(swapped));
                found.push(spoiler(SpoilerKind::Swapping, detail));
            }
        }
        found
    }
}

/// `cpu0 ...`, not the line of all of them.
fn is_of_one_cpu(line: &str) -> bool {
    let number = line
        .strip_prefix("cpu")
        .and_then(|rest| rest.chars().next());
    number.is_some_and(|first| first.is_ascii_digit())
}

/// Tasks that can run now, of `0.20 0.18 0.12 1/80 11206` (proc_loadavg(5)).
fn runnable(loadavg: &str) -> Option<u64> {
    let field = loadavg.split_ascii_whitespace().nth(3)?;
    field.split_once('/')?.0.parse().ok()
}

/// Whether too little memory is available (`/proc/meminfo`).
pub(super) fn low_memory(roots: &Roots) -> Option<Spoiler> {
    let text = roots.text("/proc/meminfo").ok()?;
    let total = meminfo_bytes(&text, "MemTotal")?;
    let available = meminfo_bytes(&text, "MemAvailable")?;
    let is_low = (available as f64) < AVAILABLE_FRACTION * total as f64;
    is_low.then(|| Spoiler {
        kind: SpoilerKind::LowMemory,
        detail: format!(
            "{} of {} memory are available",
            format_bytes(available),
            format_bytes(total)
        ),
    })
}

/// A line of `/proc/meminfo`, which counts in KiB, in bytes.
pub(crate) fn meminfo_bytes(text: &str, name: &str) -> Option<u64> {
    let of_name = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.to_owned());
    let value = text.lines().find_map(of_name)?;
    let kib: u64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    fn load(files: &str) -> Load {
        Load::read(&Roots::at(lay_out(files).path()))
    }

    fn stat(user: u64, idle: u64, steal: u64) -> String {
        format!(
            "/proc/stat:\n|cpu {user} 0 0 {idle} 0 0 0 {steal} 0 0\n\
             |cpu0 {user} 0 0 {idle} 0 0 0 {steal} 0 0\n|cpu1 0 0 0 0 0 0 0 0 0 0\n"
        )
    }

    const LOOK: Duration = Duration::from_millis(100);

    /// Of 20 ticks 4 are a fifth and 5 a quarter; 2 stolen ones are a tenth.
    #[test]
    fn shares_of_the_cpus_time_are_held_against_limits() {
        let at_rest = load(&stat(0, 0, 0));
        let after = |user, idle, steal| load(&stat(user, idle, steal)).since(&at_rest, LOOK);
        assert_eq!(after(4, 16, 0), []);
        let busy = after(5, 15, 0);
        assert_eq!(busy[0].detail, "the CPUs were busy for 25 % of the time");
        let stolen = after(0, 18, 2);
        assert_eq!(stolen[0].kind, SpoilerKind::Steal);
        assert_eq!(stolen[0].detail, "a hypervisor took 10 % of the CPUs' time");
    }

    /// Three tasks on two CPUs, of which one is who looks: two others.
    #[test]
    fn more_tasks_than_cpus_are_a_load() {
        let with = |tasks: u32| {
            let text = format!(
                "{}/proc/loadavg: 0.20 0.18 0.12 {tasks}/80 11206\n",
                stat(0, 0, 0)
            );
            load(&text).since(&load(&stat(0, 0, 0)), LOOK)
        };
        assert_eq!(with(2), []);
        let found = with(3);
        assert_eq!(found[0].kind, SpoilerKind::Load);
        assert_eq!(
            found[0].detail,
            "2 other tasks ran, or were ready to, on 2 CPUs"
        );
    }

    #[test]
    fn waiting_for_a_cpu_is_a_load() {
        let pressed = |us: u64| {
            load(&format!(
                "/proc/pressure/cpu: some avg10=0.00 avg60=0.00 avg300=0.00 total={us}\n"
            ))
        };
        assert_eq!(pressed(9_999).since(&pressed(0), LOOK), []);
        let found = pressed(45_000).since(&pressed(0), LOOK);
        assert_eq!(
            found[0].detail,
            "tasks waited for a CPU in 45 % of the time"
        );
    }

    #[test]
    fn pages_on_their_way_to_swap_and_little_memory_are_told() {
        let swapped = |pages: u64| load(&format!("/proc/vmstat:\n|pswpin 5\n|pswpout {pages}\n"));
        assert_eq!(swapped(7).since(&swapped(7), LOOK), []);
        assert_eq!(
            swapped(8).since(&swapped(7), LOOK)[0].kind,
            SpoilerKind::Swapping
        );

        let memory = |available_kib: u64| {
            let text = format!(
                "/proc/meminfo:\n|MemTotal:        1000000 kB\n|MemFree:             100 kB\n\
                 |MemAvailable:  {available_kib} kB\n"
            );
            low_memory(&Roots::at(lay_out(&text).path()))
        };
        assert_eq!(memory(50_000), None);
        let found = memory(49_999).unwrap();
        assert_eq!(found.detail, "48.8 MiB of 977 MiB memory are available");
    }
}
