//! contest: a job timed while one load runs beside it.

mod append;
mod build;
mod job;
mod laying;
mod loads;
mod options;
mod part;
mod plan;
mod trial;
mod window;

pub use build::{BuildSize, rounds_for};
pub use loads::Load;
pub use options::{ContestOptions, ContestParameters, JobWanted, LoadData, TimedJob};
pub use part::{PART, run_part};

use std::path::PathBuf;

use stiction_core::{Environment, Plan, PlannedTrial, Seed, SkipReason};

use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "contest";

/// contest with its options. The job and the loads work in the first place; `io_other`
/// works in the second, and a tree of the user's that is compiled is the last one.
///
/// A trial is one load. It lays everything down (`lay_down`), empties the page cache of
/// it, starts the load and waits until it is steady (`steady`), measures the load alone
/// (`load_alone`) and then the job beside it (`job`), and says how long the load took to
/// end (`drain`). `cacherun` runs the job once before, so that all it reads is in memory.
///
/// | | classic | default |
/// |---|---|---|
/// | the job starts | with the load | when the load is steady |
/// | the load alone | not measured | measured before each job |
/// | order | all runs of a load, then the next load | drawn, each load once before any again |
/// | runs | 1 | 3 |
#[derive(Clone, Debug, Default)]
pub struct Contest {
    /// What was asked for.
    pub options: ContestOptions,
    /// The program whose first argument may be [`PART`]: it then does what
    /// [`run_part`] does.
    pub helper: PathBuf,
}

impl Workload for Contest {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn requires(&self, plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        // A tree of the user's is only read.
        let written = plan::places_written(plan);
        requirements::writable_targets(environment.targets.iter().take(written))
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        trial::run(plan, trial, &self.helper, context)
    }
}
