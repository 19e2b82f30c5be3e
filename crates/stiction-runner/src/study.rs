//! What is to be measured: one workload, or several configurations in blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use stiction_core::{
    Applied, Cell, Conditions, Environment, Phase, PhaseKind, Plan, PlannedTrial, Preparation,
    Seed, Setting, SkipReason, TargetStack, Tool, WitnessLevel,
};
use stiction_host::{Alterations, FactOptions, observe_environment, observe_target};
use stiction_suite::{CommandLine, Place, Workload, conditions};

use crate::RunnerError;
use crate::blocks::{Blocks, arrange};

/// One thing to measure, and how it differs from the others.
#[derive(Clone)]
pub struct Configuration<'a> {
    /// What it is called: the level of the factor `configuration`. Several may share a
    /// name, which then are one configuration at several places of `at`.
    pub name: String,
    /// What tells its cells apart from those of the same name: levels of the factors
    /// `workload` and `target`. What is measured at different ones is never compared.
    pub at: Cell,
    /// The levels of options of its workload that the session varies, by the factors'
    /// names: `workload.threads`.
    pub varied: Vec<Setting>,
    /// What is run.
    pub workload: &'a dyn Workload,
    /// Where.
    pub places: &'a [Place],
    /// The words that its workload was asked for by, as they are recorded.
    pub command: Vec<String>,
    /// What is changed on the machine for each of its trials, and put back after it.
    pub alterations: Option<&'a Alterations>,
    /// What its files and data are to be like.
    pub conditions: Conditions,
    /// Carried out before each of its trials, untimed: sets what makes it different. When
    /// it fails, so does the trial.
    pub prepare: Option<CommandLine>,
    /// Carried out after each of its trials, however that ended.
    pub conclude: Option<CommandLine>,
    /// How long each of these two may take; it is killed then, and its trial has failed.
    pub hook_limit: Option<Duration>,
}

impl Configuration<'_> {
    /// The levels of the factors that it is measured at: those of the machine and of what
    /// is written, and options of its workload.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &Setting> {
        let of_machine = self.alterations.map_or(&[][..], Alterations::settings);
        let others = self.conditions.settings().iter().chain(&self.varied);
        of_machine.iter().chain(others)
    }

    /// What its conditions came to in a trial's phases.
    pub(crate) fn met_in(&self, phases: &[Phase]) -> Vec<Applied> {
        // What prepares a place writes what it wants.
        let own = phases.iter().filter(|one| one.kind != PhaseKind::Prepare);
        let jobs = own.filter_map(|phase| phase.job.as_ref());
        let layout = conditions::laid_down(phases);
        self.conditions.applied(jobs, layout.as_ref())
    }

    /// What it is called among all: its name, and where it stands beside it.
    pub(crate) fn title(&self) -> String {
        match self.at.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.at),
        }
    }
}

/// What is to be measured in one session.
#[derive(Clone)]
pub struct Study<'a> {
    /// The configurations; the first is what the others are held against.
    pub configurations: Vec<Configuration<'a>>,
    /// In which blocks; `None` for the trials of a single workload as it plans them.
    pub blocks: Option<Blocks>,
    /// What is done before trials.
    pub preparation: Preparation,
}

impl<'a> Study<'a> {
    /// A workload by itself, with the trials that it plans.
    #[must_use]
    pub fn of_one(workload: &'a dyn Workload, places: &'a [Place]) -> Self {
        Self {
            configurations: vec![Configuration {
                name: workload.name().to_owned(),
                at: Cell::new(),
                varied: Vec::new(),
                workload,
                places,
                command: Vec::new(),
                alterations: None,
                conditions: Conditions::default(),
                prepare: None,
                conclude: None,
                hook_limit: None,
            }],
            blocks: None,
            preparation: Preparation::default(),
        }
    }

    /// Whether places may change while the session goes on, so that they are looked at
    /// again before each trial.
    pub(crate) fn looks_again(&self) -> bool {
        let mut configurations = self.configurations.iter();
        let changes = |one: &Configuration<'_>| one.prepare.is_some() || one.alterations.is_some();
        self.configurations.len() > 1 || configurations.any(changes)
    }
}

/// A configuration with its own plan, on what it stands on.
pub(crate) struct Part<'a> {
    pub(crate) configuration: &'a Configuration<'a>,
    pub(crate) plan: Plan,
    /// Numbers of its places in the session's environment.
    pub(crate) places: Vec<usize>,
    /// The session's environment, of the targets only its own.
    pub(crate) environment: Environment,
}

/// One trial of the session's plan.
pub(crate) struct Turn {
    pub(crate) planned: PlannedTrial,
    /// Whose it is.
    pub(crate) part: usize,
    /// The same trial in that part's own plan.
    pub(crate) inner: PlannedTrial,
}

/// Everything that follows from what was asked for, before the first trial.
pub(crate) struct Expanded<'a> {
    pub(crate) environment: Environment,
    pub(crate) plan: Plan,
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) turns: Vec<Turn>,
    /// Why parts cannot run here, by their numbers.
    pub(crate) obstacles: BTreeMap<usize, SkipReason>,
}

