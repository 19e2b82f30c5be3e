//! Sessions of several configurations: what runs when, what is around it, and what ends it.

mod resume;
mod scene;

use std::collections::BTreeMap;

use stiction_core::{Level, Seed, SessionOutcome, Tool, TrialOutcome};
use stiction_host::FactOptions;
use stiction_runner::blocks::{BlockOrder, BlocksSoFar, Decision, EveryBlock};
use stiction_runner::{RunnerError, Study, plan_study};
use stiction_suite::CommandLine;

use scene::{Scene, Trouble};

#[test]
fn every_block_has_every_cell_of_every_configuration_once() {
    let scene = Scene::new();
    let session = scene
        .run(&scene.study(5, BlockOrder::Random), &mut EveryBlock)
        .session;
    let mut counts: BTreeMap<(u32, Level, i64), u32> = BTreeMap::new();
    let mut last = 0;
    for trial in &session.trials {
        let block = trial.block.unwrap();
        assert!(block >= last, "blocks follow each other");
        last = block;
        let name = trial.cell.get("configuration").unwrap().clone();
        let threads = trial.cell.integer("threads").unwrap();
        *counts.entry((block, name, threads)).or_default() += 1;
        assert_eq!(trial.repetition, block);
    }
    assert_eq!(counts.len(), 5 * 2 * 2);
    assert!(counts.values().all(|&count| count == 1));
    // In one block both configurations have the same place in their own plans, and so
    // the same random numbers; in the next block others.
    let places = |number: usize| {
        let mut ran = scene.workloads[number].ran.borrow().clone();
        ran.sort_by_key(|(_, place)| *place);
        ran
    };
    assert_eq!(places(0), places(1));
    assert_eq!(places(0).len(), 10);
}

#[test]
fn the_plan_replays_from_its_seed_and_tells_all() {
    let scene = Scene::new();
    let study = scene.study(4, BlockOrder::Abba);
    let plan =
        |seed| plan_study(&study, Tool::default(), FactOptions::default(), Seed(seed)).unwrap();
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1).trials, plan(2).trials);
    let parameters = plan(1).parameters;
    assert_eq!(parameters["order"], "abba");
    assert_eq!(parameters["blocks"], 4);
    assert_eq!(parameters["configurations"][1]["name"], "B");
    assert_eq!(parameters["configurations"][1]["places"][0], 1);
    assert_eq!(plan(1).workload, "fake");
    assert_eq!(plan(1).trials.len(), 16);
}

#[test]
fn each_trial_tells_what_it_stood_on() {
    let scene = Scene::new();
    let session = scene
        .run(&scene.study(1, BlockOrder::Random), &mut EveryBlock)
        .session;
    let paths = |targets: &[stiction_core::TargetStack]| -> Vec<String> {
        targets.iter().map(|target| target.path.clone()).collect()
    };
    let [a, b] = ["a", "b"].map(|name| scene.top.path().join(name).display().to_string());
    assert_eq!(
        paths(&session.header.environment.targets),
        [a.clone(), b.clone()]
    );
    for trial in &session.trials {
        let expected = match trial.cell.get("configuration") {
            Some(name) if *name == "A".into() => &a,
            _ => &b,
        };
        let targets = trial.targets.as_ref().expect("not those of the header");
        assert_eq!(&paths(targets), std::slice::from_ref(expected));
    }
}

#[test]
fn who_decides_sees_whole_blocks_and_ends_the_session_in_words() {
    let scene = Scene::new();
    let mut seen = Vec::new();
    let ran = scene.run(
        &scene.study(9, BlockOrder::Random),
        &mut |so_far: &BlocksSoFar<'_>| {
            seen.push((so_far.done, so_far.trials.len(), so_far.block_ns.len()));
            match so_far.done {
                3 => Decision::Stop("precise enough".to_owned()),
                _ => Decision::GoOn,
            }
        },
    );
    assert_eq!(seen, [(1, 4, 1), (2, 8, 2), (3, 12, 3)]);
    assert_eq!(ran.session.trials.len(), 12);
    let end = ran.session.end.unwrap();
    assert_eq!(end.outcome, SessionOutcome::Completed);
    assert_eq!(end.message.as_deref(), Some("precise enough"));
}

