//! time-read: how long reading a file takes, by reads at a set distance or by touching
//! a mapping.

mod jobs;
mod options;
mod plan;

pub use jobs::reads_of_a_pass;
pub use options::{CacheState, TimeReadOptions, TimeReadParameters};

use stiction_core::{
    Conditions, Environment, Plan, PlannedTrial, Seed, SkipCode, SkipReason, TrialOutcome,
    format_bytes,
};

use crate::admission::admit_files;
use crate::conditions::refuse;
use crate::ground::on_ground;
use crate::order::trial_seed;
use crate::passes::{Pass, lay_down, prime, run_passes, whole_files};
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "time-read";

/// time-read with its options.
///
/// A trial is one phase `read` of a file of the user's, which is never written, or of
/// one that is made in a directory before (`lay_down`) and removed. With a warm cache a
/// phase `prime` reads it first.
///
/// | | classic | default |
/// |---|---|---|
/// | a read | 8 KiB | 8 KiB |
/// | distance between reads | 4 KiB: every byte is read twice | as long as a read |
/// | between touches of a mapping | 4 KiB | 4 KiB |
/// | page cache | left alone | dropped before, and checked |
/// | a file of our own | 256 MiB, half the free space at most | the same |
/// | runs | 1 | 3 |
#[derive(Clone, Debug, Default)]
pub struct TimeRead {
    /// What was asked for.
    pub options: TimeReadOptions,
}

impl Workload for TimeRead {
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

    fn takes(&self, plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        let parameters: Result<TimeReadParameters, _> =
            serde_json::from_value(plan.parameters.clone());
        let is_existing = parameters.is_ok_and(|parameters| parameters.is_existing);
        match (is_existing, conditions.settings()) {
            (true, [setting, ..]) => {
                let problem = "it reads what is there, which is yours, and writes nothing";
                refuse(&setting.factor, true, problem)
            }
            _ => Ok(()),
        }
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let parameters: TimeReadParameters = serde_json::from_value(plan.parameters.clone())?;
        let files = u32::from(!parameters.is_existing);
        let admitted = has_a_read(&parameters).and_then(|()| {
            admit_files(
                context,
                &[0],
                files,
                parameters.file_bytes,
                parameters.may_fill,
            )
        });
        if let Err(reason) = admitted {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let offset = trial.cell.integer("buffer_offset_bytes").unwrap_or(0);
        let job = jobs::read(&parameters, u32::try_from(offset).unwrap_or(0));
        let whole = whole_files(1, parameters.file_bytes);
        let mut passes = Vec::new();
        if !parameters.is_existing {
            let seed = trial_seed(plan, trial);
            passes.push(lay_down(whole, false, seed));
        }
        if parameters.cache == CacheState::Warm {
            passes.push(prime(job.regions.clone()));
        }
        passes.push(Pass::measuring(job).cold(parameters.cache == CacheState::Cold));
        on_ground(context, &[0], files, |ground, context| {
            run_passes(ground, context, passes)
        })
    }
}

/// Whether the file is as long as a read.
fn has_a_read(parameters: &TimeReadParameters) -> Result<(), SkipReason> {
    let block = if parameters.mmap {
        parameters.hop_bytes
    } else {
        parameters.buffer_bytes
    };
    if parameters.file_bytes >= block {
        return Ok(());
    }
    Err(SkipReason::new(
        SkipCode::NotSupported,
        format!(
            "the file has {}, less than one read of {}: give smaller reads, or a larger file",
            format_bytes(parameters.file_bytes),
            format_bytes(block)
        ),
    ))
}
