//! One trial of a curve: lay the file down, find the closed loop's maximum, and raise
//! the rate of an open one.

use stiction_core::{
    Caveat, Job, Phase, PhaseKind, PhaseOutcome, Plan, PlannedTrial, RateOutcome, Seed, SkipCode,
    SkipReason, TrialOutcome, metrics,
};
use stiction_host::admit_bytes;

use super::MAXIMUM;
use super::jobs::{Circumstances, arrivals_word, job, lay_down};
use super::options::CurveParameters;
use super::search::{Search, rate_per_s};
use crate::engine_choice::{Way, choose_way};
use crate::means::{self, Means};
use crate::measure::{Request, measure};
use crate::room::reserve;
use crate::{Context, Ground, Place, SuiteError, TrialReport};

/// Runs the trial.
pub(super) fn run(
    plan: &Plan,
    trial: &PlannedTrial,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let parameters: CurveParameters = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    let length_bytes = match admit(&parameters, context) {
        Ok(bytes) => bytes,
        Err(reason) => return skipped(reason),
    };
    let ground = match Ground::make(context, &[0], 1) {
        Ok(ground) => ground,
        Err(reason) => return skipped(reason),
    };
    let course = Course {
        parameters: &parameters,
        length_bytes,
        seed: plan.seed.stream(trial.repetition.into()),
        ground: &ground,
    };
    let outcome = course.run(context)?;
    if let Err(error) = ground.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    Ok(TrialReport::new(outcome))
}

/// The bytes to work on, or why there are none.
fn admit(parameters: &CurveParameters, context: &Context<'_>) -> Result<u64, SkipReason> {
    let wanted = parameters.file_size_bytes;
    match &context.places[0] {
        Place::Directory(path) => {
            admit_bytes(path, wanted, reserve(parameters.may_fill)).map(|()| wanted)
        }
        Place::Device(device) if device.length_bytes() < wanted => Err(SkipReason::new(
            SkipCode::NoSpace,
            format!(
                "{} has {} bytes, and {wanted} are wanted: ask for a smaller size",
                device.path().display(),
                device.length_bytes()
            ),
        )),
        Place::Device(_) => Ok(wanted),
        Place::File(path) => Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            format!(
                "{} is a file of yours, and a curve lays down its own",
                path.display()
            ),
        )),
    }
}

/// What all phases of the trial share.
struct Course<'a> {
    parameters: &'a CurveParameters,
    length_bytes: u64,
    seed: Seed,
    ground: &'a Ground,
}

/// Why there are no further phases.
enum Halt {
    Trial(TrialOutcome),
    Error(SuiteError),
}

