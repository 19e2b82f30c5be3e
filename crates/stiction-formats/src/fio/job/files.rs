//! Files and bytes: layout, cache, payload, syncs, checks.

use serde::{Deserialize, Serialize};

use super::super::units::Bytes;
use super::plain::usual;
use super::plain::{data, words};

data! {
    /// The page cache.
    #[derive(Copy, Eq)]
    pub struct Cache {
        /// What the target has there is dropped before the start.
        pub drop_before: bool,
        /// The target is read once before the start.
        #[serde(default, skip_serializing_if = "usual")]
        pub read_before: bool,
        /// What the kernel is told about the order of reads.
        #[serde(default, skip_serializing_if = "usual")]
        pub advice: Advice,
    }

    /// How files come to be.
    pub struct Layout {
        /// How space is reserved before the run.
        pub reserve: Reserve,
        /// Files are made when the job opens them.
        #[serde(default, skip_serializing_if = "usual")]
        pub create_on_open: bool,
        /// Only files are made, no I/O is done.
        #[serde(default, skip_serializing_if = "usual")]
        pub create_only: bool,
        /// New files are synced.
        pub sync_created: bool,
        /// Files are written in full before the run, so that writes overwrite.
        #[serde(default, skip_serializing_if = "usual")]
        pub write_before: bool,
        /// Missing files may be made.
        pub may_create: bool,
        /// Files open at a time; `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub open_files: Option<u32>,
        /// Which file is next, as fio writes it.
        pub file_order: FileOrder,
        /// Operations on a file before the next.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub file_operations: u64,
        /// Files are removed afterwards.
        #[serde(default, skip_serializing_if = "usual")]
        pub remove_after: bool,
        /// Files are removed after each loop.
        #[serde(default, skip_serializing_if = "usual")]
        pub remove_each_loop: bool,
    }

    /// Which file is next.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub enum FileOrder {
        /// In turn.
        RoundRobin,
        /// One after another, each to its end.
        Sequential,
        /// Any.
        Random,
        /// Skewed by Zipf's law.
        Zipf(f64),
        /// Skewed by Pareto's.
        Pareto(f64),
        /// Skewed by the bell curve.
        Normal(f64),
    }

    /// What is written.
    #[derive(Eq)]
    pub struct Payload {
        /// Bytes.
        pub fill: Fill,
        /// The bytes repeated, for a pattern.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pattern: Vec<u8>,
        /// Percent that compresses away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compress_percent: Option<u8>,
        /// In pieces of this size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compress_chunk: Option<Bytes>,
        /// Percent of the blocks that repeat an earlier one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_percent: Option<u8>,
        /// Percent of the region among which repeats are chosen; `None`: the last block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_among_percent: Option<u8>,
        /// Repeats across jobs.
        #[serde(default, skip_serializing_if = "usual")]
        pub repeat_across_jobs: bool,
        /// Where buffers live, in fio's words.
        #[serde(default = "malloc", skip_serializing_if = "is_malloc")]
        pub memory: String,
        /// Alignment of buffers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub memory_align: Option<Bytes>,
    }

    /// Syncs.
    #[derive(Eq, Default)]
    pub struct Durability {
        /// `fsync` after every so many writes; 0: never.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_every_writes: u64,
        /// `fdatasync` after every so many writes; 0: never.
        #[serde(default, skip_serializing_if = "usual")]
        pub fdatasync_every_writes: u64,
        /// `sync_file_range`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub range: Option<RangeSync>,
        /// `fsync` after the last write, inside the time.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_at_end: bool,
        /// `fsync` when a file is closed, outside the time.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_on_close: bool,
    }

    /// `sync_file_range` over the last writes.
    #[derive(Copy, Eq)]
    pub struct RangeSync {
        /// After every so many writes.
        pub every_writes: u64,
        /// Wait for what is under way first.
        pub wait_before: bool,
        /// Start writing.
        pub write: bool,
        /// Wait for that.
        pub wait_after: bool,
    }

    /// Checking of what was written.
    pub struct Verify {
        /// By what.
        pub check: Check,
        /// Bytes of the pattern, where the check has one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pattern: Vec<u8>,
        /// Read back after writing.
        pub read_back: bool,
        /// Write nothing, only read back.
        #[serde(default, skip_serializing_if = "usual")]
        pub only: bool,
        /// A header every so many bytes; `None`: once a block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub interval: Option<Bytes>,
        /// Where the header stands in its interval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub header_at: Option<Bytes>,
        /// End at the first failure.
        #[serde(default, skip_serializing_if = "usual")]
        pub fatal: bool,
        /// Keep what was found and what was expected.
        #[serde(default, skip_serializing_if = "usual")]
        pub dump: bool,
        /// Read back after every so many written blocks instead of at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_blocks: Option<u64>,
        /// How many of them at a time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub batch_blocks: Option<u64>,
    }
}

words! {
    /// What the kernel is told about the order of reads.
    pub enum Advice {
        /// What the job will do.
        #[default]
        Pattern,
        /// Nothing.
        None,
        /// Random.
        Random,
        /// Sequential.
        Sequential,
    }

    /// How space is reserved.
    pub enum Reserve {
        /// `fallocate`, where there is.
        #[default]
        Native,
        /// Not.
        None,
        /// `posix_fallocate`.
        Posix,
        /// `fallocate` beyond the end of the file.
        KeepSize,
        /// `ftruncate`: a hole.
        Truncate,
    }

    /// Bytes written.
    pub enum Fill {
        /// One random buffer again and again, with a word changed here and there: fio's
        /// default, which layers that deduplicate may see through.
        #[default]
        Scrambled,
        /// One random buffer again and again.
        Repeated,
        /// Fresh random bytes for every write.
        Fresh,
        /// Zeros.
        Zeros,
        /// A pattern.
        Pattern,
    }

    /// By what written blocks are checked. A checksum of any name asks for a header
    /// with place, seed and sum; which sum it is does not change the load.
    pub enum Check {
        /// A header with a checksum.
        #[default]
        Checksum,
        /// A pattern, with a header before it.
        PatternWithHeader,
        /// A pattern alone.
        Pattern,
        /// Nothing: a rehearsal.
        Null,
    }
}

fn one() -> u64 {
    1
}

fn is_one(value: &u64) -> bool {
    *value == 1
}

fn malloc() -> String {
    "malloc".to_owned()
}

fn is_malloc(value: &str) -> bool {
    value == "malloc"
}
