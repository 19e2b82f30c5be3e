//! One trial, with what its configuration has around it, and whatever the workload does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use stiction_core::{
    Applied, CacheState, Conditions, Environment, Job, Phase, PlannedTrial, Record, SkipReason,
    TargetStack, TrialOutcome, WitnessLevel,
};
use stiction_engine::{Progress, StopFlag};
use stiction_host::{
    ControlGroup, FactOptions, HostError, PendingCommand, UndoJournal, enter_own_group,
    observe_target,
};
use stiction_suite::conditions::obstacle;
use stiction_suite::{
    CommandLine, Context, Events, EventsError, SessionClock, SuiteError, TrialReport,
};

use crate::ground::Ground;
use crate::hooks::{HERE, Hook, failure};
use crate::preparing::Preparing;
use crate::run::Log;
use crate::study::{Part, Turn, with_targets};
use crate::{Configuration, RunEvent, RunEvents};

/// What all trials of a session share.
pub(crate) struct Stage<'a> {
    pub(crate) stop: &'a StopFlag,
    pub(crate) undo: &'a UndoJournal,
    pub(crate) clock: SessionClock,
    /// What stood under the session's places when it began.
    pub(crate) targets: &'a [TargetStack],
    /// Whether places are looked at again before each trial.
    pub(crate) looks_again: bool,
    pub(crate) facts: FactOptions,
}

/// What the end of a trial means for the session.
pub(crate) enum Ended {
    /// The next trial has its turn.
    Normally,
    /// The user wants no more.
    Interrupted,
    /// The workload cannot be trusted with another trial.
    Panicked(String),
}

/// What was done and found before a trial's own work.
pub(crate) struct Prepared {
    /// What was changed on the machine for it, or how it ends without that.
    ground: Result<Ground, TrialReport>,
    /// The command that concludes it, which is to be carried out whatever happens now.
    concluding: Option<PendingCommand>,
    /// The phase of the command that prepares, where there is one.
    hook: Option<Phase>,
    /// What stands under the trial's places now, or why that cannot be seen.
    targets: Result<Vec<TargetStack>, String>,
}

impl Prepared {
    /// What was set on the machine, and found there.
    pub(crate) fn settings(&self) -> Vec<Applied> {
        let ground = self.ground.as_ref();
        ground.map_or_else(|_| Vec::new(), |ground| ground.applied().to_vec())
    }
}

