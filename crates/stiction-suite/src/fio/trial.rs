//! The one trial: admission, the waves, removal.

use stiction_core::{
    Access, Action, BackendKind, CacheBefore, Caveat, CaveatCode, Conditions, Create, Data, Job,
    Phase, PhaseKind, PhaseOutcome, Plan, Program, ProgramEnds, ProgramPart, SkipCode, SkipReason,
    TraceStep, TrialOutcome,
};
use stiction_engine::{Ledger, check, probe};

use super::admission::admit;
use super::checking;
use super::files::Files;
use super::replay::Replay;
use crate::conditions::on_laid_files;
use crate::measure::{Request, measure};
use crate::{Context, SuiteError, Together, TrialReport, measure_together};

/// Runs the program of `plan`.
///
/// Steps of traces are not in the plan: they are those of `given`.
pub(super) fn run(
    plan: &Plan,
    given: &Program,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let program: Program = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    if let Err(reason) = admit(&program, context) {
        return skipped(reason);
    }
    let files = match Files::make(&program, context) {
        Ok(files) => files,
        Err(reason) => return skipped(reason),
    };
    if let Err(reason) = possible(&program, &files) {
        return skipped(reason);
    }
    let traces = match traces(&program, given) {
        Ok(traces) => traces,
        Err(reason) => return skipped(reason),
    };
    let stamped = program
        .parts
        .iter()
        .any(|part| part.job.data == Data::Stamped);
    let mut run = Run {
        program: &program,
        traces,
        files,
        ledger: stamped.then(|| Ledger::new(plan.seed)),
        failed: None,
    };
    let ended = run.waves(context)?;
    let outcome = match (ended, run.failed.take()) {
        (_, Some(message)) => TrialOutcome::Failed { message },
        (End::Interrupted, None) => TrialOutcome::Interrupted,
        (End::Planned, None) => TrialOutcome::Completed,
    };
    if let Err(error) = run.files.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    let doubts = program.doubts.iter();
    Ok(TrialReport {
        outcome,
        caveats: doubts
            .map(|doubt| Caveat::new(CaveatCode::JobFile, doubt))
            .collect(),
    })
}

/// Whether the engine takes all the jobs, asked before the first of them runs.
fn possible(program: &Program, files: &Files) -> Result<(), SkipReason> {
    let parts = program.parts.iter().enumerate();
    for (number, part) in parts.filter(|(_, part)| part.trace.is_none()) {
        let refused = |reason: String| SkipReason::new(SkipCode::NotSupported, reason);
        check(&part.job, files.targets(number)).map_err(|error| refused(error.to_string()))?;
        probe(part.job.backend).map_err(|error| refused(error.to_string()))?;
    }
    Ok(())
}

/// The steps of each part's trace; none where it has no trace.
fn traces<'a>(program: &Program, given: &'a Program) -> Result<Vec<&'a [TraceStep]>, SkipReason> {
    let parts = program.parts.iter().enumerate();
    parts
        .map(|(number, part)| {
            let Some(planned) = &part.trace else {
                return Ok(&[] as &[TraceStep]);
            };
            let found = given.parts.get(number).and_then(|part| part.trace.as_ref());
            let list = found.map_or(&[] as &[TraceStep], |trace| &trace.list);
            if list.len() as u64 == planned.steps {
                Ok(list)
            } else {
                let what = format!("{} is not the trace that was planned", planned.path);
                Err(SkipReason::new(SkipCode::NotSupported, what))
            }
        })
        .collect()
}

/// How the waves came to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Planned,
    Interrupted,
}

/// A program while it runs.
struct Run<'a> {
    program: &'a Program,
    /// By part, the steps that it plays.
    traces: Vec<&'a [TraceStep]>,
    files: Files,
    /// What files hold, where it is to be checked.
    ledger: Option<Ledger>,
    /// The first thing that went wrong.
    failed: Option<String>,
}