#[test]
fn an_interrupted_session_keeps_whole_blocks_and_says_how_many() {
    let mut scene = Scene::new();
    scene.workloads[0].trouble = Some((5, Trouble::Stops));
    let ran = scene.run(&scene.study(9, BlockOrder::Random), &mut EveryBlock);
    let whole = |block| {
        let trials = ran.session.trials.iter();
        trials.filter(|trial| trial.block == Some(block)).count()
    };
    assert_eq!((whole(0), whole(1), whole(3)), (4, 4, 0));
    let last = ran.session.trials.last().unwrap();
    assert_eq!(last.outcome, TrialOutcome::Interrupted);
    assert_eq!(last.block, Some(2));
    let end = ran.session.end.unwrap();
    assert_eq!(end.outcome, SessionOutcome::Interrupted);
    assert_eq!(end.message.as_deref(), Some("after 2 of 9 blocks"));
}

#[test]
fn hooks_stand_around_every_trial_of_their_configuration() {
    let mut scene = Scene::new();
    scene.workloads[1].trouble = Some((1, Trouble::Fails));
    let mut study = scene.study(2, BlockOrder::Random);
    study.configurations[1].prepare = scene.noting("on");
    study.configurations[1].conclude = scene.noting("off");
    let session = scene.run(&study, &mut EveryBlock).session;
    // Of a trial that fails, too.
    assert_eq!(scene.noted(), ["on", "off"].repeat(4));
    for trial in &session.trials {
        let names: Vec<&str> = trial.phases.iter().map(|p| p.name.as_str()).collect();
        let is_a = trial.cell.get("configuration") == Some(&"A".into());
        match &trial.outcome {
            TrialOutcome::Failed { .. } => {
                assert_eq!(names, ["prepare_command", "conclude_command"]);
            }
            _ if is_a => assert_eq!(names, ["work"]),
            _ => assert_eq!(names, ["prepare_command", "work", "conclude_command"]),
        }
    }
}

#[test]
fn a_trial_that_cannot_be_prepared_fails_and_is_concluded() {
    let scene = Scene::new();
    let mut study = scene.study(1, BlockOrder::Random);
    let no_scheduler = CommandLine::Shell("echo no such scheduler >&2; exit 3".to_owned());
    study.configurations[1].prepare = Some(no_scheduler);
    study.configurations[1].conclude = scene.noting("off");
    let session = scene.run(&study, &mut EveryBlock).session;
    assert_eq!(scene.noted(), ["off", "off"]);
    assert!(scene.workloads[1].ran.borrow().is_empty());
    let failed = session
        .trials
        .iter()
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Failed { message } => Some(message),
            _ => None,
        });
    let failed: Vec<&String> = failed.collect();
    assert_eq!(failed.len(), 2);
    assert!(failed[0].contains("no such scheduler"), "{}", failed[0]);
}

#[test]
fn a_trial_that_cannot_be_concluded_has_failed() {
    let scene = Scene::new();
    let mut study = scene.study(1, BlockOrder::Random);
    study.configurations[0].conclude = Some(CommandLine::Shell("exit 1".to_owned()));
    let session = scene.run(&study, &mut EveryBlock).session;
    let failed =
        |trial: &&stiction_core::Trial| matches!(trial.outcome, TrialOutcome::Failed { .. });
    assert_eq!(session.trials.iter().filter(failed).count(), 2);
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let refusal = |change: &dyn Fn(&mut Study<'_>)| {
        let scene = Scene::new();
        let mut study = scene.study(3, BlockOrder::Random);
        change(&mut study);
        let planned = plan_study(&study, Tool::default(), FactOptions::default(), Seed(1));
        match planned {
            Err(RunnerError::Plan(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let text = refusal(&|study| study.configurations[1].name = "A".to_owned());
    assert!(text.contains("two configurations are called A"), "{text}");
    let text = refusal(&|study| study.configurations[1].name = " ".to_owned());
    assert!(text.contains("name is empty"), "{text}");
    let text = refusal(&|study| study.configurations[1].name = "B\n\u{1b}[31m".to_owned());
    assert!(
        text.contains(r#""B\n\u{1b}[31m" has control characters"#),
        "{text}"
    );
    let text = refusal(&|study| study.blocks.as_mut().unwrap().count = 0);
    assert!(text.contains("1 to 1000"), "{text}");
    let text = refusal(&|study| study.configurations.clear());
    assert!(text.contains("there is none"), "{text}");

    let mut scene = Scene::new();
    scene.workloads[1].name = "other";
    let study = scene.study(3, BlockOrder::Random);
    let planned = plan_study(&study, Tool::default(), FactOptions::default(), Seed(1));
    let text = planned.unwrap_err().to_string();
    assert!(text.contains("has to be one workload"), "{text}");
}
