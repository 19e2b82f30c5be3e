//! parallel: one worker for each of several disks, and how they get on beside each
//! other.

mod options;
mod plan;

pub use options::{ParallelOptions, ParallelParameters, Targets, Ways};

use stiction_core::{
    Access, Action, BackendKind, Conditions, Create, Data, Environment, Estimate, Job, Plan,
    PlannedTrial, Region, Seed, SkipReason, SyncKind, TrialOutcome,
};

use crate::admission::admit_files;
use crate::conditions::data_alone;
use crate::ground::on_ground;
use crate::order::trial_seed;
use crate::passes::{Pass, estimate_of, lay_down, run_passes};
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "parallel";

/// parallel with its options: a worker for each target, let go by one barrier.
///
/// A trial is a phase `write` and a phase `read`, or one of them; each ends when the
/// slowest worker does, and when each of the others did is kept. Files in directories
/// are our own; files and devices that are named are only read; devices that were
/// granted are overwritten.
///
/// | | classic | default |
/// |---|---|---|
/// | an operation | 1 MiB written, 4 KiB read | 1 MiB |
/// | each target | 12 GiB | a share of 2 GiB, half the free space at most |
/// | page cache | left alone | dropped before reads, and checked |
/// | written data are durable | no | yes, an fsync for each |
/// | runs | 1 | 3 |
#[derive(Clone, Debug)]
pub struct Parallel {
    /// What was asked for.
    pub options: ParallelOptions,
}

impl Workload for Parallel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn estimate(&self, plan: &Plan, trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value(plan.parameters.clone());
        let all = |parameters| estimate_of(&passes(&parameters, trial_seed(plan, trial)));
        parameters.map_or(Estimate::UNKNOWN, all)
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        match self.options.targets {
            Targets::Directories => requirements::writable(environment),
            Targets::Existing(_) | Targets::Devices(_) => Vec::new(),
        }
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
        let parameters: ParallelParameters = serde_json::from_value(plan.parameters.clone())?;
        let places: Vec<usize> = (0..context.places.len()).collect();
        let files = match parameters.targets {
            Targets::Directories => u32::try_from(places.len()).unwrap_or(u32::MAX),
            Targets::Existing(_) | Targets::Devices(_) => 0,
        };
        let largest = parameters.sizes_bytes.iter().copied().max().unwrap_or(0);
        if let Err(reason) = admit_files(context, &places, files, largest, parameters.may_fill) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let passes = passes(&parameters, trial_seed(plan, trial));
        on_ground(context, &places, files, |ground, context| {
            run_passes(ground, context, passes)
        })
    }
}

fn passes(parameters: &ParallelParameters, seed: Seed) -> Vec<Pass> {
    let is_own = parameters.targets == Targets::Directories;
    let mut passes = Vec::new();
    match parameters.ways {
        Ways::Both | Ways::Write => {
            passes.push(Pass::measuring(job(parameters, Action::Write, seed)));
        }
        Ways::Read if is_own => {
            passes.push(lay_down(regions(parameters), false, seed.stream(2)));
        }
        Ways::Read => {}
    }
    if parameters.ways != Ways::Write {
        let read = job(parameters, Action::Read, seed);
        passes.push(Pass::measuring(read).cold(parameters.drop_caches));
    }
    passes
}

fn regions(parameters: &ParallelParameters) -> Vec<Region> {
    let sizes = (0..).zip(&parameters.sizes_bytes);
    sizes
        .map(|(target, &length_bytes)| Region {
            target,
            offset_bytes: 0,
            length_bytes,
        })
        .collect()
}

fn job(parameters: &ParallelParameters, action: Action, seed: Seed) -> Job {
    let writes = action == Action::Write;
    let is_own = parameters.targets == Targets::Directories;
    // The first write of a file is in order, or reads would find it in pieces.
    let fresh = writes && is_own;
    Job {
        name: if writes { "write" } else { "read" }.to_owned(),
        access: if fresh {
            Access::Sequential
        } else {
            parameters.access
        },
        action,
        block_size_bytes: if parameters.classic && writes {
            plan::CLASSIC_WRITE_BYTES
        } else {
            parameters.block_size_bytes
        },
        depth: parameters.depth,
        backend: if parameters.depth > 1 {
            BackendKind::IoUring
        } else {
            BackendKind::Psync
        },
        regions: regions(parameters),
        direct: parameters.direct,
        sync_at_end: (writes && !parameters.classic).then_some(SyncKind::Fsync),
        create: if fresh {
            Create::Truncate
        } else {
            Create::Open
        },
        data: if parameters.classic {
            Data::Zeros
        } else {
            Data::Unique
        },
        // What is read is the whole of what was written, so that ends early by time only.
        duration_ns: parameters.duration_ns.filter(|_| !fresh),
        once: true,
        seed: seed.stream(u64::from(writes)),
        ..Job::default()
    }
}
