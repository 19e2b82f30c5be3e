//! CPU time of this process and of the machine.

use rustix::time::{ClockId, clock_gettime};
use stiction_core::{CpuTime, SystemCpu};

use crate::sys::rusage;

/// CPU time that the process has used so far: its threads, those that have ended
/// included, and the kernel's helpers of its rings.
#[must_use]
pub fn process_cpu() -> CpuTime {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // getrusage(2) fails for no argument that is given here; a time of 0 would show.
    let split = rusage::of_process().unwrap_or_default();
    CpuTime {
        total_ns: time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned(),
        user_ns: split.user_ns,
        system_ns: split.system_ns,
    }
}

/// What was used between two readings.
#[must_use]
pub fn cpu_between(before: CpuTime, after: CpuTime) -> CpuTime {
    CpuTime {
        total_ns: after.total_ns.saturating_sub(before.total_ns),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
    }
}

/// One line of `/proc/stat` (proc_stat(5)), in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    user: u64,
    system: u64,
    interrupt: u64,
    idle: u64,
    io_wait: u64,
    steal: u64,
}

impl Ticks {
    /// `user nice system idle iowait irq softirq steal guest guest_nice`; guest time
    /// is in user time already. Old kernels end earlier.
    fn of_fields<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Self> {
        let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        let field = |index: usize| fields.get(index).copied().unwrap_or(0);
        (fields.len() >= 4).then(|| Self {
            user: field(0) + field(1),
            system: field(2),
            idle: field(3),
            io_wait: field(4),
            interrupt: field(5) + field(6),
            steal: field(7),
        })
    }

    /// iowait and steal can run backwards by a little (proc_stat(5)).
    fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            interrupt: self.interrupt.saturating_sub(before.interrupt),
            idle: self.idle.saturating_sub(before.idle),
            io_wait: self.io_wait.saturating_sub(before.io_wait),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    fn busy_fraction(self) -> f64 {
        let busy = self.user + self.system + self.interrupt + self.steal;
        let all = busy + self.idle + self.io_wait;
        if all == 0 {
            0.0
        } else {
            busy as f64 / all as f64
        }
    }
}

/// A reading of `/proc/stat`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SystemReading {
    all: Ticks,
    /// By number: CPUs come and go.
    each: Vec<(String, Ticks)>,
}

impl SystemReading {
    pub(crate) fn parse(stat: &str) -> Option<Self> {
        let mut reading = Self::default();
        let mut found = false;
        for line in stat.lines() {
            let mut fields = line.split_ascii_whitespace();
            match fields.next() {
                Some("cpu") => {
                    reading.all = Ticks::of_fields(fields)?;
                    found = true;
                }
                Some(name) if name.starts_with("cpu") => {
                    let ticks = Ticks::of_fields(fields)?;
                    reading.each.push((name.to_owned(), ticks));
                }
                _ => {}
            }
        }
        found.then_some(reading)
    }

    /// What was used since `before`, with ticks of `ticks_per_s`.
    pub(crate) fn since(&self, before: &Self, ticks_per_s: u64) -> SystemCpu {
        let ns = |ticks: u64| ticks.saturating_mul(1_000_000_000) / ticks_per_s.max(1);
        let all = self.all.since(before.all);
        let busiest = self.each.iter().filter_map(|(name, ticks)| {
            let (_, before) = before.each.iter().find(|(other, _)| other == name)?;
            Some(ticks.since(*before).busy_fraction())
        });
        SystemCpu {
            user_ns: ns(all.user),
            system_ns: ns(all.system),
            interrupt_ns: ns(all.interrupt),
            idle_ns: ns(all.idle),
            io_wait_ns: ns(all.io_wait),
            steal_ns: ns(all.steal),
            busiest_cpu_fraction: busiest.fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 10 50 1000 20 3 4 7 0 0\ncpu0 50 5 25 500 10 1 2 3 0 0\n\
                          cpu1 50 5 25 500 10 2 2 4 0 0\nintr 1 2 3\nctxt 5\n";
    const AFTER: &str = "cpu  300 20 100 1100 40 13 14 27 0 0\ncpu0 240 10 70 500 10 6 7 20 0 0\n\
                         cpu1 60 10 30 600 30 7 7 7 0 0\nintr 1 2 3\n";

    #[test]
    fn ticks_become_time_and_the_busiest_cpu_is_found() {
        let before = SystemReading::parse(BEFORE).unwrap();
        let cpu = SystemReading::parse(AFTER).unwrap().since(&before, 100);
        let tick = 10_000_000;
        assert_eq!(cpu.user_ns, 210 * tick);
        assert_eq!(cpu.system_ns, 50 * tick);
        assert_eq!(cpu.interrupt_ns, 20 * tick);
        assert_eq!(cpu.idle_ns, 100 * tick);
        assert_eq!(cpu.io_wait_ns, 20 * tick);
        assert_eq!(cpu.steal_ns, 20 * tick);
        // The first did not idle at all.
        assert!((cpu.busiest_cpu_fraction - 1.0).abs() < 1e-12);
    }

    #[test]
    fn kernels_before_steal_and_broken_lines() {
        assert!(SystemReading::parse("cpu 1 2 3 4\n").is_some());
        assert!(SystemReading::parse("cpu 1 2 3\n").is_none());
        assert!(SystemReading::parse("cpu0 1 2 3 4\n").is_none());
        assert!(SystemReading::parse("").is_none());
    }

    #[test]
    fn work_shows_in_the_time_of_the_process() {
        let own_ns = || {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            time.tv_sec * 1_000_000_000 + time.tv_nsec
        };
        let (before, own_before_ns) = (process_cpu(), own_ns());
        let mut sum = 0u64;
        while own_ns() - own_before_ns < 1_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
        }
        assert!(cpu_between(before, process_cpu()).total_ns >= 1_000_000);
    }
}
