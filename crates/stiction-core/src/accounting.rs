//! What the kernel booked on our process while a phase ran, and what tasks waited for.

use serde::{Deserialize, Serialize};

/// Waits of one kind, of all threads of the process added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// How often a thread waited.
    pub count: u64,
    /// How long, all threads added up, ns.
    pub ns: u64,
}

/// What the threads of our process waited for, by delay accounting
/// (`Documentation/accounting/delay-accounting.rst`). Threads that have ended are in it.
///
/// The wait for a CPU is always counted. The rest is `None` where delay accounting is
/// off (`kernel.task_delayacct`), or where the kernel is older than the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDelays {
    /// Version of `struct taskstats` that the kernel speaks.
    pub version: u16,
    /// Could have run and had no CPU.
    pub cpu: Delay,
    /// Slept until a block device had done what was asked of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_io: Option<Delay>,
    /// Slept until a page had come back from swap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_in: Option<Delay>,
    /// Freed memory before it got any (direct reclaim).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim: Option<Delay>,
    /// Waited for a page that had been dropped a moment before. From Linux 4.20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thrashing: Option<Delay>,
    /// Moved pages about until enough of them lay together. From Linux 5.17.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Delay>,
    /// Copied a page that was shared until it was written to. From Linux 5.19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_on_write: Option<Delay>,
}

/// What `/proc/self/io` counted for our process (proc_pid_io(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes that read(2) and its like returned (`rchar`): the page cache's included.
    pub read_call_bytes: u64,
    /// Bytes that write(2) and its like took (`wchar`).
    pub write_call_bytes: u64,
    /// Calls of read(2) and its like (`syscr`).
    pub read_calls: u64,
    /// Calls of write(2) and its like (`syscw`).
    pub write_calls: u64,
    /// Bytes that were fetched from below the page cache, or past it (`read_bytes`).
    pub read_bytes: u64,
    /// Bytes of pages that were made dirty, or written past the cache (`write_bytes`).
    pub written_bytes: u64,
    /// Dirty bytes that were given up before they were written, as those of a file that
    /// is removed (`cancelled_write_bytes`).
    pub cancelled_bytes: u64,
}

/// What our process did beside its I/O (getrusage(2)), all threads, ended ones too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessActivity {
    /// Times that a thread gave up its CPU to wait.
    pub switches_voluntary: u64,
    /// Times that the CPU was taken from a thread.
    pub switches_involuntary: u64,
    /// Page faults that needed no I/O.
    pub faults_minor: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
}

/// Time in which tasks waited for each resource, ns, since boot or between two readings
/// (`Documentation/accounting/psi.rst`). `None` where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// At least one task waited for a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_some_ns: Option<u64>,
    /// At least one waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_some_ns: Option<u64>,
    /// All that could have run waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_full_ns: Option<u64>,
    /// At least one waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_some_ns: Option<u64>,
    /// All that could have run waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_full_ns: Option<u64>,
}

impl Pressure {
    /// What came to it since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let between =
            |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        Self {
            cpu_some_ns: between(self.cpu_some_ns, before.cpu_some_ns),
            io_some_ns: between(self.io_some_ns, before.io_some_ns),
            io_full_ns: between(self.io_full_ns, before.io_full_ns),
            memory_some_ns: between(self.memory_some_ns, before.memory_some_ns),
            memory_full_ns: between(self.memory_full_ns, before.memory_full_ns),
        }
    }
}

/// Whose tasks waited, and how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureSeen {
    /// The folder that was read: `/proc/pressure` for the whole machine, else that of
    /// our own control group.
    pub source: String,
    /// How long.
    #[serde(flatten)]
    pub waited: Pressure,
}

impl PressureSeen {
    /// Whether other programs' waits are in it too.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        self.source == "/proc/pressure"
    }
}
