//! The command line as typed. What it means is worked out in `commands`.
//!
//! One set of definitions feeds parsing, `--help`, the manual pages and the
//! shell completions.

mod ab;
mod baseline;
mod bisect;
mod blocks;
mod bonnie;
mod calibrate;
mod compare;
mod contest;
mod curve;
mod effects;
mod explain;
mod file_layout;
mod fio;
mod gate;
mod history;
mod ioping;
mod ladder;
mod layout;
mod machine;
mod metadata;
mod new;
mod pagecache;
mod parallel;
mod preparation;
mod quick;
mod run;
mod selftest;
mod sessions;
mod shown;
mod sides;
mod sync_methods;
mod target;
mod time_layout;
mod time_read;
mod timing;
mod tiobench;
mod tree_move;
mod write_and_fsync;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use ab::AbArguments;
pub(crate) use baseline::{BaselineArguments, BaselineCommand};
pub(crate) use bisect::{
    BisectArguments, BisectAutoArguments, BisectBracketArguments, BisectCommand, BisectFind,
    BisectOnUnsure, BisectProbeArguments, BisectQuestionArguments, BisectTree,
};
pub(crate) use blocks::{Blocking, OrderWord};
pub(crate) use bonnie::{BonnieArguments, BonnieClassic, BonnieLayout, BonniePhaseWord};
pub(crate) use calibrate::CalibrateArguments;
pub(crate) use compare::CompareArguments;
pub(crate) use contest::{ContestArguments, ContestLayout, JobWord, LoadDataWord, LoadWord};
pub(crate) use curve::{ArrivalsWord, CurveArguments, Engine, ReadWrite};
pub(crate) use explain::ExplainArguments;
pub(crate) use file_layout::{FileLayoutArguments, FileLayoutView};
pub(crate) use fio::{FioArguments, FioCommand, FioRunArguments, option_of_run};
pub(crate) use gate::GateArguments;
pub(crate) use history::{
    AnnotateArguments, ConfirmArguments, HistoryArguments, HistoryChoice, HistoryCommand,
    HistoryLayout, PointWord,
};
pub(crate) use ioping::IopingArguments;
pub(crate) use ladder::LadderArguments;
pub(crate) use layout::{ClassicLayout, ProfileLayout, ProgramLayout};
pub(crate) use machine::MachineArguments;
pub(crate) use metadata::MetadataArguments;
pub(crate) use new::{NewArguments, NewCommand};
pub(crate) use pagecache::PagecacheArguments;
pub(crate) use parallel::ParallelArguments;
pub(crate) use preparation::{CacheWord, PreparationArguments, SpoilersWord};
pub(crate) use quick::QuickArguments;
pub(crate) use run::RunArguments;
pub(crate) use selftest::{SelftestArguments, SelftestCommand, SizeWord, StatsArguments};
pub(crate) use sessions::{
    CleanArguments, DeleteArguments, ExportArguments, FioFormat, ImportArguments, ListArguments,
    ReportArguments, ShowArguments, StoreArguments, StoreCommand,
};
pub(crate) use shown::{ComparisonLayout, ShownArguments};
pub(crate) use sides::SidesArguments;
pub(crate) use sync_methods::SyncMethodsArguments;
pub(crate) use target::{Recording, ScratchDevice, WitnessWord};
pub(crate) use time_layout::TimeLayout;
pub(crate) use time_read::TimeReadArguments;
pub(crate) use timing::Timing;
pub(crate) use tiobench::{Classic, Layout, RandomOrder, TiobenchArguments};
pub(crate) use tree_move::{EntryOrder, TreeMoveArguments};
pub(crate) use write_and_fsync::{Content, WriteAndFsyncArguments};

use crate::exit;

const EXAMPLES: &str = "\
Measure:
  stiction /mnt/data                What this directory gives (60 s, no root)
  stiction quick --seconds 20 .     The same, shorter
  stiction curve --limit p99=2ms .  How many operations a second it holds
  stiction tiobench --size 4G --threads 1,8 --dir /mnt/data
  stiction tiobench --classic --size 256 --dir /mnt/data
                                    What tiobench 0.3.3 did, with its report
  stiction bonnie --quick .         One file, and many, as Bonnie++ did
  stiction fio jobs.fio             What a job file of fio asks for
  stiction fio lint jobs.fio        What it will really do, before it does
  stiction layout a b               Where files lie, and how far they are woven
  stiction ab -- make -j1 --- make -j2
                                    Two commands in blocks, with a verdict
  stiction new lab                  A commented specification to begin with
  stiction plan lab.toml            What it would do, write and change
  stiction run lab.toml             Configurations of benchmarks in blocks

