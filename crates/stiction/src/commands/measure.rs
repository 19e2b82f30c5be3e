//! The way that every measuring command goes: settings, run, live view, keeping.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use stiction_core::{Seed, Session, SessionOutcome, Tool, TrialOutcome};
use stiction_engine::StopFlag;
use stiction_host::FactOptions;
use stiction_runner::blocks::Decide;
use stiction_runner::{Ran, RunSettings, RunnerError, Study, resume_study, run_study};
use stiction_suite::{Place, SuiteError};

use super::{Desk, preparation, resume, store};
use crate::arguments::{Recording, WitnessWord};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::{Live, Talk};
use crate::output;
use crate::signals;

/// This program, as sessions record it.
pub(super) fn this_tool() -> Tool {
    Tool {
        name: "stiction".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What is recorded of facts that identify the machine.
pub(super) fn facts(recording: &Recording) -> FactOptions {
    FactOptions {
        keep_serials: recording.keep_serial_numbers,
        keep_host_name: recording.keep_host_name,
    }
}

/// The seed of the session that is gone on with, else the one that was given, or one from
/// the kernel.
pub(super) fn seed(recording: &Recording, desk: &Desk<'_>) -> Result<Seed, Failure> {
    match (&desk.resuming, recording.seed) {
        (Some(resuming), _) => Ok(resuming.seed),
        (None, Some(seed)) => Ok(Seed(seed)),
        (None, None) => Ok(Seed(random()?)),
    }
}

/// Runs the study and brings the session into the store.
///
/// # Errors
/// When nothing could be run. A session that could not be kept whole is no error
/// here: it is said on stderr, and the report is still printed.
pub(super) fn run(
    study: &Study<'_>,
    recording: &Recording,
    command: Vec<String>,
    talk: Talk,
    decide: &mut dyn Decide,
    desk: &Desk<'_>,
) -> Result<Measured, Failure> {
    for configuration in &study.configurations {
        for place in configuration.places {
            if let Place::Directory(path) = place {
                check_directory(path)?;
            }
        }
    }
    let study = &prepared(study, recording)?;
    let stop = StopFlag::new();
    signals::raise_on_signal(stop.clone())
        .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    let mut archive = store::open(desk)?;
    let settings = RunSettings {
        journals: archive.journals().clone(),
        undo_directory: desk.state.undo(),
        facts: facts(recording),
        tool: this_tool(),
        label: recording.label.clone(),
        command,
        invocation: resume::invocation(desk),
        seed: seed(recording, desk)?,
        witness: recording
            .witness
            .map(WitnessWord::level)
            .unwrap_or_default(),
        started: jiff::Timestamp::now(),
        zone: jiff::tz::TimeZone::system(),
        id_random: random()?,
    };
    let mut live = Live::new(talk);
    let Ran {
        session,
        unsaved,
        left_behind,
    } = match &desk.resuming {
        None => run_study(study, &settings, &stop, decide, &mut live),
        Some(earlier) => resume_study(study, &earlier.id, &settings, &stop, decide, &mut live),
    }
    .map_err(|error| {
        let exit = match &error {
            RunnerError::Plan(SuiteError::Refused(_)) => Exit::NothingToJudge,
            _ => Exit::Error,
        };
        Failure::from(error).ending_with(exit)
    })?;
    drop(live);
    let mut kept = true;
    if let Some(error) = unsaved {
        desk.console
            .say(&format!("stiction: the session is not kept whole: {error}"));
        if session.header.invocation.is_some() {
            desk.console.say(&format!(
                "          Then `{}` does again what is missing.",
                stiction_report::going_on(&session.header.id)
            ));
        }
        kept = false;
    }
    if let Err(error) = archive.catch_up() {
        desk.console.say(&format!(
            "stiction: {error}\n          The session is in its journal; `stiction store rebuild` finds it there."
        ));
        kept = false;
    }
    for path in &left_behind {
        desk.console.say(&format!(
            "stiction: {} could not be removed; `stiction clean` tries again and says why not",
            path.display()
        ));
    }
    Ok(Measured {
        session,
        kept,
        removed: left_behind.is_empty(),
    })
}

/// The study with what is to be done before its trials.
///
/// # Errors
/// When the words for it do not read.
pub(super) fn prepared<'a>(study: &Study<'a>, recording: &Recording) -> Result<Study<'a>, Failure> {
    Ok(Study {
        preparation: preparation::meant(&recording.preparation)?,
        ..study.clone()
    })
}

