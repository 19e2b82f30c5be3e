//! What one run of one contender comes to.

use rustix::time::{ClockId, clock_gettime};

/// CPU and wall time of some operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) operations: u64,
    /// CPU time of the process, all its threads together, ns.
    pub(crate) cpu_ns: f64,
    /// Time that passed, ns.
    pub(crate) wall_ns: f64,
}

impl Sample {
    pub(crate) fn cpu_ns_per_operation(&self) -> f64 {
        self.cpu_ns / self.operations as f64
    }

    pub(crate) fn wall_ns_per_operation(&self) -> f64 {
        self.wall_ns / self.operations as f64
    }
}

/// CPU time of this process so far, ns. The threads that the kernel runs for a ring
/// are in it.
pub(crate) fn process_cpu_ns() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

/// The time now, ns since some moment.
pub(crate) fn now_ns() -> u64 {
    ns(ClockId::Monotonic)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
