//! Arguments of `stiction selftest`.

use clap::{Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  stiction selftest stats             Seconds; bounds wider by chance
  stiction selftest stats --size full
                                      A minute or so; the published table
  stiction selftest stats --only alarm --cases
                                      Some properties, case by case

Sessions are simulated in which the truth is known, and judged by the code that
judges real ones. The exit status is 1 when a figure is outside its bound.
The published seed keeps to all bounds; with another seed, chance may take one
of the many cases outside.";

/// Hold this program against what it has to keep to
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SelftestArguments {
    /// What to hold.
    #[command(subcommand)]
    pub(crate) command: SelftestCommand,
}

/// What of the program can be tested.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SelftestCommand {
    /// The rules of verdicts, in simulated sessions of which the truth is known
    Stats(StatsArguments),
}

/// The rules of verdicts, in simulated sessions of which the truth is known
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArguments {
    /// How many sessions are simulated
    #[arg(long, value_enum, value_name = "SIZE", default_value = "quick")]
    pub(crate) size: SizeWord,
    /// What all chance follows from, instead of the seed of the published table
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Only properties with TEXT in their names
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Every case, and not only the worst
    #[arg(long)]
    pub(crate) cases: bool,
}

/// How many sessions are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeWord {
    /// Some hundreds a case
    Quick,
    /// As many as the bounds are stated for
    Full,
}