/// Refuses what is no directory. What cannot be looked at is for the run to tell.
fn check_directory(path: &Path) -> Result<(), Failure> {
    let kind = match path.metadata() {
        Ok(metadata) if !metadata.is_dir() => metadata.file_type(),
        _ => return Ok(()),
    };
    let failure = Failure::new(format!("{} is not a directory", path.display()));
    Err(if kind.is_block_device() {
        failure.advise(format!(
            "`stiction tiobench --scratch {}=SERIAL` overwrites a whole device.",
            path.display()
        ))
    } else {
        failure.advise("Name the directory that it is in.")
    })
}

/// A session that was run.
pub(super) struct Measured {
    pub(super) session: Session,
    /// Whether all of it is in the store.
    pub(super) kept: bool,
    /// Whether all that the run made is gone again.
    removed: bool,
}

impl Measured {
    /// How the session ended; `None` where that is not known.
    pub(super) fn outcome(&self) -> Option<SessionOutcome> {
        self.session.end.as_ref().map(|end| end.outcome)
    }

    /// Whether all of it is kept, and nothing is left behind.
    pub(super) fn is_whole(&self) -> bool {
        self.kept && self.removed
    }

    /// Whether any trial ran.
    pub(super) fn has_run(&self) -> bool {
        let ran = |outcome: &TrialOutcome| !matches!(outcome, TrialOutcome::Skipped(_));
        self.session.trials.iter().any(|trial| ran(&trial.outcome))
    }

    /// Prints the report, and gives the code to end with.
    pub(super) fn conclude(&self, report: &str, desk: &Desk<'_>) -> Result<Exit, Failure> {
        let printed = desk.console.data(report);
        printed.map_err(|failure| self.unsaid(failure))?;
        Ok(self.exit())
    }

    /// A failure to tell of the session, with how to get at it all the same.
    pub(super) fn unsaid(&self, failure: Failure) -> Failure {
        if !self.kept {
            return failure;
        }
        failure.advise(format!(
            "The session is kept: `stiction show {}` prints it.",
            self.session.header.id.tail()
        ))
    }

    /// Writes the report into a file, and gives the code to end with.
    pub(super) fn conclude_in(&self, path: &Path, report: &str) -> Result<Exit, Failure> {
        output::write(path, report).map_err(|failure| self.unsaid(failure))?;
        Ok(self.exit())
    }

    /// The code to end with.
    fn exit(&self) -> Exit {
        match self.outcome() {
            Some(SessionOutcome::Interrupted) => return Exit::Interrupted,
            Some(SessionOutcome::Failed) | None => return Exit::Error,
            Some(SessionOutcome::Completed) => {}
        }
        let trials = &self.session.trials;
        let failed = |outcome: &TrialOutcome| matches!(outcome, TrialOutcome::Failed { .. });
        if !self.is_whole() || trials.iter().any(|trial| failed(&trial.outcome)) {
            return Exit::Error;
        }
        if self.has_run() {
            Exit::Done
        } else {
            Exit::NothingToJudge
        }
    }
}

/// A random number from the kernel.
pub(super) fn random() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Failure::new(format!("the kernel gives no random numbers: {error}")))?;
    debug_assert_eq!(
        got,
        bytes.len(),
        "requests of up to 256 bytes are never cut short"
    );
    Ok(u64::from_ne_bytes(bytes))
}
