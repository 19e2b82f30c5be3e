//! A session from its environment to its end.

use std::path::{Path, PathBuf};
use std::time::Instant;

use stiction_core::{
    Environment, Plan, PlannedTrial, Provenance, RECORD_FORMAT_VERSION, Record, Seed, Session,
    SessionEnd, SessionHeader, SessionId, SessionOutcome, SkipCode, SkipReason, Trial,
    TrialOutcome,
};
use stiction_engine::StopFlag;
use stiction_host::{UndoJournal, observe_environment, observe_target};
use stiction_journal::{Journal, JournalError};
use stiction_suite::{Place, Workload};

use crate::trial::{Ended, Stage};
use crate::{RunEvent, RunEvents, RunSettings, RunnerError};

/// How many ids are tried before another session of the same second is an error.
const ID_TRIES: u64 = 16;

/// A session that was run.
#[derive(Debug)]
pub struct Ran {
    /// All of it, whether it could be written or not.
    pub session: Session,
    /// Why the session's journal lacks its end, or more, or may not have reached the
    /// device. The journal then holds a beginning of the session.
    pub unsaved: Option<JournalError>,
    /// What the trials changed and could not undo. It stays in the undo journal.
    pub left_behind: Vec<PathBuf>,
}

/// Runs every trial of the workload's plan in order, and keeps what comes of it in a
/// journal line by line, on the device after each trial.
///
/// A trial that fails does not keep the others from running. When the stop flag is
/// raised the running trial ends as the workload sees fit, and the rest are skipped. A
/// panic in the workload ends the session as failed, with all that had finished.
///
/// # Errors
/// When the session could not begin. A journal that could be begun and not be
/// finished is no error: see [`Ran::unsaved`].
pub fn run_session(
    workload: &dyn Workload,
    places: &[Place],
    settings: &RunSettings,
    stop: &StopFlag,
    events: &mut dyn RunEvents,
) -> Result<Ran, RunnerError> {
    let session_start = Instant::now();
    let environment = observe(places, settings)?;
    let plan = workload.plan(settings.seed, &environment)?;
    let obstacles = workload.requires(&plan, &environment);
    let header = header(settings, plan.clone(), environment.clone());
    let (journal, undo, header) = begin(header, settings)?;
    events.take(RunEvent::SessionStarted {
        header: &header,
        journal: journal.path(),
    });
    let mut run = Run {
        log: Log {
            journal,
            unsaved: None,
        },
        trials: Vec::new(),
        stage: Stage {
            workload,
            plan: &plan,
            environment: &environment,
            places,
            stop,
            undo: &undo,
            session_start,
        },
        events,
    };
    let end = run.all_trials(together(obstacles).as_ref(), settings);
    Ok(run.finish(header, end))
}

/// Looks at the machine and at what each place stands on.
fn observe(places: &[Place], settings: &RunSettings) -> Result<Environment, RunnerError> {
    let paths: Vec<&Path> = places.iter().map(Place::path).collect();
    let environment = observe_environment(&paths, settings.tool.clone(), settings.facts);
    if environment.targets.len() != paths.len() {
        // One of them is only listed as missing. It is asked for alone to learn why.
        for path in paths {
            observe_target(path, settings.facts).map_err(RunnerError::Target)?;
        }
    }
    Ok(environment)
}

fn header(settings: &RunSettings, plan: Plan, environment: Environment) -> SessionHeader {
    SessionHeader {
        format_version: RECORD_FORMAT_VERSION,
        id: SessionId::new(settings.started, settings.id_random),
        started: settings.started,
        label: settings.label.clone(),
        command: settings.command.clone(),
        provenance: Provenance::Measured,
        plan: Some(plan),
        environment,
        caveats: Vec::new(),
    }
}

