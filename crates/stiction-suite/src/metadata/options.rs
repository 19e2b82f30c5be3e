//! What metadata can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Metadata`](crate::Metadata) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetadataOptions {
    /// Files of all workers together.
    pub files: Option<u64>,
    /// Bytes of each file.
    pub file_bytes: Option<u64>,
    /// Threads.
    pub workers: Option<u32>,
    /// Levels of directories below the first of a tree.
    pub depth: Option<u32>,
    /// Directories in each directory that has some.
    pub branch: Option<u32>,
    /// Whether files are in the lowest directories alone.
    pub leaves: bool,
    /// Whether all workers work in one tree, and not each in its own.
    pub shared: bool,
    /// How many workers further the owner of the files is that a worker works on, for
    /// each phase after those that make them.
    pub shift: u32,
    /// How files become durable.
    pub sync: SyncStyle,
    /// Repetitions.
    pub runs: Option<u32>,
    /// Few files: to see how it goes.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// How files become durable: the styles of fs_mark, by their numbers there (`-S`). Where
/// fs_mark calls `sync`, this is `syncfs`: other filesystems are left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncStyle {
    /// 0: not at all.
    #[default]
    None,
    /// 1: each by `fsync` before it is closed.
    EachBeforeClose,
    /// 2: when all are made, the filesystem is synced, then one file of each worker.
    FilesystemAndOne,
    /// 3: when all are made, each is opened again and synced, the last first.
    EachReversed,
    /// 4: the filesystem is synced, then as 3.
    FilesystemAndEachReversed,
    /// 5: when all are made, each is opened again and synced, in order.
    EachInOrder,
    /// 6: the filesystem is synced, then as 5.
    FilesystemAndEachInOrder,
}

impl SyncStyle {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::EachBeforeClose,
        Self::FilesystemAndOne,
        Self::EachReversed,
        Self::FilesystemAndEachReversed,
        Self::EachInOrder,
        Self::FilesystemAndEachInOrder,
    ];

    /// fs_mark's number for it.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether the filesystem is synced once all files are made.
    pub(super) fn syncs_filesystem(self) -> bool {
        matches!(
            self,
            Self::FilesystemAndOne
                | Self::FilesystemAndEachReversed
                | Self::FilesystemAndEachInOrder
        )
    }

    /// Whether files are opened again and synced once all are made.
    pub(super) fn syncs_files_after(self) -> bool {
        !matches!(self, Self::None | Self::EachBeforeClose)
    }
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataParameters {
    /// Files of each worker.
    pub files_per_worker: u64,
    /// Bytes of each file.
    pub file_bytes: u64,
    /// Threads.
    pub workers: u32,
    /// Levels of directories below the first of a tree.
    pub depth: u32,
    /// Directories in each directory that has some.
    pub branch: u32,
    /// Whether files are in the lowest directories alone.
    pub leaves: bool,
    /// Whether all workers work in one tree.
    pub shared: bool,
    /// How many workers further the owner of the files is, a phase.
    pub shift: u32,
    /// How files become durable.
    pub sync: SyncStyle,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}
