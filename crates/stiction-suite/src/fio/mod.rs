//! The jobs of a job file of fio, in their waves.

mod admission;
mod checking;
mod files;
mod replay;
mod trial;

use std::collections::BTreeMap;

use stiction_core::{
    Cell, Conditions, Data, Environment, Estimate, Job, Plan, PlannedTrial, Program, Seed,
    SkipReason,
};

use crate::conditions::refuse;
use crate::order::runs_within_cells;
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
pub const NAME: &str = "fio";

/// A program of jobs, as a job file of fio comes to it.
///
/// There is one trial. Its jobs run in waves: those of a wave at the same time, between
/// one set of witnesses, a phase for each. Before a wave the files are made and, where
/// reads need data, written in full (phase `lay_down`); what the page cache holds of them
/// is dropped, kept or loaded; after it, what was written to be checked is read back
/// (phases that end in ` verify`). A part with a trace plays that instead, alone in its
/// wave. Files lie in directories of our own and are removed.
#[derive(Clone, Debug)]
pub struct Fio {
    /// What is to be run.
    pub program: Program,
}

impl Workload for Fio {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(&self.program)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: runs_within_cells(&[Cell::new()], 1),
        })
    }

    fn estimate(&self, plan: &Plan, _trial: &PlannedTrial) -> Estimate {
        let program = serde_json::from_value::<Program>(plan.parameters.clone());
        program.map_or(Estimate::UNKNOWN, |program| estimate(&program))
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        let places = self.program.places.iter().zip(&environment.targets);
        let written = places.filter(|(place, _)| place.is_written());
        requirements::writable_targets(written.map(|(_, target)| target))
    }

    fn takes(&self, _plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        let jobs = self.program.parts.iter().map(|part| &part.job);
        let own_data =
            |job: &Job| job.action.writes() && matches!(job.data, Data::Stamped | Data::Pattern);
        refuse(
            Conditions::COMPRESSIBILITY,
            conditions.compress_percent().is_some() && jobs.clone().any(own_data),
            "a job writes data of its own, to be checked or a pattern",
        )?;
        refuse(
            Conditions::FILE_STATE,
            conditions.file_state().is_some() && jobs.clone().any(|job| job.verify),
            "a job checks what it reads, so its files are written whole",
        )
    }

    fn run(
        &self,
        plan: &Plan,
        _trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        trial::run(plan, &self.program, context)
    }
}

/// What a program takes: its waves one after the other, the jobs of a wave beside each
/// other, and files that are written in full before they are read.
fn estimate(program: &Program) -> Estimate {
    let mut waves: BTreeMap<_, Estimate> = BTreeMap::new();
    let mut space: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for part in &program.parts {
        let mut own = match part.trace {
            None => Estimate::of_job(&part.job),
            Some(_) => Estimate::UNKNOWN,
        };
        let lengths = part.job.regions.iter().map(|region| region.length_bytes);
        let bytes = lengths.fold(0, u64::saturating_add);
        if part.lay_down && own.written_bytes.is_some() {
            own.written_bytes = own.written_bytes.map(|own| own.saturating_add(bytes));
        }
        if part.verify_after {
            own.read_bytes = None;
        }
        // What has no name is the place itself, and takes no room.
        for target in part.targets.iter().filter(|target| !target.name.is_empty()) {
            let known = space
                .entry((target.place, target.name.as_str()))
                .or_default();
            *known = target.length_bytes.max(*known);
        }
        waves
            .entry(part.wave)
            .and_modify(|wave| *wave = wave.along(own))
            .or_insert(own);
    }
    let all = waves.into_values().fold(Estimate::NOTHING, Estimate::then);
    Estimate {
        space_bytes: Some(space.values().copied().fold(0, u64::saturating_add)),
        ..all
    }
}
