//! Carrying a search out: asking what is next, doing it, and writing down what came of
//! it before asking again.

use stiction_analysis::bisect::{Course, Next};
use stiction_core::{BisectEvent, SessionId};
use stiction_engine::StopFlag;
use stiction_host::{FactOptions, UndoJournal};
use stiction_runner::RunSettings;
use stiction_runner::bisect::{BisectError, Laboratory, Measured, Watch};
use stiction_store::Archive;

use super::search::Search;
use crate::commands::measure::{random, this_tool};
use crate::commands::store;
use crate::failure::Failure;
use crate::live::{Live, Talk};
use crate::signals;

/// Does what `next` says until it says that nothing is left. `true` when the user
/// wanted no more.
///
/// # Errors
/// When something besides a single version keeps the search from going on. All that
/// had been measured is kept.
pub(super) fn carry_out(
    search: &mut Search<'_>,
    next: &dyn Fn(&Course) -> Next,
) -> Result<bool, Failure> {
    if next(&search.course) == Next::Done {
        return Ok(false);
    }
    let stop = StopFlag::new();
    signals::raise_on_signal(stop.clone())
        .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    let mut archive = store::open(search.desk)?;
    let work = &search.course.question().work;
    std::fs::create_dir_all(work)
        .map_err(|error| Failure::new(format!("cannot make {}: {error}", work.display())))?;
    let own = SessionId::new(jiff::Timestamp::now(), random()?);
    let undo = UndoJournal::open(&search.desk.state.undo(), &own)?;
    let mut laboratory = Laboratory::open(search.course.question(), &undo)?;
    let outcome = steps(search, next, &mut laboratory, &archive, &stop);
    if let Err(error) = laboratory.close() {
        let advice = "`stiction clean` tries again";
        search
            .desk
            .console
            .say(&format!("stiction: {error}; {advice}"));
    }
    if let Err(error) = archive.catch_up() {
        search.desk.console.say(&format!(
            "stiction: {error}\n          `stiction store rebuild` finds the sessions in their journals."
        ));
    }
    outcome
}

fn steps(
    search: &mut Search<'_>,
    next: &dyn Fn(&Course) -> Next,
    laboratory: &mut Laboratory,
    archive: &Archive,
    stop: &StopFlag,
) -> Result<bool, Failure> {
    loop {
        if stop.is_raised() {
            return Ok(true);
        }
        let todo = next(&search.course);
        match &todo {
            Next::Done => return Ok(false),
            Next::Open { merge, before } => {
                let lines = search.repository.lines_of(merge, before)?;
                let merge = merge.clone();
                search.take(&BisectEvent::Opened { merge, lines })?;
            }
            Next::Block {
                reference,
                candidate,
                ..
            } => {
                let settings = settings(search, archive)?;
                let mut live = Live::new(Talk::default());
                let mut keeper = Keeper {
                    search,
                    next,
                    todo: &todo,
                };
                let measured = laboratory.measure(
                    reference,
                    candidate,
                    &settings,
                    stop,
                    &mut live,
                    &mut keeper,
                )?;
                if measured == Measured::Interrupted {
                    return Ok(true);
                }
            }
        }
    }
}

fn settings(search: &Search<'_>, archive: &Archive) -> Result<RunSettings, Failure> {
    Ok(RunSettings {
        journals: archive.journals().clone(),
        undo_directory: search.desk.state.undo(),
        facts: FactOptions::default(),
        tool: this_tool(),
        label: Some("bisect".to_owned()),
        command: vec!["bisect".to_owned()],
        invocation: None,
        seed: stiction_core::Seed(random()?),
        witness: stiction_core::WitnessLevel::default(),
        started: jiff::Timestamp::now(),
        zone: jiff::tz::TimeZone::system(),
        id_random: random()?,
    })
}

/// Keeps events, and lets blocks go on as long as the same is next.
struct Keeper<'a, 'b> {
    search: &'a mut Search<'b>,
    next: &'a dyn Fn(&Course) -> Next,
    todo: &'a Next,
}

impl Watch for Keeper<'_, '_> {
    fn take(&mut self, event: BisectEvent) -> Result<bool, BisectError> {
        self.search.take(&event)?;
        let next = (self.next)(&self.search.course);
        Ok(pair(&next) == pair(self.todo))
    }
}

fn pair(next: &Next) -> Option<(&stiction_core::Version, &stiction_core::Version)> {
    match next {
        Next::Block {
            reference,
            candidate,
            ..
        } => Some((reference, candidate)),
        Next::Open { .. } | Next::Done => None,
    }
}
