//! Time stamps for latencies: the processor's time-stamp counter where it can be
//! trusted, `CLOCK_MONOTONIC` elsewhere.
//!
//! Reading the counter costs 10 ns on the machine we measured, the clock 25 ns.
//! The counter is trusted when the processor says that it runs at a constant rate
//! and never stops (`constant_tsc`, `nonstop_tsc`) and the kernel uses it for its
//! own clock, having found it to agree between processors.
#![allow(unsafe_code)]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What the counter is calibrated over at least. Each end is known to some 30 ns,
/// which leaves 3 parts in a million.
const CALIBRATION: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    #[cfg(target_arch = "x86_64")]
    Tsc,
    Monotonic,
}

impl Source {
    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_tsc_trusted() {
            return Self::Tsc;
        }
        Self::Monotonic
    }

    #[inline(always)]
    fn ticks(self) -> u64 {
        match self {
            // SAFETY: the instruction is part of every x86-64 and touches no
            // memory. A kernel that forbids it to processes (PR_SET_TSC) would
            // not list it as its clock source.
            #[cfg(target_arch = "x86_64")]
            Self::Tsc => unsafe { core::arch::x86_64::_rdtsc() },
            Self::Monotonic => monotonic_ns(),
        }
    }
}

/// A calibrated clock; every worker has a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    source: Source,
    /// Nanoseconds in a tick, with 32 binary places.
    ns_per_tick_q32: u64,
}

impl Clock {
    /// The time now, in ticks since some moment.
    #[inline(always)]
    pub(crate) fn now(self) -> u64 {
        self.source.ticks()
    }

    /// `ticks` in nanoseconds.
    #[inline(always)]
    pub(crate) fn ns(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_tick_q32)) >> 32) as u64
    }

    /// The fewest ticks that take `ns` nanoseconds or more.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        let rate = u128::from(self.ns_per_tick_q32);
        u64::try_from((u128::from(ns) << 32).div_ceil(rate)).unwrap_or(u64::MAX)
    }

    /// One line on the clock, for the notes: its name and rate, and by how much
    /// that rate was off over the run that began with `calibration`.
    pub(crate) fn describe(self, calibration: &Calibration) -> String {
        if self.source == Source::Monotonic {
            return "clock: CLOCK_MONOTONIC".to_owned();
        }
        let drift_ppm = self.drift_ppm(calibration.begin, Reading::take(self.source));
        let mhz = 1e3 / (self.ns_per_tick_q32 as f64 / f64::from(1u32 << 16).powi(2));
        format!("clock: tsc at {mhz:.2} MHz, off by {drift_ppm:+.1} ppm over the run")
    }

    /// How much more time this clock saw pass than `CLOCK_MONOTONIC`, parts per million.
    fn drift_ppm(self, begin: Reading, end: Reading) -> f64 {
        let ours = self.ns(end.ticks.saturating_sub(begin.ticks)) as f64;
        let kernels = end.ns.saturating_sub(begin.ns).max(1) as f64;
        (ours / kernels - 1.0) * 1e6
    }
}

/// The counter and the kernel's clock at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    ticks: u64,
    ns: u64,
}

impl Reading {
    /// The reading of several that took the shortest time.
    fn take(source: Source) -> Self {
        let attempt = || {
            let before = monotonic_ns();
            let ticks = source.ticks();
            let width_ns = monotonic_ns() - before;
            (width_ns, ticks, before + width_ns / 2)
        };
        let (_, ticks, ns) = (0..16)
            .map(|_| attempt())
            .min()
            .expect("sixteen attempts have a shortest");
        Self { ticks, ns }
    }
}

/// A calibration that goes on while the workers are made ready.
#[derive(Debug)]
pub(crate) struct Calibration {
    source: Source,
    begin: Reading,
}

impl Calibration {
    pub(crate) fn begin() -> Self {
        let source = Source::best();
        Self {
            source,
            begin: Reading::take(source),
        }
    }

    /// How long ago it had begun at `now`, ticks.
    pub(crate) fn age_ticks(&self, now: u64) -> u64 {
        now.saturating_sub(self.begin.ticks)
    }

    /// Waits until there is enough to go by, and makes the clock.
    pub(crate) fn finish(&self) -> Clock {
        if self.source == Source::Monotonic {
            return Clock {
                source: self.source,
                ns_per_tick_q32: 1 << 32,
            };
        }
        let age = Duration::from_nanos(monotonic_ns().saturating_sub(self.begin.ns));
        std::thread::sleep(CALIBRATION.saturating_sub(age));
        let end = Reading::take(self.source);
        let ns = u128::from(end.ns - self.begin.ns);
        let ticks = u128::from(end.ticks.saturating_sub(self.begin.ticks)).max(1);
        Clock {
            source: self.source,
            ns_per_tick_q32: u64::try_from((ns << 32) / ticks).unwrap_or(u64::MAX).max(1),
        }
    }
}

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
fn is_tsc_trusted() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let kernel_uses_it = std::fs::read_to_string(SOURCE).is_ok_and(|name| name.trim() == "tsc");
    kernel_uses_it
        && std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| has_steady_tsc(&text))
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

#[cfg(test)]
mod tests {
    use super::*;

    const AT_2_5_GHZ: Clock = Clock {
        source: Source::Monotonic,
        ns_per_tick_q32: (4 << 32) / 10,
    };

    #[test]
    fn ticks_and_nanoseconds_convert_both_ways() {
        // 0.4 in 32 binary places is 1717986918 / 2^32, less by 2.3 parts in 10^10.
        assert_eq!(AT_2_5_GHZ.ns(2_500_000_001), 1_000_000_000);
        assert_eq!(AT_2_5_GHZ.ns(25_000_000_000_000), 9_999_999_997_671);
        for ns in [0, 1, 7, 1_000_000_000, 3_600_000_000_000] {
            let ticks = AT_2_5_GHZ.ticks(ns);
            assert!(AT_2_5_GHZ.ns(ticks) >= ns, "{ns}");
            assert!(ticks == 0 || AT_2_5_GHZ.ns(ticks - 1) < ns, "{ns}");
        }
        assert_eq!(AT_2_5_GHZ.ticks(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_clock_agrees_with_the_kernels() {
        let calibration = Calibration::begin();
        let clock = calibration.finish();
        let (kernel, ours) = (monotonic_ns(), clock.now());
        while monotonic_ns() - kernel < 10_000_000 {}
        let (kernel, ours) = (monotonic_ns() - kernel, clock.ns(clock.now() - ours));
        // A preemption between two readings may add milliseconds, never take any.
        assert!(ours + 100_000 >= kernel, "{ours} ns for {kernel} ns");
        assert!(clock.describe(&calibration).starts_with("clock: "));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn both_flags_are_needed() {
        let cpuinfo =
            "processor\t: 0\nflags\t\t: fpu tsc constant_tsc rep_good nonstop_tsc cpuid\n";
        assert!(has_steady_tsc(cpuinfo));
        assert!(!has_steady_tsc(&cpuinfo.replace(" nonstop_tsc", "")));
        assert!(!has_steady_tsc(
            &cpuinfo.replace("constant_tsc", "tsc_scale")
        ));
        assert!(!has_steady_tsc(""));
    }
}
