//! Time stamps for latencies: the processor's time-stamp counter where it can be
//! trusted, `CLOCK_MONOTONIC` elsewhere.
//!
//! Reading the counter costs 10 ns on the machine we measured, the clock 25 ns. Which is
//! taken is found at the start of each run, and said in its notes with what a reading
//! costs here, the counter's rate, and by how much that was off over the run by
//! `CLOCK_MONOTONIC` and by `CLOCK_MONOTONIC_RAW`, which nobody slews.
pub(crate) mod simulated;
mod source;

use std::time::Duration;

use rustix::time::ClockId;

use source::{Choice, Source, clock_ns};

/// What the counter is calibrated over at least. Each end is known to some 30 ns,
/// which leaves 3 parts in a million.
const CALIBRATION: Duration = Duration::from_millis(20);
/// A counter whose rate by `CLOCK_MONOTONIC` and by `CLOCK_MONOTONIC_RAW` differs by more
/// is not used, parts per million: the former is slewed by 500 at most, and the rest is
/// left for a calibration that was interrupted.
const DISAGREEMENT_PPM_MAX: f64 = 1000.0;

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

    /// Lets simulated time go by until `ticks`; false where time goes by itself.
    pub(crate) fn advance_to(self, ticks: u64) -> bool {
        if self.source == Source::Simulated {
            simulated::advance_to(ticks);
        }
        self.source == Source::Simulated
    }

    /// Before a moment that is waited for, how long it is waited for awake, ns: a sleeper
    /// is woken up late by about as much.
    pub(crate) fn awake_ns(self) -> u64 {
        match self.source {
            Source::Simulated => 0,
            _ => 60_000,
        }
    }

    /// One line on the clock, for the notes: its name, what a reading costs, its rate, and
    /// by how much that was off over the run that began with `calibration`.
    pub(crate) fn describe(self, calibration: &Calibration) -> String {
        let words = calibration.choice_for(self.source).words();
        match self.source {
            Source::Simulated => "clock: simulated".to_owned(),
            Source::Monotonic => format!("clock: CLOCK_MONOTONIC, {words}"),
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => {
                let end = Readings::take(self.source);
                let off = |begin, end| ppm(self.ns(Reading::ticks_between(begin, end)), begin, end);
                format!(
                    "clock: tsc at {:.2} MHz, {words}; over the run off by {:+.1} ppm, by \
                     CLOCK_MONOTONIC_RAW {:+.1} ppm",
                    1e3 / (self.ns_per_tick_q32 as f64 / f64::from(1u32 << 16).powi(2)),
                    off(calibration.begin.monotonic, end.monotonic),
                    off(calibration.begin.raw, end.raw),
                )
            }
        }
    }
}

/// How much more time passed by `ours_ns` than by the kernel's clock between two readings,
/// parts per million.
fn ppm(ours_ns: u64, begin: Reading, end: Reading) -> f64 {
    let kernels_ns = end.ns.saturating_sub(begin.ns).max(1);
    (ours_ns as f64 / kernels_ns as f64 - 1.0) * 1e6
}

/// The counter and a clock of the kernel's at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    ticks: u64,
    ns: u64,
}

impl Reading {
    /// The reading of several that took the shortest time.
    fn take(source: Source, clock: ClockId) -> Self {
        let attempt = || {
            let before = clock_ns(clock);
            let ticks = source.ticks();
            let width_ns = clock_ns(clock) - before;
            (width_ns, ticks, before + width_ns / 2)
        };
        let (_, ticks, ns) = (0..16)
            .map(|_| attempt())
            .min()
            .expect("sixteen attempts have a shortest");
        Self { ticks, ns }
    }

    fn ticks_between(begin: Self, end: Self) -> u64 {
        end.ticks.saturating_sub(begin.ticks)
    }

    /// Nanoseconds in a tick between two readings, with 32 binary places.
    fn ns_per_tick_q32(begin: Self, end: Self) -> u64 {
        let ns = u128::from(end.ns.saturating_sub(begin.ns));
        let ticks = u128::from(Self::ticks_between(begin, end)).max(1);
        u64::try_from((ns << 32) / ticks).unwrap_or(u64::MAX).max(1)
    }
}

/// The counter beside both clocks that it is held against.
#[derive(Clone, Copy, Debug)]
struct Readings {
    monotonic: Reading,
    raw: Reading,
}

