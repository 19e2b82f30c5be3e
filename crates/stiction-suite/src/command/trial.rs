//! One run of a command: warmed up, timed, and its figures read.

use std::path::Path;
use std::time::Duration;

use stiction_core::{Caveat, CaveatCode, Phase, PhaseKind, TrialOutcome};
use stiction_host::{EndedProcess, OwnDirectory, Witness, drop_all_caches};

use super::metric::Said;
use super::options::TimedCommandOptions;
use super::said;
use crate::ground::refusal;
use crate::measure::ended_otherwise;
use crate::preparation::bring_all_below;
use crate::program::{ended_with, of_process};
use crate::timed::{Cut, timed};
use crate::{Context, SuiteError, TrialReport};

/// Runs the command in `place`, or in a directory of its own there.
pub(super) fn run(
    options: &TimedCommandOptions,
    place: &Path,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    if !options.fresh_directory {
        return Ok(TrialReport::new(in_directory(options, place, context)?));
    }
    let own = match OwnDirectory::create(place, context.undo) {
        Ok(own) => own,
        Err(error) => {
            let reason = refusal(&error);
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
    };
    let outcome = in_directory(options, own.path(), context)?;
    if let Err(error) = own.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    Ok(TrialReport::new(outcome))
}

fn in_directory(
    options: &TimedCommandOptions,
    directory: &Path,
    context: &mut Context<'_>,
) -> Result<TrialOutcome, SuiteError> {
    for _ in 0..options.warm_ups {
        let phase = timed(context, "warm_up", PhaseKind::Ramp, |context, _| {
            one(options, directory, context).map(drop)
        })?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
    }
    let undropped = options.drop_caches.then(drop_all_caches);
    let unready = bring_all_below(context, PhaseKind::Measure, directory);
    let phase = timed(
        context,
        super::NAME,
        PhaseKind::Measure,
        |context, phase| {
            if let Some(Err(error)) = undropped {
                let detail = error.to_string();
                let doubt = Caveat::new(CaveatCode::CacheNotDropped, detail);
                phase.caveats.push(doubt);
            }
            phase.caveats.extend(unready);
            let witness = Witness::begin(context.environment.witness, context.stacks, &[]);
            let ended = one(options, directory, context);
            phase.witnesses = witness.finish();
            let ended = ended?;
            fill(phase, options, directory, &ended)
        },
    )?;
    Ok(ended_otherwise(&phase).unwrap_or(TrialOutcome::Completed))
}

/// Runs it once.
fn one(
    options: &TimedCommandOptions,
    directory: &Path,
    context: &Context<'_>,
) -> Result<EndedProcess, Cut> {
    let limit = options.limit_ns.map(Duration::from_nanos);
    let ended = options
        .command
        .run_in(directory, Some(context.stop), limit)?;
    if !ended.status.success() && !options.ignore_failure {
        let message = ended_with("the command", ended.status, &ended.talk);
        return Err(Cut::Failed(message));
    }
    Ok(ended)
}

/// Puts what it came to into the phase. A number that is missing fails it.
fn fill(
    phase: &mut Phase,
    options: &TimedCommandOptions,
    directory: &Path,
    ended: &EndedProcess,
) -> Result<(), Cut> {
    phase.elapsed_ns = u64::try_from(ended.elapsed.as_nanos()).unwrap_or(u64::MAX);
    if !ended.status.success() {
        phase.notes.push(format!("it ended with {}", ended.status));
    }
    let said = [
        ("standard output", &ended.output),
        ("standard error", &ended.talk),
    ];
    let notes = said
        .into_iter()
        .filter_map(|(name, text)| said::note(name, text));
    phase.notes.extend(notes);
    let said = Said {
        output: &ended.output,
        talk: &ended.talk,
        directory,
    };
    let own = options.metrics.iter().map(|source| source.find(&said));
    let own: Vec<_> = own.collect::<Result<_, _>>().map_err(Cut::Failed)?;
    phase.measurements = own;
    phase
        .measurements
        .extend(of_process(ended.elapsed, ended.usage));
    Ok(())
}
