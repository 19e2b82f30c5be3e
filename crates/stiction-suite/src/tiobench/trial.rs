//! One trial: admission, the phases on fresh files, removal.

use std::collections::BTreeMap;

use stiction_core::{
    Caveat, CaveatCode, Job, Phase, PhaseKind, PhaseOutcome, Plan, PlannedTrial, Region, Seed,
    SkipCode, SkipReason, TrialOutcome, format_bytes, format_duration_ns,
};
use stiction_host::{Reserve, admit_bytes};

use super::jobs::{Shape, job, lay_down};
use super::options::{DirectoryUse, TiobenchPhase};
use super::parameters::TiobenchParameters;
use crate::measure::{Request, measure};
use crate::room::memory_bytes;
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
    let ground = match Ground::make(context, &layout.places, shape.threads) {
        Ok(ground) => ground,
        Err(reason) => return skipped(reason),
    };
    let run = Run {
        parameters: &parameters,
        block_size_bytes: shape.block_size_bytes,
        regions: layout.regions,
        on_devices: layout.devices.is_some(),
        seed: plan.seed.stream(place_in(plan, trial)),
    };
    let outcome = phases(&run, &ground, context)?;
    if let Err(error) = ground.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    Ok(TrialReport::new(outcome))
}

/// The trial's place in the plan, by which its random numbers differ from the others'.
fn place_in(plan: &Plan, trial: &PlannedTrial) -> u64 {
    let place = plan.trials.iter().position(|planned| planned == trial);
    place.unwrap_or(plan.trials.len()) as u64
}

/// Where the threads of a trial work.
struct Layout {
    /// Numbers of the places.
    places: Vec<usize>,
    /// How many raw devices they are; `None` for directories.
    devices: Option<u32>,
    /// Each thread's region.
    regions: Vec<Region>,
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

/// Whether the trial can run, before anything is made.
fn admit(
    parameters: &TiobenchParameters,
    shape: Shape,
    layout: &Layout,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    if context.stop.is_raised() {
        return Err(SkipReason::new(
            SkipCode::Interrupted,
            "the run was stopped before this cell",
        ));
    }
    if let Some(timeout_ns) = parameters
        .timeout_ns
        .filter(|&timeout_ns| context.now_ns() >= timeout_ns)
    {
        let detail = format!(
            "no cell begins after {}",
            format_duration_ns(timeout_ns as f64)
        );
        return Err(SkipReason::new(SkipCode::OutOfTime, detail));
    }
    if layout.places.is_empty() {
        return Err(SkipReason::new(
            SkipCode::NotSupported,
            "the plan's directory is not among those given",
        ));
    }
    if shape.file_bytes < shape.block_size_bytes {
        return Err(SkipReason::new(
            SkipCode::NotSupported,
            format!(
                "a block of {} is larger than each thread's {}; give a larger size, smaller blocks or fewer threads",
                format_bytes(shape.block_size_bytes),
                format_bytes(shape.file_bytes)
            ),
        ));
    }
    admit_buffers(shape, context)?;
    admit_alignment(parameters, shape, layout, context)?;
    if layout.devices.is_some() {
        admit_regions(layout, context)
    } else {
        admit_files(parameters, shape, layout, context)
    }
}

/// Half of the memory at most for the threads' buffers.
fn admit_buffers(shape: Shape, context: &Context<'_>) -> Result<(), SkipReason> {
    let needed = u64::from(shape.threads).saturating_mul(shape.block_size_bytes);
    let limit = memory_bytes(context.environment).map_or(u64::MAX, |memory| memory / 2);
    if needed <= limit {
        return Ok(());
    }
    Err(SkipReason::new(
        SkipCode::LimitTooLow,
        format!(
            "{} threads with blocks of {} need {} of memory, more than half of what there is; \
             give fewer threads or smaller blocks",
            shape.threads,
            format_bytes(shape.block_size_bytes),
            format_bytes(needed)
        ),
    ))
}

/// With `O_DIRECT` a device moves whole blocks of its own only.
fn admit_alignment(
    parameters: &TiobenchParameters,
    shape: Shape,
    layout: &Layout,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    if !parameters.direct {
        return Ok(());
    }
    let stacks = layout
        .places
        .iter()
        .filter_map(|&place| context.stacks.get(place));
    let sector = stacks
        .filter_map(|stack| stack.layers.first())
        .map(|layer| u64::from(layer.logical_block_size_bytes))
        .max()
        .unwrap_or(1)
        .max(1);
    if shape.block_size_bytes.is_multiple_of(sector) {
        return Ok(());
    }
    Err(SkipReason::new(
        SkipCode::NotSupported,
        format!(
            "a block of {} bytes is not a multiple of the device's {sector}, which O_DIRECT needs; \
             choose a multiple, or leave O_DIRECT",
            shape.block_size_bytes
        ),
    ))
}

fn admit_regions(layout: &Layout, context: &Context<'_>) -> Result<(), SkipReason> {
    for (device, &place) in layout.places.iter().enumerate() {
        let Place::Device(held) = &context.places[place] else {
            return Err(SkipReason::new(
                SkipCode::UnsafeTarget,
                "directories and raw devices cannot be mixed in one run",
            ));
        };
        let regions = layout
            .regions
            .iter()
            .filter(|region| region.target as usize == device);
        let end = regions
            .map(|region| region.offset_bytes.saturating_add(region.length_bytes))
            .max();
        if end.is_some_and(|end| end > held.length_bytes()) {
            return Err(SkipReason::new(
                SkipCode::NoSpace,
                format!(
                    "the regions need {} of {}, which has {}; give a smaller size, smaller gaps or fewer threads",
                    format_bytes(end.unwrap_or(0)),
                    held.path().display(),
                    format_bytes(held.length_bytes())
                ),
            ));
        }
    }
    Ok(())
}

/// Space in every place, places on one mount counted together; and the largest file.
fn admit_files(
    parameters: &TiobenchParameters,
    shape: Shape,
    layout: &Layout,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    let file_limit = context.environment.limits.file_size_bytes;
    if let Some(limit) = file_limit.filter(|&limit| shape.file_bytes > limit) {
        return Err(SkipReason::new(
            SkipCode::LimitTooLow,
            format!(
                "each thread's file of {} is more than the largest that this process may write, {}; \
                 raise the limit (ulimit -f) or give a smaller size",
                format_bytes(shape.file_bytes),
                format_bytes(limit)
            ),
        ));
    }
    let reserve = if parameters.may_fill {
        Reserve::NONE
    } else {
        Reserve::default()
    };
    let mut wanted: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for thread in 0..shape.threads as usize {
        let place = layout.places[thread % layout.places.len()];
        let mount = context
            .stacks
            .get(place)
            .and_then(|stack| stack.filesystem.as_ref());
        let mount = mount.map_or_else(
            || place.to_string(),
            |filesystem| filesystem.mount_point.clone(),
        );
        let (_, bytes) = wanted.entry(mount).or_insert((place, 0));
        *bytes = bytes.saturating_add(shape.file_bytes);
    }
    for (place, bytes) in wanted.into_values() {
        if let Place::Directory(path) = &context.places[place] {
            admit_bytes(path, bytes, reserve)?;
        }
    }
    Ok(())
}

/// What the phases of one trial have in common.
struct Run<'a> {
    parameters: &'a TiobenchParameters,
    block_size_bytes: u64,
    regions: Vec<Region>,
    on_devices: bool,
    seed: Seed,
}

