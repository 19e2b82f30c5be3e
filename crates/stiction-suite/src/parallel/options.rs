//! What parallel can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::Access;

/// What the targets are; they are all of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Targets {
    /// Directories, with a file of our own in each.
    Directories,
    /// Files or devices of the user's of these lengths, which are only read.
    Existing(Vec<u64>),
    /// Devices that were granted, of these lengths.
    Devices(Vec<u64>),
}

/// Which ways the targets are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ways {
    /// Written, then read.
    Both,
    /// Written alone.
    Write,
    /// Read alone, after a file was laid down outside the time.
    Read,
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Parallel`](crate::Parallel) for what it chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelOptions {
    /// Whether it is to be the disk test of 2002.
    pub classic: bool,
    /// What the targets are.
    pub targets: Targets,
    /// Which ways they are moved.
    pub ways: Option<Ways>,
    /// Bytes of each target.
    pub size_bytes: Option<u64>,
    /// Bytes of an operation.
    pub block_size_bytes: Option<u64>,
    /// Order of offsets.
    pub access: Access,
    /// Operations that each worker keeps in flight.
    pub depth: u32,
    /// Whether the page cache is avoided.
    pub direct: bool,
    /// Time after which all workers end, ns; `None` for when each has been through.
    pub duration_ns: Option<u64>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small amount and one run.
    pub quick: bool,
    /// Whether filesystems may be filled to their last byte; else to 95 % of their size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParallelParameters {
    /// Whether it is the disk test of 2002.
    pub classic: bool,
    /// What the targets are.
    pub targets: Targets,
    /// Which ways they are moved.
    pub ways: Ways,
    /// Bytes of each target, in whole operations.
    pub sizes_bytes: Vec<u64>,
    /// Bytes of an operation.
    pub block_size_bytes: u64,
    /// Order of offsets.
    pub access: Access,
    /// Operations that each worker keeps in flight.
    pub depth: u32,
    /// Whether the page cache is avoided.
    pub direct: bool,
    /// Time after which all workers end, ns.
    pub duration_ns: Option<u64>,
    /// Whether files are dropped from the page cache before they are read.
    pub drop_caches: bool,
    /// Whether filesystems may be filled to their last byte.
    pub may_fill: bool,
}