impl Stage<'_> {
    /// Time since the session began, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Runs the canaries in the session's first place, which no trial's settings change.
    pub(crate) fn canary(
        &self,
        part: &Part<'_>,
        preparing: &mut Preparing<'_>,
        events: &mut dyn Events,
    ) {
        let neutral = Conditions::default();
        preparing.canary(&mut Context {
            stop: self.stop,
            places: part.configuration.places,
            stacks: &part.environment.targets,
            environment: &part.environment,
            cache: CacheState::AsIs,
            events,
            clock: self.clock,
            undo: self.undo,
            conditions: &neutral,
        });
    }

    /// Carries out what prepares a trial, and looks at its places again.
    pub(crate) fn prepare(&self, part: &Part<'_>, turn: &Turn) -> Prepared {
        let configuration = part.configuration;
        // The same for all configurations of a block, and in the next another.
        let seed = part
            .plan
            .seed
            .stream(turn.planned.block.unwrap_or(0).into());
        let ground = Ground::make(
            configuration.alterations,
            configuration.places,
            seed,
            self.undo,
        );
        // Nothing is prepared for a trial that has nowhere to work.
        let concluded = configuration.conclude.as_ref().filter(|_| ground.is_ok());
        let noted = concluded
            .map(|command| PendingCommand::note(command.words(), Path::new(HERE), self.undo));
        let (concluding, unnoted) = match noted.transpose() {
            Ok(concluding) => (concluding, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let command = configuration.prepare.as_ref();
        let command = command.filter(|_| ground.is_ok() && unnoted.is_none());
        let hook = command.map(|command| self.hook(Hook::Prepare, command, configuration));
        let targets = if let Some(problem) = unnoted {
            Err(problem)
        } else if let (true, Ok(ground)) = (self.looks_again, &ground) {
            let places = ground.places().iter();
            let named = part.environment.targets.iter();
            let looked = places.zip(named).map(|(place, named)| {
                let stack = observe_target(place.path(), self.facts)?;
                // By the user's name for it: scratch space is somewhere else each time.
                Ok::<_, HostError>(TargetStack {
                    path: named.path.clone(),
                    ..stack
                })
            });
            looked
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())
        } else {
            Ok(part.environment.targets.clone())
        };
        Prepared {
            ground,
            concluding,
            hook,
            targets,
        }
    }

    fn hook(&self, hook: Hook, command: &CommandLine, whose: &Configuration<'_>) -> Phase {
        hook.carry_out(command, whose.hook_limit, self.stop, || self.now_ns())
    }

    /// What stands under the trial's places, where that is not what the header tells.
    pub(crate) fn other_targets(&self, prepared: &Prepared) -> Option<Vec<TargetStack>> {
        let targets = prepared.targets.as_ref().ok()?;
        let lasting = |targets: &[TargetStack]| -> Vec<TargetStack> {
            targets.iter().cloned().map(without_free_space).collect()
        };
        let differs = self.looks_again && lasting(targets) != lasting(self.targets);
        differs.then(|| targets.clone())
    }

    /// Runs one trial, and what concludes it. Its phases are in the log by the time this
    /// returns.
    pub(crate) fn run(
        &self,
        turn: &Turn,
        part: &Part<'_>,
        prepared: Prepared,
        preparing: &mut Preparing<'_>,
        recorder: &mut Recorder<'_>,
    ) -> (TrialReport, Ended) {
        let ground = match prepared.ground {
            Ok(ground) => ground,
            Err(report) => return (report, Ended::Normally),
        };
        let unprepared = prepared.hook.as_ref().and_then(failure);
        if let Some(phase) = prepared.hook {
            recorder.keep(phase);
        }
        let (mut report, ended) = match (unprepared, prepared.targets) {
            (Some(_), _) if self.stop.is_raised() => (
                TrialReport::new(TrialOutcome::Interrupted),
                Ended::Interrupted,
            ),
            (Some(message), _) | (None, Err(message)) => (failed(message), Ended::Normally),
            (None, Ok(targets)) => {
                let environment = with_targets(&part.environment, targets);
                self.work(
                    &turn.inner,
                    part,
                    &ground,
                    &environment,
                    preparing,
                    recorder,
                )
            }
        };
        if let Some(command) = &part.configuration.conclude {
            let phase = self.hook(Hook::Conclude, command, part.configuration);
            if let Some(Err(error)) = prepared.concluding.map(PendingCommand::done) {
                recorder.note(&error.to_string());
            }
            let unfinished = failure(&phase);
            recorder.keep(phase);
            if let (Some(message), TrialOutcome::Completed) = (unfinished, &report.outcome) {
                report = failed(message);
            }
        }
        report.caveats.extend(ground.doubts());
        if let Some(left) = ground.undo() {
            recorder.note(&left);
        }
        (report, ended)
    }

    /// Lets the workload run one trial of its own plan.
    fn work(
        &self,
        inner: &PlannedTrial,
        part: &Part<'_>,
        ground: &Ground,
        environment: &Environment,
        preparing: &mut Preparing<'_>,
        recorder: &mut Recorder<'_>,
    ) -> (TrialReport, Ended) {
        let configuration = part.configuration;
        let (workload, conditions) = (configuration.workload, &configuration.conditions);
        if let Some(reason) = obstacle(workload, &part.plan, conditions, ground.places()) {
            return (skipped(reason), Ended::Normally);
        }
        let neutral = Conditions::default();
        let mut context = Context {
            stop: self.stop,
            places: ground.places(),
            stacks: &environment.targets,
            environment,
            cache: CacheState::AsIs,
            events: recorder,
            clock: self.clock,
            undo: self.undo,
            conditions: &neutral,
        };
        let doubts = match preparing.before(ground, &mut context) {
            Ok(Ok(doubts)) => doubts,
            Ok(Err(report)) => return with_ending(report),
            Err(error) => return (failed(error.to_string()), Ended::Normally),
        };
        context.cache = preparing.cache();
        context.conditions = conditions;
        let _alone = alone(environment.witness, self.undo, context.events);
        // What the workload borrows is dropped with it, or is only added to: phases
        // that were recorded before a panic are whole.
        let result = catch_unwind(AssertUnwindSafe(|| {
            workload.run(&part.plan, inner, &mut context)
        }));
        match result {
            Ok(Ok(mut report)) => {
                report.caveats.splice(0..0, doubts);
                with_ending(report)
            }
            Ok(Err(SuiteError::Refused(reason))) => (skipped(reason), Ended::Normally),
            Ok(Err(error)) => (failed(error.to_string()), Ended::Normally),
            Err(panic) => {
                let message = format!(
                    "this is a bug in stiction: {} panicked: {}",
                    workload.name(),
                    panic_text(panic.as_ref())
                );
                (failed(message.clone()), Ended::Panicked(message))
            }
        }
    }
}

