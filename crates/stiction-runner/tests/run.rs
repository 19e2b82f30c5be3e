//! Sessions of a workload that does as it is told: what is told, kept and left behind.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use stiction_core::{
    Cell, Environment, Measurement, Phase, PhaseKind, Plan, PlannedTrial, Seed, Session,
    SessionOutcome, SkipCode, SkipReason, Tool, TrialOutcome, metrics,
};
use stiction_engine::{Progress, StopFlag};
use stiction_host::{FactOptions, OwnDirectory};
use stiction_journal::JournalDirectory;
use stiction_runner::{Ran, RunEvent, RunSettings, RunnerError, run_session};
use stiction_suite::{Context, Place, Quick, QuickOptions, SuiteError, TrialReport, Workload};

/// What the fake workload does in one trial, after a phase called `first`.
type Act = dyn Fn(&mut Context<'_>) -> Result<TrialReport, SuiteError>;

/// A workload of as many trials as it has acts.
struct Fake {
    acts: Vec<Box<Act>>,
    obstacles: Vec<SkipReason>,
}

impl Fake {
    fn of(acts: Vec<Box<Act>>) -> Self {
        Self {
            acts,
            obstacles: Vec::new(),
        }
    }
}

fn phase(name: &str) -> Phase {
    let mut phase = Phase::new(name, PhaseKind::Measure);
    phase
        .measurements
        .push(Measurement::new(metrics::RATE, 0.1 + 0.2, 1));
    phase
}

fn do_phase(context: &mut Context<'_>, name: &str) {
    let progress = Arc::new(Progress::new(1));
    context.events.phase_started(name, None, progress);
    context.events.phase_finished(&phase(name)).unwrap();
}

fn completes() -> Box<Act> {
    Box::new(|_| Ok(TrialReport::new(TrialOutcome::Completed)))
}

impl Workload for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        let trials = (0i64..)
            .zip(&self.acts)
            .map(|(number, _)| PlannedTrial::new(Cell::new().with("act", number), 0));
        Ok(Plan {
            workload: "fake".to_owned(),
            parameters: Default::default(),
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: trials.collect(),
        })
    }

    fn requires(&self, _plan: &Plan, _environment: &Environment) -> Vec<SkipReason> {
        self.obstacles.clone()
    }

    fn run(
        &self,
        _plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        do_phase(context, "first");
        let act = trial.cell.integer("act").unwrap();
        self.acts[usize::try_from(act).unwrap()](context)
    }
}

/// Directories of a run, gone after the test.
struct Scene {
    directory: tempfile::TempDir,
    stop: StopFlag,
}

impl Scene {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            stop: StopFlag::new(),
        }
    }

    fn run(&self, workload: &Fake) -> (Ran, Vec<String>) {
        let mut told = Vec::new();
        let ran = run_session(
            workload,
            &[Place::Directory(self.directory.path().to_owned())],
            &settings(&self.directory.path().join("state")),
            &self.stop,
            &mut |event: RunEvent<'_>| told.push(name(&event)),
        );
        (ran.unwrap(), told)
    }

    /// The session as its journal has it, which must be whole and at rest.
    fn kept(&self, ran: &Ran) -> Session {
        assert!(ran.unsaved.is_none(), "{:?}", ran.unsaved);
        assert!(ran.left_behind.is_empty(), "{:?}", ran.left_behind);
        let journals = JournalDirectory::create(&self.directory.path().join("state/journals"));
        let journals = journals.unwrap();
        let id = &ran.session.header.id;
        assert!(!journals.is_running(id).unwrap());
        let read = journals.read(id).unwrap();
        assert_eq!(read.problems, []);
        let undo = self.directory.path().join("state/undo");
        assert_eq!(fs::read_dir(undo).unwrap().count(), 0, "nothing to undo");
        read.session
    }
}

fn settings(state: &Path) -> RunSettings {
    RunSettings {
        journals: JournalDirectory::create(&state.join("journals")).unwrap(),
        undo_directory: state.join("undo"),
        facts: FactOptions::default(),
        tool: Tool {
            name: "stiction".to_owned(),
            version: "0.0.0".to_owned(),
        },
        label: Some("base".to_owned()),
        command: vec!["fake".to_owned()],
        invocation: None,
        seed: Seed(7),
        witness: stiction_core::WitnessLevel::default(),
        started: "2002-11-30T10:59:12Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        id_random: 0,
    }
}

