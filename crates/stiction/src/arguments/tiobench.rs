//! Arguments of `stiction tiobench`: those of tiotest and of the tiobench driver,
//! spelled out, with the old letters beside them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction tiobench --dir /mnt/data
  stiction tiobench --quick -d .    Once, and small: to see how it goes
  stiction tiobench --size 4G --threads 1,2,4,8 --block 4K,128K --runs 5 -d .
  stiction tiobench --classic --size 256 --threads 8 -d .
                                    What 0.3.3 did, and its report
  stiction tiobench --classic --layout verbose -f 64 -t 4 -d .
                                    As tiotest
  stiction tiobench --scratch /dev/sdx=S4EWNX0R --size 8G
                                    A whole device, overwritten: see SAFETY.md

By default caches are dropped between phases and that is verified, data is
incompressible, and latencies are whole distributions. `--classic` does what
tiobench 0.3.3 did instead, so that its numbers mean what they meant.
Sizes: a bare number is MiB for --size, --file-size and --offset-gap, bytes for
--block; K, M, G and T are powers of 1024.";

/// Whether and how far to be the old program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Classic {
    /// The old workload and report, with latencies averaged over runs.
    Corrected,
    /// The same, with latencies summed over runs as 0.3.3 did; labelled.
    AsWas,
}

/// The order of random offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RandomOrder {
    /// Every block once before any again
    EachBlockOnce,
    /// Every block equally likely each time, as tiotest
    Independent,
}

/// A report of old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// The tiobench 0.3.3 report
    #[value(name = "0.3.3")]
    V033,
    /// The same without heads, as newer Perls print it
    #[value(name = "0.3.3-no-heads")]
    V033NoHeads,
    /// The tiobench 0.4 report
    #[value(name = "0.4")]
    V04,
    /// The report of 0.29 to 0.3.2: one line for all phases
    Old,
    /// The table posted to mailing lists: a row a kernel, sizes in prose
    Posted,
    /// tiotest's tables
    Verbose,
    /// tiotest's lines for programs
    Terse,
}

