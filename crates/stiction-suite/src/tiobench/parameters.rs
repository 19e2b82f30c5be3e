//! The plan's side of tiobench: every choice made.

use serde::{Deserialize, Serialize};
use stiction_core::{Access, BackendKind, Data, Timing, WriteSync};

use super::options::{DirectoryUse, RandomAmount, RawLayout, TiobenchMode, TiobenchPhase};

/// All that tiobench needs to run any trial of a plan, apart from the trial's cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TiobenchParameters {
    /// Which tiobench.
    pub variant: TiobenchMode,
    /// First column of the classic reports.
    pub identifier: String,
    /// A distinct name for each place, in the places' order; the levels of the factor
    /// `directory` when the places are used in turn.
    pub places: Vec<String>,
    /// What several places are for.
    pub directory_use: DirectoryUse,
    /// Phases to run, in order.
    pub phases: Vec<TiobenchPhase>,
    /// How much the random phases do.
    pub random: RandomAmount,
    /// Order of random offsets.
    pub random_access: Access,
    /// A sync after so many random writes of each thread, inside the phase's time;
    /// `None` for one sync at the end.
    pub random_writes_per_sync: Option<u64>,
    /// Whether the sequential write is done by one thread after another.
    pub one_writer_at_a_time: bool,
    /// What each write waits for.
    pub write_sync: WriteSync,
    /// Whether files are opened with `O_DIRECT`.
    pub direct: bool,
    /// How operations reach the kernel.
    pub backend: BackendKind,
    /// Where regions lie on raw devices.
    pub raw: RawLayout,
    /// What is written.
    pub data: Data,
    /// Whether everything read is checked against what was written.
    pub verify: bool,
    /// Whether the files' pages are dropped from the cache before each phase.
    pub drop_caches: bool,
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// How often the clock is read.
    pub timing: Timing,
    /// Repetitions of every cell.
    pub runs: u32,
    /// Time after which no further cell begins, ns.
    pub timeout_ns: Option<u64>,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
