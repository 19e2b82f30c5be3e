//! A session from its environment to its end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use stiction_core::{
    Applied, Environment, Plan, PlannedTrial, Preparation, Provenance, RECORD_FORMAT_VERSION,
    Record, Resumption, Seed, Session, SessionEnd, SessionHeader, SessionId, SessionOutcome,
    SkipCode, SkipReason, TargetStack, Trial, TrialOutcome,
};
use stiction_engine::StopFlag;
use stiction_host::UndoJournal;
use stiction_journal::{Journal, JournalError};
use stiction_suite::{Place, SessionClock, Workload};

use crate::blocks::{BlocksSoFar, Decide, Decision, EveryBlock};
use crate::preparing::Preparing;
use crate::resume::{Done, Earlier, taken_up};
use crate::study::{Expanded, Part, Study, Turn, expand};
use crate::trial::{Collected, Ended, Recorder, Stage};
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

/// Runs every trial of a single workload's plan in order. See [`run_study`].
///
/// # Errors
/// As [`run_study`].
pub fn run_session(
    workload: &dyn Workload,
    places: &[Place],
    settings: &RunSettings,
    stop: &StopFlag,
    events: &mut dyn RunEvents,
) -> Result<Ran, RunnerError> {
    let study = Study::of_one(workload, places);
    run_study(&study, settings, stop, &mut EveryBlock, events)
}

/// Runs every trial of the study's plan in order, and keeps what comes of it in a
/// journal line by line, on the device after each trial. Where trials are in blocks,
/// `decide` is asked after each block whether the next one begins.
///
/// A trial that fails does not keep the others from running. When the stop flag is
/// raised the running trial ends as the workload sees fit, and the rest are skipped, or
/// left out where they are in blocks. A panic in the workload ends the session as
/// failed, with all that had finished.
///
/// # Errors
/// When the session could not begin. A journal that could be begun and not be
/// finished is no error: see [`Ran::unsaved`].
pub fn run_study(
    study: &Study<'_>,
    settings: &RunSettings,
    stop: &StopFlag,
    decide: &mut dyn Decide,
    events: &mut dyn RunEvents,
) -> Result<Ran, RunnerError> {
    let clock = SessionClock::standing_at(0);
    let expanded = expand(study, settings.tool.clone(), settings.facts, settings.seed)?
        .watched(settings.witness);
    let header = header(
        settings,
        expanded.plan.clone(),
        expanded.environment.clone(),
    );
    let (journal, undo, header) = begin(header, settings)?;
    let begun = Begun {
        journal,
        undo,
        clock,
        earlier: Earlier::of_new(header),
        looks_again: study.looks_again(),
        preparation: &study.preparation,
    };
    Ok(go_on(begun, &expanded, settings, stop, decide, events))
}

/// Goes on with the session `id` of the same study, that was cut off or interrupted: what
/// had finished stands, what had not is run again, and the rest follows as planned. Its
/// journal is added to. The study is planned again by the seed of the session;
/// `settings.seed`, `label` and `command` do not matter.
///
/// # Errors
/// As [`run_study`]; [`RunnerError::Resume`] when the session cannot go on, or would not be
/// the same any more. It is then what it was.
pub fn resume_study(
    study: &Study<'_>,
    id: &SessionId,
    settings: &RunSettings,
    stop: &StopFlag,
    decide: &mut dyn Decide,
    events: &mut dyn RunEvents,
) -> Result<Ran, RunnerError> {
    let (mut journal, read) = Journal::reopen(&settings.journals, id)?;
    let (mut earlier, seed) = taken_up(read.session)?;
    let expanded =
        expand(study, settings.tool.clone(), settings.facts, seed)?.watched(settings.witness);
    let resumption = earlier.resumption(&expanded, settings.started)?;
    let undo = UndoJournal::open(&settings.undo_directory, id).map_err(RunnerError::Undo)?;
    let clock = SessionClock::standing_at(resumption.start_ns);
    journal.append(&Record::Resumed(Box::new(resumption.clone())))?;
    journal.sync()?;
    earlier.resumptions.push(resumption);
    let begun = Begun {
        journal,
        undo,
        clock,
        earlier,
        // Its places may be on other devices than they were, after a boot for example.
        looks_again: true,
        preparation: &study.preparation,
    };
    Ok(go_on(begun, &expanded, settings, stop, decide, events))
}

/// A session with its journals, before its first trial or the next.
struct Begun<'a> {
    journal: Journal,
    undo: UndoJournal,
    clock: SessionClock,
    earlier: Earlier,
    looks_again: bool,
    preparation: &'a Preparation,
}

