//! What pagecache can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Pagecache`](crate::Pagecache) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PagecacheOptions {
    /// Whether it is to be the test of 2002: ten random passes, read.
    pub classic: bool,
    /// Workers, each with a file of its own.
    pub workers: Option<u32>,
    /// Bytes of each file.
    pub size_bytes: Option<u64>,
    /// Bytes of a read.
    pub block_size_bytes: Option<u64>,
    /// Time of each phase, ns.
    pub phase_ns: Option<u64>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// Small files and short phases.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagecacheParameters {
    /// Whether it is the test of 2002.
    pub classic: bool,
    /// Workers, each with a file of its own.
    pub workers: u32,
    /// Bytes of each file.
    pub file_bytes: u64,
    /// Bytes of a read.
    pub block_size_bytes: u64,
    /// Time of each phase, ns.
    pub phase_ns: Option<u64>,
    /// How often each phase goes through the files, where it is not by time.
    pub passes: Option<u32>,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}
