//! What a worker does between its operations, and what makes it end before its time.

use serde::{Deserialize, Serialize};

use crate::Rate;
use crate::omitted::is_default;

/// Pauses between operations, as of a program that does something with its data. A
/// pause begins when nothing is in flight, and is in no latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Length of a pause, ns, 1 or more.
    pub pause_ns: u64,
    /// How much of it is spent computing, from its beginning, ns; the rest asleep.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spin_ns: u64,
    /// Operations from one pause to the next, 1 or more; `None` when they do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_operations: Option<u64>,
    /// At which moment operations are counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: Counted,
    /// Time from the end of one pause to the beginning of the next, ns, 1 or more;
    /// `None` when it does not count. With both, what comes first begins a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// Whether a set pace waits as well: what was to begin in a pause then begins after
    /// it, later by its length. Otherwise it is overdue when the pause ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pace_waits: bool,
}

/// At which moment operations are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// When they are complete; those in flight are waited for beyond the count.
    #[default]
    Completed,
    /// When they begin.
    Issued,
}

/// How many operations are handed over and taken back together, for backends with a
/// queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Batches {
    /// Operations that a call hands over at most, 1 or more.
    pub submit: u32,
    /// Completions that a call waits for at least; 0 to ask without waiting.
    pub complete_min: u32,
    /// Completions that are taken at once, at most; 1 or more, and no less than
    /// `complete_min`.
    pub complete_max: u32,
    /// Once the depth is reached, no operation begins until so few are in flight or
    /// fewer: less than the depth. `None` to begin as soon as there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_below: Option<u32>,
}

/// What each worker must at least do, or it ends as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Floor {
    /// What it must read in a second; `None` for nothing in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Rate>,
    /// What it must write in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Rate>,
    /// What it must trim in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<Rate>,
    /// Over which time that is looked at, again and again, ns, 1 or more. The warm-up
    /// is left out.
    pub window_ns: u64,
}

/// A search for the greatest depth at which latencies keep below a bound. Each worker
/// does its own, from depth 1 to that of the job; what comes after the search is done at
/// the depth that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DepthSearch {
    /// The bound, ns, 1 or more.
    pub latency_ns_max: u64,
    /// How many of a million operations must keep it, 1 to 1,000,000.
    pub share_ppm: u32,
    /// How long a depth is tried, ns, 1 or more.
    pub window_ns: u64,
    /// Whether the worker goes on to its planned end when the search is done; otherwise
    /// it ends then.
    pub goes_on: bool,
}

/// Which failed operations a worker goes on after. They are counted, and in no latency.
/// The default: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Tolerance {
    /// Whether it goes on after reads that failed.
    pub reads: bool,
    /// Whether it goes on after writes and trims that failed.
    pub writes: bool,
    /// Error numbers of reads that are as expected: it goes on, and nothing is wrong.
    pub expected_of_reads: Vec<i32>,
    /// Error numbers of writes and trims that are as expected.
    pub expected_of_writes: Vec<i32>,
    /// How many operations that are not as expected a worker goes on after; `None` for
    /// any number.
    pub failures_max: Option<u64>,
}
