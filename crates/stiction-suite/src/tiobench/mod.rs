//! tiobench: threads that write and read files, sequentially and at random.

mod admission;
pub mod amounts;
mod jobs;
mod matrix;
mod options;
mod parameters;
mod resolve;
mod trial;

pub use options::{
    DirectoryUse, FileSize, RandomAmount, RawLayout, TiobenchMode, TiobenchOptions, TiobenchPhase,
};
pub use parameters::TiobenchParameters;

use stiction_core::{Conditions, Environment, Estimate, Plan, PlannedTrial, Seed, SkipReason};

use crate::conditions::refuse;
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "tiobench";

/// tiobench with its options.
///
/// A trial is one combination of size, block size, threads and, where directories are
/// used in turn, directory: a file (or region) for each thread, four phases on them,
/// the files removed. The phases are `write`, `random_write`, `read`, `random_read`.
///
/// What it chooses where nothing is asked for:
///
/// | | classic | default |
/// |---|---|---|
/// | threads | 1 2 4 8 | 1 2 4 8 |
/// | block size | 4 KiB | 4 KiB |
/// | total size | twice the memory, 200 to 2000 MB | 2 GiB, half the free space at most |
/// | a thread's file | floor(size / threads) MiB, at least 1 | an equal share in whole blocks |
/// | random phases | 4000 operations over all threads | 5 s each |
/// | random offsets | independent | every block once a pass |
/// | buffered random writes | one fsync at the end | an fdatasync after every 256 of a thread, and one fsync |
/// | data | zeros (stamped with verification) | unique (stamped with verification) |
/// | page cache | left alone | files written back and dropped before each phase, and checked |
/// | runs | 1, of a cell in a row | 3, of every cell in random order before any again |
///
/// A quick run of the default mode has 256 MiB at most on 1 and 4 threads, random phases
/// of 1 s, and one run.
#[derive(Clone, Debug, Default)]
pub struct Tiobench {
    /// What was asked for.
    pub options: TiobenchOptions,
}

impl Workload for Tiobench {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        matrix::plan(&self.options, seed, environment)
    }

    fn estimate(&self, plan: &Plan, trial: &PlannedTrial) -> Estimate {
        trial::estimate(plan, trial).unwrap_or(Estimate::UNKNOWN)
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        requirements::writable(environment)
    }

    fn takes(&self, _plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        let verified = "what is read is checked, so files and data are written to be checked";
        let [state, data] = Conditions::FACTORS;
        let (is_state, is_data) = (conditions.file_state(), conditions.compress_percent());
        refuse(state, self.options.verify && is_state.is_some(), verified)?;
        refuse(data, self.options.verify && is_data.is_some(), verified)
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        trial::run(plan, trial, context)
    }
}
