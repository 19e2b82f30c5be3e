//! ladder: the same blocks by every way from the disk to the program, and what each
//! step costs.

mod options;
mod plan;

pub use options::{LadderOptions, LadderParameters, Rung};

use stiction_core::{
    BackendKind, CallFlags, Conditions, Environment, Job, PhaseKind, Plan, PlannedTrial,
    RingOptions, Seed, SkipCode, SkipReason, TrialOutcome,
};
use stiction_engine::{Ended, Progress, Target, run};

use crate::admission::admit_files;
use crate::conditions::data_alone;
use crate::ground::on_ground;
use crate::measure::skip;
use crate::order::trial_seed;
use crate::passes::{Pass, lay_down, prime, run_passes, whole_files};
use crate::{Context, Ground, Place, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "ladder";

/// ladder with its options: one worker, one phase for each [`Rung`], with the same block
/// size and the same offsets in the same order.
///
/// The file is the user's, which is only read, or one that is laid down in a directory
/// before. It is dropped from the page cache before each rung but `cached`, before which
/// it is read once. A rung that cannot be had is a result, not the end of the trial.
///
/// | chosen where nothing is asked for | |
/// |---|---|
/// | read at each rung | 256 MiB, half the free space at most |
/// | a read | 128 KiB in order, 4 KiB at random |
/// | in flight in rings | 1, as at the other rungs |
/// | runs | 3 |
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    /// What was asked for.
    pub options: LadderOptions,
}

impl Workload for Ladder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        if self.options.existing_bytes.is_some() {
            return Vec::new();
        }
        requirements::writable(environment)
    }

    fn takes(&self, _plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        data_alone(conditions)
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let parameters: LadderParameters = serde_json::from_value(plan.parameters.clone())?;
        let files = u32::from(!parameters.is_existing);
        let (bytes, may_fill) = (parameters.file_bytes, parameters.may_fill);
        if let Err(reason) = admit_files(context, &[0], files, bytes, may_fill) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let seed = trial_seed(plan, trial);
        on_ground(context, &[0], files, |ground, context| {
            climb(&parameters, trial.repetition, seed, ground, context)
        })
    }
}

/// One rung after another.
fn climb(
    parameters: &LadderParameters,
    run: u32,
    seed: Seed,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<TrialOutcome, SuiteError> {
    let whole = || whole_files(1, parameters.file_bytes);
    if !parameters.is_existing {
        let outcome = run_passes(ground, context, [lay_down(whole(), false, seed.stream(0))])?;
        if outcome != TrialOutcome::Completed {
            return Ok(outcome);
        }
    }
    let device = device_ground(context);
    let mut rungs = parameters.rungs.clone();
    rungs.rotate_left(run as usize % parameters.rungs.len().max(1));
    for rung in rungs {
        let on = match (rung, &device) {
            (Rung::Device, Some(device)) => device,
            _ => ground,
        };
        if let Err(reason) = tried(&job(parameters, rung, seed), on, context) {
            skip(context, rung.name(), PhaseKind::Measure, reason)?;
            continue;
        }
        let pass = Pass::measuring(job(parameters, rung, seed.stream(1)))
            .cold(rung != Rung::Cached)
            .may_fail();
        let before = (rung == Rung::Cached).then(|| prime(whole()));
        let outcome = run_passes(on, context, before.into_iter().chain([pass]))?;
        if outcome != TrialOutcome::Completed {
            return Ok(outcome);
        }
    }
    Ok(TrialOutcome::Completed)
}

/// Whether a block can be read this way. A version or a right says nothing of it: only
/// some devices have queues to poll, and filesystems answer flags of calls as they like.
fn tried(job: &Job, ground: &Ground, context: &Context<'_>) -> Result<(), SkipReason> {
    let one = Job {
        operations_per_worker: Some(1),
        ..job.clone()
    };
    let refused = |why: String| SkipReason::new(SkipCode::NotSupported, why);
    let outcome = run(&one, ground.targets(), context.stop, &Progress::new(1))
        .map_err(|error| refused(error.to_string()))?;
    match outcome.ended {
        // The path is that of a file of this run alone.
        Ended::Failed(failure) => Err(refused(format!("{}: {}", failure.operation, failure.cause))),
        Ended::Planned | Ended::Stopped => Ok(()),
    }
}

/// The raw device, where one was named.
fn device_ground(context: &Context<'_>) -> Option<Ground> {
    let place: &Place = context.places.get(1)?;
    let target = Target::File(place.path().to_owned());
    let stacks = context.stacks.get(1).cloned();
    Some(Ground::of(vec![target], stacks.into_iter().collect()))
}

fn job(parameters: &LadderParameters, rung: Rung, seed: Seed) -> Job {
    let in_ring = matches!(rung, Rung::IoUring | Rung::IoUringPolled);
    Job {
        name: rung.name().to_owned(),
        access: parameters.access,
        block_size_bytes: parameters.block_size_bytes,
        depth: if in_ring { parameters.depth } else { 1 },
        regions: whole_files(1, parameters.file_bytes),
        backend: match rung {
            Rung::Mmap => BackendKind::Mmap,
            _ if in_ring => BackendKind::IoUring,
            _ => BackendKind::Psync,
        },
        call_flags: CallFlags {
            dontcache: rung == Rung::Dontcache,
            ..CallFlags::default()
        },
        ring: RingOptions {
            completion_polling: rung == Rung::IoUringPolled,
            ..RingOptions::default()
        },
        direct: in_ring || matches!(rung, Rung::Direct | Rung::Device),
        duration_ns: Some(parameters.rung_ns),
        once: true,
        seed,
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::Access;

    #[test]
    fn rungs_differ_in_the_way_alone() {
        let parameters = LadderParameters {
            classic: false,
            is_existing: false,
            rungs: Rung::ALL.to_vec(),
            file_bytes: 1 << 20,
            block_size_bytes: 4096,
            access: Access::RandomPermutation,
            depth: 1,
            rung_ns: 5,
            may_fill: false,
        };
        let jobs = Rung::ALL.map(|rung| job(&parameters, rung, Seed(9)));
        for job in &jobs {
            let first = &jobs[0];
            assert_eq!(job.seed, first.seed, "{}", job.name);
            assert_eq!(job.regions, first.regions);
            assert_eq!(job.block_size_bytes, first.block_size_bytes);
            assert_eq!((job.access, job.depth), (first.access, 1));
        }
        let direct: Vec<&str> = jobs
            .iter()
            .filter(|job| job.direct)
            .map(|job| &*job.name)
            .collect();
        assert_eq!(direct, ["direct", "io_uring", "io_uring_polled", "device"]);
    }
}
