//! What quick can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::Timing;

/// Everything that can be asked of quick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickOptions {
    /// Time for all of it, from the start of the session to the last phase's end,
    /// seconds; 1 to 3600.
    pub seconds: u32,
    /// Size of the file, bytes; chosen when not given.
    pub size_bytes: Option<u64>,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

impl Default for QuickOptions {
    fn default() -> Self {
        Self {
            seconds: 60,
            size_bytes: None,
            may_fill: false,
        }
    }
}

/// All that quick needs to run its trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickParameters {
    /// Time for the session up to the last phase's end, ns.
    pub budget_ns: u64,
    /// Size of the file, bytes: whole sequential blocks. It becomes smaller when the
    /// time for writing it runs out.
    pub file_size_bytes: u64,
    /// Bytes of a sequential operation.
    pub sequential_block_size_bytes: u64,
    /// Sequential operations in flight.
    pub sequential_depth: u32,
    /// Bytes of a random operation or a commit.
    pub random_block_size_bytes: u64,
    /// Random operations in flight in the deep phases.
    pub deep: u32,
    /// Where only buffered I/O can be had: bytes that may be written before they are
    /// synced, so that no phase ends with a long wait that nothing can interrupt.
    pub buffered_backlog_bytes: u64,
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// How often the clock is read.
    pub timing: Timing,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
