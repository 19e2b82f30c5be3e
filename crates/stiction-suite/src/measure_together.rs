//! Where jobs that run at the same time meet the witnesses that they share.

use std::path::PathBuf;
use std::sync::Arc;

use stiction_core::{
    Caveat, CaveatCode, Direction, MovedBeside, Phase, PhaseKind, PhaseOutcome, Recording,
    WitnessLevel,
};
use stiction_engine::{EngineError, Outcome, Part, Progress, Target, run_together};
use stiction_host::{FileWitness, Witness};

use crate::measure::{Request, failed, fill};
use crate::preparation::bring_into_state;
use crate::{Context, EventsError, Ground};

/// One of several jobs that are measured together. Others are meant by their place in
/// what [`measure_together`] is given.
#[derive(Debug)]
pub struct Together<'a> {
    /// What is to be measured.
    pub request: Request<'a>,
    /// Where; the job's numbers of targets are places in this.
    pub targets: Vec<Target>,
    /// Least and most that each worker waits before it begins, ns.
    pub delay_ns: (u64, u64),
    /// Jobs that must have ended before this one begins.
    pub after: Vec<usize>,
    /// Jobs that are ended when this one has ended.
    pub ends: Vec<usize>,
    /// Jobs that are ended when this one fails.
    pub failure_ends: Vec<usize>,
}

/// Runs jobs at the same time between one set of witnesses, and hands a phase for each
/// to the context's events, in their order.
///
/// What the devices moved and the CPUs did is of all the jobs: each phase says what the
/// others moved meanwhile, and carries a doubt. What is known of files is of its own. `ground` has the targets of all.
///
/// # Errors
/// When the events could not keep a phase.
pub fn measure_together(
    context: &mut Context<'_>,
    ground: &Ground,
    jobs: Vec<Together<'_>>,
) -> Result<Vec<Phase>, EventsError> {
    let jobs: Vec<Together<'_>> = jobs
        .into_iter()
        .map(|one| Together {
            request: one.request.under(context.conditions),
            ..one
        })
        .collect();
    let paths = ground.paths();
    let kinds = jobs.iter().map(|one| one.request.kind);
    // Files of all, since they all begin together.
    let unready = kinds
        .max_by_key(|&kind| kind == PhaseKind::Measure)
        .and_then(|kind| bring_into_state(context, kind, &paths));
    let progress: Vec<Arc<Progress>> = jobs
        .iter()
        .map(|one| Arc::new(Progress::new(one.request.job.workers())))
        .collect();
    for (one, progress) in jobs.iter().zip(&progress) {
        let request = &one.request;
        let events = &mut context.events;
        events.phase_started(&request.name, Some(&request.job), Arc::clone(progress));
    }
    let parts: Vec<Part<'_>> = jobs
        .iter()
        .zip(&progress)
        .map(|(one, progress)| Part {
            ledger: one.request.ledger,
            delay_ns: one.delay_ns,
            after: &one.after,
            ends: &one.ends,
            failure_ends: &one.failure_ends,
            ..Part::new(&one.request.job, &one.targets, context.stop, progress)
        })
        .collect();
    let files: Vec<FileWitness> = jobs
        .iter()
        .map(|one| of_files(context.environment.witness, &one.targets))
        .collect();
    let witness = Witness::begin(context.environment.witness, ground.stacks(), &[]);
    let start_ns = context.now_ns();
    let results = run_together(&parts);
    let witnesses = witness.finish();
    drop(parts);
    let results = each(results, jobs.len());
    let moved: Vec<MovedBeside> = results.iter().map(moved).collect();
    let cpus = context.environment.cpu.as_ref().map(|cpu| cpu.online);
    let mut phases = Vec::with_capacity(jobs.len());
    let each = jobs.into_iter().zip(results).zip(files);
    for (number, ((one, result), files)) in each.enumerate() {
        let Request { job, caveats, .. } = one.request;
        let mut phase = Phase::new(one.request.name, one.request.kind);
        phase.start_ns = start_ns;
        phase.witnesses = witnesses.clone();
        files.finish(&mut phase.witnesses);
        phase.caveats = caveats;
        phase.caveats.extend(unready.clone());
        phase.notes = one.request.notes;
        let mut process_cpu = phase.witnesses.process_cpu;
        if moved.len() > 1 {
            process_cpu = None;
            phase.witnesses.beside = Some(beside(&moved, number));
            phase.caveats.push(shared(moved.len() - 1));
        }
        // The warm-up, which is in no figure, is known from it.
        phase.job = Some(job.clone());
        match result {
            Ok(outcome) => {
                phase.start_ns += outcome.began_ns.unwrap_or(0);
                fill(&mut phase, &job, cpus, process_cpu, outcome);
            }
            Err(message) => phase.outcome = PhaseOutcome::Failed { message },
        }
        context.events.phase_finished(&phase)?;
        phases.push(phase);
    }
    Ok(phases)
}

/// The readings of a job's own files.
fn of_files(level: WitnessLevel, targets: &[Target]) -> FileWitness {
    let paths: Vec<PathBuf> = targets.iter().map(|target| target.path().into()).collect();
    FileWitness::begin(level, &paths)
}

/// What became of each job; when nothing ran, all failed for one reason.
fn each(
    results: Result<Vec<Result<Outcome, EngineError>>, EngineError>,
    jobs: usize,
) -> Vec<Result<Outcome, String>> {
    match results {
        Ok(results) => results
            .into_iter()
            .map(|result| result.map_err(|error| error.to_string()))
            .collect(),
        Err(error) => {
            let PhaseOutcome::Failed { message } = failed(&error) else {
                return Vec::new();
            };
            vec![Err(message); jobs]
        }
    }
}

/// What one job moved.
fn moved(result: &Result<Outcome, String>) -> MovedBeside {
    let Ok(outcome) = result else {
        return MovedBeside::default();
    };
    let of = |direction| {
        let mut found = outcome.recordings.iter();
        let recording = found.find(|recording| recording.direction == direction);
        recording.map_or((0, 0), |one: &Recording| (one.operations(), one.bytes()))
    };
    let ((reads, read_bytes), (writes, written_bytes)) =
        (of(Direction::Read), of(Direction::Write));
    MovedBeside {
        jobs: 1,
        reads,
        read_bytes,
        writes,
        written_bytes,
    }
}

/// What all jobs but `number` moved.
fn beside(moved: &[MovedBeside], number: usize) -> MovedBeside {
    let others = moved
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != number);
    others.fold(MovedBeside::default(), |sum, (_, one)| MovedBeside {
        jobs: sum.jobs + 1,
        reads: sum.reads + one.reads,
        read_bytes: sum.read_bytes + one.read_bytes,
        writes: sum.writes + one.writes,
        written_bytes: sum.written_bytes + one.written_bytes,
    })
}

fn shared(others: usize) -> Caveat {
    let jobs = if others == 1 { "job" } else { "jobs" };
    Caveat::new(
        CaveatCode::SharedWitness,
        format!("{others} other {jobs} ran at the same time: what the device moved is of all"),
    )
}
