//! The least that a worker must do, looked at window by window.

use stiction_core::{Floor, Rate};

use crate::failure::{Cause, Fault, Operation};
use crate::log::Log;
use crate::request::Way;

/// What was done in the present window, against what must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloorWatch {
    /// By way.
    least: [Option<Rate>; Way::COUNT],
    operations: [u64; Way::COUNT],
    bytes: [u64; Way::COUNT],
    window: u64,
    /// When the present window began, ticks.
    since: u64,
}

impl FloorWatch {
    /// A watch that begins when the warm-up is over, `ramp_ns` after the worker was let
    /// go.
    pub(crate) fn new(floor: Floor, ramp_ns: u64, log: &Log<'_>) -> Self {
        Self {
            least: [floor.read, floor.write, floor.trim],
            operations: [0; Way::COUNT],
            bytes: [0; Way::COUNT],
            window: log.clock.ticks(floor.window_ns),
            since: log.ticks_at(ramp_ns),
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, way: Way, bytes: u32, end: u64) {
        if end >= self.since {
            self.operations[way as usize] += 1;
            self.bytes[way as usize] += u64::from(bytes);
        }
    }

    /// When the present window is over at `now`: what fell short in it, or the next one.
    #[inline]
    pub(crate) fn look(&mut self, now: u64, log: &Log<'_>) -> Option<Fault> {
        let passed = now.saturating_sub(self.since);
        if passed < self.window {
            return None;
        }
        let fault = self.short(log.clock.ns(passed));
        self.operations = [0; Way::COUNT];
        self.bytes = [0; Way::COUNT];
        self.since = now;
        fault
    }

    fn short(&self, window_ns: u64) -> Option<Fault> {
        let operations = [Operation::Read, Operation::Write, Operation::Trim];
        (0..Way::COUNT).find_map(|way| {
            let least = self.least[way]?;
            let (amount, per_s) = match least {
                Rate::OperationsPerS(per_s) => (self.operations[way], per_s),
                Rate::BytesPerS(per_s) => (self.bytes[way], per_s),
            };
            let needed = u128::from(per_s) * u128::from(window_ns) / 1_000_000_000;
            (u128::from(amount) < needed).then(|| {
                let cause = Cause::TooLittle {
                    least,
                    amount,
                    window_ns,
                };
                Fault::new(operations[way], cause)
            })
        })
    }
}