impl Expanded<'_> {
    /// The same, with so much beside each phase.
    pub(crate) fn watched(mut self, level: WitnessLevel) -> Self {
        self.environment.witness = level;
        for part in &mut self.parts {
            part.environment.witness = level;
        }
        self
    }
}

/// The plan of a study on this machine, which is looked at for it and not changed.
///
/// # Errors
/// As [`run_study`](crate::run_study), without those of the journals.
pub fn plan_study(
    study: &Study<'_>,
    tool: Tool,
    facts: FactOptions,
    seed: Seed,
) -> Result<Plan, RunnerError> {
    Ok(expand(study, tool, facts, seed)?.plan)
}

/// Looks at the machine, and plans.
pub(crate) fn expand<'a>(
    study: &'a Study<'a>,
    tool: Tool,
    facts: FactOptions,
    seed: Seed,
) -> Result<Expanded<'a>, RunnerError> {
    let (paths, places) = all_places(study);
    let environment = observe(&paths, tool, facts)?;
    let mut parts = Vec::new();
    for (configuration, places) in study.configurations.iter().zip(places) {
        let own = |place: &usize| environment.targets[*place].clone();
        let environment = with_targets(&environment, places.iter().map(own).collect());
        parts.push(Part {
            plan: configuration.workload.plan(seed, &environment)?,
            configuration,
            places,
            environment,
        });
    }
    let obstacles = obstacles(&parts, study.blocks.is_some());
    let (mut plan, turns) = match &study.blocks {
        Some(blocks) => arrange(&mut parts, blocks, seed)?,
        None => as_planned(&parts),
    };
    plan.preparation = study.preparation.clone();
    Ok(Expanded {
        environment,
        plan,
        parts,
        turns,
        obstacles,
    })
}

/// The trials of the only workload, as it planned them.
fn as_planned(parts: &[Part<'_>]) -> (Plan, Vec<Turn>) {
    let plan = parts[0].plan.clone();
    let turn = |planned: &PlannedTrial| Turn {
        planned: planned.clone(),
        part: 0,
        inner: planned.clone(),
    };
    let turns = plan.trials.iter().map(turn).collect();
    (plan, turns)
}

/// The paths of all configurations, those that several share once, and the numbers that
/// each configuration's places have among them.
fn all_places<'a>(study: &'a Study<'a>) -> (Vec<&'a Path>, Vec<Vec<usize>>) {
    let mut paths: Vec<&Path> = Vec::new();
    let mut numbers = Vec::new();
    for configuration in &study.configurations {
        let mut own: Vec<usize> = Vec::new();
        for place in configuration.places {
            // A configuration that names a path twice has two places there.
            let known = (0..paths.len()).find(|n| paths[*n] == place.path() && !own.contains(n));
            own.push(known.unwrap_or_else(|| {
                paths.push(place.path());
                paths.len() - 1
            }));
        }
        numbers.push(own);
    }
    (paths, numbers)
}

/// Looks at the machine and at what each place stands on.
fn observe(paths: &[&Path], tool: Tool, facts: FactOptions) -> Result<Environment, RunnerError> {
    let environment = observe_environment(paths, tool, facts);
    if environment.targets.len() != paths.len() {
        // One of them is only listed as missing. It is asked for alone to learn why.
        for path in paths {
            observe_target(path, facts).map_err(RunnerError::Target)?;
        }
    }
    Ok(environment)
}

pub(crate) fn with_targets(environment: &Environment, targets: Vec<TargetStack>) -> Environment {
    Environment {
        targets,
        ..environment.clone()
    }
}

/// Why the parts that cannot run here cannot, by their numbers.
///
/// Where fewer than two configurations are left of several, there is nothing to hold them
/// against, and none runs.
fn obstacles(parts: &[Part<'_>], is_in_blocks: bool) -> BTreeMap<usize, SkipReason> {
    let found = |part: &Part<'_>| {
        let workload = part.configuration.workload;
        joined(workload.requires(&part.plan, &part.environment))
    };
    let all: BTreeMap<usize, SkipReason> = parts
        .iter()
        .enumerate()
        .filter_map(|(number, part)| Some((number, found(part)?)))
        .collect();
    if all.is_empty() || !is_in_blocks {
        return all;
    }
    let names = |runs: bool| -> BTreeSet<&str> {
        let parts = parts.iter().enumerate();
        let parts = parts.filter(|(number, _)| !(runs && all.contains_key(number)));
        parts
            .map(|(_, part)| part.configuration.name.as_str())
            .collect()
    };
    if names(false).len() < 2 || names(true).len() >= 2 {
        return all;
    }
    let told = all.iter().map(|(number, reason)| {
        let title = parts[*number].configuration.title();
        SkipReason::new(reason.code, format!("{title}: {}", reason.detail))
    });
    let reason = joined(told.collect()).expect("there is one");
    (0..parts.len())
        .map(|number| (number, reason.clone()))
        .collect()
}

/// Several reasons as one.
fn joined(reasons: Vec<SkipReason>) -> Option<SkipReason> {
    let code = reasons.first()?.code;
    let details: Vec<String> = reasons.into_iter().map(|reason| reason.detail).collect();
    Some(SkipReason::new(code, details.join("; ")))
}