fn name(event: &RunEvent<'_>) -> String {
    match event {
        RunEvent::SessionStarted { header, .. } => format!("session {}", header.id),
        RunEvent::TrialStarted { number, of, .. } => format!("trial {number}/{of}"),
        RunEvent::PhaseStarted { name, .. } => format!("{name} ..."),
        RunEvent::PhaseFinished { phase } => format!("{} done", phase.name),
        RunEvent::TrialFinished { trial } => match &trial.outcome {
            TrialOutcome::Completed => "completed".to_owned(),
            TrialOutcome::Interrupted => "interrupted".to_owned(),
            TrialOutcome::Skipped(reason) => format!("skipped: {}", reason.detail),
            TrialOutcome::Failed { message } => format!("failed: {message}"),
        },
        RunEvent::SessionFinished { session } => {
            format!("{:?}", session.end.as_ref().unwrap().outcome)
        }
        RunEvent::Note { text } => format!("note: {text}"),
    }
}

#[test]
fn everything_is_told_in_order_and_kept() {
    let scene = Scene::new();
    let workload = Fake::of(vec![
        completes(),
        Box::new(|context| {
            do_phase(context, "second");
            context.events.note("warm");
            Ok(TrialReport::new(TrialOutcome::Completed))
        }),
    ]);
    let (ran, told) = scene.run(&workload);
    let expected = [
        "session 20021130-105912-0000",
        "trial 1/2",
        "first ...",
        "first done",
        "completed",
        "trial 2/2",
        "first ...",
        "first done",
        "second ...",
        "second done",
        "note: warm",
        "completed",
        "Completed",
    ];
    assert_eq!(told, expected);
    let session = &ran.session;
    assert_eq!(scene.kept(&ran), *session);
    assert_eq!(session.header.label.as_deref(), Some("base"));
    assert_eq!(session.header.plan.as_ref().unwrap().trials.len(), 2);
    let stacks = &session.header.environment.targets;
    assert_eq!(stacks[0].path, scene.directory.path().to_str().unwrap());
    assert_eq!(session.trials[1].phases, [phase("first"), phase("second")]);
    assert!(session.trials[0].start_ns < session.trials[1].start_ns);
    assert!(session.end.as_ref().unwrap().at > session.header.started);
}

#[test]
fn a_failed_trial_does_not_keep_the_others_from_running() {
    let scene = Scene::new();
    let workload = Fake::of(vec![
        Box::new(|_| {
            Ok(TrialReport::new(TrialOutcome::Failed {
                message: "EIO".to_owned(),
            }))
        }),
        Box::new(|_| {
            let reason = SkipReason::new(SkipCode::NoSpace, "1 GiB free");
            Err(SuiteError::Refused(reason))
        }),
        completes(),
    ]);
    let (ran, told) = scene.run(&workload);
    let ends: Vec<_> = told.iter().filter(|text| !text.contains("first")).collect();
    let expected = [
        "session 20021130-105912-0000",
        "trial 1/3",
        "failed: EIO",
        "trial 2/3",
        "skipped: 1 GiB free",
        "trial 3/3",
        "completed",
        "Completed",
    ];
    assert_eq!(ends, expected);
    assert_eq!(scene.kept(&ran), ran.session);
}

#[test]
fn an_interrupted_run_keeps_what_had_finished() {
    let scene = Scene::new();
    let stop = scene.stop.clone();
    let workload = Fake::of(vec![
        completes(),
        Box::new(move |_| {
            stop.raise();
            Ok(TrialReport::new(TrialOutcome::Interrupted))
        }),
        completes(),
    ]);
    let (ran, told) = scene.run(&workload);
    assert_eq!(
        told[8..],
        [
            "interrupted",
            "skipped: the run was interrupted before this trial's turn",
            "Interrupted"
        ]
    );
    let session = scene.kept(&ran);
    assert_eq!(session, ran.session);
    assert_eq!(session.trials[1].phases, [phase("first")]);
    assert_eq!(session.end.unwrap().outcome, SessionOutcome::Interrupted);
}

#[test]
fn a_stop_that_comes_too_late_interrupts_nothing() {
    let scene = Scene::new();
    let stop = scene.stop.clone();
    let workload = Fake::of(vec![Box::new(move |_| {
        stop.raise();
        Ok(TrialReport::new(TrialOutcome::Completed))
    })]);
    let (ran, _) = scene.run(&workload);
    let end = ran.session.end.as_ref().unwrap();
    assert_eq!(end.outcome, SessionOutcome::Completed);
}

