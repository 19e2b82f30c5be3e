//! `stiction bisect`.

mod carry;
mod probe;
mod question;
mod search;

use std::ffi::OsString;

use stiction_analysis::bisect::{Confirmation, Course, Found, Hunt, Next};
use stiction_core::BisectEvent;
use stiction_report::json;

use super::Desk;
use crate::arguments::{
    BisectArguments, BisectAutoArguments, BisectBracketArguments, BisectCommand,
    BisectQuestionArguments, BisectTree,
};
use crate::exit::Exit;
use crate::failure::Failure;
use carry::carry_out;
use search::Search;

/// Whether `bisect probe` is meant: `git bisect run` takes the code of an error for an
/// answer, so that command ends with another.
pub(crate) fn is_probe(typed: &[OsString]) -> bool {
    typed
        .windows(2)
        .any(|words| words[0] == "bisect" && words[1] == "probe")
}

/// Carries the command out.
pub(super) fn run(typed: &BisectArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match &typed.command {
        BisectCommand::Check(typed) => check(typed, desk),
        BisectCommand::Probe(typed) => Ok(probe::run(typed, desk)),
        BisectCommand::Auto(typed) => auto(typed, desk),
        BisectCommand::Bracket(typed) => bracket(typed, desk),
        BisectCommand::Log(typed) => log(typed, desk),
        BisectCommand::Reset(typed) => reset(typed, desk),
    }
}

/// Compares the ends.
fn check(typed: &BisectQuestionArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut search = Search::begin(typed, desk)?;
    let ends = |course: &Course| match course.ends_are_measured() {
        true => Next::Done,
        false => course.next(false),
    };
    let interrupted = carry_out(&mut search, &ends)?;
    print(&search)?;
    Ok(match interrupted {
        true => Exit::Interrupted,
        false => of_ends(&search.course),
    })
}

/// Searches to the end.
fn auto(typed: &BisectAutoArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut search = Search::begin(&typed.question, desk)?;
    let bracket = !typed.no_bracket;
    let interrupted = carry_out(&mut search, &|course| course.next(bracket))?;
    print(&search)?;
    Ok(match interrupted {
        true => Exit::Interrupted,
        false => of_search(&search.course),
    })
}

/// Compares a commit with its parent.
fn bracket(typed: &BisectBracketArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut search = Search::resume(&typed.tree, desk)?;
    let metric = match &typed.metric {
        Some(name) => search.metric(name)?,
        None => search.first_metric()?,
    };
    let found = match &typed.commit {
        Some(revision) => search.as_found(revision)?,
        None => match search.course.hunt(metric) {
            Hunt::Found(found) => found,
            _ => {
                return Err(Failure::new("the search has found no commit yet").advise(
                    "`stiction bisect auto` goes on with it; or name the commit that git found.",
                ));
            }
        },
    };
    let next = |course: &Course| course.next_of_bracket(metric, &found).unwrap_or(Next::Done);
    let interrupted = carry_out(&mut search, &next)?;
    print_bracket(&search, metric, &found)?;
    Ok(match interrupted {
        true => Exit::Interrupted,
        false => of_bracket(&search.course, metric, &found),
    })
}

/// Says how far the search is.
fn log(typed: &BisectTree, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (course, repository) = search::look(typed, desk)?;
    let subjects = search::subjects(&course, &repository);
    let text = match desk.console.json {
        true => json::bisect(&course, &subjects),
        false => stiction_report::bisect(&course, &subjects, desk.console.style()),
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

/// Forgets the search.
fn reset(typed: &BisectTree, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let search = Search::resume(typed, desk)?;
    let blocks = search.course.blocks();
    search.journal.remove()?;
    desk.console.data(&format!(
        "the search is forgotten; the sessions of its {blocks} blocks stay in the store"
    ))?;
    Ok(Exit::Done)
}

fn print(search: &Search<'_>) -> Result<(), Failure> {
    let subjects = search::subjects(&search.course, &search.repository);
    let console = search.desk.console;
    console.data(&match console.json {
        true => json::bisect(&search.course, &subjects),
        false => stiction_report::bisect(&search.course, &subjects, console.style()),
    })
}

fn print_bracket(search: &Search<'_>, metric: usize, found: &Found) -> Result<(), Failure> {
    let subjects = search::subjects_of(found.commits.iter(), &search.repository);
    let console = search.desk.console;
    console.data(&match console.json {
        true => json::bisect_bracket(&search.course, metric, found, &subjects),
        false => stiction_report::bisect_bracket(
            &search.course,
            metric,
            found,
            &subjects,
            console.style(),
        ),
    })
}

/// What the comparison of the ends comes to.
fn of_ends(course: &Course) -> Exit {
    let metrics = 0..course.question().metrics.len();
    if metrics.clone().any(|metric| course.shows_step(metric)) {
        return Exit::Done;
    }
    let failed = course.untestable().next().is_some();
    let unknown = course.ends().iter().any(|ends| {
        // Slightly so is real, and may be what is sought.
        ends.verdict.word() == "CANNOT TELL" || ends.lean(course.question().seek)
    });
    match (failed, unknown) {
        (true, _) => Exit::Error,
        (false, true) => Exit::CannotTell,
        (false, false) => Exit::NothingToJudge,
    }
}

/// What the search comes to: done when every culprit is confirmed.
fn of_search(course: &Course) -> Exit {
    let metrics = 0..course.question().metrics.len();
    let shown: Vec<usize> = metrics
        .filter(|&metric| course.shows_step(metric))
        .collect();
    if shown.is_empty() {
        return of_ends(course);
    }
    let confirmed = |metric: &usize| match course.hunt(*metric) {
        Hunt::Found(found) => of_bracket(course, *metric, &found) == Exit::Done,
        _ => false,
    };
    match shown.iter().all(confirmed) {
        true => Exit::Done,
        false => Exit::CannotTell,
    }
}

fn of_bracket(course: &Course, metric: usize, found: &Found) -> Exit {
    match course.bracket(metric, found).confirmation {
        Confirmation::Confirmed => Exit::Done,
        Confirmation::BestGuess(_) => Exit::CannotTell,
    }
}

/// One line on what happened, for whoever watches.
fn in_a_line(event: &BisectEvent) -> Option<String> {
    Some(match event {
        BisectEvent::Built { version, seconds } => format!("{version}: built in {seconds:.1} s"),
        BisectEvent::Untestable {
            version, message, ..
        } => {
            let last = message.lines().last().unwrap_or_default();
            format!("{version}: cannot be measured: {last}")
        }
        BisectEvent::Block {
            reference,
            candidate,
            values,
            ..
        } => {
            let first = values.first()?;
            let change = 100.0 * (first.candidate / first.reference - 1.0);
            format!("{candidate}: {change:+.1} % against {reference}")
        }
        BisectEvent::Begun(_) | BisectEvent::Extended { .. } | BisectEvent::Opened { .. } => {
            return None;
        }
    })
}
