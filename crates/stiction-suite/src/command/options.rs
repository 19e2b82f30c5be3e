//! What a timed command is asked to do.

use serde::{Deserialize, Serialize};

use super::metric::MetricSource;
use crate::SuiteError;
use crate::error::refuse;
use crate::program::CommandLine;

/// What was asked for; a plan has it as it is, since it leaves nothing open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedCommandOptions {
    /// The command.
    pub command: CommandLine,
    /// Figures to read from what it says or leaves, beside those that are taken from
    /// outside.
    #[serde(default)]
    pub metrics: Vec<MetricSource>,
    /// Untimed runs before each timed one.
    #[serde(default)]
    pub warm_ups: u32,
    /// Whether it is run in an empty directory of its own inside its place; else in the
    /// place itself.
    #[serde(default)]
    pub fresh_directory: bool,
    /// Whether the caches of the machine are dropped before it is timed.
    #[serde(default)]
    pub drop_caches: bool,
    /// Whether a code other than 0 is no failure.
    #[serde(default)]
    pub ignore_failure: bool,
    /// After how long it is killed, and the run has failed, ns.
    #[serde(default)]
    pub limit_ns: Option<u64>,
    /// Timed runs, where it is not run in blocks.
    pub runs: u32,
}

impl TimedCommandOptions {
    /// One run of `command`, and nothing beside it.
    #[must_use]
    pub fn new(command: CommandLine) -> Self {
        Self {
            command,
            metrics: Vec::new(),
            warm_ups: 0,
            fresh_directory: false,
            drop_caches: false,
            ignore_failure: false,
            limit_ns: None,
            runs: 1,
        }
    }
}

/// Refuses what makes no sense.
pub(super) fn check(options: &TimedCommandOptions) -> Result<(), SuiteError> {
    let is_empty = match &options.command {
        CommandLine::Words(words) => words.first().is_none_or(String::is_empty),
        CommandLine::Shell(line) => line.trim().is_empty(),
    };
    let mut names: Vec<&str> = options.metrics.iter().map(MetricSource::name).collect();
    names.sort_unstable();
    let is_repeated = names.windows(2).any(|pair| pair[0] == pair[1]);
    refuse(&[
        (is_empty, "command", "it is empty"),
        (is_repeated, "metric", "two metrics have one name"),
        (
            options.limit_ns == Some(0),
            "limit",
            "no command ends in no time",
        ),
        (
            !(1..=10_000).contains(&options.runs),
            "runs",
            "give 1 to 10000",
        ),
    ])
}
