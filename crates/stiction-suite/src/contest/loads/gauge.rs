//! How far a load is, and the pace that it keeps.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use stiction_engine::StopFlag;

/// A load that keeps a pace is steady once it has done so for this long.
const PACED_STEADY: Duration = Duration::from_secs(1);
/// How often a load that waits for its turn looks up for a stop.
const LOOK: Duration = Duration::from_millis(20);

/// A rate that a load does not go beyond, from its first step on.
#[derive(Debug)]
pub(super) struct Pace {
    steps_per_s: u64,
    begun: Instant,
    stop: StopFlag,
}

impl Pace {
    pub(super) fn new(steps_per_s: u64, stop: StopFlag) -> Self {
        Self {
            steps_per_s,
            begun: Instant::now(),
            stop,
        }
    }

    /// When so many steps may have been done.
    fn due(&self, steps: u64) -> Duration {
        Duration::from_secs_f64(steps as f64 / self.steps_per_s.max(1) as f64)
    }

    /// Waits until so many steps may have been done; the time since the start.
    fn wait_after(&self, steps: u64) -> Duration {
        let due = self.due(steps);
        loop {
            let elapsed = self.begun.elapsed();
            let left = due.saturating_sub(elapsed);
            if left.is_zero() || self.stop.is_raised() {
                return elapsed;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

/// How far a load is.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    pace: Option<Pace>,
    pub(super) steps: AtomicU64,
    pub(super) passes: AtomicU64,
    /// Steps of the last whole pass.
    pub(super) pass_steps: AtomicU64,
    pub(super) steady: AtomicBool,
    pub(super) paused_ns: AtomicU64,
    pub(super) helpers: Mutex<Vec<u32>>,
}

impl Gauge {
    /// Of a load that keeps to a pace, where there is one.
    pub(super) fn paced(pace: Option<Pace>) -> Self {
        Self {
            pace,
            ..Self::default()
        }
    }

    /// So many steps were done. Returns when the pace allows the next.
    pub(super) fn step(&self, count: u64) {
        let all = self.steps.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(pace) = &self.pace {
            // A whole pass may take hours at that rate, and the limit on what is dirty
            // may never be reached.
            if pace.wait_after(all) >= PACED_STEADY {
                self.settle();
            }
        }
    }

    /// A whole pass of so many steps was done.
    pub(super) fn pass(&self, steps: u64) {
        self.pass_steps.store(steps, Ordering::Relaxed);
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.settle();
    }

    /// From here on it goes on as it does now.
    pub(super) fn settle(&self) {
        self.steady.store(true, Ordering::Relaxed);
    }

    /// So long it did what does not count.
    pub(super) fn pause(&self, length: Duration) {
        let ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.paused_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// A process works for the load.
    pub(super) fn helper(&self, id: u32) {
        let mut helpers = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        helpers.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_due_by_their_rate_and_a_stop_waits_for_none() {
        let stop = StopFlag::new();
        let pace = Pace::new(1 << 20, stop.clone());
        assert_eq!(pace.due(1 << 19), Duration::from_millis(500));
        stop.raise();
        // A year of steps.
        assert!(pace.wait_after(1 << 45) < Duration::from_secs(60));
        let gauge = Gauge::paced(Some(pace));
        gauge.step(1 << 40);
        assert_eq!(gauge.steps.load(Ordering::Relaxed), 1 << 40);
    }
}
