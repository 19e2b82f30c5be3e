//! Arguments of `stiction metadata`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction metadata /mnt/data       20 000 empty files in trees of directories
  stiction metadata --quick .       400 of them: to see how it goes
  stiction metadata --sync 1 --files 1000 --size 10K .
                                    As fs_mark -S 1: each synced, then closed
  stiction metadata --threads 8 --depth 3 --branch 2 --leaves --shift 1 .
                                    As mdtest -z 3 -b 2 -L -u -N 1

Styles of sync, with fs_mark's numbers: 0 none; 1 each file before it is closed;
2 the filesystem, then a file of each thread; 3 each file, the last first, once
all are made; 4 the filesystem, then as 3; 5 as 3, but in order; 6 the
filesystem, then as 5.";

/// Make, open, look at, list, link, rename and remove files in a tree
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MetadataArguments {
    /// Directory to work in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Files of all threads together [default: 20000]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) files: Option<u64>,
    /// Bytes of each file [default: 0]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) size: Option<String>,
    /// Repetitions [default: 1]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// Few files: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// Threads [default: as many as CPUs, 4 at most]
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) threads: Option<u32>,
    /// Levels of directories below the first of a tree [default: 2]
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) depth: Option<u32>,
    /// Directories in each directory [default: 4]
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) branch: Option<u32>,
    /// Have files in the lowest directories alone
    #[arg(long, help_heading = "How")]
    pub(crate) leaves: bool,
    /// Let all threads work in one tree, not each in its own
    #[arg(long, help_heading = "How")]
    pub(crate) shared: bool,
    /// After making its files, let a thread work on those of the COUNT-th thread on
    #[arg(long, value_name = "COUNT", default_value = "0", help_heading = "How")]
    pub(crate) shift: u32,
    /// How files become durable, by fs_mark's numbers
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "0",
        value_parser = clap::value_parser!(u8).range(0..=6),
        help_heading = "How"
    )]
    pub(crate) sync: u8,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
