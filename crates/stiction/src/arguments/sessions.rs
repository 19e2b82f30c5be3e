//! Arguments of the commands that look after sessions.

use std::path::PathBuf;

use clap::Subcommand;

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

/// Show every figure of a session, with its environment and caveats
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ShowArguments {
    /// Id, a beginning of it, its last four characters, a label, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    pub(crate) session: String,
    /// Print it in a classic layout instead, if it is a tiobench session
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) layout: Option<super::Layout>,
}

/// Remove sessions from the store
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DeleteArguments {
    /// Ids, or beginnings or last four characters of them
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
}

/// Write a session out, lossless, on stdout; `stiction import` reads it back
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ExportArguments {
    /// Id, a beginning of it, its last four characters, a label, or `latest`
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  stiction import mail.txt          Tables as they stand in a mail, or quoted
  stiction import -                 The same from stdin
  stiction import session.json      What `stiction export` wrote

It reads the reports of tiobench (old, 0.3.3, 0.4, posted) and tiotest, contest
tables and logs, Bonnie, time lines of bash, zsh and GNU time, and tables of
percent from a baseline. What it cannot read it lists by line. It never guesses.";

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
}
