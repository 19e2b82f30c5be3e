//! Sessions that were cut off at any line of their journal, and go on.

use std::cell::RefCell;
use std::fs;

use stiction_core::{Invocation, PlannedTrial, Session, SessionOutcome, Trial, TrialOutcome};
use stiction_journal::JournalDirectory;
use stiction_runner::blocks::{BlockOrder, BlocksSoFar, Decide, Decision, EveryBlock};
use stiction_runner::{Ran, RunEvent, RunSettings, RunnerError, resume_study};

use crate::scene::{Scene, Trouble, settings};

/// An hour after the sessions of these tests began.
const LATER: &str = "2002-11-30T11:59:12Z";

fn later(scene: &Scene) -> RunSettings {
    RunSettings {
        started: LATER.parse().unwrap(),
        ..settings(&scene.top.path().join("state"))
    }
}

impl Scene {
    fn resume(&self, ran: &Ran, count: u32, decide: &mut dyn Decide) -> Result<Ran, RunnerError> {
        resume_study(
            &self.study(count, BlockOrder::Random),
            &ran.session.header.id,
            &later(self),
            &self.stop,
            decide,
            &mut |_: RunEvent<'_>| {},
        )
    }

    fn journal(&self, ran: &Ran) -> std::path::PathBuf {
        let journals = JournalDirectory::create(&self.top.path().join("state/journals"));
        journals.unwrap().journal_path(&ran.session.header.id)
    }
}

fn planned(trial: &Trial) -> PlannedTrial {
    PlannedTrial {
        cell: trial.cell.clone(),
        repetition: trial.repetition,
        block: trial.block,
    }
}

fn order(session: &Session) -> Vec<PlannedTrial> {
    session.trials.iter().map(planned).collect()
}

/// Whatever line was the last, whole or torn: the session ends as if nothing had happened,
/// no trial that had ended runs again, and each other one runs once.
#[test]
fn a_session_that_was_cut_off_anywhere_is_completed() {
    let scene = Scene::new();
    let whole = scene.run(&scene.study(2, BlockOrder::Random), &mut EveryBlock);
    let path = scene.journal(&whole);
    let text = fs::read(&path).unwrap();
    let ends = (0..text.len()).filter(|&at| text[at] == b'\n');
    let ends: Vec<usize> = ends.map(|at| at + 1).collect();
    let all = whole.session.trials.len();
    for (number, end) in ends.iter().enumerate() {
        let next = ends.get(number + 1).copied().unwrap_or(text.len());
        let torn = end + (next - end) / 2;
        for cut in [*end, torn] {
            if cut == text.len() {
                continue;
            }
            fs::write(&path, &text[..cut]).unwrap();
            let before = fs::read_to_string(&path).unwrap();
            let finished = before.matches("\"record\":\"trial_end\"").count();
            let begun = before.matches("\"record\":\"trial_start\"").count();
            for workload in &scene.workloads {
                workload.ran.borrow_mut().clear();
            }
            let ran = scene.resume(&whole, 2, &mut EveryBlock).unwrap();
            assert!(ran.unsaved.is_none());
            assert_eq!(scene.kept(&ran), ran.session, "cut after {cut} bytes");
            assert_eq!(order(&ran.session), order(&whole.session));
            let completed = |trial: &Trial| trial.outcome == TrialOutcome::Completed;
            assert!(ran.session.trials.iter().all(completed));
            let end = ran.session.end.as_ref().unwrap();
            assert_eq!(end.outcome, SessionOutcome::Completed);
            let again: usize = scene.workloads.iter().map(|w| w.ran.borrow().len()).sum();
            let stood = finished.min(all);
            assert_eq!(again, all - stood, "cut after {cut} bytes");
            let [gap] = &ran.session.resumptions[..] else {
                panic!("one gap: {:?}", ran.session.resumptions);
            };
            assert_eq!(gap.trials_before as usize, stood);
            // A line that was torn half way through does not count as begun.
            let whole_starts = begun - usize::from(cut == torn && torn_start(&before));
            assert_eq!(gap.run_again as usize, whole_starts - stood);
            assert_eq!(gap.start_ns, 3_600_000_000_000);
        }
    }
}

/// Whether the last line is the beginning of the line of a trial's beginning.
fn torn_start(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.contains("\"record\":\"trial_start\"")
}

