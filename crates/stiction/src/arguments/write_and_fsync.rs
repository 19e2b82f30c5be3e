//! Arguments of `stiction write-and-fsync`: those of the program of ext3-tools, spelled
//! out, with the old letters beside them.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{Recording, TimeLayout};

const EXAMPLES: &str = "\
Examples:
  stiction write-and-fsync /mnt/a /mnt/b
                                    A file in each, at once; durable at the end
  stiction write-and-fsync --size 4G --chunk 8K --time bash .
  stiction write-and-fsync --count 10000 --chunk 4K --sync-every 1 .
  stiction write-and-fsync --classic -m 4000 -f /mnt/a /mnt/b /mnt/c /mnt/d
                                    As the old program, with zsh's line

Two times are told: until the last write had returned, and until all is durable.
Two systems often differ but in what they leave for later: compare the second.
Files are always its own and are removed; -O lays one down and overwrites it.
Sizes: a bare number is MiB for --size, bytes for --chunk (KiB with -k).";

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Content {
    /// Bytes that neither compress nor repeat
    Unique,
    /// Zeros, as the old program
    Zeros,
}

/// Write files and sync them: how long until written, and until durable
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WriteAndFsyncArguments {
    /// Directories; each gets files and workers of its own
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directories: Vec<PathBuf>,

    /// Written to each file, MiB [default: a share of 1G, or of what fits]
    #[arg(
        short = 'm',
        long,
        value_name = "SIZE",
        conflicts_with = "count",
        help_heading = "How much"
    )]
    pub(crate) size: Option<String>,
    /// Writes to each file, instead of a size
    #[arg(short = 'n', long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) count: Option<u64>,
    /// Bytes of a write [default: 1M]
    #[arg(short = 'c', long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) chunk: Option<String>,
    /// --chunk is in KiB
    #[arg(short = 'k', requires = "chunk", help_heading = "How much")]
    pub(crate) kib: bool,
    /// Files, file i in the i-th directory and again from the first [default: one
    /// for each directory]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) files: Option<u32>,
    /// Repetitions [default: 3, 1 with --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A small amount, one run: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// One fsync after the last write [default, unless --classic]
    #[arg(short = 'f', long, conflicts_with_all = ["fdatasync", "no_sync"], help_heading = "How")]
    pub(crate) fsync: bool,
    /// fdatasync instead of fsync
    #[arg(long, help_heading = "How")]
    pub(crate) fdatasync: bool,
    /// No sync: what is told is how fast memory fills
    #[arg(long, conflicts_with_all = ["fdatasync", "sync_every"], help_heading = "How")]
    pub(crate) no_sync: bool,
    /// A sync after so many writes too
    #[arg(long, value_name = "WRITES", help_heading = "How")]
    pub(crate) sync_every: Option<u64>,
    /// Open files with O_DIRECT
    #[arg(short = 'o', long, help_heading = "How")]
    pub(crate) direct: bool,
    /// Open files with O_SYNC
    #[arg(short = 's', long, conflicts_with = "dsync", help_heading = "How")]
    pub(crate) sync: bool,
    /// Open files with O_DSYNC
    #[arg(long, help_heading = "How")]
    pub(crate) dsync: bool,
    /// Drop pages from the cache as they are written (RWF_DONTCACHE)
    #[arg(long, help_heading = "How")]
    pub(crate) dontcache: bool,
    /// Overwrite: the file is written once before, outside the time
    #[arg(short = 'O', long, conflicts_with = "reserve", help_heading = "How")]
    pub(crate) overwrite: bool,
    /// Reserve the blocks before the first write (fallocate)
    #[arg(long, help_heading = "How")]
    pub(crate) reserve: bool,
    /// Begin the buffer so many bytes beyond the start of a page
    #[arg(short = 'a', long, value_name = "BYTES", help_heading = "How")]
    pub(crate) align: Option<u32>,
    /// Pause so many microseconds between two writes
    #[arg(short = 'S', long, value_name = "USECS", help_heading = "How")]
    pub(crate) pause: Option<u32>,
    /// What is written [default: unique, zeros with --classic]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "How")]
    pub(crate) content: Option<Content>,

    /// Do what the old program did: zeros, cut at each MiB, nothing synced unless -f
    #[arg(long, help_heading = "Being the old program")]
    pub(crate) classic: bool,
    /// Print times as a shell does, instead of the report [default with
    /// --classic: zsh]
    #[arg(
        long,
        value_enum,
        value_name = "SHELL",
        help_heading = "Being the old program"
    )]
    pub(crate) time: Option<TimeLayout>,
    /// With --classic: print the writes by whole milliseconds too
    #[arg(
        short = 'l',
        long,
        requires = "classic",
        help_heading = "Being the old program"
    )]
    pub(crate) histogram: bool,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
