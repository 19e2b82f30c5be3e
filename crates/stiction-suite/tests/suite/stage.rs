//! Runs a workload as the runner does, and keeps what it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stiction_core::{
    CacheState, Conditions, Environment, Job, Metric, Phase, Plan, PlannedTrial, Seed, TargetStack,
    Tool, TrialOutcome,
};
use stiction_engine::{Progress, StopFlag};
use stiction_host::FactOptions;
use stiction_suite::conditions::obstacle;
use stiction_suite::{Context, Events, EventsError, Place, SessionClock, TrialReport, Workload};

/// What a workload did.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) plan: Plan,
    pub(crate) trials: Vec<(PlannedTrial, TrialReport, Vec<Phase>)>,
    pub(crate) notes: Vec<String>,
}

impl Played {
    /// The phases of the only trial, which must have completed.
    pub(crate) fn only(&self) -> &[Phase] {
        let [(_, report, phases)] = &self.trials[..] else {
            panic!("{} trials", self.trials.len());
        };
        assert_eq!(report.outcome, TrialOutcome::Completed, "{phases:#?}");
        phases
    }

    pub(crate) fn phase(&self, name: &str) -> &Phase {
        phase(self.only(), name)
    }

    /// How the only trial ended.
    pub(crate) fn outcome(&self) -> &TrialOutcome {
        let [(_, report, _)] = &self.trials[..] else {
            panic!("{} trials", self.trials.len());
        };
        &report.outcome
    }
}

pub(crate) fn phase<'a>(phases: &'a [Phase], name: &str) -> &'a Phase {
    let found = phases.iter().find(|phase| phase.name == name);
    found.unwrap_or_else(|| panic!("no phase {name} among {phases:#?}"))
}

pub(crate) fn value(phase: &Phase, metric: &Metric) -> f64 {
    let value = phase.value(metric);
    value.unwrap_or_else(|| panic!("{} has no {}: {phase:#?}", phase.name, metric.name))
}

/// What the machine looks like to a workload on these paths.
pub(crate) fn environment(paths: &[&Path]) -> Environment {
    stiction_host::observe_environment(paths, Tool::default(), FactOptions::default())
}

/// Plans and runs `workload` in the directories.
pub(crate) fn play(workload: &dyn Workload, directories: &[&Path]) -> Played {
    let places: Vec<Place> = directories
        .iter()
        .map(|directory| Place::Directory(directory.to_path_buf()))
        .collect();
    play_on(
        workload,
        &places,
        &environment(directories),
        &StopFlag::new(),
    )
}

/// Plans and runs `workload` on the places.
pub(crate) fn play_on(
    workload: &dyn Workload,
    places: &[Place],
    environment: &Environment,
    stop: &StopFlag,
) -> Played {
    let plan = workload.plan(Seed(42), environment).expect("a plan");
    perform(workload, &plan, places, environment, stop)
}

/// Plans and runs `workload` in the directory, and does something when the phase
/// begins.
pub(crate) fn play_and(
    workload: &dyn Workload,
    directory: &Path,
    phase: &str,
    then: impl Fn(&StopFlag),
) -> Played {
    let environment = environment(&[directory]);
    let plan = workload.plan(Seed(42), &environment).expect("a plan");
    let places = [Place::Directory(directory.to_owned())];
    let stop = StopFlag::new();
    let at_start = |name: &str| {
        if name == phase {
            then(&stop);
        }
    };
    let usual = Conditions::default();
    act(
        workload,
        &plan,
        &places,
        &environment,
        &stop,
        &at_start,
        &usual,
    )
}

/// Plans and runs `workload` in the directory with files and data as they are asked for.
pub(crate) fn play_under(
    workload: &dyn Workload,
    directory: &Path,
    conditions: &Conditions,
) -> Played {
    let environment = environment(&[directory]);
    let plan = workload.plan(Seed(42), &environment).expect("a plan");
    let places = [Place::Directory(directory.to_owned())];
    let obstacle = obstacle(workload, &plan, conditions, &places);
    assert_eq!(obstacle, None);
    let stop = StopFlag::new();
    let nothing = |_: &str| {};
    act(
        workload,
        &plan,
        &places,
        &environment,
        &stop,
        &nothing,
        conditions,
    )
}

/// Runs a plan.
pub(crate) fn perform(
    workload: &dyn Workload,
    plan: &Plan,
    places: &[Place],
    environment: &Environment,
    stop: &StopFlag,
) -> Played {
    let usual = Conditions::default();
    act(workload, plan, places, environment, stop, &|_| {}, &usual)
}

fn act(
    workload: &dyn Workload,
    plan: &Plan,
    places: &[Place],
    environment: &Environment,
    stop: &StopFlag,
    at_start: &dyn Fn(&str),
    conditions: &Conditions,
) -> Played {
    let mut listener = Listener {
        phases: Vec::new(),
        notes: Vec::new(),
        at_start,
    };
    let undo = testkit::journal();
    let clock = SessionClock::standing_at(0);
    let mut played = Played {
        plan: plan.clone(),
        trials: Vec::new(),
        notes: Vec::new(),
    };
    let stacks: Vec<TargetStack> = environment.targets.clone();
    for trial in plan.trials.clone() {
        let report = workload
            .run(
                plan,
                &trial,
                &mut Context {
                    stop,
                    places,
                    stacks: &stacks,
                    environment,
                    cache: CacheState::AsIs,
                    events: &mut listener,
                    clock,
                    undo: &undo,
                    conditions,
                },
            )
            .expect("a trial that is carried to its end");
        played
            .trials
            .push((trial, report, std::mem::take(&mut listener.phases)));
    }
    assert!(undo.open_changes().is_empty(), "{:?}", undo.open_changes());
    played.notes = listener.notes;
    played
}

/// Keeps all that it hears.
struct Listener<'a> {
    phases: Vec<Phase>,
    notes: Vec<String>,
    at_start: &'a dyn Fn(&str),
}

impl Events for Listener<'_> {
    fn phase_started(&mut self, name: &str, job: Option<&Job>, progress: Arc<Progress>) {
        (self.at_start)(name);
        if let Some(job) = job {
            assert_eq!(progress.workers(), job.workers());
        }
        assert_eq!(progress.bytes(), 0);
    }

    fn phase_finished(&mut self, phase: &Phase) -> Result<(), EventsError> {
        self.phases.push(phase.clone());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

/// Everything in a folder, hidden files included, lost+found left out.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder that can be read");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name().is_none_or(|name| name != "lost+found"))
        .collect()
}

pub(crate) fn assert_empty(folder: &Path) {
    assert_eq!(entries(folder), Vec::<PathBuf>::new(), "left behind");
}
