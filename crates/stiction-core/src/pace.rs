//! At which moments operations are to begin.

use serde::{Deserialize, Serialize};

/// How fast a worker is to go, and what a latency is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pace {
    /// How much each worker is to begin in a second.
    pub rate: Rate,
    /// Rates of reads, writes and trims each, in place of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_way: Option<RatesByWay>,
    /// How the moments are spread.
    pub arrivals: Arrivals,
    /// What happens to them when the target is slower.
    #[serde(rename = "loop")]
    pub kind: LoopKind,
}

/// Rates of each direction on its own, whatever the share of reads in a mix is said to
/// be. A direction without a rate goes as fast as the others leave room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct RatesByWay {
    /// How much is to be read in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Rate>,
    /// How much is to be written in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Rate>,
    /// How much is to be trimmed in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<Rate>,
}

/// How much is to begin in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// So many operations, 1 or more.
    OperationsPerS(u64),
    /// Operations of so many bytes together, 1 or more.
    BytesPerS(u64),
}

/// How the moments are spread at which operations are to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly; several workers take turns.
    #[default]
    Fixed,
    /// As independent callers would have it: a Poisson process, with exponentially
    /// distributed gaps of the same mean.
    Poisson,
}

/// Whether a slow target is charged for the operations that it keeps waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// A latency counts from the moment at which the operation was to begin, even if
    /// it had to wait for others: what callers would see who do not wait for each
    /// other.
    #[default]
    Open,
    /// A latency counts from the moment at which the operation did begin: what one
    /// caller sees who asks no more while the target stalls.
    Closed,
}
