//! Arguments of `stiction pagecache`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction pagecache .              What a read from memory is made of (20 s)
  stiction pagecache --workers 8 --size 200 /mnt/data
  stiction pagecache --classic /mnt/a /mnt/b
                                    The test of 2002: ten random passes

Files are laid down and read once before, so that memory alone answers. Each
block is read; peeked at, by the same call for 64 bytes of it; spliced into
/dev/null; and touched in a mapping. Reads less peeks are the copy. A worker
with nothing to wait for uses a whole CPU: where it did not, the report says
that it slept.";

/// Read what is in memory in every way: the price of a call and of a copy
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PagecacheArguments {
    /// Directories to make the files in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directories: Vec<PathBuf>,
    /// Workers, each with a file of its own [default: one for each directory]
    #[arg(long, value_name = "COUNT")]
    pub(crate) workers: Option<u32>,
    /// Of each file, MiB [default: 200, or what fits a quarter of the memory]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// Bytes of a read [default: 4096]
    #[arg(long, value_name = "SIZE")]
    pub(crate) block: Option<String>,
    /// Time of each phase [default: 2]
    #[arg(long, value_name = "SECONDS", conflicts_with = "classic")]
    pub(crate) seconds: Option<String>,
    /// Repetitions [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub(crate) runs: Option<u32>,
    /// Small files and short phases: to see how it goes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Read at random ten times over, and print the lines of 2002
    #[arg(long)]
    pub(crate) classic: bool,
    #[command(flatten)]
    pub(crate) recording: Recording,
}
