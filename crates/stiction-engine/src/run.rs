//! Runs a job: starts the workers, waits for them, and adds up what they did.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use stiction_core::{Job, StartOrder};

use crate::backend::probe;
use crate::clock::{Calibration, Clock};
use crate::data::Ledger;
use crate::gate::Gate;
use crate::log::Signals;
use crate::outcome::Around;
use crate::rounds::Rounds;
use crate::task::{Task, check};
use crate::thread::ignore_file_size_signal;
use crate::together::{Part, run_alone};
use crate::worker::{self, Report};
use crate::{EngineError, Outcome, Progress, StopFlag, Target};

/// Enough for the deepest call of a worker; thousands of stacks must fit.
const STACK_BYTES: usize = 256 << 10;

/// Runs `job` on `targets`, and returns when all its workers have ended.
///
/// `stop` ends it early. `progress` needs room for as many workers as the job has
/// regions. Files that the job makes stay there; who asked for them removes them.
///
/// From the first call on, the process ignores `SIGXFSZ` (unless it has decided
/// otherwise), so that a write beyond the file size limit fails with `EFBIG`; and
/// from the first job with `mmap` on, it handles `SIGBUS` from the job's mappings.
///
/// # Errors
/// When nothing was done; see [`EngineError`]. What goes wrong later is part of the
/// outcome.
pub fn run(
    job: &Job,
    targets: &[Target],
    stop: &StopFlag,
    progress: &Progress,
) -> Result<Outcome, EngineError> {
    Run::new(job, targets, None, stop, progress).run()
}

/// As [`run`], with a ledger of what was written: stamped writes are entered in it,
/// and checked reads find lost writes by it.
///
/// # Errors
/// As [`run`].
pub fn run_checked(
    job: &Job,
    targets: &[Target],
    ledger: &Ledger,
    stop: &StopFlag,
    progress: &Progress,
) -> Result<Outcome, EngineError> {
    Run::new(job, targets, Some(ledger), stop, progress).run()
}

/// What a worker comes to: a report, none when there was no start, or the reason
/// why it could not be made ready.
pub(crate) type Ending = Result<Option<Report>, EngineError>;

/// One job on its targets, with all that its workers look at.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    targets: &'a [Target],
    ledger: Option<&'a Ledger>,
    pub(crate) signals: Signals<'a>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        job: &'a Job,
        targets: &'a [Target],
        ledger: Option<&'a Ledger>,
        stop: &'a StopFlag,
        progress: &'a Progress,
    ) -> Self {
        let mut signals = Signals::new(stop, progress);
        signals.rounds = Rounds::new(job);
        Self {
            job,
            targets,
            ledger,
            signals,
        }
    }

    /// The only part of a run.
    pub(crate) fn as_part(&self) -> Part<'a> {
        let Signals { stop, progress, .. } = self.signals;
        Part::new(self.job, self.targets, stop, progress)
    }

    fn run(&self) -> Result<Outcome, EngineError> {
        let calibration = self.calibration();
        self.check()?;
        ignore_file_size_signal();
        match self.job.start {
            StartOrder::Together => run_alone(self, &calibration),
            StartOrder::OneAfterAnother => {
                let (clock, first, endings) = self.one_after_another(&calibration)?;
                let ready_ns = clock.ns(calibration.age_ticks(first));
                self.outcome(endings, Some(0), ready_ns, clock.describe(&calibration))
            }
        }
    }

    /// By the clock of this machine, or of simulated devices.
    pub(crate) fn calibration(&self) -> Calibration {
        let is_simulated = |target: &Target| matches!(target, Target::Simulated(_));
        if self.targets.iter().any(is_simulated) {
            Calibration::simulated()
        } else {
            Calibration::begin()
        }
    }

    pub(crate) fn check(&self) -> Result<(), EngineError> {
        check(self.job, self.targets)?;
        Ok(probe(self.job.backend)?)
    }

    /// What the workers came to together, when they began so long after the start, ns,
    /// or `None` for never, and the start was `ready_ns` after the call.
    pub(crate) fn outcome(
        &self,
        endings: Vec<Ending>,
        began_ns: Option<u64>,
        ready_ns: u64,
        clock: String,
    ) -> Result<Outcome, EngineError> {
        let around = Around {
            clock,
            began_ns,
            ready_ns,
            ended_by: self.signals.ended_by(),
            is_stopped: self.signals.stop.is_raised(),
            steady: self.signals.rounds.as_ref().map(Rounds::result),
        };
        Ok(Outcome::of(self.job, reports(endings)?, &around))
    }

    /// Starts each worker when the one before has ended. The second is when the first
    /// of them began, ticks.
    fn one_after_another(
        &self,
        calibration: &Calibration,
    ) -> Result<(Clock, u64, Vec<Ending>), EngineError> {
        let clock = calibration.finish();
        let mut begun = None;
        let mut endings = Vec::with_capacity(self.job.workers());
        for worker in 0..self.job.workers() {
            let gate = Gate::new(1);
            let ending = std::thread::scope(|scope| {
                let thread = self
                    .spawn(scope, worker as u32, &gate, 0, || ())
                    .map_err(|error| self.too_few_threads(worker, &error))?;
                gate.wait_for_all();
                let start = gate.open(clock, begun);
                begun = Some(start.ticks);
                Ok::<_, EngineError>(join(thread))
            })?;
            endings.push(ending);
            if self.signals.failed() || self.signals.stop.is_raised() {
                break;
            }
        }
        Ok((clock, begun.unwrap_or(0), endings))
    }

    /// Starts worker `worker`, which begins `delay_ns` after `gate` opens, and does
    /// `at_end` when it has ended.
    pub(crate) fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        worker: u32,
        gate: &'scope Gate,
        delay_ns: u64,
        at_end: impl FnOnce() + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, Ending>> {
        let work = move || {
            let task = Task::new(self.job, self.targets, worker);
            let ending = worker::run(&task, self.ledger, gate, delay_ns, &self.signals);
            at_end();
            ending
        };
        Builder::new()
            .name(format!("worker {worker}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
    }

    pub(crate) fn too_few_threads(&self, started: usize, error: &io::Error) -> EngineError {
        EngineError::Threads {
            wanted: self.job.workers(),
            started,
            cause: error.to_string(),
        }
    }
}

pub(crate) fn join(thread: ScopedJoinHandle<'_, Ending>) -> Ending {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The reports of all workers, or the first reason why there are none.
fn reports(endings: Vec<Ending>) -> Result<Vec<Report>, EngineError> {
    let reports: Vec<Option<Report>> = endings.into_iter().collect::<Result<_, _>>()?;
    Ok(reports.into_iter().flatten().collect())
}
