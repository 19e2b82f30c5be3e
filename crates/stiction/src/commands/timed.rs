//! Commands of the user's that are timed: what their words mean.

use std::path::PathBuf;
use std::time::Duration;

use stiction_core::parse_duration_ns;
use stiction_formats::words;
use stiction_report::Judged;
use stiction_suite::command::MetricSource;
use stiction_suite::{CommandLine, Place, TimedCommand, TimedCommandOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use crate::arguments::{Recording, Timing};
use crate::failure::Failure;

/// A command given as one text: split into words, or for a shell.
///
/// # Errors
/// When it cannot be split.
pub(super) fn of_text(text: &str, shell: bool) -> Result<CommandLine, Failure> {
    if shell {
        return Ok(CommandLine::Shell(text.to_owned()));
    }
    let words = words::split(text)
        .map_err(|error| Failure::from(error).advise("--shell runs commands by `sh -c`."))?;
    Ok(CommandLine::Words(words))
}

/// A command that is carried out around trials.
pub(super) fn hook(line: &str) -> CommandLine {
    CommandLine::Shell(line.to_owned())
}

/// The `number`-th of values that are given once, or once for each of `count`.
///
/// # Errors
/// For another number of them.
pub(super) fn of_each<'a, T>(
    option: &str,
    values: &'a [T],
    number: usize,
    count: usize,
) -> Result<Option<&'a T>, Failure> {
    match values.len() {
        0 => Ok(None),
        1 => Ok(values.first()),
        given if given == count => Ok(values.get(number)),
        given => Err(Failure::new(format!(
            "{option} is given {given} times, for {count} commands"
        ))
        .advise("Give it once, or once for each.")),
    }
}

/// A command as it is recorded, with how commands are run; where, the environment has.
pub(super) fn recorded(mut recorded: Recorded, typed: &Timing) -> Recorded {
    for metric in &typed.metrics {
        recorded = recorded.value("--metric", Some(metric));
    }
    recorded
        .switch("--shell", typed.shell)
        .value("--warmup", (typed.warmup > 0).then_some(typed.warmup))
        .switch("--drop-caches", typed.drop_caches)
        .switch("--fresh-directory", typed.fresh_directory)
        .switch("--ignore-failure", typed.ignore_failure)
        .value("--limit", typed.limit.as_ref())
}

/// The timing of one command, the `number`-th of `count`.
///
/// # Errors
/// For a metric or a time that does not read.
pub(super) fn meant(
    command: CommandLine,
    (number, count): (usize, usize),
    typed: &Timing,
    recording: &Recording,
) -> Result<Meant, Failure> {
    let metrics = typed.metrics.iter();
    let metrics: Result<Vec<MetricSource>, _> = metrics.map(|text| text.parse()).collect();
    let limit_ns = typed.limit.as_deref().map(parse_duration_ns).transpose()?;
    let directory = of_each("--directory", &typed.directories, number, count)?;
    let directory = directory.cloned().unwrap_or_else(|| PathBuf::from("."));
    let words = match &command {
        CommandLine::Words(words) => words.clone(),
        CommandLine::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
    };
    let workload = TimedCommand {
        options: TimedCommandOptions {
            command,
            metrics: metrics?,
            warm_ups: typed.warmup,
            fresh_directory: typed.fresh_directory,
            drop_caches: typed.drop_caches,
            ignore_failure: typed.ignore_failure,
            limit_ns,
            runs: 1,
        },
    };
    let meant = Meant::new(
        workload,
        vec![Place::Directory(directory)],
        recording,
        words,
        |session, style| stiction_report::command(&Judged::examine(session), style),
    );
    Ok(Meant {
        hook_limit: limit_ns.map(Duration::from_nanos),
        ..meant
    })
}
