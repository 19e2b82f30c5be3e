//! Arguments of `stiction bonnie`: those of Bonnie++, with names beside the letters.

use std::path::PathBuf;

use clap::ValueEnum;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction bonnie /mnt/data         Everything, three times, measured rightly
  stiction bonnie --quick .         Less of it, once
  stiction bonnie -s 4G -n 16:20000:100:4 -d /mnt/data
                                    As Bonnie++ reads it: 16 x 1024 files of 100
                                    to 20000 bytes in 4 directories
  stiction bonnie --classic=bonnie -s 1000 -m box -d .
                                    What Bonnie did, and its report
  stiction bonnie --classic=1.03e --layout bonnie++-csv-1.03e -s 300 .
  stiction show results.csv --layout bonnie++-html > results.html

By default caches are dropped before each phase and that is checked, syncs are
timed by themselves, seeks go on for a time, data is incompressible, and no
result is hidden for being fast. `--classic` does what the program of that
version did, so that its numbers mean what they meant: docs/bonnie.md.
Sizes: a bare number is MiB for --size and --per-char, bytes for chunks and
files.";

/// Which program to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BonnieClassic {
    /// Bonnie of 1996
    Bonnie,
    /// The 64-bit Bonnie of 2007
    #[value(name = "bonnie-64")]
    Bonnie64,
    /// Bonnie++ 1.03e
    #[value(name = "1.03e")]
    V103e,
    /// Bonnie++ 1.96
    #[value(name = "1.96")]
    V196,
    /// Bonnie++ 2.00a
    #[value(name = "2.00a")]
    V200a,
}

/// A report of Bonnie or Bonnie++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BonnieLayout {
    /// Bonnie's table
    #[value(name = "bonnie")]
    Bonnie,
    /// The table of the 64-bit Bonnie
    #[value(name = "bonnie-64")]
    Bonnie64,
    /// Bonnie's rows in HTML
    #[value(name = "bonnie-html")]
    BonnieHtml,
    /// The table of Bonnie++ 1.03e
    #[value(name = "bonnie++-1.03e")]
    Text103e,
    /// The table of Bonnie++ 1.96
    #[value(name = "bonnie++-1.96")]
    Text196,
    /// The table of Bonnie++ 2.00a
    #[value(name = "bonnie++-2.00a")]
    Text200a,
    /// Lines of 27 fields
    #[value(name = "bonnie++-csv-1.03e")]
    Csv103e,
    /// Lines of 48 fields
    #[value(name = "bonnie++-csv-1.96")]
    Csv196,
    /// Lines of 50 fields, which bon_csv2txt and bon_csv2html read
    #[value(name = "bonnie++-csv-2.00a")]
    Csv200a,
    /// A coloured table in HTML
    #[value(name = "bonnie++-html")]
    PlusPlusHtml,
}

/// A phase to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BonniePhaseWord {
    /// Writing and reading by bytes
    PerChar,
    /// Writing in chunks
    PutBlock,
    /// Reading in chunks
    GetBlock,
    /// Reading, changing and writing back
    Rewrite,
    /// Seeks
    Seeks,
    /// Files with rising names
    Sequential,
    /// Files with random names
    Random,
}

/// One file by bytes, by chunks and at random, and many small ones, as Bonnie++ did
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BonnieArguments {
    /// The directory to work in [default: the current one]
    #[arg(value_name = "DIR", conflicts_with = "directory_option")]
    pub(crate) directory: Option<PathBuf>,
    /// The same, as an option
    #[arg(
        short = 'd',
        long = "directory",
        visible_alias = "dir",
        value_name = "DIR",
        id = "directory_option"
    )]
    pub(crate) directory_option: Option<PathBuf>,

    /// Size of the file, MiB, and chunk, seeks and seekers; 0 leaves the file out
    /// [default: 2G, or what fits; with --classic as the program has it]
    #[arg(
        short = 's',
        long,
        value_name = "SIZE[:CHUNK[:SEEKS[:SEEKERS]]]",
        help_heading = "How much"
    )]
    pub(crate) size: Option<String>,
    /// Bytes of an operation, a power of two [default: 8K]
    #[arg(long, value_name = "SIZE", value_parser = stiction_core::parse_size_bytes, help_heading = "How much")]
    pub(crate) chunk: Option<u64>,
    /// Seeks of all seekers together [default: as many as 5 s hold]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) seeks: Option<u64>,
    /// Seekers at work at once [default: 5]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) seekers: Option<u32>,
    /// Files, times 1024, their sizes in bytes (or -1 for hard and -2 for symbolic
    /// links), directories and chunk; 0 leaves them out [default: 16]
    #[arg(
        short = 'n',
        long,
        value_name = "NUM[:MAX[:MIN[:DIRS[:CHUNK]]]]",
        help_heading = "How much"
    )]
    pub(crate) files: Option<String>,
    /// Leave the phases by bytes out, or make them this long, MiB
    #[arg(short = 'f', long = "per-char", visible_alias = "fast", value_name = "SIZE", num_args = 0..=1, require_equals = false, default_missing_value = "0", help_heading = "How much")]
    pub(crate) per_char: Option<String>,
    /// Runs [default: 3; 1 with --quick or --classic]
    #[arg(short = 'x', long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A smaller file, fewer files and shorter seeks, once
    #[arg(long, conflicts_with = "classic", help_heading = "How much")]
    pub(crate) quick: bool,

    /// Leave phases out
    #[arg(
        long,
        value_enum,
        value_name = "PHASE",
        value_delimiter = ',',
        help_heading = "How"
    )]
    pub(crate) skip: Vec<BonniePhaseWord>,
    /// Workers, each with a file and a share of everything of its own
    #[arg(short = 'c', long, value_name = "COUNT", help_heading = "How")]
    pub(crate) concurrency: Option<u32>,
    /// Avoid the page cache in all phases by chunks
    #[arg(short = 'D', long, help_heading = "How")]
    pub(crate) direct: bool,
    /// Sync after every file made or removed and every chunk written back by a seek
    #[arg(short = 'b', long, help_heading = "How")]
    pub(crate) sync_each: bool,

    /// Do what that program did, and print its report
    #[arg(long, value_enum, value_name = "PROGRAM", num_args = 0..=1, require_equals = true, default_missing_value = "2.00a", help_heading = "Being Bonnie")]
    pub(crate) classic: Option<BonnieClassic>,
    /// The report to print [default: the program's, and the line of Bonnie++]
    #[arg(
        long,
        value_enum,
        value_name = "LAYOUT",
        requires = "classic",
        help_heading = "Being Bonnie"
    )]
    pub(crate) layout: Option<BonnieLayout>,
    /// First column of the report
    #[arg(short = 'm', long, value_name = "NAME", help_heading = "Being Bonnie")]
    pub(crate) machine: Option<String>,
    /// Print the plan with every choice made, and stop
    #[arg(long, help_heading = "Being Bonnie")]
    pub(crate) dump: bool,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
