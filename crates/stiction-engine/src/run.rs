//! Runs a job: starts the workers, waits for them, and adds up what they did.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use stiction_core::{Job, StartOrder};

use crate::backend::probe;
use crate::clock::{Calibration, Clock};
use crate::data::Ledger;
use crate::gate::Gate;
use crate::log::Signals;
use crate::task::{Task, WORKERS_MAX, check, shared_stamps};
use crate::thread::ignore_file_size_signal;
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

/// One of several jobs that run together.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What is done.
    pub job: &'a Job,
    /// Where it goes; the job's numbers of targets are places in this.
    pub targets: &'a [Target],
    /// What is known of stamped blocks, as for [`run_checked`].
    pub ledger: Option<&'a Ledger>,
    /// Ends this job early; jobs may share one.
    pub stop: &'a StopFlag,
    /// How far this job is.
    pub progress: &'a Progress,
}

/// Runs several jobs at the same time, and returns when the workers of all have
/// ended: the outcomes, in the order of `parts`.
///
/// All workers of all jobs start at one moment, from which all times are counted.
/// Each job has its own end, and one that fails does not stop the others.
///
/// # Errors
/// As [`run`], when none of the jobs did anything; jobs whose workers start one after
/// another cannot be run together with others.
pub fn run_together(parts: &[Part<'_>]) -> Result<Vec<Outcome>, EngineError> {
    let runs: Vec<Run<'_>> = parts
        .iter()
        .map(|part| {
            Run::new(
                part.job,
                part.targets,
                part.ledger,
                part.stop,
                part.progress,
            )
        })
        .collect();
    let workers: usize = parts.iter().map(|part| part.job.regions.len()).sum();
    for part in parts {
        let refusal = |reason| EngineError::Job {
            job: part.job.name.clone(),
            reason,
        };
        if part.job.start == StartOrder::OneAfterAnother {
            let reason = "its workers start one after another, so it runs alone";
            return Err(refusal(reason.to_owned()));
        }
        if workers > WORKERS_MAX {
            return Err(refusal(format!(
                "it and the jobs beside it have {workers} workers; {WORKERS_MAX} are possible"
            )));
        }
    }
    runs.iter().try_for_each(Run::check)?;
    let jobs: Vec<(&Job, &[Target])> = (parts.iter())
        .map(|part| (part.job, part.targets))
        .collect();
    if let Some(reason) = shared_stamps(&jobs) {
        let job = parts[0].job.name.clone();
        return Err(EngineError::Job { job, reason });
    }
    ignore_file_size_signal();
    let calibration = Calibration::begin();
    let (clock, endings) = together(&runs, &calibration)?;
    let clock = clock.describe(&calibration);
    runs.iter()
        .zip(endings)
        .map(|(run, endings)| run.outcome(endings, clock.clone()))
        .collect()
}

/// What a worker comes to: a report, none when there was no start, or the reason
/// why it could not be made ready.
type Ending = Result<Option<Report>, EngineError>;

struct Run<'a> {
    job: &'a Job,
    targets: &'a [Target],
    ledger: Option<&'a Ledger>,
    signals: Signals<'a>,
}

/// Starts all workers of all jobs at once, when the last of them is ready. What they
/// come to is given by job.
fn together(
    runs: &[Run<'_>],
    calibration: &Calibration,
) -> Result<(Clock, Vec<Vec<Ending>>), EngineError> {
    let wanted: usize = runs.iter().map(|run| run.job.regions.len()).sum();
    let gate = Gate::new(wanted as u32);
    let failed = || runs.iter().any(|run| run.signals.failed());
    std::thread::scope(|scope| {
        let mut threads: Vec<Vec<_>> = Vec::with_capacity(runs.len());
        let mut started = 0;
        let mut refusal = None;
        for run in runs {
            let mut own = Vec::with_capacity(run.job.regions.len());
            while own.len() < run.job.regions.len() && refusal.is_none() && !failed() {
                match run.spawn(scope, own.len() as u32, &gate) {
                    Ok(thread) => own.push(thread),
                    Err(error) => refusal = Some(run.too_few_threads(own.len(), &error)),
                }
            }
            started += own.len();
            threads.push(own);
        }
        if started == wanted {
            gate.wait_for_all();
        }
        let clock = calibration.finish();
        if started == wanted && !failed() {
            gate.open(clock, None);
        } else {
            gate.abandon();
        }
        let endings = threads
            .into_iter()
            .map(|own| own.into_iter().map(join).collect())
            .collect();
        // A worker that failed has the better reason.
        match refusal {
            Some(error) if !failed() => Err(error),
            _ => Ok((clock, endings)),
        }
    })
}

impl<'a> Run<'a> {
    fn new(
        job: &'a Job,
        targets: &'a [Target],
        ledger: Option<&'a Ledger>,
        stop: &'a StopFlag,
        progress: &'a Progress,
    ) -> Self {
        Self {
            job,
            targets,
            ledger,
            signals: Signals::new(stop, progress),
        }
    }

    fn run(&self) -> Result<Outcome, EngineError> {
        self.check()?;
        ignore_file_size_signal();
        let calibration = Calibration::begin();
        let (clock, endings) = match self.job.start {
            StartOrder::Together => {
                let (clock, endings) = together(std::slice::from_ref(self), &calibration)?;
                (clock, endings.into_iter().flatten().collect())
            }
            StartOrder::OneAfterAnother => self.one_after_another(&calibration)?,
        };
        self.outcome(endings, clock.describe(&calibration))
    }

    fn check(&self) -> Result<(), EngineError> {
        check(self.job, self.targets)?;
        Ok(probe(self.job.backend)?)
    }

    fn outcome(&self, endings: Vec<Ending>, clock: String) -> Result<Outcome, EngineError> {
        Ok(Outcome::of(self.job, reports(endings)?, clock))
    }

    /// Starts each worker when the one before has ended.
    fn one_after_another(
        &self,
        calibration: &Calibration,
    ) -> Result<(Clock, Vec<Ending>), EngineError> {
        let clock = calibration.finish();
        let mut begun = None;
        let mut endings = Vec::with_capacity(self.job.regions.len());
        for worker in 0..self.job.regions.len() {
            let gate = Gate::new(1);
            let ending = std::thread::scope(|scope| {
                let thread = self
                    .spawn(scope, worker as u32, &gate)
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
        Ok((clock, endings))
    }

    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        worker: u32,
        gate: &'scope Gate,
    ) -> io::Result<ScopedJoinHandle<'scope, Ending>> {
        let work = move || {
            let task = Task::new(self.job, self.targets, worker);
            worker::run(&task, self.ledger, gate, &self.signals)
        };
        Builder::new()
            .name(format!("worker {worker}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
    }

    fn too_few_threads(&self, started: usize, error: &io::Error) -> EngineError {
        EngineError::Threads {
            wanted: self.job.regions.len(),
            started,
            cause: error.to_string(),
        }
    }
}

fn join(thread: ScopedJoinHandle<'_, Ending>) -> Ending {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The reports of all workers, or the first reason why there are none.
fn reports(endings: Vec<Ending>) -> Result<Vec<Report>, EngineError> {
    let reports: Vec<Option<Report>> = endings.into_iter().collect::<Result<_, _>>()?;
    Ok(reports.into_iter().flatten().collect())
}
