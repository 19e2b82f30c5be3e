//! Where time stamps come from: found by what the kernel says of the counter, and by
//! what a reading of each costs here.

#![allow(unsafe_code)]

use rustix::time::{ClockId, clock_gettime};

use super::simulated;

/// Readings over which the cost of one is averaged; the best of [`TRIES`] counts.
const READINGS: u64 = 256;
const TRIES: usize = 4;

/// Where time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The processor's time-stamp counter.
    #[cfg(target_arch = "x86_64")]
    Tsc,
    /// `CLOCK_MONOTONIC`.
    Monotonic,
    /// The time of a simulated device.
    Simulated,
}

impl Source {
    /// The time now, ticks.
    #[inline(always)]
    pub(super) fn ticks(self) -> u64 {
        match self {
            // SAFETY: the instruction is part of every x86-64 and touches no
            // memory. A kernel that forbids it to processes (PR_SET_TSC) would
            // not list it as its clock source.
            #[cfg(target_arch = "x86_64")]
            Self::Tsc => unsafe { core::arch::x86_64::_rdtsc() },
            other => other.called(),
        }
    }

    /// Out of the way of the counter's single instruction.
    #[inline(never)]
    fn called(self) -> u64 {
        match self {
            Self::Simulated => simulated::now_ns(),
            _ => clock_ns(ClockId::Monotonic),
        }
    }
}

/// A source and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) source: Source,
    /// What a reading of the counter costs, ns, where it can be trusted.
    counter_ns: Option<f64>,
    /// What a reading of `CLOCK_MONOTONIC` costs, ns.
    clock_ns: f64,
    /// Why the counter is not used.
    against: Option<&'static str>,
}

impl Choice {
    /// The simulated time of a device that is not there.
    pub(super) fn simulated() -> Self {
        Self {
            source: Source::Simulated,
            counter_ns: None,
            clock_ns: 0.0,
            against: None,
        }
    }

    /// The best source on this machine.
    pub(super) fn best() -> Self {
        let clock = cost_ns(Source::Monotonic);
        #[cfg(target_arch = "x86_64")]
        {
            const KERNELS: &str =
                "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            let kernels = std::fs::read_to_string(KERNELS).unwrap_or_default();
            let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
            Self::of(&kernels, &cpuinfo, || cost_ns(Source::Tsc), clock)
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self {
            source: Source::Monotonic,
            counter_ns: None,
            clock_ns: clock,
            against: Some("this processor has no counter that is known here"),
        }
    }

    /// The counter where the kernel's own clock is made of it (the kernel has then found
    /// it to agree between processors), where the processor says that it runs at a
    /// constant rate and never stops, and where it is the cheaper one: a hypervisor may
    /// make every reading a trap.
    #[cfg(target_arch = "x86_64")]
    fn of(
        kernels_source: &str,
        cpuinfo: &str,
        counter_ns: impl FnOnce() -> f64,
        clock_ns: f64,
    ) -> Self {
        let monotonic = |against, counter_ns| Self {
            source: Source::Monotonic,
            counter_ns,
            clock_ns,
            against: Some(against),
        };
        if kernels_source.trim() != "tsc" {
            return monotonic("the kernel does not use the time-stamp counter", None);
        }
        if !has_steady_tsc(cpuinfo) {
            return monotonic("the time-stamp counter may change its rate or stop", None);
        }
        let counter_ns = counter_ns();
        if counter_ns >= clock_ns {
            return monotonic("the time-stamp counter is dearer to read", Some(counter_ns));
        }
        Self {
            source: Source::Tsc,
            counter_ns: Some(counter_ns),
            clock_ns,
            against: None,
        }
    }

    /// The same with the kernel's clock after all.
    pub(super) fn without_counter(self, against: &'static str) -> Self {
        Self {
            source: Source::Monotonic,
            against: Some(against),
            ..self
        }
    }

    /// What a reading costs, and why it is this source, in words.
    pub(super) fn words(self) -> String {
        match (self.against, self.counter_ns) {
            (Some(against), Some(counter_ns)) => format!(
                "{:.1} ns a reading (time-stamp counter {counter_ns:.1} ns), since {against}",
                self.clock_ns
            ),
            (Some(against), None) => {
                format!("{:.1} ns a reading, since {against}", self.clock_ns)
            }
            (None, counter_ns) => format!(
                "{:.1} ns a reading (CLOCK_MONOTONIC {:.1} ns)",
                counter_ns.unwrap_or(0.0),
                self.clock_ns
            ),
        }
    }
}

/// A kernel's clock, ns.
pub(super) fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What a reading of `source` costs here, ns.
fn cost_ns(source: Source) -> f64 {
    let attempt = || {
        let begin = clock_ns(ClockId::Monotonic);
        for _ in 0..READINGS {
            std::hint::black_box(source.ticks());
        }
        clock_ns(ClockId::Monotonic) - begin
    };
    let best = (0..TRIES).map(|_| attempt()).min().unwrap_or(0);
    best as f64 / READINGS as f64
}

#[cfg(target_arch = "x86_64")]
fn has_steady_tsc(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| {
        ["constant_tsc", "nonstop_tsc"]
            .iter()
            .all(|wanted| flags.split_ascii_whitespace().any(|flag| flag == *wanted))
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const CPUINFO: &str =
        "processor\t: 0\nflags\t\t: fpu tsc constant_tsc rep_good nonstop_tsc cpuid\n";

    fn choice(kernels: &str, cpuinfo: &str, counter_ns: f64) -> Choice {
        Choice::of(kernels, cpuinfo, || counter_ns, 25.0)
    }

    #[test]
    fn the_counter_is_used_where_it_is_trusted_and_cheaper() {
        let chosen = choice("tsc\n", CPUINFO, 10.0);
        assert_eq!(chosen.source, Source::Tsc);
        assert_eq!(
            chosen.words(),
            "10.0 ns a reading (CLOCK_MONOTONIC 25.0 ns)"
        );
    }

    #[test]
    fn both_flags_are_needed() {
        for word in [" nonstop_tsc", " constant_tsc"] {
            let chosen = choice("tsc\n", &CPUINFO.replace(word, ""), 10.0);
            assert_eq!(chosen.source, Source::Monotonic, "without{word}");
            assert!(chosen.words().contains("may change its rate"));
        }
        assert_eq!(choice("tsc\n", "", 10.0).source, Source::Monotonic);
    }

    /// As after the kernel's watchdog found the counter unstable, or under a hypervisor
    /// that offers its own clock.
    #[test]
    fn another_clock_source_of_the_kernel_rules_it_out() {
        for kernels in ["hpet\n", "kvm-clock\n", "acpi_pm\n", ""] {
            let chosen = choice(kernels, CPUINFO, 10.0);
            assert_eq!(chosen.source, Source::Monotonic, "{kernels}");
        }
    }

    #[test]
    fn a_counter_that_traps_is_not_used() {
        let chosen = choice("tsc\n", CPUINFO, 1200.0);
        assert_eq!(chosen.source, Source::Monotonic);
        assert!(chosen.words().contains("1200.0 ns"), "{}", chosen.words());
    }

    #[test]
    fn a_reading_costs_something() {
        assert!(cost_ns(Source::Monotonic) > 0.0);
        assert!(Choice::best().words().contains("ns a reading"));
    }
}
