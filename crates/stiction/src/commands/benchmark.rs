//! A measuring command inside another one: its words, read as they are typed alone.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

use super::Desk;
use super::meant::{self, Asked, Meant};
use crate::arguments::{self, Arguments, Command};
use crate::exit::Exit;
use crate::failure::Failure;

/// The words of one side.
pub(super) struct Named<'a> {
    /// The benchmark and its arguments.
    pub(super) words: &'a [String],
    /// Whose they are, for messages.
    pub(super) whose: &'a str,
}

/// What the words mean; or the code to end with, where what is wrong with a file, or
/// the benchmark's help, has been printed.
///
/// # Errors
/// When they are no measuring command, or contradict each other or the machine.
pub(super) fn meant(named: &Named<'_>, desk: &Desk<'_>) -> Result<Result<Meant, Exit>, Failure> {
    let matches = match matches(named) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            desk.console.data(&error.render().to_string())?;
            return Ok(Err(Exit::Done));
        }
        Err(error) => return Err(misread(named, &error)),
    };
    if says_for_all(&matches) {
        return Err(
            Failure::new("--json, --color and --store are for the whole run")
                .advise("Put them before the benchmark's name."),
        );
    }
    let parsed = Arguments::from_arg_matches(&matches).map_err(|error| misread(named, &error))?;
    of(&parsed.command, named, desk)
}

/// Whether an option of every command is among the words; that the surroundings name a
/// store is nothing that these words say.
fn says_for_all(matches: &ArgMatches) -> bool {
    let typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    ["json", "color", "store"].into_iter().any(typed)
}

/// The words read as arguments.
///
/// # Errors
/// When they are none.
pub(super) fn parsed(named: &Named<'_>) -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches(&matches(named)?)
}

fn matches(named: &Named<'_>) -> Result<ArgMatches, clap::Error> {
    let typed = std::iter::once("stiction")
        .chain(named.words.iter().map(String::as_str))
        .map(OsString::from);
    let typed = arguments::ours_first(typed.collect());
    Arguments::command().try_get_matches_from(typed)
}

/// What the command means, that the words are.
///
/// # Errors
/// When it does not measure, or contradicts itself or the machine.
pub(super) fn of(
    command: &Command,
    named: &Named<'_>,
    desk: &Desk<'_>,
) -> Result<Result<Meant, Exit>, Failure> {
    match meant::meant(command, desk)? {
        Asked::Meant(meant) if meant.dumps_plan => {
            Err(Failure::new("the benchmark is asked for its plan alone")
                .advise("`--dry-run` before its name prints the plan of all blocks."))
        }
        Asked::Meant(meant) => Ok(Ok(*meant)),
        Asked::Said(exit) => Ok(Err(exit)),
        Asked::Nothing => Err(Failure::new(format!(
            "`stiction {}` does not measure",
            named.words.first().map_or("", String::as_str)
        ))),
    }
}

/// Why the words are not understood.
pub(super) fn misread(named: &Named<'_>, error: &clap::Error) -> Failure {
    let first = named.words.first().map_or("", String::as_str);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let failure = Failure::new(format!("`{first}` is no benchmark of stiction's"));
            match error.get(ContextKind::SuggestedSubcommand) {
                Some(ContextValue::Strings(near)) if !near.is_empty() => {
                    failure.advise(format!("Did you mean `{}`?", near.join("` or `")))
                }
                _ => failure.advise("Commands of others: stiction ab -- COMMAND-A --- COMMAND-B"),
            }
        }
        // What is wrong and what was meant; the usage is that of a command nobody typed.
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let text = text.split("\n\nUsage:").next().unwrap_or(text);
            Failure::new(format!("{}: {}", named.whose, text.trim_end()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_command_are_told_wherever_they_are_typed() {
        let says = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let named = Named {
                words: &words,
                whose: "A",
            };
            says_for_all(&matches(&named).unwrap())
        };
        assert!(!says("tiobench --size 1M"));
        assert!(says("tiobench --size 1M --json"));
        assert!(says("tiobench --store /s"));
        assert!(says("--color never quick"));
        assert!(says("fio --name=a --size=1M --color=auto"));
    }
}
