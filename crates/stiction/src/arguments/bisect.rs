//! Arguments of `bisect`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  stiction bisect check v6.9 v6.10 --build 'make -j8' --run './bench'
                                    Do the ends differ, and what will it cost
  stiction bisect auto              Find the commit, and confirm it
  stiction bisect auto v1 v2 --run 'python3 bench.py' \\
      --metric 'tps[/s,more]=/tps = ([0-9.]+)/'
                                    Both, by a figure that the benchmark tells
  git bisect start v6.10 v6.9; git bisect run stiction bisect probe
                                    The same, with git asking the questions
  stiction bisect bracket           Compare the culprit with its parent
  stiction bisect log               How far it is
  stiction bisect reset             Forget it; its sessions stay

A search is kept in the store and goes on where it was cut off, by Ctrl-C or by
a crash. It builds in clones of its own: the checkout is never touched. Exit
codes of probe are for git bisect run: 0 good, 1 bad, 125 skip, 255 give up.";

/// Find the commit that changed a benchmark, however noisy it is
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BisectArguments {
    #[command(subcommand)]
    pub(crate) command: BisectCommand,
}

/// What to do of a search.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BisectCommand {
    /// Compare the two ends, and say what a search will cost
    Check(Box<BisectQuestionArguments>),
    /// Judge one commit, for `git bisect run`: 0 good, 1 bad, 125 skip, 255 give up
    Probe(BisectProbeArguments),
    /// Search, and confirm what is found
    Auto(Box<BisectAutoArguments>),
    /// Compare a commit with its parent, and BAD with BAD without it
    Bracket(BisectBracketArguments),
    /// Say how far the search is
    #[command(visible_alias = "status")]
    Log(BisectTree),
    /// Forget the search; its sessions stay in the store
    Reset(BisectTree),
}

/// Which search is meant.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BisectTree {
    /// The repository [default: the one that the current directory is in]
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
}

/// What is searched for.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BisectQuestionArguments {
    /// A commit that is as it should be, and one that shows the change
    #[arg(value_names = ["GOOD", "BAD"], num_args = 2)]
    pub(crate) ends: Vec<String>,
    #[command(flatten)]
    pub(crate) tree: BisectTree,
    /// What builds a tree, run by a shell in it [default: nothing to build]
    #[arg(long, value_name = "CMD")]
    pub(crate) build: Option<String>,
    /// The benchmark, run by a shell in a built tree
    #[arg(long, value_name = "CMD")]
    pub(crate) run: Option<String>,
    /// A metric, the deciding one first; as of `stiction run` or one of stiction's own
    /// [default: elapsed_s]
    #[arg(long = "metric", value_name = "METRIC")]
    pub(crate) metrics: Vec<String>,
    /// Which change is sought
    #[arg(long, value_enum, value_name = "CHANGE", default_value = "worse")]
    pub(crate) find: BisectFind,
    /// Smallest change of interest [default: 3 %, or as fits the metric]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) mei: Option<f64>,
    /// Blocks for the comparison of the ends, at least 6 [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) blocks: Option<u32>,
    /// Longest time that a build or a run may take, such as 30m
    #[arg(long, value_name = "TIME")]
    pub(crate) limit: Option<String>,
    /// Build in DIR [default: in the store]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Let builds find what earlier builds made: faster, and not always the same
    #[arg(long)]
    pub(crate) keep_build_files: bool,
}

/// Arguments of `auto`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BisectAutoArguments {
    #[command(flatten)]
    pub(crate) question: BisectQuestionArguments,
    /// Stop when a culprit is likely enough, without confirming it
    #[arg(long)]
    pub(crate) no_bracket: bool,
}

/// Arguments of `probe`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BisectProbeArguments {
    /// The commit [default: the one that is checked out]
    #[arg(value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
    #[command(flatten)]
    pub(crate) tree: BisectTree,
    /// The metric that decides [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// What to end with where 40 blocks do not decide: 125 or 255
    #[arg(long, value_enum, value_name = "HOW", default_value = "skip")]
    pub(crate) on_unsure: BisectOnUnsure,
}

/// Arguments of `bracket`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BisectBracketArguments {
    /// The commit [default: the one that was found]
    #[arg(value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
    #[command(flatten)]
    pub(crate) tree: BisectTree,
    /// The metric that decides [default: the first that shows the change]
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
}

/// Which change is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BisectFind {
    /// The commit that made it worse.
    Worse,
    /// The commit that made it better.
    Better,
}

/// How an undecided commit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BisectOnUnsure {
    /// git goes around it.
    Skip,
    /// git ends the search.
    Abort,
}
