//! What ioping can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Ioping`](crate::Ioping) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IopingOptions {
    /// Requests, the one for warm-up not counted.
    pub requests: Option<u64>,
    /// Bytes of a request.
    pub request_bytes: Option<u64>,
    /// Bytes of the file that they go to.
    pub file_bytes: Option<u64>,
    /// Time from the begin of a request to that of the next, ns; 0 for none.
    pub interval_ns: Option<u64>,
    /// Whether they write.
    pub writes: bool,
    /// Whether they go through the file in order.
    pub sequential: bool,
    /// Whether they go through the page cache.
    pub cached: bool,
    /// Repetitions.
    pub runs: Option<u32>,
    /// Short intervals: to see how it goes.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IopingParameters {
    /// Requests, the one for warm-up not counted.
    pub requests: u64,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of the file that they go to: whole requests.
    pub file_bytes: u64,
    /// Time from the begin of a request to that of the next, ns; 0 for none.
    pub interval_ns: u64,
    /// Whether they write.
    pub writes: bool,
    /// Whether they go through the file in order.
    pub sequential: bool,
    /// Whether they go through the page cache.
    pub cached: bool,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}
