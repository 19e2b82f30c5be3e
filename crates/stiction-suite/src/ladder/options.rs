//! What ladder can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::Access;

/// A way from the disk to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// `pread` of what is in the page cache.
    Cached,
    /// `pread` through a page cache that is empty at first.
    Uncached,
    /// The same, with pages that leave the cache at once (`RWF_DONTCACHE`).
    Dontcache,
    /// Copies out of a mapping, whose pages are not there at first.
    Mmap,
    /// `pread` with `O_DIRECT`.
    Direct,
    /// io_uring with `O_DIRECT`, registered file and buffers.
    IoUring,
    /// The same, with the device polled for completions.
    IoUringPolled,
    /// `pread` with `O_DIRECT` of the raw device.
    Device,
}

impl Rung {
    /// All, from the one furthest from the disk on.
    pub const ALL: [Self; 8] = [
        Self::Cached,
        Self::Uncached,
        Self::Dontcache,
        Self::Mmap,
        Self::Direct,
        Self::IoUring,
        Self::IoUringPolled,
        Self::Device,
    ];

    /// The stable name that phases carry in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cached => "cached",
            Self::Uncached => "uncached",
            Self::Dontcache => "dontcache",
            Self::Mmap => "mmap",
            Self::Direct => "direct",
            Self::IoUring => "io_uring",
            Self::IoUringPolled => "io_uring_polled",
            Self::Device => "device",
        }
    }
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Ladder`](crate::Ladder) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LadderOptions {
    /// Whether the report is to be that of 2002; it changes no measurement but the runs.
    pub classic: bool,
    /// The length of the file that is read, where that is a file of the user's.
    pub existing_bytes: Option<u64>,
    /// The length of the raw device, the second place, where one is named.
    pub device_bytes: Option<u64>,
    /// Bytes that are read at each rung.
    pub size_bytes: Option<u64>,
    /// Bytes of a read.
    pub block_size_bytes: Option<u64>,
    /// Order of offsets: in order, or every block once in random order.
    pub access: Access,
    /// Reads that rings keep in flight.
    pub depth: Option<u32>,
    /// Time after which a rung ends, ns.
    pub rung_ns: Option<u64>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small file and one run.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderParameters {
    /// Whether the report is that of 2002.
    pub classic: bool,
    /// Whether the file is the user's.
    pub is_existing: bool,
    /// The rungs, in the order of the first run; each later one begins one rung later.
    pub rungs: Vec<Rung>,
    /// Bytes that are read at each rung, in whole reads.
    pub file_bytes: u64,
    /// Bytes of a read.
    pub block_size_bytes: u64,
    /// Order of offsets.
    pub access: Access,
    /// Reads that rings keep in flight.
    pub depth: u32,
    /// Time after which a rung ends, ns.
    pub rung_ns: u64,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}
