//! What tiobench can be asked to do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stiction_core::{Access, WriteSync};

/// Which tiobench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum TiobenchMode {
    /// What 0.3.3 did, phase by phase: appending writes of zeros, random writes before
    /// the reads, caches left alone, amounts fixed beforehand. The wrong offsets and
    /// sums of the original are not repeated.
    Classic {
        /// Whether the report adds latencies up over runs, as the original did. It
        /// changes no measurement: every run is kept by itself.
        as_was: bool,
    },
    /// The same four phases measured as they should be: caches dropped and checked
    /// before each, data that does not compress, random phases long enough to mean
    /// something, every cell once before any cell again.
    #[default]
    Default,
}

/// The four phases, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TiobenchPhase {
    /// Every thread writes its file from start to end. tiotest's number 0.
    Write,
    /// Every thread writes blocks of its file at random. Number 1.
    RandomWrite,
    /// Every thread reads its file from start to end. Number 2.
    Read,
    /// Every thread reads blocks of its file at random. Number 3.
    RandomRead,
}

impl TiobenchPhase {
    /// All, in the order in which they run; their places are tiotest's numbers.
    pub const ALL: [Self; 4] = [Self::Write, Self::RandomWrite, Self::Read, Self::RandomRead];

    /// The stable name that phases carry in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::RandomWrite => "random_write",
            Self::Read => "read",
            Self::RandomRead => "random_read",
        }
    }
}

/// A size of the file set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSize {
    /// Bytes over all threads: the driver's `--size`.
    Total(u64),
    /// Bytes of each thread: tiotest's `-f`.
    PerThread(u64),
}

impl FileSize {
    /// Bytes over `threads` threads; `None` beyond `u64`.
    #[must_use]
    pub fn total_bytes(self, threads: u32) -> Option<u64> {
        match self {
            Self::Total(bytes) => Some(bytes),
            Self::PerThread(bytes) => bytes.checked_mul(u64::from(threads)),
        }
    }
}

/// How much a random phase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RandomAmount {
    /// Operations over all threads: the driver's `--random`.
    #[serde(rename = "total_count")]
    Total(u64),
    /// Operations of each thread: tiotest's `-r`.
    #[serde(rename = "per_thread_count")]
    PerThread(u64),
    /// As many as are done in this time, ns.
    #[serde(rename = "duration_ns")]
    Duration(u64),
}

/// What several directories are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectoryUse {
    /// One after another, each a factor of the matrix: the driver's `--dir` of 0.3.x.
    #[default]
    InTurn,
    /// All at once, thread `i` in directory `i mod n`: tiotest's `-d`, and `--target`
    /// of 0.4.
    Spread,
}

/// Where the threads' regions lie on raw devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RawLayout {
    /// Bytes left alone between two regions on one device: tiotest's `-o`.
    pub gap_bytes: u64,
    /// Whether the first region starts after a gap, not at 0: tiotest's `-O`.
    pub gap_first: bool,
}

/// Everything that can be asked. `None` and empty lists mean that the workload
/// chooses; see [`Tiobench`](crate::Tiobench) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TiobenchOptions {
    /// Which tiobench.
    pub mode: TiobenchMode,
    /// Sizes of the file set.
    pub sizes: Vec<FileSize>,
    /// Whether it is to be short where nothing else is asked for: to see how it goes.
    pub quick: bool,
    /// Numbers of threads.
    pub threads: Vec<u32>,
    /// Block sizes, bytes.
    pub block_sizes_bytes: Vec<u64>,
    /// How much the random phases do.
    pub random: Option<RandomAmount>,
    /// The order of random offsets: with or without repeats.
    pub random_access: Option<Access>,
    /// Repetitions of every cell.
    pub runs: Option<u32>,
    /// First column of the classic reports; the kernel's release when not given.
    pub identifier: Option<String>,
    /// What several directories are for.
    pub directory_use: DirectoryUse,
    /// Phases to leave out.
    pub skip: BTreeSet<TiobenchPhase>,
    /// Whether the sequential write is done by one thread after another, so that the
    /// files' blocks do not interleave: `--nofrag`, `-W`.
    pub one_writer_at_a_time: bool,
    /// What each write waits for: `-S` is [`WriteSync::Sync`].
    pub write_sync: WriteSync,
    /// Whether files are opened with `O_DIRECT`: `--directio`, `-X`.
    pub direct: bool,
    /// Whether files are mapped instead of read and written: `-M`.
    pub mmap: bool,
    /// Where regions lie on raw devices.
    pub raw: RawLayout,
    /// Whether everything read is checked against what was written: `-c`.
    pub verify: bool,
    /// Whether the files' pages are dropped from the cache before each phase, outside
    /// its time: `--flushCaches`, `-F`. The default mode always does.
    pub flush_caches: bool,
    /// Time after which no further cell begins, ns: `--timeout`.
    pub timeout_ns: Option<u64>,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
