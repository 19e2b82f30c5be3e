//! The one place where a job meets its witnesses and becomes a phase.

use std::sync::Arc;

use stiction_core::{
    BackendKind, Caveat, CaveatCode, Conditions, CpuTime, Depths, Job, Phase, PhaseKind,
    PhaseOutcome, SkipReason, StartOrder, TrialOutcome, WorkerSummary,
};
use stiction_engine::{
    Cause, Ended, EngineError, IoFailure, Ledger, Operation, Outcome, Progress, WorkerOutcome,
};
use stiction_host::Witness;

use crate::derive::{Beside, measurements};
use crate::preparation::bring_into_state;
use crate::{Context, EventsError, Ground, conditions};

/// What is to be measured, and what is known of it beforehand.
#[derive(Debug)]
pub struct Request<'a> {
    /// Stable name of the phase.
    pub name: String,
    /// Purpose of the phase.
    pub kind: PhaseKind,
    /// The job.
    pub job: Job,
    /// What stamped jobs on the same regions have written so far, so that lost writes
    /// are found too.
    pub ledger: Option<&'a Ledger>,
    /// Doubts known before it runs.
    pub caveats: Vec<Caveat>,
    /// How it is run, for the reader.
    pub notes: Vec<String>,
}

impl Request<'_> {
    /// A job whose phase is called as it is, without a ledger and without doubts.
    pub(crate) fn new(kind: PhaseKind, job: Job) -> Self {
        Self {
            name: job.name.clone(),
            kind,
            job,
            ledger: None,
            caveats: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Request<'_> {
    /// The same with the files and data that were asked for.
    pub(crate) fn under(mut self, conditions: &Conditions) -> Self {
        let (job, note) = conditions::under(conditions, self.kind, self.job);
        self.job = job;
        self.notes.extend(note);
        self
    }
}

/// Runs a job between its witnesses and hands the phase to the context's events.
///
/// Whatever goes wrong with the I/O is in the phase: [`PhaseOutcome::Failed`] when it
/// has no numbers, [`PhaseOutcome::EndedEarly`] with a caveat when its numbers stand
/// for less than was planned.
///
/// # Errors
/// When the events could not keep the phase.
pub fn measure(
    context: &mut Context<'_>,
    ground: &Ground,
    request: Request<'_>,
) -> Result<Phase, EventsError> {
    let phase = measured(context, ground, request)?;
    context.events.phase_finished(&phase)?;
    Ok(phase)
}

/// As [`measure`], without handing the phase on: the caller has something to add.
///
/// # Errors
/// As [`measure`].
pub(crate) fn measured(
    context: &mut Context<'_>,
    ground: &Ground,
    request: Request<'_>,
) -> Result<Phase, EventsError> {
    let unready = bring_into_state(context, request.kind, &ground.paths());
    let request = request.under(context.conditions);
    let job = request.job;
    let progress = Arc::new(Progress::new(job.workers()));
    context
        .events
        .phase_started(&request.name, Some(&job), Arc::clone(&progress));
    let mut phase = Phase::new(request.name, request.kind);
    let witness = Witness::begin(
        context.environment.witness,
        ground.stacks(),
        &ground.paths(),
    );
    phase.start_ns = context.now_ns();
    let (targets, stop) = (ground.targets(), context.stop);
    let result = match request.ledger {
        Some(ledger) => stiction_engine::run_checked(&job, targets, ledger, stop, &progress),
        None => stiction_engine::run(&job, targets, stop, &progress),
    };
    phase.witnesses = witness.finish();
    phase.caveats = request.caveats;
    phase.caveats.extend(unready);
    phase.notes = request.notes;
    // The warm-up, which is in no figure, is known from it.
    phase.job = Some(job.clone());
    match result {
        Ok(outcome) => {
            let cpus = context.environment.cpu.as_ref().map(|cpu| cpu.online);
            let process = phase.witnesses.process_cpu;
            fill(&mut phase, &job, cpus, process, outcome);
        }
        Err(error) => phase.outcome = failed(&error),
    }
    Ok(phase)
}

/// Hands on a phase that does not run.
///
/// # Errors
/// When the events could not keep it.
pub(crate) fn skip(
    context: &mut Context<'_>,
    name: &str,
    kind: PhaseKind,
    reason: SkipReason,
) -> Result<(), EventsError> {
    let mut phase = Phase::new(name, kind);
    phase.start_ns = context.now_ns();
    phase.outcome = PhaseOutcome::Skipped(reason);
    context.events.phase_finished(&phase)
}

pub(crate) fn failed(error: &EngineError) -> PhaseOutcome {
    PhaseOutcome::Failed {
        message: error.to_string(),
    }
}

/// Puts what the engine did into the phase.
/// `process_cpu` is what the whole process used, if all of it belongs to the phase.
pub(crate) fn fill(
    phase: &mut Phase,
    job: &Job,
    cpus: Option<u32>,
    process_cpu: Option<CpuTime>,
    outcome: Outcome,
) {
    phase.elapsed_ns = outcome.elapsed_ns;
    phase.witnesses.direct_granted = outcome.direct_granted;
    phase.witnesses.busiest_worker_cpu_fraction = busiest(job, &outcome);
    phase.outcome = ending(&outcome);
    phase.caveats.extend(outcome.caveats.iter().cloned());
    phase.notes.extend(outcome.notes.iter().cloned());
    phase.depths = depths(&outcome.workers);
    phase.workers = outcome
        .workers
        .iter()
        .map(|worker| worker.summary)
        .collect();
    let beside = Beside {
        cpu: charged_cpu(job.backend, process_cpu, &outcome.workers),
        all_active: outcome.all_active,
        pace: outcome.pace,
        cpus,
    };
    phase.recordings = outcome.recordings;
    if !matches!(phase.outcome, PhaseOutcome::Failed { .. }) {
        phase.measurements = measurements(phase, beside);
    }
}

/// How the phase ended. The engine's caveats say why where it ended early.
fn ending(outcome: &Outcome) -> PhaseOutcome {
    let caveats = &mut outcome.caveats.iter();
    if let Some(wrong) = caveats.find(|caveat| caveat.code == CaveatCode::DataMismatch) {
        return PhaseOutcome::Failed {
            message: wrong.detail.clone(),
        };
    }
    match &outcome.ended {
        Ended::Planned => PhaseOutcome::Completed,
        Ended::Stopped => PhaseOutcome::EndedEarly,
        Ended::Failed(failure) if ran_out(failure) && outcome.operations() > 0 => {
            PhaseOutcome::EndedEarly
        }
        Ended::Failed(failure) => PhaseOutcome::Failed {
            message: failure.to_string(),
        },
    }
}

/// Whether space, quota or the file size limit was used up: what was done until then
/// was done rightly. Not where a sync found that out: then what was written is lost.
pub(crate) fn ran_out(failure: &IoFailure) -> bool {
    let is_sync = matches!(
        failure.operation,
        Operation::Fsync | Operation::Fdatasync | Operation::Msync
    );
    !is_sync
        && matches!(
            failure.cause,
            Cause::Errno(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
}

/// How deep the queues of all workers were; `None` where none was to be.
fn depths(workers: &[WorkerOutcome]) -> Option<Depths> {
    let mut all = Depths::default();
    workers.iter().for_each(|worker| all.merge(&worker.depths));
    (!all.is_empty()).then_some(all)
}

/// CPU share of the busiest worker, 0 to 1: over the whole phase where all workers
/// start together, since one that was busy for a moment of it bounds nothing; over its
/// own time where they take turns.
fn busiest(job: &Job, outcome: &Outcome) -> Option<f64> {
    let share = |worker: &WorkerSummary| {
        let over_ns = match job.start {
            StartOrder::Together => outcome.elapsed_ns,
            StartOrder::OneAfterAnother => worker.last_ns.saturating_sub(worker.first_ns),
        };
        (over_ns > 0).then(|| (worker.cpu_ns as f64 / over_ns as f64).min(1.0))
    };
    let shares = outcome
        .workers
        .iter()
        .filter_map(|worker| share(&worker.summary));
    shares.reduce(f64::max)
}

/// The CPU time that belongs to the phase: its workers', or for rings the whole
/// process's, since the kernel's helpers of a ring are threads of the process and no
/// worker. The process's time holds a little more than the phase: making threads and
/// rings ready.
fn charged_cpu(
    backend: BackendKind,
    process: Option<CpuTime>,
    workers: &[WorkerOutcome],
) -> CpuTime {
    if let (BackendKind::IoUring, Some(process)) = (backend, process) {
        return process;
    }
    workers.iter().map(|worker| worker.cpu).sum()
}

/// The trial's outcome when `phase` did not come to its planned end.
pub(crate) fn ended_otherwise(phase: &Phase) -> Option<TrialOutcome> {
    let failed = |message: &str| {
        Some(TrialOutcome::Failed {
            message: format!("{}: {message}", phase.name),
        })
    };
    match &phase.outcome {
        PhaseOutcome::Completed | PhaseOutcome::Skipped(_) => None,
        PhaseOutcome::Failed { message } => failed(message),
        PhaseOutcome::EndedEarly => {
            let cause = phase
                .caveats
                .iter()
                .find(|caveat| caveat.code == CaveatCode::EndedEarly);
            match cause {
                Some(caveat) => failed(&caveat.detail),
                None => Some(TrialOutcome::Interrupted),
            }
        }
    }
}