/// Carries out what is not done yet.
fn go_on(
    begun: Begun<'_>,
    expanded: &Expanded<'_>,
    settings: &RunSettings,
    stop: &StopFlag,
    decide: &mut dyn Decide,
    events: &mut dyn RunEvents,
) -> Ran {
    let Earlier {
        header,
        trials,
        resumptions,
        ..
    } = begun.earlier;
    events.take(RunEvent::SessionStarted {
        header: &header,
        journal: begun.journal.path(),
    });
    let run = Run {
        log: Log {
            journal: begun.journal,
            unsaved: None,
        },
        trials,
        header: &header,
        resumptions,
        parts: &expanded.parts,
        turns: &expanded.turns,
        obstacles: &expanded.obstacles,
        stage: Stage {
            stop,
            undo: &begun.undo,
            clock: begun.clock,
            targets: &header.environment.targets,
            looks_again: begun.looks_again,
            facts: settings.facts,
        },
        preparing: Preparing::new(
            begun.preparation,
            expanded.plan.seed,
            header.started.to_zoned(settings.zone.clone()),
            begun.clock,
        ),
        events,
    };
    run.carry_out(decide, header.started)
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
        invocation: settings.invocation.clone(),
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
    header: &'a SessionHeader,
    resumptions: Vec<Resumption>,
    parts: &'a [Part<'a>],
    turns: &'a [Turn],
    /// Why parts cannot run here.
    obstacles: &'a BTreeMap<usize, SkipReason>,
    stage: Stage<'a>,
    preparing: Preparing<'a>,
    events: &'a mut dyn RunEvents,
}

/// How the session goes so far.
struct Course {
    outcome: SessionOutcome,
    /// Why it ends before its plan does.
    message: Option<String>,
}

