//! write-and-fsync: how long writing a file takes, until the last write has returned
//! and until it is durable.

mod jobs;
mod options;
mod plan;

pub use options::{Before, SyncPolicy, WriteAmount, WriteAndFsyncOptions, WriteAndFsyncParameters};

use stiction_core::{
    Conditions, Environment, Estimate, Plan, PlannedTrial, Seed, SkipCode, SkipReason, TrialOutcome,
};

use crate::admission::admit_files;
use crate::conditions::data_alone;
use crate::ground::on_ground;
use crate::order::trial_seed;
use crate::passes::{Pass, estimate_of, lay_down, run_passes, whole_files};
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "write-and-fsync";

/// write-and-fsync with its options: files written from start to end, each by a worker
/// of its own, all from one barrier.
///
/// A trial is one phase `write`, after a phase `lay_down` where a file is to be
/// overwritten. Files are always our own and are removed.
///
/// | | classic | default |
/// |---|---|---|
/// | amount | must be given | 1 GiB over all files, half the free space at most |
/// | a write | 1 MiB, cut at each MiB of the file | 1 MiB |
/// | sync | none | one fsync at the end |
/// | data | zeros | unique |
/// | runs | 1 | 3 |
#[derive(Clone, Debug, Default)]
pub struct WriteAndFsync {
    /// What was asked for.
    pub options: WriteAndFsyncOptions,
}

impl Workload for WriteAndFsync {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn estimate(&self, plan: &Plan, trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<WriteAndFsyncParameters>(plan.parameters.clone());
        let of = |parameters: &WriteAndFsyncParameters| {
            let file_bytes = jobs::file_bytes(parameters)?;
            Some(estimate_of(&passes(
                parameters,
                file_bytes,
                trial_seed(plan, trial),
            )))
        };
        let all = parameters.as_ref().ok().and_then(of);
        all.unwrap_or(Estimate::UNKNOWN)
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
        let parameters: WriteAndFsyncParameters = serde_json::from_value(plan.parameters.clone())?;
        let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        let Some(file_bytes) = jobs::file_bytes(&parameters) else {
            let reason = SkipReason::new(SkipCode::NoSpace, "more than a file offset can hold");
            return skipped(reason);
        };
        let places: Vec<usize> = (0..context.places.len()).collect();
        let (files, may_fill) = (parameters.files, parameters.may_fill);
        if let Err(reason) = admit_files(context, &places, files, file_bytes, may_fill) {
            return skipped(reason);
        }
        let passes = passes(&parameters, file_bytes, trial_seed(plan, trial));
        on_ground(context, &places, files, |ground, context| {
            run_passes(ground, context, passes)
        })
    }
}

/// What a trial does, in order.
fn passes(parameters: &WriteAndFsyncParameters, file_bytes: u64, seed: Seed) -> Vec<Pass> {
    let files = whole_files(parameters.files, file_bytes);
    let before =
        (parameters.before == Before::Written).then(|| lay_down(files, false, seed.stream(0)));
    let write = jobs::write(parameters, file_bytes, seed.stream(1));
    let write = Pass::measuring(write).cold(before.is_some() && !parameters.classic);
    before.into_iter().chain([write]).collect()
}
