//! What a watcher of a run is told.

use std::path::Path;
use std::sync::Arc;

use stiction_core::{Job, Phase, PlannedTrial, Session, SessionHeader, Trial};
use stiction_engine::Progress;

/// Something that happened in a run, told at once and in this order: a session starts,
/// then trials start and finish one after the other, and within each its phases; last
/// the session finishes.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    /// The session has begun, and its journal with it; or goes on.
    SessionStarted {
        /// What is known of it.
        header: &'a SessionHeader,
        /// Its journal.
        journal: &'a Path,
    },
    /// A trial begins. Trials that are skipped do not begin.
    TrialStarted {
        /// Which one, from 1.
        number: usize,
        /// How many the plan has.
        of: usize,
        /// Its place in the plan.
        trial: &'a PlannedTrial,
    },
    /// A phase begins.
    PhaseStarted {
        /// Its name within the workload.
        name: &'a str,
        /// Its I/O, if it has any.
        job: Option<&'a Job>,
        /// Counts up while it runs, and may be looked at from other threads.
        progress: Arc<Progress>,
    },
    /// A phase has ended, and is in the journal.
    PhaseFinished {
        /// All of it.
        phase: &'a Phase,
    },
    /// A trial has ended, or was skipped, and is in the journal.
    TrialFinished {
        /// All of it.
        trial: &'a Trial,
    },
    /// The session has ended.
    SessionFinished {
        /// All of it.
        session: &'a Session,
    },
    /// Something that the user should know while the run goes on.
    Note {
        /// One line.
        text: &'a str,
    },
}

/// Who watches a run. A closure does.
pub trait RunEvents {
    /// Takes notice of an event. The run waits meanwhile, so this is to be quick.
    fn take(&mut self, event: RunEvent<'_>);
}

impl<F: FnMut(RunEvent<'_>)> RunEvents for F {
    fn take(&mut self, event: RunEvent<'_>) {
        self(event);
    }
}
