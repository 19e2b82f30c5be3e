//! Arguments of `stiction time-read`: those of the program of ext3-tools, spelled out,
//! with the old letters beside them.

use std::path::PathBuf;

use super::{Recording, TimeLayout};

const EXAMPLES: &str = "\
Examples:
  stiction time-read big.iso        A file of yours, from the disk; only read
  stiction time-read --cached --align 0,8,32 --passes 8 .
                                    Copies out of the page cache, by where the
                                    buffer begins
  stiction time-read -m --cached .  A mapping touched at each page instead
  stiction time-read --classic -b 8192 -h 8192 big.iso
                                    As the old program, with zsh's line

By default the file is dropped from the cache before each run, and that is
checked. Reads follow each other; --classic keeps the old distance of 4096
bytes, so that reads of 8 KiB read every byte twice. Sizes: a bare number is MiB
for --size and --distance, bytes for --buffer and --hop (KiB with -k).";

/// Read a file, by reads at a distance or by touching a mapping
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
pub(crate) struct TimeReadArguments {
    /// A file or block device to read, or a directory to make a file in
    #[arg(value_name = "FILE|DIR", default_value = ".")]
    pub(crate) target: PathBuf,

    /// Size of the file that is made in a directory, MiB [default: 256M, or what
    /// fits]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) size: Option<String>,
    /// Bytes of a read [default: 8K]
    #[arg(short = 'b', long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) buffer: Option<String>,
    /// From the start of a read to that of the next [default: as long as a read;
    /// 4096 with --classic or --mmap]
    #[arg(short = 'h', long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) hop: Option<String>,
    /// --buffer and --hop are in KiB
    #[arg(short = 'k', help_heading = "How much")]
    pub(crate) kib: bool,
    /// Stop after so many MiB of hops
    #[arg(short = 'n', long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) distance: Option<String>,
    /// Read it so often in a run
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) passes: Option<u32>,
    /// Repetitions [default: 3, 1 with --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A small file, one run: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// Map the file and touch a byte at each hop
    #[arg(short = 'm', long, help_heading = "How")]
    pub(crate) mmap: bool,
    /// Open it with O_DIRECT
    #[arg(short = 'o', long, help_heading = "How")]
    pub(crate) direct: bool,
    /// With --mmap: tell the kernel that reads are at random (MADV_RANDOM)
    #[arg(short = 'r', long, requires = "mmap", help_heading = "How")]
    pub(crate) random: bool,
    /// With --mmap: tell the kernel that reads are in order (MADV_SEQUENTIAL)
    #[arg(
        short = 's',
        long,
        requires = "mmap",
        conflicts_with = "random",
        help_heading = "How"
    )]
    pub(crate) sequential: bool,
    /// Begin the buffer so many bytes beyond the start of a page; several are
    /// compared
    #[arg(
        short = 'a',
        long,
        value_name = "BYTES",
        value_delimiter = ',',
        help_heading = "How"
    )]
    pub(crate) align: Vec<u32>,
    /// Bring the file into the page cache first
    #[arg(long, conflicts_with = "as_it_is", help_heading = "How")]
    pub(crate) cached: bool,
    /// Leave the page cache as it is [default with --classic]
    #[arg(long, help_heading = "How")]
    pub(crate) as_it_is: bool,

    /// Do what the old program did: hops of 4096 bytes, the cache left alone
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
    /// Print help
    #[arg(long, action = clap::ArgAction::HelpLong, help_heading = "Everywhere")]
    help: Option<bool>,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
