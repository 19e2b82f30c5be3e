//! One trial: admission, the phases on fresh files, removal.

use stiction_core::{
    Caveat, Estimate, Job, PhaseKind, Plan, PlannedTrial, Region, Seed, SkipCode, SkipReason,
    TrialOutcome,
};
use stiction_engine::Ledger;

use super::admission::admit;
use super::jobs::{Shape, job, lay_down};
use super::options::{DirectoryUse, TiobenchPhase};
use super::parameters::TiobenchParameters;
use crate::conditions::on_laid_files;
use crate::ground::on_ground;
use crate::measure::{Request, ended_otherwise, measure};
use crate::order::trial_seed;
use crate::{Context, Ground, Place, SuiteError, TrialReport};

/// Runs `trial` of `plan`.
pub(super) fn run(
    plan: &Plan,
    trial: &PlannedTrial,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let parameters: TiobenchParameters = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    let Some(shape) = Shape::of(&parameters, &trial.cell) else {
        let detail = format!(
            "the plan's cell `{}` lacks a factor of tiobench",
            trial.cell
        );
        return skipped(SkipReason::new(SkipCode::NotSupported, detail));
    };
    let layout = Layout::of(&parameters, trial, shape, context);
    if let Err(reason) = admit(&parameters, shape, &layout, context) {
        return skipped(reason);
    }
    let seed = trial_seed(plan, trial);
    let run = Run {
        parameters: &parameters,
        block_size_bytes: shape.block_size_bytes,
        regions: layout.regions,
        on_devices: layout.devices.is_some(),
        seed,
        ledger: parameters.verify.then(|| Ledger::new(seed)),
    };
    on_ground(context, &layout.places, shape.threads, |ground, context| {
        run.phases(ground, context)
    })
}

/// What a trial takes; `None` for one of another plan.
pub(super) fn estimate(plan: &Plan, trial: &PlannedTrial) -> Option<Estimate> {
    let parameters: TiobenchParameters = serde_json::from_value(plan.parameters.clone()).ok()?;
    let shape = Shape::of(&parameters, &trial.cell)?;
    let of_phase = |phase| {
        let regions = shape.regions(&parameters, None);
        let (block, seed) = (shape.block_size_bytes, plan.seed);
        Estimate::of_job(&job(&parameters, phase, block, regions, false, seed))
    };
    let lays_down = parameters.phases.first() != Some(&TiobenchPhase::Write);
    let first = lays_down.then_some(TiobenchPhase::Write).into_iter();
    let phases = first.chain(parameters.phases.iter().copied());
    Some(phases.map(of_phase).fold(Estimate::NOTHING, Estimate::then))
}

/// Where the threads of a trial work.
pub(super) struct Layout {
    /// Numbers of the places.
    pub(super) places: Vec<usize>,
    /// How many raw devices they are; `None` for directories.
    pub(super) devices: Option<u32>,
    /// Each thread's region.
    pub(super) regions: Vec<Region>,
}

impl Layout {
    fn of(
        parameters: &TiobenchParameters,
        trial: &PlannedTrial,
        shape: Shape,
        context: &Context<'_>,
    ) -> Self {
        let places = places(parameters, trial, context.places.len());
        let devices = places
            .iter()
            .filter(|&&place| matches!(context.places[place], Place::Device(_)))
            .count();
        let devices = u32::try_from(devices).ok().filter(|&devices| devices > 0);
        Self {
            devices,
            regions: shape.regions(parameters, devices),
            places,
        }
    }
}

/// The numbers of the places that a trial works in: the one that its cell names, or all.
fn places(parameters: &TiobenchParameters, trial: &PlannedTrial, given: usize) -> Vec<usize> {
    let named = trial.cell.get("directory").map(ToString::to_string);
    match (parameters.directory_use, named) {
        (DirectoryUse::InTurn, Some(name)) => {
            let place = parameters.places.iter().position(|place| *place == name);
            place.into_iter().filter(|&place| place < given).collect()
        }
        _ => (0..given).collect(),
    }
}

/// What the phases of one trial have in common.
struct Run<'a> {
    parameters: &'a TiobenchParameters,
    block_size_bytes: u64,
    regions: Vec<Region>,
    on_devices: bool,
    seed: Seed,
    /// What the files hold, when it is to be checked.
    ledger: Option<Ledger>,
}

impl Run<'_> {
    /// Runs the phases until one does not come to its planned end: what follows would
    /// be about other files than planned.
    fn phases(
        &self,
        ground: &Ground,
        context: &mut Context<'_>,
    ) -> Result<TrialOutcome, SuiteError> {
        let parameters = self.parameters;
        let writes_first = parameters.phases.first() == Some(&TiobenchPhase::Write);
        let is_asked_for = context.conditions.file_state().is_some();
        if is_asked_for || (!writes_first && (!self.on_devices || parameters.verify)) {
            let job = lay_down(self.job(TiobenchPhase::Write));
            let phase = measure(context, ground, self.request(PhaseKind::LayDown, job, None))?;
            if let Some(outcome) = ended_otherwise(&phase) {
                return Ok(outcome);
            }
        }
        for &phase in &parameters.phases {
            let undropped = parameters
                .drop_caches
                .then(|| ground.drop_caches(context.stop))
                .flatten();
            if context.stop.is_raised() {
                return Ok(TrialOutcome::Interrupted);
            }
            let job = on_laid_files(context.conditions, self.job(phase));
            let request = self.request(PhaseKind::Measure, job, undropped);
            let phase = measure(context, ground, request)?;
            if let Some(outcome) = ended_otherwise(&phase) {
                return Ok(outcome);
            }
        }
        Ok(TrialOutcome::Completed)
    }

    fn job(&self, phase: TiobenchPhase) -> Job {
        job(
            self.parameters,
            phase,
            self.block_size_bytes,
            self.regions.clone(),
            self.on_devices,
            self.seed.stream(phase as u64),
        )
    }

    fn request(&self, kind: PhaseKind, job: Job, caveat: Option<Caveat>) -> Request<'_> {
        Request {
            ledger: self.ledger.as_ref(),
            caveats: caveat.into_iter().collect(),
            ..Request::new(kind, job)
        }
    }
}
