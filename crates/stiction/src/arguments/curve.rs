//! Arguments of `stiction curve`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;
use stiction_core::{LatencyLimit, parse_duration_ns, parse_size_bytes};

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction curve --limit p99=2ms /mnt/data
                                    How many random reads a second it holds
  stiction curve --quick .          The same in a tenth of the time, less sure
  stiction curve --rw randwrite --bs 16k --seconds 10 --runs 3 .
  stiction curve --rw randrw --rwmixread 70 --limit p99.9=10ms --json .
  stiction curve --scratch /dev/sdx=S4EWNX0R --size 8G
                                    A whole device, overwritten: see SAFETY.md

Operations begin at moments of their own, as those of callers who do not wait
for each other (an open loop), and a latency counts from the moment at which the
operation was to begin. The rate is raised in --points steps to what a closed
loop reaches, until the limit breaks or less than 98 % of what was asked is
done; then the gap is halved. The knee is where throughput over mean latency is
greatest: docs/curve.md.";

/// Which way and in what order, in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadWrite {
    /// Read in order
    Read,
    /// Write in order
    Write,
    /// Read and write in order
    Rw,
    /// Read at random
    Randread,
    /// Write at random
    Randwrite,
    /// Read and write at random
    Randrw,
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// As the target does best, found by trying
    Auto,
    /// `pread` and `pwrite` in threads
    Psync,
    /// A ring
    #[value(name = "io_uring", alias = "io-uring")]
    IoUring,
    /// `io_submit`
    Libaio,
}

/// How the moments are spread at which operations are to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsWord {
    /// At random, as independent callers have it
    Poisson,
    /// Evenly
    Fixed,
}

/// Raise the rate until the latency breaks: how much a place holds
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CurveArguments {
    /// The directory to work in
    #[arg(value_name = "DIR", default_value = ".", help_heading = "Where")]
    pub(crate) directory: PathBuf,
    /// Give a block device over to be overwritten, with its serial number
    #[arg(
        long,
        value_name = "DEVICE=SERIAL",
        conflicts_with = "directory",
        help_heading = "Where"
    )]
    pub(crate) scratch: Option<OsString>,
    /// Destroy this signature on the device (ext4, lvm, gpt; as the refusal names it)
    #[arg(
        long,
        value_name = "NAME",
        requires = "scratch",
        help_heading = "Where"
    )]
    pub(crate) wipe_signature: Option<String>,
    /// Size of the file, or of the part of the device [default: 1G, or what fits]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, help_heading = "Where")]
    pub(crate) size: Option<u64>,

    /// Read or write, in order or at random
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "randread",
        help_heading = "What"
    )]
    pub(crate) rw: ReadWrite,
    /// How many of a hundred operations of a mix are reads
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 50,
        value_parser = clap::value_parser!(u8).range(0..=100),
        help_heading = "What"
    )]
    pub(crate) rwmixread: u8,
    /// Bytes of an operation
    #[arg(long, visible_alias = "block", value_name = "SIZE", default_value = "4k", value_parser = parse_size_bytes, help_heading = "What")]
    pub(crate) bs: u64,
    /// The latency that must not be exceeded: mean, p50, p90, p99, p99.9 or max
    #[arg(long, value_name = "FIGURE=TIME", help_heading = "What")]
    pub(crate) limit: Option<LatencyLimit>,
    /// How the moments are spread at which operations are to begin
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "poisson",
        help_heading = "What"
    )]
    pub(crate) arrivals: ArrivalsWord,

    /// Rates on the way up [default: 8, 4 with --quick]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) points: Option<u32>,
    /// Time for each rate [default: 5, 1 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = whole_seconds, help_heading = "How much")]
    pub(crate) seconds: Option<u32>,
    /// A short one on 256 MiB at most, to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,
    /// How often all of it is done
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        help_heading = "How much"
    )]
    pub(crate) runs: u32,
    /// Most operations in flight
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 64,
        help_heading = "How much"
    )]
    pub(crate) depth_max: u32,
    /// How operations reach the kernel
    #[arg(
        long,
        visible_alias = "ioengine",
        value_enum,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "How much"
    )]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) recording: Recording,
}

/// Whole seconds.
fn whole_seconds(text: &str) -> Result<u32, String> {
    const NS_PER_S: u64 = 1_000_000_000;
    let ns = parse_duration_ns(text).map_err(|error| error.to_string())?;
    match u32::try_from(ns / NS_PER_S) {
        Ok(seconds) if ns % NS_PER_S == 0 => Ok(seconds),
        _ => Err(format!("{text}: give whole seconds")),
    }
}
