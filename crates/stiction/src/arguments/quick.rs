//! Arguments of `stiction quick`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction quick                    The current directory
  stiction /mnt/data                Another one; `quick` may be left out
  stiction quick --seconds 20 .     A third of the time, a little less sure
  stiction quick --json . > r.json  For a script

It works in a directory of its own inside DIR and removes it. The word before
each number says what was measured: the disk, the page cache, a limiter (of a
cgroup), the cpu, or unknown. p50 is the latency that half of the operations
stayed within, p99 that of 99 in 100, p99.9 that of 999 in 1000; `-` where there
were too few operations to tell. `32 deep` is 32 operations in flight at once. A
commit is a small write and the sync that makes it last, as databases do it.";

/// Find out what a directory gives: rates, latencies, the price of a commit
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QuickArguments {
    /// The directory to measure
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Take at most this long, all in all
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub(crate) seconds: u32,
    /// Size of the file [default: by free space and memory]
    #[arg(long, value_name = "SIZE", value_parser = stiction_core::parse_size_bytes)]
    pub(crate) size: Option<u64>,
    #[command(flatten)]
    pub(crate) recording: Recording,
}

/// Whole seconds, from 1 to 3600.
fn parse_seconds(text: &str) -> Result<u32, String> {
    const NS_PER_S: u64 = 1_000_000_000;
    let ns = stiction_core::parse_duration_ns(text).map_err(|error| error.to_string())?;
    match u32::try_from(ns / NS_PER_S) {
        Ok(seconds @ 1..=3600) if ns % NS_PER_S == 0 => Ok(seconds),
        _ => Err(format!("{text}: give whole seconds, from 1s to 1h")),
    }
}
