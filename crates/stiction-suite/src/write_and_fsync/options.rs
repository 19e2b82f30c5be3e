//! What write-and-fsync can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::{Data, SyncKind, WriteSync};

/// How much is written to each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteAmount {
    /// So many bytes: `-m` of the older program, in MiB there.
    #[serde(rename = "bytes")]
    Bytes(u64),
    /// So many writes: `-n` of the newer one.
    #[serde(rename = "writes_count")]
    Writes(u64),
}

/// When writes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncPolicy {
    /// Never: the end of the phase says nothing of the disk.
    Never,
    /// Once, after the last write: `-f`.
    AtEnd(SyncKind),
    /// After every so many writes, and after the last.
    Every {
        /// Writes between two syncs, 1 or more.
        writes: u64,
        /// Which call.
        kind: SyncKind,
    },
}

/// What is there before the writes that are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// Nothing: each write lets the file grow.
    #[default]
    Nothing,
    /// The whole file, written before, outside the time: `-O`.
    Written,
    /// Blocks, reserved and not written.
    Reserved,
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`WriteAndFsync`](crate::WriteAndFsync) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteAndFsyncOptions {
    /// Whether it is to be the old program.
    pub classic: bool,
    /// How much is written to each file.
    pub amount: Option<WriteAmount>,
    /// Bytes of a write: `-c`.
    pub chunk_bytes: Option<u64>,
    /// When writes are made durable.
    pub sync: Option<SyncPolicy>,
    /// Files written at once, each by a worker of its own, file `i` in the `i mod n`-th
    /// directory; one a directory when not given.
    pub files: Option<u32>,
    /// What is there before.
    pub before: Before,
    /// Whether files are opened with `O_DIRECT`: `-o`.
    pub direct: bool,
    /// What each write waits for: `-s` is [`WriteSync::Sync`].
    pub write_sync: WriteSync,
    /// Whether pages leave the cache as soon as they are written (`RWF_DONTCACHE`).
    pub dontcache: bool,
    /// Where buffers begin, bytes beyond the start of a page: `-a`.
    pub buffer_offset_bytes: u32,
    /// Pause before each write but the first, ns: `-S`.
    pub pause_ns: u64,
    /// What is written.
    pub data: Option<Data>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small amount and one run.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteAndFsyncParameters {
    /// Whether it is the old program.
    pub classic: bool,
    /// How much is written to each file.
    pub amount: WriteAmount,
    /// Bytes of a write.
    pub chunk_bytes: u64,
    /// When writes are made durable.
    pub sync: SyncPolicy,
    /// Files written at once.
    pub files: u32,
    /// What is there before.
    pub before: Before,
    /// Whether files are opened with `O_DIRECT`.
    pub direct: bool,
    /// What each write waits for.
    pub write_sync: WriteSync,
    /// Whether pages leave the cache as soon as they are written.
    pub dontcache: bool,
    /// Where buffers begin, bytes beyond the start of a page.
    pub buffer_offset_bytes: u32,
    /// Pause between two writes, ns; 0 for none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pause_ns: u64,
    /// What is written.
    pub data: Data,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}

/// Whether there is no pause.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(pause_ns: &u64) -> bool {
    *pause_ns == 0
}