#[test]
fn it_may_be_cut_off_again_and_again() {
    let scene = Scene::new();
    let whole = scene.run(&scene.study(2, BlockOrder::Random), &mut EveryBlock);
    let path = scene.journal(&whole);
    let text = fs::read_to_string(&path).unwrap();
    let header = text.split_inclusive('\n').next().unwrap();
    fs::write(&path, header).unwrap();
    for times in 1..=8 {
        scene.resume(&whole, 2, &mut EveryBlock).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        // Up to the end of the trial after the last gap.
        let gap = text.rfind("\"record\":\"resumed\"").unwrap();
        let trial = text[gap..].find("\"record\":\"trial_end\"").unwrap();
        let line_end = text[gap + trial..].find('\n').unwrap();
        if times < 8 {
            fs::write(&path, &text[..=gap + trial + line_end]).unwrap();
        }
    }
    let journals = JournalDirectory::create(&scene.top.path().join("state/journals"));
    let read = journals.unwrap().read(&whole.session.header.id).unwrap();
    assert_eq!(read.problems, []);
    assert_eq!(order(&read.session), order(&whole.session));
    assert_eq!(read.session.resumptions.len(), 8);
    let before = read.session.resumptions.iter().map(|one| one.trials_before);
    assert_eq!(before.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn what_was_interrupted_goes_on_and_what_completed_does_not() {
    let scene = Scene::new();
    let mut scene = scene;
    scene.workloads[1].trouble = Some((1, Trouble::Stops));
    let first = scene.run(&scene.study(2, BlockOrder::Random), &mut EveryBlock);
    assert_eq!(
        first.session.end.as_ref().unwrap().outcome,
        SessionOutcome::Interrupted
    );
    scene.stop = Default::default();
    scene.workloads[1].trouble = None;
    let ran = scene.resume(&first, 2, &mut EveryBlock).unwrap();
    assert_eq!(ran.session.trials.len(), 8);
    let plan = ran.session.header.plan.as_ref().unwrap();
    assert_eq!(order(&ran.session), plan.trials);
    assert_eq!(scene.kept(&ran), ran.session);
    let refused = scene.resume(&first, 2, &mut EveryBlock).unwrap_err();
    assert!(refused.to_string().contains("it is complete"), "{refused}");
}

/// Whether there is another block is asked as often as without the gap, and its time does
/// not count.
#[test]
fn decisions_are_those_of_a_session_without_a_gap() {
    let scene = Scene::new();
    let whole = scene.run(&scene.study(4, BlockOrder::Random), &mut EveryBlock);
    let path = scene.journal(&whole);
    let text = fs::read_to_string(&path).unwrap();
    let ends: Vec<usize> = text
        .match_indices("\"record\":\"trial_end\"")
        .map(|(at, _)| at + text[at..].find('\n').unwrap() + 1)
        .collect();
    let asked = RefCell::new(Vec::new());
    let mut decide = |so_far: &BlocksSoFar<'_>| {
        assert!(so_far.elapsed_ns < 3_600_000_000_000, "the gap is left out");
        assert_eq!(so_far.block_ns.len(), so_far.done as usize);
        asked.borrow_mut().push(so_far.done);
        match so_far.done {
            3 => Decision::Stop("after three".to_owned()),
            _ => Decision::GoOn,
        }
    };
    // After one block of four trials; inside the second; after the second.
    for (finished, expected) in [(4, vec![1, 2, 3]), (5, vec![2, 3]), (8, vec![2, 3])] {
        fs::write(&path, &text[..ends[finished - 1]]).unwrap();
        let ran = scene.resume(&whole, 4, &mut decide).unwrap();
        assert_eq!(asked.take(), expected, "{finished} trials had ended");
        assert_eq!(ran.session.trials.len(), 12);
        let end = ran.session.end.unwrap();
        assert_eq!(end.message.as_deref(), Some("after three"));
    }
}

#[test]
fn another_plan_is_refused_and_the_journal_stays() {
    let scene = Scene::new();
    let whole = scene.run(&scene.study(3, BlockOrder::Random), &mut EveryBlock);
    let path = scene.journal(&whole);
    let text = fs::read_to_string(&path).unwrap();
    let cut = text[..text.len() / 2].rfind('\n').unwrap();
    fs::write(&path, &text[..=cut]).unwrap();
    let refused = scene.resume(&whole, 4, &mut EveryBlock).unwrap_err();
    let RunnerError::Resume { problem, .. } = &refused else {
        panic!("{refused:?}");
    };
    assert!(problem.contains("blocks was 3 and would be 4"), "{problem}");
    assert_eq!(fs::read_to_string(&path).unwrap(), &text[..=cut]);

    fs::remove_dir(scene.top.path().join("b")).unwrap();
    let refused = scene.resume(&whole, 3, &mut EveryBlock).unwrap_err();
    assert!(matches!(refused, RunnerError::Target(_)), "{refused:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), &text[..=cut]);
}

#[test]
fn what_was_typed_is_kept() {
    let scene = Scene::new();
    let invocation = Invocation {
        words: vec!["run".to_owned()],
        directory: "/".to_owned(),
        texts: [("lab.toml".to_owned(), "a = 1\n".to_owned())].into(),
    };
    let settings = RunSettings {
        invocation: Some(invocation.clone()),
        ..settings(&scene.top.path().join("state"))
    };
    let study = scene.study(1, BlockOrder::Random);
    let events = &mut |_: RunEvent<'_>| {};
    let ran = stiction_runner::run_study(&study, &settings, &scene.stop, &mut EveryBlock, events);
    let ran = ran.unwrap();
    assert_eq!(scene.kept(&ran).header.invocation, Some(invocation));
    assert!(!ran.session.can_go_on(), "it is complete");
}