impl Run<'_> {
    fn carry_out(mut self, decide: &mut dyn Decide, began: jiff::Timestamp) -> Ran {
        let is_in_blocks = self.turns.iter().any(|turn| turn.planned.block.is_some());
        let course = if self.obstacles.len() == self.parts.len() {
            self.none()
        } else if is_in_blocks {
            self.all_blocks(decide)
        } else {
            self.all_trials()
        };
        let end = SessionEnd {
            outcome: course.outcome,
            // From the monotonic clock, so that a step of the wall clock during the run
            // does not reach the records.
            at: began
                .checked_add(Duration::from_nanos(self.stage.now_ns()))
                .unwrap_or(began),
            message: course.message,
        };
        self.finish(end)
    }

    /// Nothing can run: every trial is skipped for its reason, but of blocks only those of
    /// the first.
    fn none(&mut self) -> Course {
        let first = self.turns.first().map(|turn| turn.planned.block);
        let all = self.turns.iter();
        for turn in all.take_while(|turn| Some(turn.planned.block) == first) {
            self.skip(&turn.planned, self.obstacles[&turn.part].clone());
        }
        Course {
            outcome: SessionOutcome::Completed,
            message: None,
        }
    }

    /// Every trial has its turn, or a reason why not.
    fn all_trials(&mut self) -> Course {
        let mut course = Course {
            outcome: SessionOutcome::Completed,
            message: None,
        };
        let done = Done::of(&self.trials);
        for (number, turn) in (1..).zip(self.turns) {
            if course.message.is_some() {
                break;
            }
            if done.has(&turn.planned) {
                continue;
            }
            if course.outcome == SessionOutcome::Interrupted || self.stage.stop.is_raised() {
                course.outcome = SessionOutcome::Interrupted;
                let text = "the run was interrupted before this trial's turn";
                self.skip(&turn.planned, SkipReason::new(SkipCode::Interrupted, text));
            } else {
                course.take(self.trial(number, turn));
            }
        }
        course
    }

    /// Blocks one after the other, until there are enough of them.
    fn all_blocks(&mut self, decide: &mut dyn Decide) -> Course {
        let mut course = Course {
            outcome: SessionOutcome::Completed,
            message: None,
        };
        let blocks = self
            .turns
            .chunk_by(|a, b| a.planned.block == b.planned.block);
        let planned = blocks.clone().count() as u32;
        let done = Done::of(&self.trials);
        let mut block_ns = Vec::new();
        let mut number = 0;
        for block in blocks {
            // Of a block that was begun before the session was cut off, it had been decided.
            let has_begun = block.iter().any(|turn| done.has(&turn.planned));
            let may_stop = !block_ns.is_empty() && !has_begun;
            if may_stop && let Decision::Stop(words) = self.decide(decide, planned, &block_ns) {
                course.message = Some(words);
                break;
            }
            let begun_ns = self.stage.now_ns();
            for turn in block {
                number += 1;
                if done.has(&turn.planned) {
                    continue;
                }
                if course.outcome == SessionOutcome::Completed && self.stage.stop.is_raised() {
                    course.outcome = SessionOutcome::Interrupted;
                }
                if course.outcome != SessionOutcome::Completed {
                    return course.after_blocks(block_ns.len(), planned);
                }
                course.take(self.trial(number, turn));
            }
            if course.outcome != SessionOutcome::Completed {
                return course.after_blocks(block_ns.len(), planned);
            }
            let earlier_ns = done.took_ns(block.iter().map(|turn| &turn.planned));
            block_ns.push(earlier_ns + (self.stage.now_ns() - begun_ns));
        }
        course
    }

    /// Asks whether another block begins, unless the user has answered that.
    fn decide(&self, decide: &mut dyn Decide, planned: u32, block_ns: &[u64]) -> Decision {
        if self.stage.stop.is_raised() {
            return Decision::GoOn;
        }
        let gaps_ns = self.resumptions.iter().map(|one| one.gap_ns).sum();
        decide.decide(&BlocksSoFar {
            done: block_ns.len() as u32,
            planned,
            header: self.header,
            trials: &self.trials,
            block_ns,
            elapsed_ns: self.stage.now_ns().saturating_sub(gaps_ns),
        })
    }

    fn trial(&mut self, number: usize, turn: &Turn) -> Ended {
        let planned = &turn.planned;
        if let Some(reason) = self.obstacles.get(&turn.part) {
            self.skip(planned, reason.clone());
            return Ended::Normally;
        }
        let of = self.turns.len();
        self.events.take(RunEvent::TrialStarted {
            number,
            of,
            trial: planned,
        });
        let part = &self.parts[turn.part];
        let start_ns = self.stage.now_ns();
        let canaries = self.preparing.canary_turn(self.turns, number - 1);
        let mut early = Collected {
            events: &mut *self.events,
            phases: Vec::new(),
        };
        if canaries.before {
            self.stage
                .canary(&self.parts[0], &mut self.preparing, &mut early);
        }
        let early = early.phases;
        let prepared = self.stage.prepare(part, turn);
        let targets = self.stage.other_targets(&prepared);
        let settings = prepared.settings();
        self.start(planned, targets.clone(), settings.clone(), start_ns);
        let mut recorder = Recorder::new(&mut self.log, &mut *self.events);
        early.into_iter().for_each(|phase| recorder.keep(phase));
        let preparing = &mut self.preparing;
        let (mut report, ended) = self
            .stage
            .run(turn, part, prepared, preparing, &mut recorder);
        if canaries.after && !self.stage.stop.is_raised() {
            self.stage.canary(&self.parts[0], preparing, &mut recorder);
        }
        let phases = recorder.into_phases();
        let conditions = match report.outcome {
            TrialOutcome::Completed => part.configuration.met_in(&phases),
            _ => Vec::new(),
        };
        report
            .caveats
            .extend(conditions.iter().filter_map(Applied::doubt));
        self.end(Trial {
            outcome: report.outcome,
            start_ns,
            conditions,
            phases,
            targets,
            settings,
            caveats: report.caveats,
            block: planned.block,
            ..Trial::new(planned.cell.clone(), planned.repetition)
        });
        ended
    }

    fn skip(&mut self, planned: &PlannedTrial, reason: SkipReason) {
        let start_ns = self.stage.now_ns();
        self.start(planned, None, Vec::new(), start_ns);
        self.end(Trial {
            outcome: TrialOutcome::Skipped(reason),
            start_ns,
            block: planned.block,
            ..Trial::new(planned.cell.clone(), planned.repetition)
        });
    }

    fn start(
        &mut self,
        planned: &PlannedTrial,
        targets: Option<Vec<TargetStack>>,
        settings: Vec<Applied>,
        start_ns: u64,
    ) {
        let record = Record::TrialStart {
            cell: planned.cell.clone(),
            repetition: planned.repetition,
            block: planned.block,
            targets,
            settings,
            start_ns,
        };
        self.log.append(&record, self.events);
    }

    fn end(&mut self, trial: Trial) {
        let record = Record::TrialEnd {
            outcome: trial.outcome.clone(),
            conditions: trial.conditions.clone(),
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

    fn finish(mut self, end: SessionEnd) -> Ran {
        if let Some(text) = self.preparing.close() {
            self.events.take(RunEvent::Note { text: &text });
        }
        self.log.append(&Record::End(end.clone()), self.events);
        self.log.sync(self.events);
        let session = Session {
            header: self.header.clone(),
            trials: self.trials,
            resumptions: self.resumptions,
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

impl Course {
    /// What the end of a trial means.
    fn take(&mut self, ended: Ended) {
        match ended {
            Ended::Normally => {}
            Ended::Interrupted => self.outcome = SessionOutcome::Interrupted,
            Ended::Panicked(what) => {
                self.outcome = SessionOutcome::Failed;
                self.message = Some(what);
            }
        }
    }

    /// Says how far it got where it was interrupted.
    fn after_blocks(mut self, done: usize, planned: u32) -> Self {
        let far = format!("after {done} of {planned} blocks");
        self.message.get_or_insert(far);
        self
    }
}
