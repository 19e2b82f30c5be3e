//! Arguments of `stiction parallel`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction parallel /mnt/a /mnt/b /mnt/c
                                    A file in each, written and read at once
  stiction parallel --direct /dev/sda /dev/sdb
                                    Devices, only read
  stiction parallel --random --block 4K --depth 32 --direct /mnt/a /mnt/b
  stiction parallel --scratch /dev/sdx=S4EWNX0R --scratch /dev/sdy=S4EWNX1K
                                    Whole devices, overwritten: see SAFETY.md
  stiction parallel --classic --size 1G /mnt/a /mnt/b
                                    The disk test of 2002, and its lines

One worker for each target, let go together. What all moved is told twice: to
the end of the slowest, and while all still ran (the stonewall). A file or
device that is named is only read. Sizes: a bare number is MiB for --size, bytes
for --block.";

/// One worker for each of several disks: each, all, and how far apart they end
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ParallelArguments {
    /// Directories to make a file in, or files or devices to read; all of one kind
    #[arg(value_name = "TARGET", required_unless_present = "scratch")]
    pub(crate) targets: Vec<PathBuf>,
    /// Give a block device over to be overwritten, with its serial number
    #[arg(
        long,
        value_name = "DEVICE=SERIAL",
        conflicts_with = "targets",
        help_heading = "Where"
    )]
    pub(crate) scratch: Vec<OsString>,
    /// Destroy this signature on the device (ext4, lvm, gpt; as the refusal names it)
    #[arg(
        long,
        value_name = "SIGNATURE",
        requires = "scratch",
        help_heading = "Where"
    )]
    pub(crate) wipe_signature: Option<String>,

    /// Of each target, MiB [default: a share of 2G, or what fits]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) size: Option<String>,
    /// Bytes of an operation [default: 1M]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) block: Option<String>,
    /// End after this long, wherever the workers are
    #[arg(long, value_name = "SECONDS", help_heading = "How much")]
    pub(crate) seconds: Option<String>,
    /// Repetitions [default: 3, 1 with --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A small amount, one run: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// Write alone
    #[arg(long, conflicts_with = "read", help_heading = "How")]
    pub(crate) write: bool,
    /// Read alone; a file of its own is laid down before, outside the time
    #[arg(long, help_heading = "How")]
    pub(crate) read: bool,
    /// Every block once, in random order; a new file is written in order all the same
    #[arg(long, help_heading = "How")]
    pub(crate) random: bool,
    /// Operations that each worker keeps in flight (io_uring above 1)
    #[arg(long, value_name = "COUNT", default_value_t = 1, help_heading = "How")]
    pub(crate) depth: u32,
    /// Open with O_DIRECT
    #[arg(long, help_heading = "How")]
    pub(crate) direct: bool,

    /// Do what the disk test of 2002 did: 12 GiB each, zeros, caches left alone,
    /// reads of 4 KiB; and print its lines
    #[arg(long, help_heading = "Being the old program")]
    pub(crate) classic: bool,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
