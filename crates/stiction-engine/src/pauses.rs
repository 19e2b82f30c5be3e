//! Pauses between operations.

use stiction_core::{Counted, ThinkTime};

use crate::log::Log;
use crate::waiting::wait;

/// When the next pause is due, and how many there were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    think: Option<ThinkTime>,
    /// Operations since the last one.
    operations: u64,
    /// When the last one ended, ticks.
    since: u64,
    every_ticks: u64,
    pub(crate) count: u64,
    pub(crate) total_ns: u64,
}

impl Pauses {
    pub(crate) fn new(think: Option<ThinkTime>, log: &Log<'_>) -> Self {
        let every_ns = think.and_then(|think| think.every_ns);
        Self {
            think,
            since: log.now(),
            every_ticks: every_ns.map_or(u64::MAX, |ns| log.clock.ticks(ns)),
            ..Self::default()
        }
    }

    /// Counts operations that have begun.
    pub(crate) fn issued(&mut self, operations: u64) {
        if self.counts(Counted::Issued) {
            self.operations += operations;
        }
    }

    /// Counts operations that are complete.
    pub(crate) fn completed(&mut self, operations: u64) {
        if self.counts(Counted::Completed) {
            self.operations += operations;
        }
    }

    fn counts(&self, counted: Counted) -> bool {
        self.think.is_some_and(|think| think.counted == counted)
    }

    /// How many operations may begin before the next one.
    pub(crate) fn room(&self, now: u64) -> u64 {
        let Some(think) = self.think else {
            return u64::MAX;
        };
        if now.saturating_sub(self.since) >= self.every_ticks {
            return 0;
        }
        let every = think.every_operations.unwrap_or(u64::MAX);
        match (every.saturating_sub(self.operations), think.counted) {
            (0, _) => 0,
            (left, Counted::Issued) => left,
            (_, Counted::Completed) => u64::MAX,
        }
    }

    /// Lets a pause go by, as long as the worker need not end; `done` operations and
    /// bytes are published meanwhile. Returns its length, ns, and ticks.
    pub(crate) fn pause(&mut self, log: &mut Log<'_>, done: (u64, u64)) -> (u64, u64) {
        let Some(ThinkTime {
            pause_ns, spin_ns, ..
        }) = self.think
        else {
            return (0, 0);
        };
        let begin = log.now();
        let after = |ns| begin.saturating_add(log.clock.ticks(ns));
        let (spun, end) = (after(spin_ns.min(pause_ns)), after(pause_ns));
        let mut now = begin;
        while now < end && !log.is_over() {
            if now < spun && !log.clock.advance_to(spun) {
                std::hint::spin_loop();
            } else {
                wait(log, end.min(log.next_event()));
            }
            now = log.now();
            if log.is_due(now) {
                log.attend(now, done.0, done.1);
            }
        }
        let ns = log.clock.ns(now - begin);
        self.operations = 0;
        self.since = now;
        self.count += 1;
        self.total_ns += ns;
        (ns, now - begin)
    }
}
