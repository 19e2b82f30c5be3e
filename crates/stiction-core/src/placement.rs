//! Where a worker runs, and before whom.

use serde::{Deserialize, Serialize};

/// Where a job's workers run, where their memory lies, and before whom they come. The
/// default: as the process that runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// The CPUs that workers may run on, by the kernel's numbers; empty for those of
    /// the process.
    pub cpus: Vec<u32>,
    /// How workers share those CPUs.
    pub cpu_policy: CpuPolicy,
    /// Which memory workers get, their buffers above all.
    pub memory: MemoryPolicy,
    /// Before which other I/O that of the workers comes; `None` for what follows from
    /// the process. Schedulers that know priorities heed it, others do not.
    pub io_priority: Option<IoPriority>,
    /// Niceness of the workers, -20 (first) to 19 (last); `None` for the process's.
    pub nice: Option<i32>,
}

/// How workers share the CPUs of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuPolicy {
    /// Each may run on any of them.
    #[default]
    Shared,
    /// Each has one, in turn: the first worker the first, and again from the first
    /// when there are more workers than CPUs.
    Split,
}

/// From which NUMA nodes memory comes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPolicy {
    /// As for the process.
    #[default]
    Inherit,
    /// From the node on which the worker runs.
    Local,
    /// From these nodes and no others.
    Bind(Vec<u32>),
    /// From this node, and from others when it has none left.
    Prefer(u32),
    /// From these nodes in turn, page by page.
    Interleave(Vec<u32>),
}

/// A priority of I/O, as `ionice` knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoPriority {
    /// Before all others; the level is 0 (first) to 7. Needs privilege.
    RealTime(u8),
    /// As most; the level is 0 (first) to 7.
    BestEffort(u8),
    /// When nobody else wants the device.
    Idle,
}
