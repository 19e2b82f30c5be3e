//! What time-read can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::MapAdvice;

/// What of the file is in the page cache when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Nothing: it is dropped before, and that is checked.
    Cold,
    /// All: it is read once before, outside the time.
    Warm,
    /// Whatever happens to be.
    AsItIs,
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`TimeRead`](crate::TimeRead) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeReadOptions {
    /// Whether it is to be the old program.
    pub classic: bool,
    /// The length of the file that is read, where that is a file of the user's; else a
    /// file of our own is made in a directory.
    pub existing_bytes: Option<u64>,
    /// Bytes of the file that is made.
    pub size_bytes: Option<u64>,
    /// Bytes of a read: `-b`.
    pub buffer_bytes: Option<u64>,
    /// Distance between the starts of two reads: `-h`.
    pub hop_bytes: Option<u64>,
    /// Distance after which a pass ends, summed over the hops: `-n`, in MiB there.
    pub distance_bytes: Option<u64>,
    /// Whether the file is mapped and a byte touched at each hop: `-m`.
    pub mmap: bool,
    /// Whether it is opened with `O_DIRECT`: `-o`.
    pub direct: bool,
    /// What the kernel is told of a mapping: `-r` and `-s`.
    pub advice: Option<MapAdvice>,
    /// Where the buffer begins, bytes beyond the start of a page: `-a`; several are
    /// compared.
    pub buffer_offsets_bytes: Vec<u32>,
    /// What is in the page cache.
    pub cache: Option<CacheState>,
    /// How often the file is read.
    pub passes: Option<u32>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small file and one run.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made, but for the cell's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeReadParameters {
    /// Whether it is the old program.
    pub classic: bool,
    /// Whether the file is the user's.
    pub is_existing: bool,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of a read; of a mapping a byte is touched.
    pub buffer_bytes: u64,
    /// Distance between the starts of two reads.
    pub hop_bytes: u64,
    /// Distance after which a pass ends.
    pub distance_bytes: Option<u64>,
    /// Whether the file is mapped.
    pub mmap: bool,
    /// Whether it is opened with `O_DIRECT`.
    pub direct: bool,
    /// What the kernel is told of a mapping.
    pub advice: MapAdvice,
    /// What is in the page cache.
    pub cache: CacheState,
    /// How often the file is read.
    pub passes: u32,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}
