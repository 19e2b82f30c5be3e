//! Arguments of the commands that look after sessions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use stiction_core::parse_duration_ns;

/// List the sessions kept
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListArguments {
    /// Only sessions of this workload, such as quick or tiobench
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Only sessions with this label
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Only sessions on a kernel whose release begins so, such as 6.12
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kernel: Option<String>,
    /// Only sessions with a target on this filesystem, such as ext4
    #[arg(long, value_name = "NAME")]
    pub(crate) filesystem: Option<String>,
    /// Only sessions that began at this time or later, such as 2002-11-30T10:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<jiff::Timestamp>,
    /// Only the newest COUNT sessions
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u32>,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  stiction show                     The newest session
  stiction show k3f9 --layout 0.3.3
                                    As tiobench 0.3.3 printed it
  stiction show k3f9 --format fio-json --output results.json
                                    For what reads fio's results
  stiction show k3f9 --ramp 5s      Without the first 5 s of each phase
  stiction show k3f9 --from 10s --to 20s

With --ramp and --to, rates and latencies are worked out again for that part
from what was recorded by intervals. CPU time, and what the witnesses saw, are
known of whole phases only.";

/// A format of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FioFormat {
    /// As fio --output-format=json
    #[value(name = "fio-json")]
    Json,
    /// As fio --output-format=json+: with every bin of the latencies
    #[value(name = "fio-json+")]
    JsonPlus,
    /// As fio --output-format=terse, or --minimal: version 3
    #[value(name = "fio-terse")]
    Terse,
    /// As fio --terse-version=5: with trims
    #[value(name = "fio-terse-5")]
    Terse5,
}

/// Show every figure of a session, with its environment and caveats
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArguments {
    /// Id, a beginning of it, its last four characters, a label, `latest`, or a file
    /// of tables
    #[arg(value_name = "SESSION", default_value = "latest")]
    pub(crate) session: OsString,
    /// Print it in a classic layout instead, if it is a session of that program
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) layout: Option<super::ClassicLayout>,
    /// Print it in a format of fio instead (docs/fio-formats.md has every key)
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "layout")]
    pub(crate) format: Option<FioFormat>,
    /// Write to FILE, whole or not at all, instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Every figure and witness, also of a session with a report of its own (fio's)
    #[arg(long)]
    pub(crate) full: bool,
    /// Leave the beginning of each phase out of the figures; 0 for nothing
    #[arg(
        long,
        visible_alias = "from",
        value_name = "TIME",
        value_parser = parse_duration_ns
    )]
    pub(crate) ramp: Option<u64>,
    /// Leave out what came after this time of each phase
    #[arg(long, value_name = "TIME", value_parser = parse_duration_ns)]
    pub(crate) to: Option<u64>,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  stiction report                   The newest session, as it was printed
  stiction report k3f9 --layout bonnie-html
                                    In a layout of the old programs
  stiction report k3f9 --layout flame-graph > profile.svg
                                    Where the CPUs' time went
  stiction report mail.txt --layout 0.3.3
                                    Another program's table, in another layout";

/// Print a session's report again, or in a classic layout
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArguments {
    /// Id, a beginning of it, its last four characters, a label, `latest`, or a file
    /// of tables
    #[arg(value_name = "SESSION", default_value = "latest")]
    pub(crate) session: OsString,
    /// Print it in a classic layout, if it is a session of that program
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) layout: Option<super::ClassicLayout>,
    /// Write to FILE, whole or not at all, instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Remove sessions from the store
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DeleteArguments {
    /// Ids, or beginnings or last four characters of them
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  stiction export k3f9 > s.json     Everything; `stiction import` reads it
  stiction export k3f9 --logs run --window 1s
                                    run_bw.1.log, run_lat.1.log... as fio writes
                                    them, a line for each second";

/// Write a session out, lossless, on stdout; `stiction import` reads it back
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArguments {
    /// Id, a beginning of it, its last four characters, a label, or `latest`
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Write fio's logs instead, each to PREFIX_KIND.JOB.log: bw, iops, lat, clat,
    /// slat and clat_hist
    #[arg(long, value_name = "PREFIX")]
    pub(crate) logs: Option<String>,
    /// How long each line of the logs is about, such as 500ms; as was recorded
    #[arg(long, value_name = "TIME", requires = "logs", value_parser = time_ns)]
    pub(crate) window: Option<u64>,
}

/// A time with its unit, above 0, in ns.
fn time_ns(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text) {
        Ok(0) => Err("it must be above 0".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  stiction import mail.txt          Tables as they stand in a mail, or quoted
  stiction import -                 The same from stdin
  stiction import session.json      What `stiction export` wrote

It reads the reports of tiobench (old, 0.3.3, 0.4, posted) and tiotest, contest
tables and logs, JSON of fio, Bonnie and Bonnie++ (text and CSV), time lines of
bash, zsh and GNU time, and tables of percent from a baseline. What it cannot
read it lists by line. It never guesses.";

/// Read other tools' tables into the store
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArguments {
    /// Files to read; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Call the session NAME, to compare it by
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
}

/// Look after the store itself
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArguments {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// What to do with the store.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Make the database anew from the journals, which are what counts
    Rebuild,
    /// Print where sessions are kept
    Path,
}

/// Remove files and undo settings that a killed run left behind
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CleanArguments {
    /// Directories to search beside those that runs have noted
    #[arg(value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Carry out the --conclude commands of yours that killed runs did not come to,
    /// each printed before; without this they are only printed
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) run_concludes: bool,
}