/// Begins the session's two journals under an id that is free.
fn begin(
    mut header: SessionHeader,
    settings: &RunSettings,
) -> Result<(Journal, UndoJournal, SessionHeader), RunnerError> {
    let mut tries = 1;
    loop {
        let undo =
            UndoJournal::open(&settings.undo_directory, &header.id).map_err(RunnerError::Undo)?;
        match Journal::create(&settings.journals, header.clone()) {
            Ok(journal) => return Ok((journal, undo, header)),
            Err(JournalError::Exists { .. }) if tries < ID_TRIES => {
                let random = Seed(settings.id_random).stream(tries).0;
                header.id = SessionId::new(settings.started, random);
                tries += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// One reason out of several.
fn together(obstacles: Vec<SkipReason>) -> Option<SkipReason> {
    let code = obstacles.first()?.code;
    let details: Vec<String> = obstacles.into_iter().map(|reason| reason.detail).collect();
    Some(SkipReason::new(code, details.join("; ")))
}

/// The journal, and what kept it from being whole.
pub(crate) struct Log {
    journal: Journal,
    unsaved: Option<JournalError>,
}

impl Log {
    /// Writes a record, or keeps it for later. Only the first time that fails is told of.
    pub(crate) fn append(&mut self, record: &Record, events: &mut dyn RunEvents) {
        let written = self.journal.append(record);
        self.settle(written, events);
    }

    fn sync(&mut self, events: &mut dyn RunEvents) {
        let synced = self.journal.sync();
        self.settle(synced, events);
    }

    /// The outcome of the latest write stands for all before it, since what could not
    /// be written is written first.
    fn settle(&mut self, written: Result<(), JournalError>, events: &mut dyn RunEvents) {
        if let (Err(error), None) = (&written, &self.unsaved) {
            let text = format!("{error}; the run goes on, and this is tried again");
            events.take(RunEvent::Note { text: &text });
        }
        self.unsaved = written.err();
    }
}

/// A session while it is run.
struct Run<'a> {
    log: Log,
    trials: Vec<Trial>,
    stage: Stage<'a>,
    events: &'a mut dyn RunEvents,
}

impl Run<'_> {
    /// Every trial has its turn, or a reason why not.
    fn all_trials(&mut self, obstacle: Option<&SkipReason>, settings: &RunSettings) -> SessionEnd {
        let mut outcome = SessionOutcome::Completed;
        let mut message = None;
        let planned = &self.stage.plan.trials;
        for (number, trial) in (1..).zip(planned) {
            if let Some(reason) = obstacle {
                self.skip(trial, reason.clone());
            } else if message.is_some() {
                break;
            } else if outcome == SessionOutcome::Interrupted || self.stage.stop.is_raised() {
                outcome = SessionOutcome::Interrupted;
                let text = "the run was interrupted before this trial's turn";
                self.skip(trial, SkipReason::new(SkipCode::Interrupted, text));
            } else {
                match self.trial(number, planned.len(), trial) {
                    Ended::Normally => {}
                    Ended::Interrupted => outcome = SessionOutcome::Interrupted,
                    Ended::Panicked(what) => {
                        outcome = SessionOutcome::Failed;
                        message = Some(what);
                    }
                }
            }
        }
        SessionEnd {
            outcome,
            // From the monotonic clock, so that a step of the wall clock during the run
            // does not reach the records.
            at: settings
                .started
                .checked_add(self.stage.session_start.elapsed())
                .unwrap_or(settings.started),
            message,
        }
    }

    fn trial(&mut self, number: usize, of: usize, planned: &PlannedTrial) -> Ended {
        self.events.take(RunEvent::TrialStarted {
            number,
            of,
            trial: planned,
        });
        let start_ns = self.start(planned);
        let (report, phases, ended) = self.stage.run(planned, &mut self.log, self.events);
        self.end(Trial {
            outcome: report.outcome,
            start_ns,
            phases,
            caveats: report.caveats,
            block: planned.block,
            ..Trial::new(planned.cell.clone(), planned.repetition)
        });
        ended
    }

    fn skip(&mut self, planned: &PlannedTrial, reason: SkipReason) {
        let start_ns = self.start(planned);
        self.end(Trial {
            outcome: TrialOutcome::Skipped(reason),
            start_ns,
            block: planned.block,
            ..Trial::new(planned.cell.clone(), planned.repetition)
        });
    }

    fn start(&mut self, planned: &PlannedTrial) -> u64 {
        let start_ns = self.stage.now_ns();
        let record = Record::TrialStart {
            cell: planned.cell.clone(),
            repetition: planned.repetition,
            block: planned.block,
            targets: None,
            start_ns,
        };
        self.log.append(&record, self.events);
        start_ns
    }

    fn end(&mut self, trial: Trial) {
        let record = Record::TrialEnd {
            outcome: trial.outcome.clone(),
            caveats: trial.caveats.clone(),
        };
        self.log.append(&record, self.events);
        // What did not run is no loss, and an interrupted plan may have thousands.
        if !matches!(trial.outcome, TrialOutcome::Skipped(_)) {
            self.log.sync(self.events);
        }
        self.events.take(RunEvent::TrialFinished { trial: &trial });
        self.trials.push(trial);
    }

    fn finish(mut self, header: SessionHeader, end: SessionEnd) -> Ran {
        self.log.append(&Record::End(end.clone()), self.events);
        self.log.sync(self.events);
        let session = Session {
            header,
            trials: self.trials,
            end: Some(end),
        };
        self.events
            .take(RunEvent::SessionFinished { session: &session });
        let left = self.stage.undo.open_changes();
        Ran {
            session,
            unsaved: self.log.unsaved,
            left_behind: left.iter().map(|change| change.path().to_owned()).collect(),
        }
    }
}