impl<E: Into<SuiteError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Course<'_> {
    fn run(&self, context: &mut Context<'_>) -> Result<TrialOutcome, SuiteError> {
        match self.phases(context) {
            Ok(()) => Ok(TrialOutcome::Completed),
            Err(Halt::Trial(outcome)) => Ok(outcome),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn phases(&self, context: &mut Context<'_>) -> Result<(), Halt> {
        let means = means::find(context, self.ground, self.parameters.block_size_bytes);
        let written_bytes = self.lay_down(context, &means)?;
        let chosen = choose_way(
            context,
            self.ground,
            &means,
            self.parameters.engine,
            |way| {
                let on = self.circumstances(way, &means, written_bytes);
                job(on, "probe".to_owned(), None, self.seed)
            },
        )
        .map_err(|reason| Halt::Trial(TrialOutcome::Skipped(reason)))?;
        let on = self.circumstances(chosen.way, &means, written_bytes);
        let mut caveats: Vec<Caveat> = means.direct_caveat.iter().cloned().collect();
        caveats.extend(chosen.caveat);
        let mut notes = means.notes.clone();
        notes.push(chosen.why);

        let closed = job(on, MAXIMUM.to_owned(), None, on.seed.stream(1));
        let mut closed_notes = notes.clone();
        closed_notes.push("closed loop: as many operations in flight as are allowed".to_owned());
        let maximum = self.measure(context, on, closed, &caveats, closed_notes)?;
        let Some(maximum_per_s) = maximum.value(&metrics::OPERATION_RATE) else {
            let message = format!("{MAXIMUM}: too little was done to tell a rate");
            return Err(Halt::Trial(TrialOutcome::Failed { message }));
        };

        notes.push(format!(
            "open loop, {}: latency counts from the moment an operation was to begin",
            arrivals_word(self.parameters.arrivals)
        ));
        let (points, bisections) = (self.parameters.points, self.parameters.bisections);
        let mut search = Search::new(maximum_per_s, points, bisections);
        while let Some(step) = search.next() {
            let rate = rate_per_s(step);
            let name = format!("rate_{rate}_per_s");
            let seed = on.seed.stream(1000 + u64::from(step.unsigned_abs()));
            let open = job(on, name.clone(), Some(rate), seed);
            let phase = self.measure(context, on, open, &caveats, notes.clone())?;
            let Some(outcome) = self.parameters.bound.judge(&phase) else {
                let message = format!("{name}: too little was done to tell its latency");
                return Err(Halt::Trial(TrialOutcome::Failed { message }));
            };
            search.tell(
                step,
                matches!(outcome, RateOutcome::Held | RateOutcome::TooFew),
            );
        }
        Ok(())
    }

    fn circumstances(&self, way: Way, means: &Means, written_bytes: u64) -> Circumstances<'_> {
        Circumstances {
            parameters: self.parameters,
            way,
            in_memory: means.in_memory,
            written_bytes,
            seed: self.seed,
        }
    }

    /// Writes the file, and returns how much of it is there.
    fn lay_down(&self, context: &mut Context<'_>, means: &Means) -> Result<u64, Halt> {
        let job = lay_down(
            self.parameters,
            self.length_bytes,
            means.direct,
            self.seed.stream(0),
        );
        let block = job.block_size_bytes;
        let request = Request::new(PhaseKind::LayDown, job);
        let phase = measure(context, self.ground, request)?;
        self.go_on(context, &phase)?;
        let done: u64 = phase.workers.iter().map(|worker| worker.bytes).sum();
        let written = match phase.outcome {
            PhaseOutcome::Completed => done,
            // The last block may be there in part.
            _ => done.saturating_sub(block),
        };
        let least = self.parameters.block_size_bytes * u64::from(self.parameters.depth_max);
        if written < least {
            let message = format!(
                "lay_down: only {written} bytes were written in the time there is, and \
                 {least} are needed for the operations in flight"
            );
            return Err(Halt::Trial(TrialOutcome::Failed { message }));
        }
        Ok(written)
    }

    fn measure(
        &self,
        context: &mut Context<'_>,
        on: Circumstances<'_>,
        job: Job,
        caveats: &[Caveat],
        notes: Vec<String>,
    ) -> Result<Phase, Halt> {
        let mut caveats = caveats.to_vec();
        if job.action.reads() && !job.direct && !on.in_memory {
            caveats.extend(self.ground.drop_caches(context.stop));
        }
        let request = Request {
            caveats,
            notes,
            ..Request::new(PhaseKind::Measure, job)
        };
        let phase = measure(context, self.ground, request)?;
        self.go_on(context, &phase)?;
        Ok(phase)
    }

    /// Nothing follows a phase that failed, or a stop.
    fn go_on(&self, context: &Context<'_>, phase: &Phase) -> Result<(), Halt> {
        if context.stop.is_raised() {
            return Err(Halt::Trial(TrialOutcome::Interrupted));
        }
        match &phase.outcome {
            PhaseOutcome::Failed { message } => Err(Halt::Trial(TrialOutcome::Failed {
                message: format!("{}: {message}", phase.name),
            })),
            _ => Ok(()),
        }
    }
}
