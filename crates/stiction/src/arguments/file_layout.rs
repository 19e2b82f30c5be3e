//! Arguments of `stiction layout`.

use std::path::PathBuf;

use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  stiction layout a b               Extents, seeks, how a and b are woven
  stiction layout --view filefrag a
                                    Every extent, as filefrag -v prints it
  stiction layout --view bmap a     Every run of blocks, as bmap of 2002 did
  stiction layout --as-is a         Without writing back what is dirty first

Interleaved 0: each file lies apart from the others; 1: as many neighbouring
blocks as can be belong to different files. A filesystem without a map of
extents (tmpfs, many of FUSE) is not measured; if that is so of all files, the
exit status is 3.";

/// Where files lie on their device: pieces, seeks, and how files are woven
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FileLayoutArguments {
    /// Files to look at
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, value_name = "VIEW", default_value = "summary")]
    pub(crate) view: FileLayoutView,
    /// Look at the files as they are: what is dirty in memory has no place then
    #[arg(long)]
    pub(crate) as_is: bool,
}

/// How a layout is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileLayoutView {
    /// A line for each file, and all together
    Summary,
    /// As filefrag -v of e2fsprogs
    Filefrag,
    /// As bmap of ext3-tools
    Bmap,
}