impl Run<'_> {
    /// Runs wave after wave. A job that fails does not keep later waves from running,
    /// unless it is said to end all.
    fn waves(&mut self, context: &mut Context<'_>) -> Result<End, SuiteError> {
        let last = self.program.parts.iter().map(|part| part.wave).max();
        for wave in 0..=last.unwrap_or(0) {
            let parts: Vec<usize> = (0..self.program.parts.len())
                .filter(|&part| self.program.parts[part].wave == wave)
                .collect();
            if context.stop.is_raised() {
                return Ok(End::Interrupted);
            }
            if !self.prepare(&parts, context)? {
                return Ok(stopped(context));
            }
            if context.stop.is_raised() {
                return Ok(End::Interrupted);
            }
            let phases = self.measure(&parts, context)?;
            self.verify(&parts, &phases, context)?;
            let ended_all = parts.iter().zip(&phases).any(|(&part, phase)| {
                let part = &self.program.parts[part];
                part.ends == ProgramEnds::All || (part.failure_ends_all && wrong(phase).is_some())
            });
            if ended_all {
                break;
            }
        }
        Ok(stopped(context))
    }

    /// Files, and the page cache, for a wave; whether all of it is ready.
    fn prepare(&mut self, parts: &[usize], context: &mut Context<'_>) -> Result<bool, SuiteError> {
        for &part in parts {
            let ledger = self.ledger.as_ref();
            let stamped = self.program.parts[part].job.data == Data::Stamped;
            let ledger = ledger.filter(|_| stamped);
            if let Err(message) = self.files.prepare(self.program, part, ledger, context)? {
                self.fail(message);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs the jobs of a wave.
    fn measure(
        &mut self,
        parts: &[usize],
        context: &mut Context<'_>,
    ) -> Result<Vec<Phase>, SuiteError> {
        let mut undropped: Vec<Option<Caveat>> = Vec::new();
        for &part in parts {
            let drops = self.program.parts[part].cache == CacheBefore::Drop;
            let ground = self.files.ground(self.program, &[part], context.stacks);
            undropped.push(drops.then(|| ground.drop_caches(context.stop)).flatten());
        }
        for &part in parts {
            if self.program.parts[part].cache == CacheBefore::Load {
                self.load(part, context)?;
            }
        }
        let ground = self.files.ground(self.program, parts, context.stacks);
        if let [part] = *parts
            && let Some(trace) = &self.program.parts[part].trace
        {
            let caveats = undropped.into_iter().flatten().collect();
            let targets = self.files.targets(part);
            let planned = &self.program.parts[part];
            let played = Replay {
                part: planned,
                in_flight: trace.in_flight,
                steps: self.traces[part],
                targets,
            };
            let phase = played.play(&ground, caveats, context)?;
            match phase {
                Ok(phase) => {
                    if let Some(message) = wrong(&phase) {
                        self.fail(format!("{}: {message}", phase.name));
                    }
                    return Ok(vec![phase]);
                }
                Err(failure) => {
                    self.fail(format!("{}: {failure}", planned.phase));
                    return Ok(Vec::new());
                }
            }
        }
        let jobs = parts
            .iter()
            .zip(undropped)
            .map(|(&part, caveat)| self.together(part, parts, caveat, context.conditions))
            .collect();
        let phases = measure_together(context, &ground, jobs)?;
        for phase in &phases {
            if let Some(message) = wrong(phase) {
                self.fail(format!("{}: {message}", phase.name));
            }
        }
        Ok(phases)
    }

    /// A part among those of its wave.
    fn together(
        &self,
        part: usize,
        wave: &[usize],
        caveat: Option<Caveat>,
        conditions: &Conditions,
    ) -> Together<'_> {
        let planned = &self.program.parts[part];
        let job = on_laid_files(conditions, planned.job.clone());
        let place_in_wave = |other: &usize| wave.iter().position(|one| one == other);
        let others = |wanted: &dyn Fn(&ProgramPart) -> bool| -> Vec<usize> {
            let places = wave.iter().enumerate().filter(|(_, other)| **other != part);
            places
                .filter(|(_, other)| wanted(&self.program.parts[**other]))
                .map(|(place, _)| place)
                .collect()
        };
        Together {
            request: Request {
                name: planned.phase.clone(),
                ledger: self
                    .ledger
                    .as_ref()
                    .filter(|_| planned.job.data == Data::Stamped),
                caveats: caveat.into_iter().collect(),
                ..Request::new(PhaseKind::Measure, job)
            },
            targets: self.files.targets(part).to_vec(),
            delay_ns: planned.delay_ns,
            after: planned.after.iter().filter_map(place_in_wave).collect(),
            ends: match planned.ends {
                ProgramEnds::Itself => Vec::new(),
                ProgramEnds::Group => others(&|other| other.group == planned.group),
                ProgramEnds::Wave | ProgramEnds::All => others(&|_| true),
            },
            failure_ends: if planned.failure_ends_all {
                others(&|_| true)
            } else {
                Vec::new()
            },
        }
    }

    /// Reads the targets of a part once, so that the page cache has them.
    fn load(&self, part: usize, context: &mut Context<'_>) -> Result<(), SuiteError> {
        let planned = &self.program.parts[part];
        if planned.job.backend == BackendKind::Null {
            return Ok(());
        }
        let ground = self.files.ground(self.program, &[part], context.stacks);
        let job = Job {
            name: "load".to_owned(),
            access: Access::Sequential,
            action: Action::Read,
            block_size_bytes: planned.job.block_size_bytes,
            regions: planned.job.regions.clone(),
            regions_per_worker: planned.job.regions_per_worker,
            create: Create::Open,
            ..Job::default()
        };
        measure(context, &ground, Request::new(PhaseKind::Prepare, job))?;
        Ok(())
    }

    /// Reads back what the jobs of a wave wrote to be checked.
    fn verify(
        &mut self,
        parts: &[usize],
        phases: &[Phase],
        context: &mut Context<'_>,
    ) -> Result<(), SuiteError> {
        for (&part, phase) in parts.iter().zip(phases) {
            let planned = &self.program.parts[part];
            let nothing_written = phase.workers.iter().all(|worker| worker.operations == 0);
            if !planned.verify_after || nothing_written || context.stop.is_raised() {
                continue;
            }
            let ground = self.files.ground(self.program, &[part], context.stacks);
            // What is read back is to come from the device.
            let undropped = ground.drop_caches(context.stop);
            let mut request = checking::request(planned, phase, self.ledger.as_ref());
            request.caveats.extend(undropped);
            let phase = measure(context, &ground, request)?;
            if let Some(message) = wrong(&phase) {
                self.fail(format!("{}: {message}", phase.name));
            }
        }
        Ok(())
    }

    /// Keeps the first thing that went wrong.
    fn fail(&mut self, message: String) {
        self.failed.get_or_insert(message);
    }
}

fn stopped(context: &Context<'_>) -> End {
    if context.stop.is_raised() {
        End::Interrupted
    } else {
        End::Planned
    }
}

/// What went wrong in a phase, if it did; to be stopped is not wrong.
pub(super) fn wrong(phase: &Phase) -> Option<String> {
    let detail = |code| {
        let mut caveats = phase.caveats.iter();
        let cause = caveats.find(|caveat| caveat.code == code);
        cause.map(|caveat| caveat.detail.clone())
    };
    // Operations that failed and were not expected are wrong, even if it went on.
    match &phase.outcome {
        PhaseOutcome::Skipped(_) => None,
        PhaseOutcome::Completed => detail(CaveatCode::OperationsFailed),
        PhaseOutcome::Failed { message } => Some(message.clone()),
        PhaseOutcome::EndedEarly => {
            detail(CaveatCode::EndedEarly).or_else(|| detail(CaveatCode::OperationsFailed))
        }
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::PhaseKind;

    use super::*;

    #[test]
    fn failures_that_were_gone_on_after_are_wrong_and_a_stop_is_not() {
        let phase = |outcome, code: Option<CaveatCode>| {
            let mut phase = Phase::new("one", PhaseKind::Measure);
            phase.outcome = outcome;
            phase.caveats = code
                .map(|code| Caveat::new(code, "so"))
                .into_iter()
                .collect();
            wrong(&phase)
        };
        let failed = Some(CaveatCode::OperationsFailed);
        let so = Some("so".to_owned());
        assert_eq!(phase(PhaseOutcome::Completed, failed), so);
        assert_eq!(phase(PhaseOutcome::EndedEarly, failed), so);
        assert_eq!(
            phase(PhaseOutcome::EndedEarly, Some(CaveatCode::EndedEarly)),
            so
        );
        let stopped = Some(CaveatCode::Interrupted);
        assert_eq!(phase(PhaseOutcome::EndedEarly, stopped), None);
        assert_eq!(
            phase(PhaseOutcome::Completed, Some(CaveatCode::TooShort)),
            None
        );
    }
}
