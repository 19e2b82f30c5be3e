//! The plan's side of bonnie: every choice made.

use serde::{Deserialize, Serialize};
use stiction_core::Data;

use super::options::{BonnieMode, BonniePhase, FileKind};

/// How bytes go one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PerChar {
    /// Through a buffer of the process, as `putc` and `getc` do: a test of the CPU.
    Buffer,
    /// By a system call for each: a test of the price of a call.
    SystemCall,
}

/// How much the seekers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekAmount {
    /// So many seeks, all seekers together.
    #[serde(rename = "count")]
    Count(u64),
    /// As many as are done in this time, ns.
    #[serde(rename = "duration_ns")]
    Duration(u64),
}

/// Which seeks write the chunk back that they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Updates {
    /// Every tenth of each seeker's, the first included.
    EveryTenth,
    /// Those whose random number ten divides.
    TenthAtRandom,
}

/// How file names are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Naming {
    /// Seven decimal digits and random letters.
    Decimal,
    /// Ten hexadecimal digits and random letters.
    Hexadecimal,
}

/// What the file phases work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWork {
    /// How many files each set has.
    pub count: u64,
    /// What they are.
    pub file: FileKind,
    /// How many directories they are spread over.
    pub directories: u32,
    /// How many files go into a directory before the next one is begun.
    pub files_per_directory: u64,
    /// Bytes of each write and read.
    pub piece_bytes: u64,
    /// How they are named.
    pub naming: Naming,
    /// Whether making and removing end with a sync of the filesystem, in their time.
    pub sync_at_end: bool,
}

/// All that bonnie needs to run any trial of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BonnieParameters {
    /// What it is run as.
    pub variant: BonnieMode,
    /// Name in the first column of the classic reports.
    pub machine: String,
    /// Phases to run, in order.
    pub phases: Vec<BonniePhase>,
    /// Total size, bytes.
    pub size_bytes: u64,
    /// Bytes of an operation of the block phases.
    pub chunk_bytes: u64,
    /// Workers, each on a file of its own and a share of the size.
    pub concurrency: u32,
    /// How bytes go one at a time.
    pub per_char: PerChar,
    /// Bytes of the phases that do so, all workers together.
    pub per_char_bytes: u64,
    /// How much the seekers do.
    pub seeks: SeekAmount,
    /// How many seekers.
    pub seekers: u32,
    /// Which seeks write back.
    pub updates: Updates,
    /// What the file phases work on; `None` when there are none.
    pub files: Option<FileWork>,
    /// Whether each phase that writes ends with a sync, in its time.
    pub sync_at_end: bool,
    /// Whether every change of a file or directory is synced by itself.
    pub sync_each: bool,
    /// Whether the block phases avoid the page cache.
    pub direct: bool,
    /// What is written.
    pub data: Data,
    /// Whether the files' pages are dropped from the cache before each phase.
    pub drop_caches: bool,
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// Repetitions.
    pub runs: u32,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