#[test]
fn a_panic_is_cleaned_up_after_and_told_as_a_bug() {
    let scene = Scene::new();
    let file = scene.directory.path().join("made by the workload");
    let made = file.clone();
    let workload = Fake::of(vec![
        Box::new(move |context| {
            struct Made(PathBuf);
            impl Drop for Made {
                fn drop(&mut self) {
                    fs::remove_file(&self.0).unwrap();
                }
            }
            fs::write(&made, "").unwrap();
            let _made = Made(made.clone());
            do_phase(context, "second");
            panic!("index {} out of range", 7)
        }),
        completes(),
    ]);
    let (ran, told) = scene.run(&workload);
    let message = "this is a bug in stiction: fake panicked: index 7 out of range";
    assert_eq!(
        told[6..],
        [format!("failed: {message}"), "Failed".to_owned()]
    );
    assert!(!file.exists());
    let session = scene.kept(&ran);
    assert_eq!(session, ran.session);
    assert_eq!(session.trials.len(), 1);
    assert_eq!(session.trials[0].phases.len(), 2);
    assert_eq!(session.end.unwrap().message.as_deref(), Some(message));
}

#[test]
fn what_could_not_be_removed_is_told() {
    let scene = Scene::new();
    let parent = scene.directory.path().to_owned();
    let workload = Fake::of(vec![Box::new(move |context| {
        let own = OwnDirectory::create(&parent, context.undo).unwrap();
        // Without its marker it is not known for ours, and with a file in it not empty.
        fs::remove_file(own.path().join(".stiction-directory")).unwrap();
        fs::write(own.path().join("data.0"), "").unwrap();
        assert!(own.close().is_err());
        Ok(TrialReport::new(TrialOutcome::Completed))
    })]);
    let (ran, _) = scene.run(&workload);
    let [left] = &ran.left_behind[..] else {
        panic!("{:?}", ran.left_behind);
    };
    assert!(left.join("data.0").exists());
}

#[test]
fn what_cannot_run_here_is_skipped_with_every_reason() {
    let scene = Scene::new();
    let mut workload = Fake::of(vec![Box::new(|_| unreachable!()), completes()]);
    workload.obstacles = vec![
        SkipReason::new(SkipCode::NotWritable, "read-only"),
        SkipReason::new(SkipCode::NoSpace, "full"),
    ];
    let (ran, told) = scene.run(&workload);
    let skipped = "skipped: read-only; full";
    assert_eq!(told[1..], [skipped, skipped, "Completed"]);
    assert_eq!(scene.kept(&ran), ran.session);
}