impl Run<'_> {
    fn job(&self, phase: TiobenchPhase) -> Job {
        job(
            self.parameters,
            phase,
            self.block_size_bytes,
            self.regions.clone(),
            self.on_devices,
            self.seed,
        )
    }
}

/// Runs the phases until one does not come to its planned end: what follows would be
/// about other files than planned.
fn phases(
    run: &Run<'_>,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<TrialOutcome, SuiteError> {
    let writes_first = run.parameters.phases.first() == Some(&TiobenchPhase::Write);
    if !writes_first && (!run.on_devices || run.parameters.verify) {
        let job = lay_down(run.job(TiobenchPhase::Write));
        let phase = measure(context, ground, request(PhaseKind::LayDown, job, None))?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
    }
    for &phase in &run.parameters.phases {
        if context.stop.is_raised() {
            return Ok(TrialOutcome::Interrupted);
        }
        let job = run.job(phase);
        let undropped = if run.parameters.drop_caches {
            ground.drop_caches()
        } else {
            None
        };
        let phase = measure(context, ground, request(PhaseKind::Measure, job, undropped))?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
    }
    Ok(TrialOutcome::Completed)
}

fn request(kind: PhaseKind, job: Job, caveat: Option<Caveat>) -> Request {
    Request {
        name: job.name.clone(),
        kind,
        job,
        caveats: caveat.into_iter().collect(),
        notes: Vec::new(),
    }
}

/// The trial's outcome when `phase` did not come to its planned end.
fn ended_otherwise(phase: &Phase) -> Option<TrialOutcome> {
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