impl Readings {
    fn take(source: Source) -> Self {
        Self {
            monotonic: Reading::take(source, ClockId::Monotonic),
            raw: Reading::take(source, ClockId::MonotonicRaw),
        }
    }
}

/// A calibration that goes on while the workers are made ready.
#[derive(Debug)]
pub(crate) struct Calibration {
    choice: Choice,
    begin: Readings,
}

impl Calibration {
    /// With the best clock of this machine.
    pub(crate) fn begin() -> Self {
        Self::with(Choice::best())
    }

    /// With the time of simulated devices.
    pub(crate) fn simulated() -> Self {
        Self::with(Choice::simulated())
    }

    fn with(choice: Choice) -> Self {
        Self {
            choice,
            begin: Readings::take(choice.source),
        }
    }

    /// How long ago it had begun at `now`, ticks.
    pub(crate) fn age_ticks(&self, now: u64) -> u64 {
        now.saturating_sub(self.begin.monotonic.ticks)
    }

    /// Why the clock is what it is.
    fn choice_for(&self, source: Source) -> Choice {
        if self.choice.source == source {
            return self.choice;
        }
        self.choice
            .without_counter("the time-stamp counter did not agree with CLOCK_MONOTONIC_RAW")
    }

    /// Waits until there is enough to go by, and makes the clock.
    pub(crate) fn finish(&self) -> Clock {
        let source = self.choice.source;
        let in_ns = |source| Clock {
            source,
            ns_per_tick_q32: 1 << 32,
        };
        if matches!(source, Source::Monotonic | Source::Simulated) {
            return in_ns(source);
        }
        let now_ns = clock_ns(ClockId::Monotonic);
        let age = Duration::from_nanos(now_ns.saturating_sub(self.begin.monotonic.ns));
        std::thread::sleep(CALIBRATION.saturating_sub(age));
        let end = Readings::take(source);
        let rate = Reading::ns_per_tick_q32(self.begin.monotonic, end.monotonic);
        let raw_rate = Reading::ns_per_tick_q32(self.begin.raw, end.raw);
        if disagree(rate, raw_rate) {
            return in_ns(Source::Monotonic);
        }
        Clock {
            source,
            ns_per_tick_q32: rate,
        }
    }
}

/// Whether two rates of one counter are too far apart for either to be believed.
fn disagree(one_q32: u64, other_q32: u64) -> bool {
    (one_q32 as f64 / other_q32 as f64 - 1.0).abs() * 1e6 > DISAGREEMENT_PPM_MAX
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
        let (kernel, ours) = (clock_ns(ClockId::Monotonic), clock.now());
        while clock_ns(ClockId::Monotonic) - kernel < 10_000_000 {}
        let (kernel, ours) = (
            clock_ns(ClockId::Monotonic) - kernel,
            clock.ns(clock.now() - ours),
        );
        // A preemption between two readings may add milliseconds, never take any.
        assert!(ours + 100_000 >= kernel, "{ours} ns for {kernel} ns");
        assert!(clock.describe(&calibration).starts_with("clock: "));
    }

    #[test]
    fn rates_further_apart_than_a_slew_disagree() {
        let rate = 1_654_370_000;
        assert!(!disagree(rate, rate + rate / 2000), "500 ppm");
        assert!(disagree(rate, rate - rate / 500), "2000 ppm");
    }

    /// One second by the clock in which the counter, at 2.5 GHz, was 50,000 ticks ahead.
    #[test]
    fn what_a_rate_is_off_by_is_said_in_parts_per_million() {
        let reading = |ticks, ns| Reading { ticks, ns };
        let (begin, end) = (reading(7, 100), reading(2_500_050_007, 1_000_000_100));
        let ours_ns = AT_2_5_GHZ.ns(Reading::ticks_between(begin, end));
        assert!((ppm(ours_ns, begin, end) - 20.0).abs() < 0.01);
    }

    #[test]
    fn simulated_time_goes_by_when_somebody_waits() {
        let clock = Calibration::simulated().finish();
        let begin = clock.now();
        assert_eq!(clock.now(), begin);
        assert!(clock.advance_to(begin + 5));
        assert!(clock.advance_to(begin + 3), "which is past");
        assert_eq!(clock.ns(clock.now() - begin), 5);
        assert!(!Calibration::begin().finish().advance_to(0));
    }
}
