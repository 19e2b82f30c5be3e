//! Arguments of `stiction ladder`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction ladder /mnt/data         A file of its own, by every way
  stiction ladder --random --block 4K --depth 32 big.iso
  stiction ladder --device /dev/sdb1 /mnt/data
                                    The raw device too, below the filesystem
  stiction ladder --classic --device /dev/sdb1 /mnt/data
                                    With the lines of 2002

Rungs: cached, uncached (page cache emptied before), dontcache, mmap, direct
(O_DIRECT), io uring (fixed buffers), io uring polled, device. Each reads the
same offsets in blocks of the same size; a rung that cannot be had says why.
Files and devices that are named are only read. Sizes: a bare number is MiB for
--size, bytes for --block.";

/// The same blocks by every way from the disk to the program: what each step costs
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LadderArguments {
    /// A file to read, or a directory to make one in
    #[arg(value_name = "FILE|DIR", default_value = ".")]
    pub(crate) target: PathBuf,
    /// A block device to read too, such as the one under the file
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<PathBuf>,
    /// Read at each rung, MiB [default: 256, or what fits]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// Bytes of a read [default: 128K, 4K with --random]
    #[arg(long, value_name = "SIZE")]
    pub(crate) block: Option<String>,
    /// Every block once, in the same random order at each rung
    #[arg(long)]
    pub(crate) random: bool,
    /// Reads that the rings keep in flight; the other rungs have one
    #[arg(long, value_name = "COUNT")]
    pub(crate) depth: Option<u32>,
    /// Let no rung take longer [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<String>,
    /// Repetitions [default: 3, 1 with --classic]
    #[arg(long, value_name = "COUNT")]
    pub(crate) runs: Option<u32>,
    /// A small file, one run: to see how it goes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print a line for each rung as the mail of July 2002 did
    #[arg(long)]
    pub(crate) classic: bool,
    #[command(flatten)]
    pub(crate) recording: Recording,
}
