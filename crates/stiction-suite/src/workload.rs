//! What a benchmark is to whoever runs it, and what it is given to run with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use stiction_core::{
    CacheState, Caveat, Conditions, Environment, Estimate, Job, Phase, Plan, PlannedTrial, Seed,
    SkipReason, TargetStack, TrialOutcome,
};
use stiction_engine::{Progress, ScratchDevice, StopFlag};
use stiction_host::UndoJournal;

use crate::{EventsError, SuiteError};

/// A benchmark: a program of phases over the engine.
///
/// `plan` makes every choice; `run` carries out one trial from the plan alone, so
/// that a stored plan replays whatever the options were that led to it.
pub trait Workload {
    /// Stable name: `quick`, `tiobench`.
    fn name(&self) -> &'static str;

    /// Every trial, in order, and every parameter, defaults filled in.
    ///
    /// # Errors
    /// [`SuiteError::Option`] for options that contradict each other or the machine.
    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError>;

    /// What a trial of the plan is expected to take, as far as the plan alone tells.
    fn estimate(&self, plan: &Plan, trial: &PlannedTrial) -> Estimate {
        let _ = (plan, trial);
        Estimate::UNKNOWN
    }

    /// Why nothing of the plan can run here; empty when it can.
    fn requires(&self, plan: &Plan, environment: &Environment) -> Vec<SkipReason>;

    /// Whether trials of the plan can run under `conditions`, some of which are set. What
    /// goes through [`measure`](fn@crate::measure) can in part; the default is that
    /// nothing can.
    ///
    /// # Errors
    /// Which cannot be met, and why.
    fn takes(&self, _plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        conditions.settings().first().map_or(Ok(()), |setting| {
            Err(format!(
                "{}: {} makes files and data in its own way",
                setting.factor,
                self.name()
            ))
        })
    }

    /// Runs one trial of the plan. Phases are handed to the context's events as they
    /// finish; whatever was made is removed again, however the trial ends.
    ///
    /// # Errors
    /// [`SuiteError::Plan`] for a plan that is not this workload's, and
    /// [`SuiteError::Events`] when a finished phase could not be kept. All that goes
    /// wrong with the I/O itself is in the trial's outcome and its phases.
    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError>;
}

/// How a trial ended, apart from its phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialReport {
    /// How it ended.
    pub outcome: TrialOutcome,
    /// Doubts about the whole trial.
    pub caveats: Vec<Caveat>,
}

impl TrialReport {
    /// A trial that ended so, without doubts.
    #[must_use]
    pub fn new(outcome: TrialOutcome) -> Self {
        Self {
            outcome,
            caveats: Vec::new(),
        }
    }
}

/// Where a workload may work, as it was admitted.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory of the user's. The workload makes a directory of its own inside.
    Directory(PathBuf),
    /// A device that was granted for destruction and is held.
    Device(ScratchDevice),
    /// A file or device of the user's that is used as it is; a device so given is only
    /// ever read.
    File(PathBuf),
}

impl Place {
    /// The directory, the file or the device's node, as the user named it.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::File(path) => path,
            Self::Device(device) => device.path(),
        }
    }
}

/// Tells the time since a session began, also of one that goes on after a gap: from a
/// monotonic clock, so that a step of the wall clock does not reach the records.
#[derive(Clone, Copy, Debug)]
pub struct SessionClock {
    since: Instant,
    since_ns: u64,
}

impl SessionClock {
    /// The clock that stands at `now_ns` at this moment: at 0 for a session that begins.
    #[must_use]
    pub fn standing_at(now_ns: u64) -> Self {
        Self {
            since: Instant::now(),
            since_ns: now_ns,
        }
    }

    /// Time since the session began, ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let ns = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.since_ns.saturating_add(ns)
    }
}

/// What a workload is given to run a trial with.
pub struct Context<'a> {
    /// Raised when the user wants the run to end.
    pub stop: &'a StopFlag,
    /// The places to work in, in the order of the plan; at least one.
    pub places: &'a [Place],
    /// What stands under each place, in the same order.
    pub stacks: &'a [TargetStack],
    /// What was observed of the machine when the session began.
    pub environment: &'a Environment,
    /// How files are to stand in the page cache when a measured phase begins.
    pub cache: CacheState,
    /// Who hears of phases.
    pub events: &'a mut dyn Events,
    /// Time since the session began.
    pub clock: SessionClock,
    /// Where changes to the machine are written before they are made.
    pub undo: &'a UndoJournal,
    /// What its files and data are to be like; the workload [takes](Workload::takes) it.
    pub conditions: &'a Conditions,
}

impl Context<'_> {
    /// Time since the session began, ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}

/// Who hears of the phases of a trial while it runs.
pub trait Events {
    /// A phase begins. `progress` counts up while it runs and is still valid afterwards.
    fn phase_started(&mut self, name: &str, job: Option<&Job>, progress: Arc<Progress>);

    /// A phase has ended, run or not.
    ///
    /// # Errors
    /// When the phase could not be kept; the trial then ends.
    fn phase_finished(&mut self, phase: &Phase) -> Result<(), EventsError>;

    /// Something that the user should know while the run goes on, in one line.
    fn note(&mut self, text: &str);
}
