//! Arguments of `stiction tree-move`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{Recording, TimeLayout};

const EXAMPLES: &str = "\
Examples:
  stiction tree-move --from /mnt/a --to /mnt/b
  stiction tree-move --from /mnt/a --to /mnt/b --tree /usr/src/linux
                                    A copy of your tree is moved
  stiction tree-move --from . --to . --same-filesystem --files 1000 --size 20
  stiction tree-move --classic --from /mnt/a --to /mnt/b
                                    Five rounds in a row, and bash's times

A tree is moved to another filesystem and back, as mv does it: copied, then
deleted. Copies, deletions and syncs are told apart, and in the end every file
is compared with what it was. All of it lies in directories of its own: a tree
that is named is only copied, and nothing of yours is deleted.";

/// In which order entries of a directory are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EntryOrder {
    /// As the filesystem gives them
    Directory,
    /// By name
    Name,
    /// By number of the inode
    Inode,
}

/// Move a tree of files to another filesystem and back
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TreeMoveArguments {
    /// Directory where the tree begins
    #[arg(long, value_name = "DIR", help_heading = "Where")]
    pub(crate) from: PathBuf,
    /// Directory where it goes, on another filesystem
    #[arg(long, value_name = "DIR", help_heading = "Where")]
    pub(crate) to: PathBuf,
    /// A tree of yours to copy first; without it one is generated
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["files", "directories", "size"],
        help_heading = "Where"
    )]
    pub(crate) tree: Option<PathBuf>,
    /// Let both be on one filesystem; files are copied all the same
    #[arg(long, help_heading = "Where")]
    pub(crate) same_filesystem: bool,

    /// Files of the generated tree [default: 12000]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) files: Option<u32>,
    /// Directories of the generated tree [default: a 16th of the files]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) directories: Option<u32>,
    /// All its files together, MiB [default: 12.5 KiB a file]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) size: Option<String>,
    /// There and back so often in a run [default: 1, 5 with --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) rounds: Option<u32>,
    /// Repetitions [default: 3, 1 with --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A small tree, one run: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// In which order the entries of a directory are taken
    #[arg(
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "directory",
        help_heading = "How"
    )]
    pub(crate) order: EntryOrder,
    /// Sync nothing and empty no cache before the end, as `testo` of 2002
    #[arg(long, help_heading = "Being the old program")]
    pub(crate) classic: bool,
    /// Print times as a shell does, instead of the report [default with
    /// --classic: bash]
    #[arg(
        long,
        value_enum,
        value_name = "SHELL",
        help_heading = "Being the old program"
    )]
    pub(crate) time: Option<TimeLayout>,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