/// A control group for this trial, where every witness is wanted: the pressure in it is
/// that of our own tasks. Without it the pressure is the machine's, and called so.
fn alone(level: WitnessLevel, undo: &UndoJournal, events: &mut dyn Events) -> Option<ControlGroup> {
    if level != WitnessLevel::Full {
        return None;
    }
    enter_own_group(undo).unwrap_or_else(|error| {
        events.note(&format!("pressure is the whole machine's: {error}"));
        None
    })
}

/// What a trial that ended so means for the session.
fn with_ending(report: TrialReport) -> (TrialReport, Ended) {
    let ended = match report.outcome {
        TrialOutcome::Interrupted => Ended::Interrupted,
        _ => Ended::Normally,
    };
    (report, ended)
}

/// What stands under a place, without what every write to it changes.
fn without_free_space(mut stack: TargetStack) -> TargetStack {
    if let Some(filesystem) = &mut stack.filesystem {
        filesystem.available_bytes = 0;
    }
    for layer in &mut stack.layers {
        let backing = layer.backing.take();
        layer.backing = backing.map(|below| Box::new(without_free_space(*below)));
    }
    stack
}

pub(crate) fn skipped(reason: SkipReason) -> TrialReport {
    TrialReport::new(TrialOutcome::Skipped(reason))
}

pub(crate) fn failed(message: String) -> TrialReport {
    TrialReport::new(TrialOutcome::Failed { message })
}

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}

/// Hears of phases from the workload, and hands them on.
pub(crate) struct Recorder<'a> {
    log: &'a mut Log,
    events: &'a mut dyn RunEvents,
    phases: Vec<Phase>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(log: &'a mut Log, events: &'a mut dyn RunEvents) -> Self {
        Self {
            log,
            events,
            phases: Vec::new(),
        }
    }

    /// The phases that were kept.
    pub(crate) fn into_phases(self) -> Vec<Phase> {
        self.phases
    }

    /// Keeps a phase that has ended.
    pub(crate) fn keep(&mut self, phase: Phase) {
        let record = Record::Phase(Box::new(phase.clone()));
        self.log.append(&record, self.events);
        self.events.take(RunEvent::PhaseFinished { phase: &phase });
        self.phases.push(phase);
    }
}

impl Events for Recorder<'_> {
    fn phase_started(&mut self, name: &str, job: Option<&Job>, progress: Arc<Progress>) {
        self.events.take(RunEvent::PhaseStarted {
            name,
            job,
            progress,
        });
    }

    /// Never fails: what cannot be written now is kept, and the trial need not end for it.
    fn phase_finished(&mut self, phase: &Phase) -> Result<(), EventsError> {
        self.keep(phase.clone());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.events.take(RunEvent::Note { text });
    }
}

/// Collects phases that end before their trial's first line is written.
pub(crate) struct Collected<'a> {
    pub(crate) events: &'a mut dyn RunEvents,
    pub(crate) phases: Vec<Phase>,
}

impl Events for Collected<'_> {
    fn phase_started(&mut self, name: &str, job: Option<&Job>, progress: Arc<Progress>) {
        self.events.take(RunEvent::PhaseStarted {
            name,
            job,
            progress,
        });
    }

    fn phase_finished(&mut self, phase: &Phase) -> Result<(), EventsError> {
        self.phases.push(phase.clone());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.events.take(RunEvent::Note { text });
    }
}
