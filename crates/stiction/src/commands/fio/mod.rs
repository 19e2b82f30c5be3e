//! `stiction fio`: job files of fio, run, explained or converted.

mod program_options;
mod read;
mod run;

use stiction_formats::fio::lint::{Severity, lint};
use stiction_formats::fio::{FioError, to_toml};
use stiction_report::json;

use super::Desk;
use super::meant::Asked;
use read::{machine, read};

use crate::arguments::{FioArguments, FioCommand, option_of_run};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Texts;

/// Runs, lints or converts.
pub(super) fn run<'a>(
    typed: &FioArguments,
    console: &'a Console,
    desk: impl FnOnce() -> Result<Desk<'a>, Failure>,
) -> Result<Exit, Failure> {
    match &typed.command {
        FioCommand::Run(fio) => run::run(fio, &desk()?),
        FioCommand::Lint(fio) => say_what_happens(&fio.words, console),
        FioCommand::Convert(fio) => convert(&fio.words, console),
    }
}

/// What the words of a run mean, if they are of one.
///
/// # Errors
/// When they contradict each other or the machine.
pub(super) fn meant(typed: &FioArguments, desk: &Desk<'_>) -> Result<Asked, Failure> {
    match &typed.command {
        FioCommand::Run(fio) => Ok(run::meant(fio, desk)?.0),
        FioCommand::Lint(_) | FioCommand::Convert(_) => Ok(Asked::Nothing),
    }
}

/// What is wrong with the words of jobs, before anything is made of them.
///
/// # Errors
/// When a file that they name cannot be read.
pub(super) fn problems(words: &[String], desk: &Desk<'_>) -> Result<Vec<FioError>, Failure> {
    Ok(read(words, machine(), &desk.texts)?
        .jobs
        .err()
        .unwrap_or_default())
}

fn say_what_happens(words: &[String], console: &Console) -> Result<Exit, Failure> {
    let machine = machine();
    let resolved = match jobs_alone(words)? {
        Ok(resolved) => resolved,
        Err(errors) => return refuse(&errors, console),
    };
    let lint = lint(&resolved, machine);
    let text = if console.json {
        json::fio_lint(&resolved, &lint)
    } else {
        stiction_report::fio_lint(&resolved, &lint, console.style())
    };
    console.data(&text)?;
    let fails =
        |finding: &stiction_formats::fio::lint::Finding| finding.severity == Severity::Failure;
    Ok(if lint.findings.iter().any(fails) {
        Exit::Error
    } else {
        Exit::Done
    })
}

fn convert(words: &[String], console: &Console) -> Result<Exit, Failure> {
    if console.json {
        return Err(
            Failure::new("convert writes TOML, which --json does not change")
                .advise("`stiction fio lint --json` has the jobs' figures as JSON."),
        );
    }
    match jobs_alone(words)? {
        Ok(resolved) => {
            console.data(&to_toml(&resolved))?;
            Ok(Exit::Done)
        }
        Err(errors) => {
            console.say(
                stiction_report::fio_errors(&errors, stiction_report::Style::Plain).trim_end(),
            );
            Ok(Exit::Error)
        }
    }
}

/// Prints what is wrong, where the answer was asked for.
fn refuse(errors: &[FioError], console: &Console) -> Result<Exit, Failure> {
    let text = if console.json {
        json::fio_errors(errors)
    } else {
        stiction_report::fio_errors(errors, console.style())
    };
    console.data(&text)?;
    Ok(Exit::Error)
}

/// The jobs of words that say nothing about how fio runs.
fn jobs_alone(words: &[String]) -> Result<read::Read, Failure> {
    if let Some(name) = option_of_run(words) {
        let what = format!("{name} is for jobs that are run, and these are only read");
        return Err(Failure::new(what).advise("Leave it out."));
    }
    let words = read(words, machine(), &Texts::default())?;
    match words.program.first() {
        None => Ok(words.jobs),
        Some(setting) => {
            let what = format!(
                "--{} is about how fio runs, and not about a job",
                setting.name
            );
            Err(Failure::new(what).advise("Leave it out."))
        }
    }
}
