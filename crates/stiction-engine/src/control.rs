//! What others may see and do while a job runs: how far it is, and a stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Asks running jobs to end. Workers look at it every few milliseconds or after
/// every operation, whichever is rarer; a blocking system call is waited for.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is down.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag, for good. Safe to call from a signal handler.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a running job is. Workers publish about ten times a second and when
/// they end, never for each operation; after the job the figures are exact.
#[derive(Debug)]
pub struct Progress {
    workers: Box<[Line]>,
}

/// One worker's published figures, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Room for a job of `workers` workers, all at 0.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self {
            workers: (0..workers).map(|_| Line::default()).collect(),
        }
    }

    /// How many workers it has room for.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Reads and writes completed so far, all workers together.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let figures = self.workers.iter();
        figures
            .map(|line| line.operations.load(Ordering::Relaxed))
            .sum()
    }

    /// Bytes moved so far, all workers together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let figures = self.workers.iter();
        figures.map(|line| line.bytes.load(Ordering::Relaxed)).sum()
    }

    /// Sets the figures of one worker.
    pub(crate) fn publish(&self, worker: usize, operations: u64, bytes: u64) {
        if let Some(line) = self.workers.get(worker) {
            line.operations.store(operations, Ordering::Relaxed);
            line.bytes.store(bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_of_a_flag_is_the_same_flag() {
        let flag = StopFlag::new();
        let seen = flag.clone();
        assert!(!seen.is_raised());
        flag.raise();
        assert!(seen.is_raised());
    }

    #[test]
    fn progress_adds_up_over_workers() {
        let progress = Progress::new(2);
        progress.publish(0, 3, 3 * 4096);
        progress.publish(1, 4, 4 * 4096);
        progress.publish(0, 5, 5 * 4096);
        assert_eq!(progress.operations(), 9);
        assert_eq!(progress.bytes(), 9 * 4096);
    }
}
