//! What the words of a measuring command mean: all that it takes to run it, and to show
//! what came of it.

use std::time::Duration;

use stiction_core::Session;
use stiction_report::{Judged, Style, json};
use stiction_runner::blocks::EveryBlock;
use stiction_runner::{Study, plan_study};
use stiction_suite::{Place, Workload};

use super::measure::{self, Measured};
use super::{Desk, fio};
use super::{
    bonnie, contest, curve, ioping, ladder, metadata, pagecache, parallel, quick, sync_methods,
    time_read, tiobench, tree_move, write_and_fsync,
};
use crate::arguments::{Command, Recording};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// A session in words.
pub(super) type Report = Box<dyn Fn(&Session, Style) -> String>;

/// What is to be measured, and how it is shown.
pub(super) struct Meant {
    pub(super) workload: Box<dyn Workload>,
    pub(super) places: Vec<Place>,
    pub(super) recording: Recording,
    /// The command as it is recorded.
    pub(super) command: Vec<String>,
    pub(super) talk: Talk,
    /// Whether the plan is printed, and nothing run.
    pub(super) dumps_plan: bool,
    pub(super) report: Report,
    /// How long a command around a trial of it may take.
    pub(super) hook_limit: Option<Duration>,
}

impl Meant {
    /// What is run and shown as most commands do it.
    pub(super) fn new(
        workload: impl Workload + 'static,
        places: Vec<Place>,
        recording: &Recording,
        command: Vec<String>,
        report: impl Fn(&Session, Style) -> String + 'static,
    ) -> Self {
        Self {
            workload: Box::new(workload),
            places,
            recording: recording.clone(),
            command,
            talk: Talk::default(),
            dumps_plan: false,
            report: Box::new(report),
            hook_limit: None,
        }
    }

    /// Measures and prints, or prints the plan alone.
    ///
    /// # Errors
    /// When nothing could be run, or the report cannot be printed.
    pub(super) fn run(&self, desk: &Desk<'_>) -> Result<Exit, Failure> {
        if self.dumps_plan {
            return print_plan(&self.study(), &self.recording, desk);
        }
        let measured = self.measure(desk)?;
        let text = if desk.console.json {
            json::session(&Judged::examine(&measured.session))
        } else {
            (self.report)(&measured.session, desk.console.style())
        };
        measured.conclude(&text, desk)
    }

    /// Measures.
    ///
    /// # Errors
    /// When nothing could be run.
    pub(super) fn measure(&self, desk: &Desk<'_>) -> Result<Measured, Failure> {
        let (recording, command) = (&self.recording, self.command.clone());
        let study = self.study();
        measure::run(&study, recording, command, self.talk, &mut EveryBlock, desk)
    }

    fn study(&self) -> Study<'_> {
        Study::of_one(&*self.workload, &self.places)
    }
}

/// Prints the plan with every choice made.
///
/// # Errors
/// When it cannot be made.
pub(super) fn print_plan(
    study: &Study<'_>,
    recording: &Recording,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let facts = measure::facts(recording);
    let plan = plan_study(
        &measure::prepared(study, recording)?,
        measure::this_tool(),
        facts,
        measure::seed(recording, desk)?,
    )?;
    desk.console.data(&serde_json::to_string_pretty(&plan)?)?;
    Ok(Exit::Done)
}

/// What a command asks to have measured.
pub(super) enum Asked {
    /// This.
    Meant(Box<Meant>),
    /// Nothing: what is wrong with its file has been said.
    Said(Exit),
    /// Nothing: it is no measuring command.
    Nothing,
}

/// What `command` means, if it measures.
///
/// # Errors
/// When its words contradict each other or the machine.
pub(super) fn meant(command: &Command, desk: &Desk<'_>) -> Result<Asked, Failure> {
    let meant = match command {
        Command::Quick(typed) => quick::meant(typed),
        Command::Curve(typed) => curve::meant(typed)?,
        Command::Tiobench(typed) => tiobench::meant(typed)?,
        Command::WriteAndFsync(typed) => write_and_fsync::meant(typed)?,
        Command::TimeRead(typed) => time_read::meant(typed)?,
        Command::Bonnie(typed) => bonnie::meant(typed)?,
        Command::Contest(typed) => contest::meant(typed, desk)?,
        Command::TreeMove(typed) => tree_move::meant(typed)?,
        Command::Parallel(typed) => parallel::meant(typed)?,
        Command::Pagecache(typed) => pagecache::meant(typed)?,
        Command::Ladder(typed) => ladder::meant(typed)?,
        Command::Metadata(typed) => metadata::meant(typed)?,
        Command::SyncMethods(typed) => sync_methods::meant(typed)?,
        Command::Ioping(typed) => ioping::meant(typed)?,
        Command::Fio(typed) => return fio::meant(typed, desk),
        _ => return Ok(Asked::Nothing),
    };
    Ok(Asked::Meant(Box::new(meant)))
}
