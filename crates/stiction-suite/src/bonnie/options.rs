//! What bonnie can be asked to do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Which program of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BonnieProgram {
    /// Bonnie of 1990 to 1996: 8 KiB chunks, three seekers, no sync anywhere.
    #[serde(rename = "bonnie")]
    Bonnie,
    /// The 64-bit Bonnie of 2007: 16 KiB chunks, and a sync before each file is closed.
    #[serde(rename = "bonnie-64")]
    Bonnie64,
    /// Bonnie++ 1.03e: bytes through stdio, no sync, file phases.
    #[serde(rename = "1.03e")]
    PlusPlus103,
    /// Bonnie++ 1.96: a system call for each byte, a sync before each close, latencies.
    #[serde(rename = "1.96")]
    PlusPlus196,
    /// Bonnie++ 2.00a: as 1.96, and the file phases end with a sync.
    #[serde(rename = "2.00a")]
    PlusPlus200,
}

impl BonnieProgram {
    /// The name in records: `bonnie`, `bonnie-64`, `1.03e`, `1.96`, `2.00a`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bonnie => "bonnie",
            Self::Bonnie64 => "bonnie-64",
            Self::PlusPlus103 => "1.03e",
            Self::PlusPlus196 => "1.96",
            Self::PlusPlus200 => "2.00a",
        }
    }

    /// Whether it is one of Bonnie++'s.
    #[must_use]
    pub fn is_plus_plus(self) -> bool {
        self >= Self::PlusPlus103
    }

    /// Whether it syncs before it closes, and has threads for seekers, as Bonnie++ does
    /// since 1.90.
    #[must_use]
    pub fn is_since_1_90(self) -> bool {
        self >= Self::PlusPlus196
    }
}

/// What it is run as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode", content = "program")]
pub enum BonnieMode {
    /// As one of the old programs: its amounts, its order, its syncs, the cache left as
    /// it is, zeros for data.
    Classic(BonnieProgram),
    /// The same work measured as it should be: the cache dropped and checked before each
    /// phase, syncs timed by themselves, seeks by time, data that does not compress.
    #[default]
    Default,
}

/// The phases, in the order of Bonnie++'s report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BonniePhase {
    /// The file is written a byte at a time.
    Putc,
    /// The file is written in chunks.
    PutBlock,
    /// Each chunk is read, changed and written back.
    Rewrite,
    /// The file is read a byte at a time.
    Getc,
    /// The file is read in chunks.
    GetBlock,
    /// Several seekers read chunks at random and write every tenth back.
    Seeks,
    /// Files with rising names are made.
    CreateSequential,
    /// They are looked at in the order in which the directory lists them.
    StatSequential,
    /// They are removed in that order.
    DeleteSequential,
    /// Files with random names are made.
    CreateRandom,
    /// They are looked at in random order.
    StatRandom,
    /// They are removed in random order.
    DeleteRandom,
}

impl BonniePhase {
    /// All, in the order of Bonnie++'s report.
    pub const ALL: [Self; 12] = [
        Self::Putc,
        Self::PutBlock,
        Self::Rewrite,
        Self::Getc,
        Self::GetBlock,
        Self::Seeks,
        Self::CreateSequential,
        Self::StatSequential,
        Self::DeleteSequential,
        Self::CreateRandom,
        Self::StatRandom,
        Self::DeleteRandom,
    ];

    /// The stable name that phases carry in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Putc => "putc",
            Self::PutBlock => "put_block",
            Self::Rewrite => "rewrite",
            Self::Getc => "getc",
            Self::GetBlock => "get_block",
            Self::Seeks => "seeks",
            Self::CreateSequential => "create_sequential",
            Self::StatSequential => "stat_sequential",
            Self::DeleteSequential => "delete_sequential",
            Self::CreateRandom => "create_random",
            Self::StatRandom => "stat_random",
            Self::DeleteRandom => "delete_random",
        }
    }

    /// Whether it is about files as such, and not about what is in one.
    #[must_use]
    pub fn is_of_files(self) -> bool {
        self >= Self::CreateSequential
    }

    /// The phase that makes the files of this one.
    pub(super) fn maker(self) -> Option<Self> {
        match self {
            Self::StatSequential | Self::DeleteSequential => Some(Self::CreateSequential),
            Self::StatRandom | Self::DeleteRandom => Some(Self::CreateRandom),
            _ => None,
        }
    }

    /// Whether it makes a set of files.
    pub(super) fn creates(self) -> bool {
        matches!(self, Self::CreateSequential | Self::CreateRandom)
    }

    /// Whether it is about the set of files with random names.
    pub(super) fn is_random(self) -> bool {
        self >= Self::CreateRandom
    }
}

/// What the file phases make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FileKind {
    /// Files, of a size drawn evenly between two.
    Regular {
        /// Least size, bytes.
        bytes_min: u64,
        /// Greatest size, bytes.
        bytes_max: u64,
    },
    /// Hard links to one empty file: Bonnie++'s size of -1.
    HardLink,
    /// Symbolic links to one empty file: Bonnie++'s size of -2.
    SymbolicLink,
}

/// How many files, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAmount {
    /// How many; Bonnie++ counts them by 1024.
    pub count: u64,
    /// What they are.
    pub kind: FileKind,
    /// How many directories they are spread over, 1 to 99,999.
    pub directories: u32,
    /// Bytes of each write and read; `None` for the chunk of the block phases.
    pub piece_bytes: Option<u64>,
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Bonnie`](crate::Bonnie) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BonnieOptions {
    /// What it is run as.
    pub mode: BonnieMode,
    /// Whether the default mode is to be quick rather than sure.
    pub quick: bool,
    /// Name in the first column of the classic reports.
    pub machine: Option<String>,
    /// Total size, bytes; 0 leaves the phases of one file out.
    pub size_bytes: Option<u64>,
    /// Bytes of an operation of the block phases.
    pub chunk_bytes: Option<u64>,
    /// Bytes of the phases that go a byte at a time.
    pub per_char_bytes: Option<u64>,
    /// Seeks of all seekers together.
    pub seeks: Option<u64>,
    /// How many seekers.
    pub seekers: Option<u32>,
    /// Files of the file phases; a count of 0 leaves them out.
    pub files: Option<FileAmount>,
    /// Phases to leave out.
    pub skip: BTreeSet<BonniePhase>,
    /// Workers, each on a file of its own and a share of the size.
    pub concurrency: Option<u32>,
    /// Whether all block phases avoid the page cache.
    pub direct: bool,
    /// Whether files and directories are synced after every operation that changes them,
    /// and the file of the seeks after every update: `-b`.
    pub sync_each: bool,
    /// Repetitions.
    pub runs: Option<u32>,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