#[test]
fn sessions_of_one_second_get_ids_of_their_own() {
    let scene = Scene::new();
    let mut ids: Vec<_> = (0..4)
        .map(|_| scene.run(&Fake::of(vec![completes()])).0.session.header.id)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn what_cannot_begin_leaves_nothing() {
    let scene = Scene::new();
    let state = scene.directory.path().join("state");
    let begin = |place: &str, settings: &RunSettings| {
        let places = [Place::Directory(place.into())];
        let workload = Fake::of(vec![completes()]);
        run_session(
            &workload,
            &places,
            settings,
            &scene.stop,
            &mut |_: RunEvent<'_>| {},
        )
    };
    let error = begin("/nowhere/at all", &settings(&state)).unwrap_err();
    assert!(matches!(error, RunnerError::Target(_)), "{error}");
    assert!(error.to_string().contains("/nowhere/at all"), "{error}");

    let place = scene.directory.path().to_str().unwrap();
    fs::remove_dir(state.join("journals")).unwrap();
    let settings = RunSettings {
        undo_directory: state.join("undo"),
        ..settings(&state)
    };
    fs::remove_dir(state.join("journals")).unwrap();
    let error = begin(place, &settings).unwrap_err();
    assert!(matches!(error, RunnerError::Journal(_)), "{error}");
    assert!(error.to_string().contains("nothing was run"), "{error}");
    assert_eq!(fs::read_dir(state.join("undo")).unwrap().count(), 0);
}

/// The real thing, in little: the main job through the real engine, with the real
/// witnesses, into a journal.
#[test]
fn the_main_job_is_kept_as_it_was_and_leaves_nothing_behind() {
    let scene = Scene::new();
    let place = scene.directory.path().join("with spaces");
    fs::create_dir(&place).unwrap();
    let workload = Quick {
        options: QuickOptions {
            seconds: 3,
            size_bytes: Some(8 << 20),
            ..QuickOptions::default()
        },
    };
    let ran = run_session(
        &workload,
        &[Place::Directory(place.clone())],
        &settings(&scene.directory.path().join("state")),
        &scene.stop,
        &mut |_: RunEvent<'_>| {},
    )
    .unwrap();
    assert_eq!(scene.kept(&ran), ran.session);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    let trial = &ran.session.trials[0];
    assert_eq!(trial.outcome, TrialOutcome::Completed, "{trial:?}");
    let commit = trial.phase("commit").unwrap();
    assert!(commit.has_numbers(), "{commit:?}");
}

/// A disk that fills up while the run goes on: the user is told once, the run goes on,
/// and what could not be written is written when there is room again, or handed back.
#[test]
fn root_a_full_disk_costs_no_result() {
    testkit::require_root!();
    for frees in [true, false] {
        let disk = testkit::TmpfsMount::new(256 << 10);
        let state = disk.path().join("state");
        let filler = disk.path().join("filler");
        let fills = {
            let filler = filler.clone();
            move |context: &mut Context<'_>| {
                let full = fs::write(&filler, vec![1; 1 << 20]).unwrap_err();
                assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
                // More than the rest of the page that the journal ends in.
                for number in 0..30 {
                    do_phase(context, &format!("phase {number}"));
                }
                if frees {
                    fs::remove_file(&filler).unwrap();
                }
                Ok(TrialReport::new(TrialOutcome::Completed))
            }
        };
        let workload = Fake::of(vec![Box::new(fills), completes()]);
        let places = [Place::Directory(disk.path().to_owned())];
        let mut notes = Vec::new();
        let settings = settings(&state);
        let ran = run_session(
            &workload,
            &places,
            &settings,
            &StopFlag::new(),
            &mut |event: RunEvent<'_>| {
                if let RunEvent::Note { text } = event {
                    notes.push(text.to_owned());
                }
            },
        )
        .unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("No space left on device"), "{notes:?}");
        assert!(
            notes[0].contains("/journals/20021130-105912-0000.jsonl"),
            "{notes:?}"
        );
        assert_eq!(ran.session.trials.len(), 2);
        assert_eq!(ran.session.trials[0].phases.len(), 31);
        let kept = settings.journals.read(&ran.session.header.id).unwrap();
        assert_eq!(kept.problems, [], "whole lines only");
        if frees {
            assert!(ran.unsaved.is_none());
            assert_eq!(kept.session, ran.session);
        } else {
            assert!(ran.unsaved.unwrap().to_string().contains("free some space"));
            assert_eq!(kept.session.end, None);
            let phases = &kept.session.trials[0].phases;
            assert_eq!(phases[..], ran.session.trials[0].phases[..phases.len()]);
            fs::remove_file(filler).unwrap();
        }
    }
}

/// Names the state directory of a child process of the test below.
const CHILD: &str = "STICTION_TEST_STATE_OF_CHILD";

#[test]
fn a_run_that_is_killed_leaves_all_that_had_finished() {
    if let Some(state) = std::env::var_os(CHILD) {
        let workload = Fake::of(vec![
            completes(),
            Box::new(|_| {
                println!("ready");
                loop {
                    std::thread::park();
                }
            }),
        ]);
        let state = Path::new(&state);
        let places = [Place::Directory(state.to_owned())];
        let stop = StopFlag::new();
        let never = run_session(
            &workload,
            &places,
            &settings(state),
            &stop,
            &mut |_: RunEvent<'_>| {},
        );
        panic!("{never:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    let test = "a_run_that_is_killed_leaves_all_that_had_finished";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready")));

    let journals = settings(directory.path()).journals;
    let id = journals.list().unwrap().journals.remove(0).id;
    assert!(journals.is_running(&id).unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!journals.is_running(&id).unwrap());
    let session = journals.read(&id).unwrap().session;
    assert_eq!(session.end, None);
    assert_eq!(session.trials[0].outcome, TrialOutcome::Completed);
    assert_eq!(session.trials[1].phases, [phase("first")]);
    assert!(matches!(
        &session.trials[1].outcome,
        TrialOutcome::Failed { message } if message.contains("cut off")
    ));
}
