//! One trial, and whatever the workload does in it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use stiction_core::{Environment, Job, Phase, Plan, PlannedTrial, Record, TrialOutcome};
use stiction_engine::{Progress, StopFlag};
use stiction_host::UndoJournal;
use stiction_suite::{Context, Events, EventsError, Place, SuiteError, TrialReport, Workload};

use crate::run::Log;
use crate::{RunEvent, RunEvents};

/// What all trials of a session share.
pub(crate) struct Stage<'a> {
    pub(crate) workload: &'a dyn Workload,
    pub(crate) plan: &'a Plan,
    pub(crate) environment: &'a Environment,
    pub(crate) places: &'a [Place],
    pub(crate) stop: &'a StopFlag,
    pub(crate) undo: &'a UndoJournal,
    pub(crate) session_start: Instant,
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

impl Stage<'_> {
    /// Time since the session began, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.session_start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Runs one trial. Its phases are in the log by the time this returns.
    pub(crate) fn run(
        &self,
        planned: &PlannedTrial,
        log: &mut Log,
        events: &mut dyn RunEvents,
    ) -> (TrialReport, Vec<Phase>, Ended) {
        let mut recorder = Recorder {
            log,
            events,
            phases: Vec::new(),
        };
        let mut context = Context {
            stop: self.stop,
            places: self.places,
            stacks: &self.environment.targets,
            environment: self.environment,
            events: &mut recorder,
            session_start: self.session_start,
            undo: self.undo,
        };
        // What the workload borrows is dropped with it, or is only added to: phases
        // that were recorded before a panic are whole.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.workload.run(self.plan, planned, &mut context)
        }));
        let (report, ended) = match result {
            Ok(Ok(report)) => {
                let ended = match report.outcome {
                    TrialOutcome::Interrupted => Ended::Interrupted,
                    _ => Ended::Normally,
                };
                (report, ended)
            }
            Ok(Err(SuiteError::Refused(reason))) => {
                let report = TrialReport::new(TrialOutcome::Skipped(reason));
                (report, Ended::Normally)
            }
            Ok(Err(error)) => (failed(error.to_string()), Ended::Normally),
            Err(panic) => {
                let message = format!(
                    "this is a bug in stiction: {} panicked: {}",
                    self.workload.name(),
                    panic_text(panic.as_ref())
                );
                (failed(message.clone()), Ended::Panicked(message))
            }
        };
        (report, recorder.phases, ended)
    }
}

fn failed(message: String) -> TrialReport {
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
struct Recorder<'a> {
    log: &'a mut Log,
    events: &'a mut dyn RunEvents,
    phases: Vec<Phase>,
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
        let record = Record::Phase(Box::new(phase.clone()));
        self.log.append(&record, self.events);
        self.events.take(RunEvent::PhaseFinished { phase });
        self.phases.push(phase.clone());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.events.take(RunEvent::Note { text });
    }
}
