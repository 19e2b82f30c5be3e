//! `stiction bisect probe`: one commit, answered for in the codes of `git bisect run`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stiction_analysis::bisect::probe::Answer;
use stiction_analysis::bisect::{Aim, Course, Next};
use stiction_core::Version;

use super::carry::carry_out;
use super::search::Search;
use crate::arguments::{BisectOnUnsure, BisectProbeArguments};
use crate::commands::Desk;
use crate::exit::Exit;
use crate::failure::Failure;

/// Answers. Whatever keeps it from answering, a bug included, ends git's search: any
/// other code would be taken for an answer.
pub(super) fn run(typed: &BisectProbeArguments, desk: &Desk<'_>) -> Exit {
    match catch_unwind(AssertUnwindSafe(|| probe(typed, desk))) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            desk.console.say(&failure.to_string());
            Exit::BisectAbort
        }
        // The panic has said what it is about.
        Err(_) => Exit::BisectAbort,
    }
}

fn probe(typed: &BisectProbeArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut search = Search::resume(&typed.tree, desk)?;
    let metric = match &typed.metric {
        Some(name) => search.metric(name)?,
        None => search.first_metric()?,
    };
    if !search.course.shows_step(metric) {
        return Err(
            Failure::new("the ends do not show the change that is sought")
                .advise("`stiction bisect check` compares them."),
        );
    }
    let commit = search
        .repository
        .commit(typed.commit.as_deref().unwrap_or("HEAD"))?;
    let version = Version::Commit(commit.clone());
    let next = |course: &Course| {
        let is_open = course.answer(&commit, metric) == Answer::Open;
        match is_open && course.why_untestable(&version).is_none() {
            true => Next::Block {
                reference: Version::Commit(course.question().good.clone()),
                candidate: version.clone(),
                aim: Aim::Search(metric),
            },
            false => Next::Done,
        }
    };
    if carry_out(&mut search, &next)? {
        return Ok(Exit::Interrupted);
    }
    let course = &search.course;
    if course.why_untestable(&version).is_some() {
        return say(desk, &format!("{version}: skip"), Exit::BisectSkip);
    }
    if course.is_between(&commit, metric) {
        desk.console
            .say(&format!("{version}: between both levels: two steps?"));
    }
    let blocks = course.blocks_of(&commit);
    match course.answer(&commit, metric) {
        Answer::Unchanged => say(
            desk,
            &format!("{version}: good, {blocks} blocks"),
            Exit::Done,
        ),
        Answer::Changed => say(
            desk,
            &format!("{version}: bad, {blocks} blocks"),
            Exit::Regression,
        ),
        Answer::Open | Answer::Unsure => {
            let exit = match typed.on_unsure {
                BisectOnUnsure::Skip => Exit::BisectSkip,
                BisectOnUnsure::Abort => Exit::BisectAbort,
            };
            say(
                desk,
                &format!("{version}: unsure after {blocks} blocks"),
                exit,
            )
        }
    }
}

fn say(desk: &Desk<'_>, line: &str, exit: Exit) -> Result<Exit, Failure> {
    desk.console.data(line)?;
    Ok(exit)
}
