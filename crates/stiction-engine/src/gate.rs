//! The start: workers wait until all are ready, without spinning.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;

use crate::clock::Clock;

/// When the job started, and the clock that tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) clock: Clock,
    /// When the job started, ticks of `clock`.
    pub(crate) ticks: u64,
    /// When this worker was let go: the same, unless workers start one by one or have
    /// delays of their own.
    pub(crate) released: u64,
}

impl Start {
    /// This worker is let go so much later, ns.
    pub(crate) fn delay_ns(&mut self, ns: u64) {
        self.released = self.released.saturating_add(self.clock.ticks(ns));
    }
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

/// A gate that opens once for everybody who waits at it.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU32,
    waiting: AtomicU32,
    /// How many must wait before the one who opens it is woken.
    expected: u32,
    start: OnceLock<Start>,
}

impl Gate {
    /// A closed gate for `expected` workers.
    pub(crate) fn new(expected: u32) -> Self {
        Self {
            expected,
            ..Self::default()
        }
    }

    /// For one worker on its way: when this is dropped, it is ready, or has failed
    /// to become so.
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        Arrival(self)
    }

    /// Waits for the start; `None` when there will be none.
    pub(crate) fn wait(&self) -> Option<Start> {
        wait_while(&self.state, |state| state == CLOSED);
        self.start.get().copied()
    }

    /// Waits until all workers have arrived.
    pub(crate) fn wait_for_all(&self) {
        wait_while(&self.waiting, |waiting| waiting < self.expected);
    }

    /// Opens the gate: `clock` is read and then everybody woken. The job starts
    /// now, unless it has `begun` before, in ticks.
    pub(crate) fn open(&self, clock: Clock, begun: Option<u64>) -> Start {
        let released = clock.now();
        let start = *self.start.get_or_init(|| Start {
            clock,
            ticks: begun.unwrap_or(released),
            released,
        });
        self.release(OPEN);
        start
    }

    /// Sends everybody home.
    pub(crate) fn abandon(&self) {
        self.release(ABANDONED);
    }

    fn release(&self, state: u32) {
        self.state.store(state, Ordering::Release);
        wake_all(&self.state);
    }
}

/// Something that happens once, and that others wait for.
#[derive(Debug, Default)]
pub(crate) struct Latch(AtomicU32);

impl Latch {
    /// Says that it has happened.
    pub(crate) fn open(&self) {
        self.0.store(OPEN, Ordering::Release);
        wake_all(&self.0);
    }

    /// Waits for it as long as `at_most`; whether it has happened.
    pub(crate) fn wait_for(&self, at_most: Duration) -> bool {
        let timeout = Timespec {
            tv_sec: at_most.as_secs() as _,
            tv_nsec: at_most.subsec_nanos().into(),
        };
        if self.0.load(Ordering::Acquire) == CLOSED {
            // However the wait ends, the word has the answer.
            let _ended_somehow = futex::wait(&self.0, Flags::PRIVATE, CLOSED, Some(&timeout));
        }
        self.0.load(Ordering::Acquire) == OPEN
    }
}

/// A worker on its way to the gate.
pub(crate) struct Arrival<'a>(&'a Gate);

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        let Gate {
            waiting, expected, ..
        } = self.0;
        if waiting.fetch_add(1, Ordering::Release) + 1 == *expected {
            wake_all(waiting);
        }
    }
}

fn wait_while(word: &AtomicU32, is_early: impl Fn(u32) -> bool) {
    loop {
        let value = word.load(Ordering::Acquire);
        if !is_early(value) {
            return;
        }
        // Whether the word changed already, a signal came or we were woken: look again.
        match futex::wait(word, Flags::PRIVATE, value, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => unreachable!("waiting on a valid word fails with {errno}"),
        }
    }
}

fn wake_all(word: &AtomicU32) {
    futex::wake(word, Flags::PRIVATE, i32::MAX as u32).expect("waking on a valid word succeeds");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Calibration;

    #[test]
    fn nobody_passes_before_all_have_arrived() {
        let gate = Gate::new(8);
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        drop(gate.arrival());
                        let start = gate.wait();
                        passed.fetch_add(1, Ordering::Relaxed);
                        start
                    })
                })
                .collect();
            gate.wait_for_all();
            assert_eq!(passed.load(Ordering::Relaxed), 0);
            let start = gate.open(Calibration::begin().finish(), None);
            for worker in workers {
                assert_eq!(worker.join().unwrap().unwrap().ticks, start.ticks);
            }
        });
        assert_eq!(passed.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn an_abandoned_gate_gives_no_start() {
        let gate = Gate::new(2);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                drop(gate.arrival());
                gate.wait()
            });
            gate.abandon();
            assert!(worker.join().unwrap().is_none());
        });
    }
}