/// Threads that write and read files, as tiobench and tiotest did
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TiobenchArguments {
    /// Directory to work in; repeat to work in several, one after another
    #[arg(
        long = "directory",
        visible_alias = "dir",
        value_name = "DIR",
        help_heading = "Where"
    )]
    pub(crate) directories: Vec<PathBuf>,
    /// Give a block device over to be overwritten, with its serial number
    #[arg(long, value_name = "DEVICE=SERIAL", help_heading = "Where")]
    pub(crate) scratch: Vec<OsString>,
    /// Destroy this signature on the device (ext4, lvm, gpt; as the refusal names it)
    #[arg(
        long,
        value_name = "SIGNATURE",
        help_heading = "Where",
        requires = "scratch"
    )]
    pub(crate) wipe_signature: Option<String>,
    /// Directory to work in; repeat to work in all at once, thread i in the i-th
    #[arg(
        short = 'd',
        long = "target",
        value_name = "DIR",
        conflicts_with = "directories",
        help_heading = "Where"
    )]
    pub(crate) targets: Vec<PathBuf>,
    /// The directories are devices (each needs --scratch)
    #[arg(short = 'R', long, help_heading = "Where")]
    pub(crate) raw: bool,
    /// Gap between the threads' regions of a device, MiB
    #[arg(short = 'o', long, value_name = "SIZE", help_heading = "Where")]
    pub(crate) offset_gap: Option<String>,
    /// Put the gap before the first region too
    #[arg(short = 'O', long, help_heading = "Where")]
    pub(crate) offset_first: bool,

    /// Total over all threads, MiB, shared out [default: 2G, or what fits; with
    /// --classic by memory]
    #[arg(
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        help_heading = "How much"
    )]
    pub(crate) size: Vec<String>,
    /// For each thread, MiB, as tiotest counts
    #[arg(
        short = 'f',
        long,
        value_name = "SIZE",
        conflicts_with = "size",
        help_heading = "How much"
    )]
    pub(crate) file_size: Option<String>,
    /// Threads [default: 1,2,4,8]
    #[arg(
        short = 't',
        long,
        value_name = "COUNT",
        value_delimiter = ',',
        help_heading = "How much"
    )]
    pub(crate) threads: Vec<u32>,
    /// Block size, bytes [default: 4096]
    #[arg(
        short = 'b',
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        help_heading = "How much"
    )]
    pub(crate) block: Vec<String>,
    /// Random operations of each random phase, total over all threads
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) random: Option<u64>,
    /// Random operations of each thread, as tiotest counts
    #[arg(
        short = 'r',
        long,
        value_name = "COUNT",
        conflicts_with = "random",
        help_heading = "How much"
    )]
    pub(crate) random_per_thread: Option<u64>,
    /// Order of random offsets [default: each-block-once, independent if classic]
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "How")]
    pub(crate) random_order: Option<RandomOrder>,
    /// Runs of each combination [default: 3, 1 with --classic]
    #[arg(long, visible_alias = "numruns", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// Once, on 256 MiB at most, 1 and 4 threads: to see how it goes
    #[arg(long, conflicts_with = "classic", help_heading = "How much")]
    pub(crate) quick: bool,
    /// Start no further combination after this long
    #[arg(long, value_name = "SECONDS", help_heading = "How much")]
    pub(crate) timeout: Option<String>,

    /// Leave a phase out: 0 write, 1 random write, 2 read, 3 random read
    #[arg(
        short = 'k',
        long = "skip",
        value_name = "PHASE",
        value_delimiter = ',',
        help_heading = "How"
    )]
    pub(crate) skip: Vec<String>,
    /// Write one thread after another, so that files do not intermingle
    #[arg(
        short = 'W',
        long = "nofrag",
        visible_alias = "sequential-writing",
        help_heading = "How"
    )]
    pub(crate) sequential_writing: bool,
    /// Open files for writing with O_SYNC
    #[arg(short = 'S', long, help_heading = "How")]
    pub(crate) sync: bool,
    /// Open files with O_DIRECT
    #[arg(short = 'X', long, visible_alias = "directio", help_heading = "How")]
    pub(crate) direct: bool,
    /// Read and write through a mapping
    #[arg(short = 'M', long, conflicts_with = "direct", help_heading = "How")]
    pub(crate) mmap: bool,
    /// Stamp every block and check what is read
    #[arg(short = 'c', long = "check-consistency", help_heading = "How")]
    pub(crate) check_consistency: bool,
    /// With --classic: drop the files from the cache before each phase
    #[arg(short = 'F', long, alias = "flushCaches", help_heading = "How")]
    pub(crate) flush_caches: bool,

    /// Do what 0.3.3 did; `=as-was` sums latencies over runs, labelled
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "corrected", help_heading = "Being tiobench")]
    pub(crate) classic: Option<Classic>,
    /// The report to print
    #[arg(
        long,
        value_enum,
        value_name = "LAYOUT",
        requires = "classic",
        help_heading = "Being tiobench"
    )]
    pub(crate) layout: Option<Layout>,
    /// tiotest's terse lines: --layout terse
    #[arg(
        short = 'T',
        long,
        requires = "classic",
        conflicts_with = "layout",
        help_heading = "Being tiobench"
    )]
    pub(crate) terse: bool,
    /// Leave the latency table out of --layout verbose
    #[arg(short = 'L', long, help_heading = "Being tiobench")]
    pub(crate) no_latency: bool,
    /// First column of the report [default: the kernel's release]
    #[arg(long, value_name = "NAME", help_heading = "Being tiobench")]
    pub(crate) identifier: Option<String>,
    /// Show progress even where stderr is no terminal
    #[arg(long, help_heading = "Being tiobench")]
    pub(crate) progress: bool,
    /// Print the plan with every choice made, and stop
    #[arg(long, help_heading = "Being tiobench")]
    pub(crate) dump: bool,
    /// As --progress; the levels above 0, which tiotest knew, all say the same
    #[arg(
        short = 'D',
        long,
        value_name = "LEVEL",
        default_value_t = 0,
        help_heading = "Being tiobench"
    )]
    pub(crate) debug: u32,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
