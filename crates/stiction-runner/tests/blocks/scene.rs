//! Two configurations that note what they are given.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use stiction_core::{
    Cell, Conditions, Environment, Measurement, Phase, PhaseKind, Plan, PlannedTrial, Seed,
    Session, SkipReason, Tool, TrialOutcome, metrics,
};
use stiction_engine::StopFlag;
use stiction_host::FactOptions;
use stiction_journal::JournalDirectory;
use stiction_runner::blocks::{BlockOrder, Blocks, Decide};
use stiction_runner::{Configuration, Ran, RunEvent, RunSettings, Study, run_study};
use stiction_suite::{CommandLine, Context, Place, SuiteError, TrialReport, Workload};

/// A workload of two cells, three repetitions each, that notes what it is given.
pub(crate) struct Fake {
    pub(crate) name: &'static str,
    pub(crate) ran: RefCell<Vec<(PlannedTrial, usize)>>,
    /// Fails, or stops the run, in the trial of this number, from 0.
    pub(crate) trouble: Option<(usize, Trouble)>,
    pub(crate) stop: StopFlag,
}

#[derive(Clone, Copy)]
pub(crate) enum Trouble {
    Fails,
    Stops,
}

impl Workload for Fake {
    fn name(&self) -> &'static str {
        self.name
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        assert_eq!(environment.targets.len(), 1, "its own target alone");
        let cells = [1u32, 8].map(|threads| Cell::new().with("threads", threads));
        let trials = cells
            .iter()
            .flat_map(|cell| (0..3).map(|repetition| PlannedTrial::new(cell.clone(), repetition)));
        Ok(Plan {
            workload: self.name.to_owned(),
            parameters: Default::default(),
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: trials.collect(),
        })
    }

    fn requires(&self, _plan: &Plan, _environment: &Environment) -> Vec<SkipReason> {
        Vec::new()
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let place = plan.trials.iter().position(|planned| planned == trial);
        let place = place.expect("a trial of the workload's own plan");
        let number = self.ran.borrow().len();
        self.ran.borrow_mut().push((trial.clone(), place));
        let mut phase = Phase::new("work", PhaseKind::Measure);
        phase.measurements = vec![Measurement::new(metrics::RATE, 5.0, 1)];
        let trouble = self.trouble.filter(|(at, _)| *at == number);
        Ok(TrialReport::new(match trouble {
            Some((_, Trouble::Fails)) => TrialOutcome::Failed {
                message: "EIO".to_owned(),
            },
            Some((_, Trouble::Stops)) => {
                self.stop.raise();
                TrialOutcome::Interrupted
            }
            None => {
                context.events.phase_finished(&phase)?;
                TrialOutcome::Completed
            }
        }))
    }
}

/// Two configurations in two directories.
pub(crate) struct Scene {
    pub(crate) top: tempfile::TempDir,
    pub(crate) places: [Vec<Place>; 2],
    pub(crate) workloads: [Fake; 2],
    pub(crate) stop: StopFlag,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let stop = StopFlag::new();
        let places = ["a", "b"].map(|name| {
            fs::create_dir(top.path().join(name)).unwrap();
            vec![Place::Directory(top.path().join(name))]
        });
        let workloads = [(); 2].map(|()| Fake {
            name: "fake",
            ran: RefCell::default(),
            trouble: None,
            stop: stop.clone(),
        });
        Self {
            top,
            places,
            workloads,
            stop,
        }
    }

    pub(crate) fn study(&self, count: u32, order: BlockOrder) -> Study<'_> {
        let each = self.workloads.iter().zip(&self.places).zip(["A", "B"]);
        Study {
            configurations: each
                .map(|((workload, places), name)| Configuration {
                    name: name.to_owned(),
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
                })
                .collect(),
            preparation: stiction_core::Preparation::default(),
            blocks: Some(Blocks {
                count,
                order,
                stop: Default::default(),
                is_calibration: false,
            }),
        }
    }

    pub(crate) fn run(&self, study: &Study<'_>, decide: &mut dyn Decide) -> Ran {
        let ran = run_study(
            study,
            &settings(&self.top.path().join("state")),
            &self.stop,
            decide,
            &mut |_: RunEvent<'_>| {},
        )
        .unwrap();
        assert_eq!(self.kept(&ran), ran.session);
        ran
    }

    pub(crate) fn kept(&self, ran: &Ran) -> Session {
        let state = self.top.path().join("state/journals");
        let journals = JournalDirectory::create(&state).unwrap();
        journals.read(&ran.session.header.id).unwrap().session
    }

    /// A hook that adds a line to a log.
    pub(crate) fn noting(&self, word: &str) -> Option<CommandLine> {
        let log = self.top.path().join("log");
        let line = format!("echo {word} >> {}", log.display());
        Some(CommandLine::Shell(line))
    }

    pub(crate) fn noted(&self) -> Vec<String> {
        let text = fs::read_to_string(self.top.path().join("log")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn settings(state: &Path) -> RunSettings {
    RunSettings {
        journals: JournalDirectory::create(&state.join("journals")).unwrap(),
        undo_directory: state.join("undo"),
        facts: FactOptions::default(),
        tool: Tool::default(),
        label: None,
        command: Vec::new(),
        invocation: None,
        seed: Seed(4711),
        witness: stiction_core::WitnessLevel::default(),
        started: "2002-11-30T10:59:12Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        id_random: 0,
    }
}
