//! Arguments of `stiction ioping`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction ioping /mnt/data         Ten reads of 4 KiB, a second apart
  stiction ioping --count 100 --interval 100ms .
  stiction ioping --write --size 8K .
  stiction ioping --interval 0 --count 10000 .
                                    One after another at once
  stiction ioping --classic .       As ioping prints it

One request at a time, past the page cache where that can be. The first one is
warm-up and in no figure. It works on a file of its own in DIR and removes it.";

/// The latency of single requests, one at a time
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IopingArguments {
    /// Directory to make the file in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Requests, the one for warm-up not counted [default: 10]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) count: Option<u64>,
    /// Bytes of a request [default: 4K]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) size: Option<String>,
    /// Size of the file that they go to [default: 64M]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) file_size: Option<String>,
    /// Repetitions [default: 1]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// Short intervals: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// From the begin of a request to that of the next; 0 for none [default: 1]
    #[arg(long, value_name = "SECONDS", help_heading = "How")]
    pub(crate) interval: Option<String>,
    /// Write instead of reading
    #[arg(long, help_heading = "How")]
    pub(crate) write: bool,
    /// Go through the file in order, not at random
    #[arg(long, help_heading = "How")]
    pub(crate) sequential: bool,
    /// Go through the page cache
    #[arg(long, help_heading = "How")]
    pub(crate) cached: bool,
    /// Print the requests and their statistics as ioping does
    #[arg(long, help_heading = "Being the old program")]
    pub(crate) classic: bool,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
