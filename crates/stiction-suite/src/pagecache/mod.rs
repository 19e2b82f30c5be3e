//! pagecache: what is already in memory, read in every way: what the copy costs, and
//! whether the tester keeps up.

mod options;
mod plan;

pub use options::{PagecacheOptions, PagecacheParameters};

use stiction_core::{
    Access, BackendKind, Conditions, Environment, Estimate, Job, Plan, PlannedTrial, Seed, SizeMix,
    Sizes, SkipReason, TrialOutcome,
};

use crate::admission::admit_files;
use crate::conditions::data_alone;
use crate::ground::on_ground;
use crate::order::trial_seed;
use crate::passes::{Pass, estimate_of, lay_down, prime, run_passes, whole_files};
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "pagecache";
/// What is read of each block where the call is to be without the copy, bytes.
const PEEK_BYTES: u64 = 64;

/// pagecache with its options: each worker a file of its own, laid down and read once
/// before, so that every phase finds it in memory.
///
/// Phases: `empty_loop` (the engine without I/O: what the measuring costs), then in
/// order and at random `read`, `peek` (the same calls, 64 bytes of each block),
/// `splice` (the pages handed to `/dev/null` through a pipe, no copy) and `touch` (a byte
/// of each page of a mapping, no call): `sequential_read`, `random_touch` and so on.
/// Reads less peeks are the copy.
///
/// | | classic | default |
/// |---|---|---|
/// | files | one for each directory, 200 MB | one of 200 MiB, a quarter of the memory at most |
/// | phases | `random_read` | all |
/// | each phase | ten passes | 2 s |
/// | a block | 4 KiB | 4 KiB |
#[derive(Clone, Debug, Default)]
pub struct Pagecache {
    /// What was asked for.
    pub options: PagecacheOptions,
}

impl Workload for Pagecache {
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
        let parameters: PagecacheParameters = serde_json::from_value(plan.parameters.clone())?;
        let places: Vec<usize> = (0..context.places.len()).collect();
        let (files, bytes) = (parameters.workers, parameters.file_bytes);
        if let Err(reason) = admit_files(context, &places, files, bytes, parameters.may_fill) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let passes = passes(&parameters, trial_seed(plan, trial));
        on_ground(context, &places, files, |ground, context| {
            run_passes(ground, context, passes)
        })
    }
}

/// A way to what is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Read,
    Peek,
    Splice,
    Touch,
}

impl Way {
    const ALL: [Self; 4] = [Self::Read, Self::Peek, Self::Splice, Self::Touch];

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Peek => "peek",
            Self::Splice => "splice",
            Self::Touch => "touch",
        }
    }
}

fn passes(parameters: &PagecacheParameters, seed: Seed) -> Vec<Pass> {
    let regions = whole_files(parameters.workers, parameters.file_bytes);
    let mut passes = vec![
        lay_down(regions.clone(), false, seed.stream(0)),
        prime(regions),
    ];
    if parameters.classic {
        let read = job(parameters, Access::RandomIndependent, Way::Read, seed);
        passes.push(Pass::measuring(read));
        return passes;
    }
    passes.push(Pass::measuring(Job {
        name: "empty_loop".to_owned(),
        backend: BackendKind::Null,
        ..job(parameters, Access::Sequential, Way::Read, seed)
    }));
    for access in [Access::Sequential, Access::RandomPermutation] {
        passes.extend(Way::ALL.map(|way| Pass::measuring(job(parameters, access, way, seed))));
    }
    passes
}

fn job(parameters: &PagecacheParameters, access: Access, way: Way, seed: Seed) -> Job {
    let order = match access {
        Access::Sequential => "sequential",
        Access::RandomPermutation | Access::RandomIndependent => "random",
    };
    let block = parameters.block_size_bytes;
    let peeks = way == Way::Peek;
    let of_a_pass = parameters.file_bytes / block;
    Job {
        name: format!("{order}_{}", way.name()),
        access,
        block_size_bytes: block,
        sizes: peeks.then(|| Sizes::same(SizeMix::One(PEEK_BYTES))),
        hop_bytes: (peeks && access == Access::Sequential).then_some(block),
        regions: whole_files(parameters.workers, parameters.file_bytes),
        backend: match way {
            Way::Read | Way::Peek => BackendKind::Psync,
            Way::Splice => BackendKind::Splice,
            Way::Touch => BackendKind::Mmap,
        },
        without_copy: matches!(way, Way::Splice | Way::Touch),
        once: false,
        duration_ns: parameters.phase_ns,
        operations_per_worker: parameters
            .passes
            .map(|passes| of_a_pass.saturating_mul(passes.into())),
        // The same order for every way.
        seed: seed.stream(1),
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(classic: bool) -> PagecacheParameters {
        PagecacheParameters {
            classic,
            workers: 8,
            file_bytes: 200 << 20,
            block_size_bytes: 4096,
            phase_ns: (!classic).then_some(2_000_000_000),
            passes: classic.then_some(10),
            may_fill: false,
        }
    }

    /// Eight sets of 200 MB, ten times in 4 KiB: 16 000 MB in all, 4.096 million blocks.
    #[test]
    fn the_test_of_2002_reads_as_much_as_it_did() {
        let job = job(
            &parameters(true),
            Access::RandomIndependent,
            Way::Read,
            Seed(1),
        );
        let operations = job.operations_per_worker.unwrap() * job.regions.len() as u64;
        assert_eq!(operations, 4_096_000);
        assert_eq!((operations * job.block_size_bytes) >> 20, 16_000);
    }

    #[test]
    fn every_way_goes_through_the_same_blocks() {
        let jobs: Vec<Job> = Way::ALL
            .map(|way| job(&parameters(false), Access::RandomPermutation, way, Seed(1)))
            .into();
        for job in &jobs {
            assert_eq!(job.block_size_bytes, 4096);
            assert_eq!(job.seed, jobs[0].seed);
        }
        assert_eq!(jobs[1].operation_bytes_max(), PEEK_BYTES);
    }
}
