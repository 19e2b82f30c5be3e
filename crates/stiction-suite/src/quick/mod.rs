//! quick: what a place can do, in a minute, without rights or settings.

mod budget;
mod jobs;
mod options;
mod phase;
mod trial;

pub use options::{QuickOptions, QuickParameters};

use stiction_core::{
    Cell, Conditions, Environment, Estimate, Plan, PlannedTrial, Seed, SkipReason, Timing,
};

use crate::conditions::data_alone;
use crate::order::runs_within_cells;
use crate::sizing::choose;
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "quick";
const NS_PER_S: u64 = 1_000_000_000;
const SECONDS_MAX: u32 = 3600;
/// Largest file that is chosen without being asked for. It bounds what a run writes to
/// a fast device, and takes a disk of 400 MB/s the ten seconds that there are for it.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// Sequential and random reads and writes, and the price of a commit, in one file of
/// one directory.
///
/// The phases are `sequential_write` (which lays the file down), `sequential_read`,
/// `random_read_depth_1`, `random_read_deep`, `random_write_depth_1`,
/// `random_write_deep` and `commit`. They share the time by weight; a phase that
/// overruns, for a sync that nothing can interrupt, takes from those after it.
///
/// `O_DIRECT` and io_uring are used where they work, which is found by trying. Where
/// they do not, reads go through the page cache, emptied and checked before each
/// phase and never twice over the same block; writes are synced on their way; many
/// operations in flight are as many threads. Every phase says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quick {
    /// What was asked for.
    pub options: QuickOptions,
}

impl Workload for Quick {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        let options = self.options;
        if options.seconds == 0 || options.seconds > SECONDS_MAX {
            let problem = format!("{}: give 1 to {SECONDS_MAX}", options.seconds);
            return Err(SuiteError::option("seconds", problem));
        }
        let sizing = choose(
            options.size_bytes,
            FILE_BYTES_MAX,
            environment,
            options.may_fill,
        )
        .map_err(SuiteError::Refused)?;
        let parameters = QuickParameters {
            budget_ns: u64::from(options.seconds) * NS_PER_S,
            file_size_bytes: sizing.file_bytes,
            sequential_block_size_bytes: sizing.sequential_block_bytes,
            sequential_depth: 8,
            random_block_size_bytes: 4096,
            deep: 32,
            buffered_backlog_bytes: 16 << 20,
            interval_ns: 100_000_000,
            timing: Timing::Exact,
            may_fill: options.may_fill,
        };
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(parameters)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: runs_within_cells(&[Cell::new()], 1),
        })
    }

    fn estimate(&self, plan: &Plan, _trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<QuickParameters>(plan.parameters.clone());
        parameters.map_or(Estimate::UNKNOWN, |parameters| Estimate {
            duration_ns: Some(parameters.budget_ns),
            space_bytes: Some(parameters.file_size_bytes),
            ..Estimate::UNKNOWN
        })
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
        _trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        trial::run(plan, context)
    }
}
