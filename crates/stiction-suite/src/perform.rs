//! As `measure`, for work that is no stream of blocks: routines between witnesses.

use std::path::PathBuf;
use std::sync::Arc;

use stiction_core::{
    Caveat, CaveatCode, Job, Phase, PhaseKind, PhaseOutcome, TargetStack, WorkerSummary,
};
use stiction_engine::{Ended, Kept, Performed, Progress, Routine, Timetable, run_routines};
use stiction_host::Witness;

use crate::derive::{Beside, measurements};
use crate::laid::record_layout;
use crate::measure::ran_out;
use crate::preparation::bring_into_state;
use crate::{Context, EventsError};

/// What is to be performed, and what is known of it beforehand.
pub(crate) struct Performance<'a> {
    /// Stable name of the phase.
    pub(crate) name: &'a str,
    /// Purpose of the phase.
    pub(crate) kind: PhaseKind,
    /// What the operations have in common, where they are of one job.
    pub(crate) job: Option<Job>,
    /// Operations that were to begin at set moments; `None` where none was set.
    pub(crate) asked_operations: Option<u64>,
    /// What is recorded, and for how long it goes on.
    pub(crate) timetable: Timetable<'a>,
    /// One for each worker.
    pub(crate) routines: Vec<Routine<'a>>,
    /// What stands under the files.
    pub(crate) stacks: &'a [TargetStack],
    /// Files that the witnesses look at.
    pub(crate) files: Vec<PathBuf>,
    /// Directories below which it writes files: where these lie is recorded afterwards.
    pub(crate) writes_below: Vec<PathBuf>,
    /// Whether `O_DIRECT` was granted; `None` when it was not asked for.
    pub(crate) direct_granted: Option<bool>,
    /// Doubts known before it runs.
    pub(crate) caveats: Vec<Caveat>,
    /// How it is run, for the reader.
    pub(crate) notes: Vec<String>,
}

/// Runs the routines between witnesses and hands the phase to the context's events.
/// Whatever goes wrong with the I/O is in the phase, as with [`measure`](fn@crate::measure).
///
/// # Errors
/// When the events could not keep the phase.
pub(crate) fn perform(
    context: &mut Context<'_>,
    performance: Performance<'_>,
) -> Result<Phase, EventsError> {
    let unready = bring_into_state(context, performance.kind, &performance.files);
    let progress = Arc::new(Progress::new(performance.routines.len()));
    context.events.phase_started(
        performance.name,
        performance.job.as_ref(),
        Arc::clone(&progress),
    );
    let mut phase = Phase::new(performance.name, performance.kind);
    let witness = Witness::begin(
        context.environment.witness,
        performance.stacks,
        &performance.files,
    );
    phase.start_ns = context.now_ns();
    let result = run_routines(
        performance.timetable,
        performance.routines,
        context.stop,
        &progress,
    );
    phase.witnesses = witness.finish();
    phase.witnesses.direct_granted = performance.direct_granted;
    phase.job = performance.job;
    phase.caveats = performance.caveats;
    phase.caveats.extend(unready);
    phase.notes = performance.notes;
    match result {
        Ok(performed) => {
            let cpus = context.environment.cpu.as_ref().map(|cpu| cpu.online);
            fill(&mut phase, cpus, performance.asked_operations, performed);
        }
        Err(error) => {
            phase.outcome = PhaseOutcome::Failed {
                message: error.to_string(),
            }
        }
    }
    record_layout(&performance.writes_below, &mut phase);
    context.events.phase_finished(&phase)?;
    Ok(phase)
}

/// Puts what the routines did into the phase.
fn fill(phase: &mut Phase, cpus: Option<u32>, asked: Option<u64>, performed: Performed) {
    phase.elapsed_ns = performed.elapsed_ns;
    phase.outcome = ending(&performed);
    match &performed.ended {
        Ended::Planned => {}
        Ended::Stopped => phase.caveats.push(Caveat::new(
            CaveatCode::Interrupted,
            format!("{} was stopped before its planned end", phase.name),
        )),
        Ended::Failed(failure) => phase
            .caveats
            .push(Caveat::new(CaveatCode::EndedEarly, failure.to_string())),
    }
    phase.notes.extend(performed.notes);
    phase.witnesses.busiest_worker_cpu_fraction = busiest(&performed.workers, performed.elapsed_ns);
    phase.workers = performed.workers;
    phase.recordings = performed.recordings;
    if !matches!(phase.outcome, PhaseOutcome::Failed { .. }) {
        let beside = Beside {
            cpu: performed.cpu,
            cpus,
            pace: asked.map(|asked_operations| Kept {
                asked_operations,
                done_operations: phase.workers.iter().map(|one| one.operations).sum(),
            }),
            ..Beside::default()
        };
        phase.measurements = measurements(phase, beside);
    }
}

fn ending(performed: &Performed) -> PhaseOutcome {
    let operations: u64 = performed.workers.iter().map(|one| one.operations).sum();
    match &performed.ended {
        Ended::Planned => PhaseOutcome::Completed,
        Ended::Stopped => PhaseOutcome::EndedEarly,
        Ended::Failed(failure) if ran_out(failure) && operations > 0 => PhaseOutcome::EndedEarly,
        Ended::Failed(failure) => PhaseOutcome::Failed {
            message: failure.to_string(),
        },
    }
}

/// CPU share of the busiest worker over the whole phase, 0 to 1.
fn busiest(workers: &[WorkerSummary], elapsed_ns: u64) -> Option<f64> {
    let most_ns = workers.iter().map(|worker| worker.cpu_ns).max()?;
    (elapsed_ns > 0).then(|| (most_ns as f64 / elapsed_ns as f64).min(1.0))
}
