//! The one trial of quick.

use stiction_core::{
    Caveat, Phase, PhaseKind, PhaseOutcome, Plan, SkipCode, SkipReason, TrialOutcome,
};
use stiction_host::admit_bytes;

use super::budget::slot_ns;
use super::jobs::{Circumstances, job};
use super::options::QuickParameters;
use super::phase::QuickPhase;
use crate::engine_choice::{TRIAL_NS, try_ring};
use crate::ground::on_ground;
use crate::means::{self, Means};
use crate::measure::{Request, measure, skip};
use crate::room::reserve;
use crate::{Context, Ground, Place, SuiteError, TrialReport};

/// Runs the trial.
pub(super) fn run(plan: &Plan, context: &mut Context<'_>) -> Result<TrialReport, SuiteError> {
    let parameters: QuickParameters = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    if let Err(reason) = admit(&parameters, context) {
        return skipped(reason);
    }
    on_ground(context, &[0], 1, |ground, context| {
        phases(plan, &parameters, ground, context)
    })
}

/// Whether the trial can run, before anything is made.
fn admit(parameters: &QuickParameters, context: &Context<'_>) -> Result<(), SkipReason> {
    match &context.places[0] {
        Place::Directory(path) => admit_bytes(
            path,
            parameters.file_size_bytes,
            reserve(parameters.may_fill),
        ),
        place @ (Place::Device(_) | Place::File(_)) => Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            format!(
                "{} is no directory, and quick works in one",
                place.path().display()
            ),
        )),
    }
}

/// Runs the phases, each for its share of the time that is left.
fn phases(
    plan: &Plan,
    parameters: &QuickParameters,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<TrialOutcome, SuiteError> {
    let mut means = means::find(context, ground, parameters.random_block_size_bytes);
    let mut on = Circumstances {
        parameters,
        direct: means.direct,
        ring: means.ring,
        in_memory: means.in_memory,
        written_bytes: parameters.file_size_bytes,
        seed: plan.seed,
    };
    let mut failure = None;
    for phase in QuickPhase::ALL {
        let undropped = if phase.reads() && !on.direct {
            ground.drop_caches(context.stop)
        } else {
            None
        };
        if context.stop.is_raised() {
            return Ok(TrialOutcome::Interrupted);
        }
        let Some(slot_ns) = slot_ns(phase, parameters.budget_ns, context.now_ns()) else {
            let reason = SkipReason::new(
                SkipCode::OutOfTime,
                "the phases before it took all of the time",
            );
            skip(context, phase.name(), PhaseKind::Measure, reason)?;
            continue;
        };
        let measured = measure(
            context,
            ground,
            request(on, phase, slot_ns, &means, undropped),
        )?;
        if let PhaseOutcome::Failed { message } = &measured.outcome {
            failure.get_or_insert_with(|| format!("{}: {message}", phase.name()));
        }
        if phase == QuickPhase::SequentialWrite {
            on.written_bytes = written_bytes(&measured, on);
            if on.written_bytes < parameters.random_block_size_bytes {
                let little = "sequential_write: too little was written to measure on";
                failure.get_or_insert_with(|| little.to_owned());
                break;
            }
            if on.ring {
                means.ring_note = reason_against_ring(on, ground, context);
                on.ring = means.ring_note.is_none();
            }
        }
    }
    Ok(match failure {
        _ if context.stop.is_raised() => TrialOutcome::Interrupted,
        Some(message) => TrialOutcome::Failed { message },
        None => TrialOutcome::Completed,
    })
}

/// Why many operations at once are better done by threads, found by a short trial; `None`
/// when the ring serves them itself.
fn reason_against_ring(
    on: Circumstances<'_>,
    ground: &Ground,
    context: &Context<'_>,
) -> Option<String> {
    let trial_ns = TRIAL_NS.min(on.parameters.budget_ns / 100);
    let tried = job(on, QuickPhase::RandomReadDeep, trial_ns);
    match try_ring(context, ground, &tried, trial_ns) {
        Ok(served) if served.by_helpers() => Some(format!(
            "threads instead of io_uring: in a trial of it {}",
            served.words()
        )),
        Ok(_) => None,
        Err(reason) => Some(format!("threads instead of io_uring: {reason}")),
    }
}

/// Bytes from the file's start that the first phase has certainly written: where it
/// ended by an error, up to a full depth of operations before the last may be missing.
fn written_bytes(phase: &Phase, on: Circumstances<'_>) -> u64 {
    let done: u64 = phase.workers.iter().map(|worker| worker.bytes).sum();
    if phase.outcome == PhaseOutcome::Completed {
        return done;
    }
    let depth = phase.job.as_ref().map_or(1, |job| u64::from(job.depth));
    done.saturating_sub(depth * on.parameters.sequential_block_size_bytes)
}

fn request(
    on: Circumstances<'_>,
    phase: QuickPhase,
    slot_ns: u64,
    means: &Means,
    undropped: Option<Caveat>,
) -> Request<'static> {
    let job = job(on, phase, slot_ns);
    let mut caveats: Vec<Caveat> = undropped.into_iter().collect();
    let mut notes = Vec::new();
    if phase == QuickPhase::Commit {
        notes.push("overwrites blocks that were written before; a commit that lets the file grow costs more".to_owned());
    } else {
        caveats.extend(means.direct_caveat.clone());
        notes.extend(means.notes.iter().cloned());
    }
    if phase.deep() || (phase.sequential() && on.direct) {
        caveats.extend(means.ring_caveat.clone());
        notes.extend(means.ring_note.clone());
    }
    Request {
        name: phase.name().to_owned(),
        caveats,
        notes,
        ..Request::new(PhaseKind::Measure, job)
    }
}
