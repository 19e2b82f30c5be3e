//! Arguments of `stiction history`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use stiction_analysis::Effects;
use stiction_core::AnnotationKind;

use super::effects::effects;

const EXAMPLES: &str = "\
Examples:
  stiction history                  What changed, was flagged or is steady
  stiction history 3f2a91c0         One series in full, by its id
  stiction history --all --metric latency_ns_p99
  git rev-list --reverse HEAD | stiction history --order -
                                    By commit, where labels are their hashes
  stiction history annotate 3f2a --at k3f9 --why 'new default of read-ahead'
  stiction history confirm 3f2a     How to run both sides of the change again
  stiction history confirm 3f2a --run --blocks 12
                                    Run them, where both can be had here

A series is one figure of one cell on one machine and place. Each start of the
machine is one point, whatever ran in it. The course shows 0 for the lowest
value and 9 for the highest, `|` where the level changed, `:` where a note cuts
the series, x where the run failed. A new point outside of what is expected is
flagged at once; a change needs three points, and is provisional below five.";

/// How figures went over time, and where their level changed
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
    /// One series in full: its id, or a beginning of it
    #[arg(value_name = "SERIES")]
    pub(crate) series: Option<String>,
    /// List every series, also of figures beside the main one of each phase
    #[arg(long)]
    pub(crate) all: bool,
    /// Only series of this metric, by the name in JSON, such as latency_ns_p99
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// The form of the list
    #[arg(long, value_enum, value_name = "NAME", default_value = "text")]
    pub(crate) layout: HistoryLayout,
    #[command(flatten)]
    pub(crate) choice: HistoryChoice,
}

/// Which sessions make points, and in which order.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HistoryChoice {
    /// Only sessions of this workload, such as quick or tiobench
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Only sessions with a target on this filesystem, such as ext4
    #[arg(long, value_name = "NAME")]
    pub(crate) filesystem: Option<String>,
    /// Only sessions that began at this time or later, such as 2002-11-30T10:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<jiff::Timestamp>,
    /// What a point is: a start of the machine, or a session where nothing that is
    /// fixed at boot changed
    #[arg(long, value_enum, value_name = "UNIT", default_value = "boot")]
    pub(crate) each: PointWord,
    /// Smallest effects of interest by class: throughput, latency, tail, extreme, cpu,
    /// cpu-points
    #[arg(long, value_name = "CLASS=PERCENT,...", value_parser = effects)]
    pub(crate) mei: Option<Effects>,
    /// Order by these labels, one a line, oldest first; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) order: Option<PathBuf>,
}

/// What a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointWord {
    /// A start of the machine.
    Boot,
    /// A session.
    Session,
}

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryLayout {
    /// For a terminal.
    Text,
    /// A table for a wiki or the comment of a CI system.
    Markdown,
}

/// What to do about a series.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Say what a change was, so that the series is judged apart before and after it
    Annotate(AnnotateArguments),
    /// Say how what stood before and after a change can be run again, side by side, or
    /// run it
    Confirm(Box<ConfirmArguments>),
}

/// Say what a change was
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AnnotateArguments {
    /// The series, by the beginning of its id; `all` for every one, as when the machine
    /// was changed
    #[arg(value_name = "SERIES")]
    pub(crate) series: String,
    /// The first session after the change
    #[arg(long, value_name = "SESSION")]
    pub(crate) at: String,
    /// Why
    #[arg(long, value_name = "TEXT", required_unless_present = "remove")]
    pub(crate) why: Option<String>,
    /// What kind of change it was
    #[arg(long, value_enum, value_name = "KIND", default_value = "accepted")]
    pub(crate) kind: KindWord,
    /// Take the note at that session back
    #[arg(long, conflicts_with = "why")]
    pub(crate) remove: bool,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindWord {
    /// It is known and stays
    Accepted,
    /// Something that was broken works again
    Fix,
    /// The machine was changed
    Machine,
}

impl KindWord {
    pub(crate) fn kind(self) -> AnnotationKind {
        match self {
            Self::Accepted => AnnotationKind::Accepted,
            Self::Fix => AnnotationKind::Fix,
            Self::Machine => AnnotationKind::Machine,
        }
    }
}

const CONFIRM_EXAMPLES: &str = "\
Examples:
  stiction history confirm 3f2a     The commands that run both sides again
  stiction history confirm 3f2a --run
                                    Run them here, where the directory differs
  stiction history confirm 3f2a --run --a-prepare 'dpkg -i old.deb' \\
                                --b-prepare 'dpkg -i new.deb'

A is what stood before the change and the baseline, B what stood after it.
Settings of the machine are not changed but by the commands that you give.";

/// Say how both sides of a change can be run again, or run them
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = CONFIRM_EXAMPLES)]
pub(crate) struct ConfirmArguments {
    /// The series, by the beginning of its id
    #[arg(value_name = "SERIES")]
    pub(crate) series: String,
    /// Run both sides in blocks and compare them, where both can be had on this machine
    /// as it runs
    #[arg(long)]
    pub(crate) run: bool,
    /// Carry this out before each run of A, which is the side before, by a shell
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "run",
        help_heading = "Around each run"
    )]
    pub(crate) a_prepare: Option<String>,
    /// Carry this out before each run of B
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "run",
        help_heading = "Around each run"
    )]
    pub(crate) b_prepare: Option<String>,
    /// Carry this out after each run of A, however it ended
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "run",
        help_heading = "Around each run"
    )]
    pub(crate) a_conclude: Option<String>,
    /// Carry this out after each run of B
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "run",
        help_heading = "Around each run"
    )]
    pub(crate) b_conclude: Option<String>,
    /// Blocks: one run of each side in each [default: 10]
    #[arg(
        long,
        value_name = "COUNT",
        requires = "run",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) blocks: Option<u32>,
    /// Begin no block that would not end in this time (20m)
    #[arg(long, value_name = "TIME", requires = "run")]
    pub(crate) budget: Option<String>,
    #[command(flatten)]
    pub(crate) choice: HistoryChoice,
}
