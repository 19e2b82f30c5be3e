//! What tree-move can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

/// In which order the entries of a directory are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryOrder {
    /// As the filesystem gives them.
    #[default]
    Directory,
    /// By name.
    Name,
    /// By number of the inode, which on many filesystems is the order on the disk.
    Inode,
}

/// A tree that is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// Files, 1 or more.
    #[serde(rename = "files_count")]
    pub files: u32,
    /// Directories, the top one not counted.
    #[serde(rename = "directories_count")]
    pub directories: u32,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Generated {
    /// A kernel source tree of early 2002.
    pub const KERNEL_OF_2002: Self = Self {
        files: 12_000,
        directories: 750,
        bytes: 150 << 20,
    };
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`TreeMove`](crate::TreeMove) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeMoveOptions {
    /// Whether it is to be `testo`: five rounds, no sync and no cache emptied before the
    /// end.
    pub classic: bool,
    /// Whether a tree of the user's, the third place, is copied and moved, and none
    /// generated.
    pub copies_tree: bool,
    /// The tree that is generated.
    pub generated: Option<Generated>,
    /// There and back so often in a trial.
    pub rounds: Option<u32>,
    /// In which order entries are taken.
    pub order: EntryOrder,
    /// Whether both places may be on one filesystem; files are copied all the same.
    pub same_filesystem: bool,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small tree and one run.
    pub quick: bool,
    /// Whether filesystems may be filled to their last byte; else to 95 % of their size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeMoveParameters {
    /// Whether it is `testo`.
    pub classic: bool,
    /// The tree that is generated; `None` when the third place is copied.
    pub generated: Option<Generated>,
    /// There and back so often in a trial.
    pub rounds: u32,
    /// In which order entries are taken.
    pub order: EntryOrder,
    /// Whether both places may be on one filesystem.
    pub same_filesystem: bool,
    /// Whether each half of a round is made durable, and the copy dropped from the page
    /// cache before it is copied on.
    pub settles: bool,
    /// Whether filesystems may be filled to their last byte.
    pub may_fill: bool,
}