Look back and compare:
  stiction list                     What has been measured here
  stiction show k3f9                Every figure of a session, with its doubts
  stiction report k3f9 --layout bonnie-html
                                    A report again, as an old program had it
  stiction compare k3f9 m2p7        Two sessions side by side
  stiction explain k3f9 m2p7        What moved along, and the run to prove it
  stiction gate --baseline 6.9 m2p7
                                    Exit 1 if something became worse
  stiction history                  What changed over time, and where
  stiction bisect auto v1 v2 --run ./bench
                                    The commit that made it slower
  stiction import mail.txt          Read tables of tiobench, contest, Bonnie...
  stiction compare mail.txt 2.5.59 2.5.59-mm2
                                    Two labels inside one table

Put right:
  stiction run --resume latest      Go on with what was cut off
  stiction clean                    Remove what a killed run left behind
  stiction store rebuild            Make the database anew from the journals";

/// A laboratory for Linux storage performance: how much, how sure, and why.
#[derive(Debug, Parser)]
#[command(
    name = "stiction",
    version,
    about,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::TABLE),
    arg_required_else_help = true,
    disable_help_subcommand = true,
    subcommand_required = true,
    max_term_width = 80,
)]
pub(crate) struct Arguments {
    /// What applies to every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Global {
    /// Keep sessions in DIR instead of the user's data directory
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "STICTION_STORE",
        help_heading = "Everywhere"
    )]
    pub(crate) store: Option<PathBuf>,
    /// Print JSON (a versioned schema, units in key names) instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// When to colour: only on a terminal, always, or never (NO_COLOR too)
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Everywhere"
    )]
    pub(crate) color: ColorWhen,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// When stdout is a terminal and NO_COLOR is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands, in the order of `--help`: measure, look back, put right.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find out what a directory gives: rates, latencies, the price of a commit
    Quick(QuickArguments),
    /// Raise the rate until the latency breaks: how much a place holds
    Curve(Box<CurveArguments>),
    /// Threads that write and read files, as tiobench and tiotest did
    Tiobench(Box<TiobenchArguments>),
    /// Write files and sync them: how long until written, and until durable
    WriteAndFsync(Box<WriteAndFsyncArguments>),
    /// Read a file, by reads at a distance or by touching a mapping
    TimeRead(Box<TimeReadArguments>),
    /// One file by bytes, by chunks and at random, and many small ones: Bonnie++
    Bonnie(Box<BonnieArguments>),
    /// Time a job beside loads, as contest did: who slows down whom
    Contest(Box<ContestArguments>),
    /// Move a tree of files to another filesystem and back
    TreeMove(Box<TreeMoveArguments>),
    /// One worker for each of several disks: each, all, and how far apart they end
    Parallel(Box<ParallelArguments>),
    /// Read what is in memory in every way: the price of a call and of a copy
    Pagecache(Box<PagecacheArguments>),
    /// The same blocks by every way from the disk to the program: what each step costs
    Ladder(Box<LadderArguments>),
    /// Make, open, look at, list, link, rename and remove files in a tree
    Metadata(Box<MetadataArguments>),
    /// What a durable write costs by each call that makes one
    SyncMethods(SyncMethodsArguments),
    /// The latency of single requests, one at a time
    Ioping(IopingArguments),
    /// Run job files of fio, say what they will do, or what they mean
    Fio(FioArguments),
    /// Run two things in blocks, in an order that is drawn, and compare them
    Ab(Box<AbArguments>),
    /// Time commands, or run configurations of a file, in blocks, and compare them
    Run(Box<RunArguments>),
    /// Say what `run` would do: trials, order, time, bytes, wear, and every change
    #[command(after_help = run::PLAN_EXAMPLES)]
    Plan(Box<RunArguments>),
    /// Write files to begin with
    New(NewArguments),
    /// Print the JSON schema of specifications, for editors and checkers
    Schema,
    /// Run a benchmark against itself: how far equal things lie apart here
    Calibrate(Box<CalibrateArguments>),
    /// Where files lie on their device: pieces, seeks, and how files are woven
    Layout(FileLayoutArguments),
    /// List the sessions kept
    List(ListArguments),
    /// Show every figure of a session, with its environment and caveats
    Show(ShowArguments),
    /// Print a session's report again, or in a classic layout
    Report(ReportArguments),
    /// Hold sessions, labels or factors against a baseline: worse, better, the same?
    Compare(Box<CompareArguments>),
    /// What moved together with a difference, and the run that would prove it
    Explain(Box<ExplainArguments>),
    /// The same as `compare` for scripts: exit 0 without a regression, 1 with one, 3 unsure
    Gate(Box<GateArguments>),
    /// Name sessions to compare others with
    Baseline(BaselineArguments),
    /// How figures went over time, and where their level changed
    History(Box<HistoryArguments>),
    /// Find the commit that changed a benchmark, however noisy it is
    Bisect(BisectArguments),
    /// Read other tools' tables into the store
    Import(ImportArguments),
    /// Write a session out, lossless
    Export(ExportArguments),
    /// Remove sessions from the store
    Delete(DeleteArguments),
    /// Look after the store itself
    Store(StoreArguments),
    /// Remove files and undo settings that a killed run left behind
    #[command(visible_alias = "restore")]
    Clean(CleanArguments),
    /// Hold this program against what it has to keep to
    Selftest(SelftestArguments),
    /// Write the manual pages
    Man {
        /// Write one page a command into DIR instead of the main page on stdout
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Puts `quick` in where the first argument is a directory, so that
/// `stiction /mnt` does what a newcomer means by it. Options of every command may
/// stand before it.
///
/// Only an argument that is no command and is a directory counts, or one with a
/// slash in it, which can be nothing but a path: if it is not there, `quick` says so.
/// A directory that is called `list` is reached as `./list`.
pub(crate) fn with_default_command(
    mut arguments: Vec<OsString>,
    is_directory: impl Fn(&Path) -> bool,
) -> Vec<OsString> {
    use clap::CommandFactory;
    let definitions = Arguments::command();
    let place = after_options(&definitions, &arguments);
    let Some(first) = arguments.get(place) else {
        return arguments;
    };
    let is_command = first.to_str().is_some_and(|name| {
        definitions.get_subcommands().any(|command| {
            command.get_name() == name || command.get_all_aliases().any(|a| a == name)
        })
    });
    let is_option = first.as_encoded_bytes().starts_with(b"-");
    let is_path = first.as_encoded_bytes().contains(&b'/');
    if !is_command && !is_option && (is_path || is_directory(Path::new(first))) {
        arguments.insert(place, "quick".into());
    }
    arguments
}

/// Puts the options that are ours before the words that are fio's.
pub(crate) fn ours_first(arguments: Vec<OsString>) -> Vec<OsString> {
    use clap::CommandFactory;
    let place = after_options(&Arguments::command(), &arguments);
    fio::ours_first(arguments, place)
}

/// The place of the first argument that is neither an option of every command nor the
/// value of one.
fn after_options(definitions: &clap::Command, arguments: &[OsString]) -> usize {
    let mut place = 1;
    loop {
        let word = arguments.get(place).and_then(|word| word.to_str());
        let Some(long) = word.and_then(|word| word.strip_prefix("--")) else {
            return place;
        };
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let mut known = definitions.get_arguments();
        let Some(option) = known.find(|option| option.get_long() == Some(name)) else {
            return place;
        };
        let value_follows = option.get_action().takes_values() && value.is_none();
        place += if value_follows { 2 } else { 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// clap breaks longer lines, and the columns of the examples with them.
    #[test]
    fn examples_fit_80_columns() {
        let top = Arguments::command();
        let mut commands = vec![&top];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for line in command
                .get_after_help()
                .unwrap_or_default()
                .to_string()
                .lines()
            {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn a_directory_alone_means_quick() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let all_are = |_: &Path| true;
        assert_eq!(
            with_default_command(words(&["stiction", "/mnt"]), all_are),
            words(&["stiction", "quick", "/mnt"])
        );
        assert_eq!(
            with_default_command(
                words(&[
                    "stiction",
                    "--json",
                    "--store",
                    "/s",
                    "--color=never",
                    "/mnt"
                ]),
                all_are
            ),
            words(&[
                "stiction",
                "--json",
                "--store",
                "/s",
                "--color=never",
                "quick",
                "/mnt"
            ])
        );
        for kept in [
            &["stiction"][..],
            &["stiction", "--store", "/s"],
            &["stiction", "--help", "/mnt"],
            &["stiction", "--json", "list", "/mnt"],
            &["stiction", "list"],
            &["stiction", "restore"],
            &["stiction", "--json"],
        ] {
            assert_eq!(with_default_command(words(kept), all_are), words(kept));
        }
        assert_eq!(
            with_default_command(words(&["stiction", "/gone"]), |_| false),
            words(&["stiction", "quick", "/gone"])
        );
        let typo = words(&["stiction", "quikc"]);
        assert_eq!(with_default_command(typo.clone(), |_| false), typo);
    }
}
