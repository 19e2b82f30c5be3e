//! `command`: an external program, timed from outside, with the figures that it tells.

mod metric;
mod number;
mod options;
mod said;
mod trial;

use std::path::PathBuf;

use stiction_core::{Cell, Environment, Plan, PlannedTrial, Seed, SkipReason};

use crate::{Context, SuiteError, TrialReport, Workload};

pub use metric::{Found, MetricSource, Said};
pub use options::TimedCommandOptions;

/// The workload's name.
const NAME: &str = "command";

/// The workload: one run of a program, in its place.
#[derive(Clone, Debug)]
pub struct TimedCommand {
    /// What was asked for.
    pub options: TimedCommandOptions,
}

impl Workload for TimedCommand {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        options::check(&self.options)?;
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(&self.options)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: (0..self.options.runs)
                .map(|repetition| PlannedTrial::new(Cell::new(), repetition))
                .collect(),
        })
    }

    fn requires(&self, _plan: &Plan, _environment: &Environment) -> Vec<SkipReason> {
        Vec::new()
    }

    fn run(
        &self,
        plan: &Plan,
        _trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let options: TimedCommandOptions = serde_json::from_value(plan.parameters.clone())?;
        let place: PathBuf = context.places[0].path().to_owned();
        trial::run(&options, &place, context)
    }
}
