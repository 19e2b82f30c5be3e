//! Interrupted and killed runs.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::counters::phase;
use crate::lab::{Lab, assert_empty, assert_says, entries, squeezed, words};
use crate::running::{Ended, Running};

/// Far longer than any test: whatever ends before was ended by the test.
const LONG: &str = "--seconds=3600";

fn long_quick(lab: &Lab, directory: &Path) -> Running {
    lab.output(["list"], 0);
    let typed = words([&"quick", &LONG, &"--size=8M", &directory]);
    let mut run = Running::start(lab.process(typed));
    run.until(&journals(lab), || kept_phases(lab) > 0);
    run
}

pub(crate) fn journals(lab: &Lab) -> PathBuf {
    lab.store().join("journals")
}

/// Phases that are whole in the journals of the store.
pub(crate) fn kept_phases(lab: &Lab) -> usize {
    let texts = entries(&journals(lab)).into_iter().map(|path| {
        // A journal may be made and renamed meanwhile.
        std::fs::read_to_string(path).unwrap_or_default()
    });
    texts
        .map(|text| {
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            whole.matches("\"record\":\"phase\"").count()
        })
        .sum()
}

#[track_caller]
fn assert_interrupted(ended: &Ended) {
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
}

#[test]
fn a_signal_ends_quick_and_what_had_finished_is_kept() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let run = long_quick(&lab, directory.path());
        run.send(signal);
        let ended = run.end();
        assert_interrupted(&ended);
        assert_says(&ended.output, &["sequential write", "interrupted"]);
        assert_empty(directory.path());
        let report = lab.json(["show", "latest"], 0);
        assert_eq!(report["outcome"], "interrupted");
        assert_eq!(phase(&report, "sequential_write")["outcome"], "completed");
        lab.output(["delete", report["id"].as_str().expect("an id")], 0);
    }
}

/// A program that reads JSON gets a whole document from a run that was cut short.
#[test]
fn an_interrupted_run_writes_its_document() {
    let lab = Lab::new();
    lab.output(["list"], 0);
    let directory = testkit::scratch_folder();
    let typed = words([&"quick", &LONG, &"--size=8M", &"--json", &directory.path()]);
    let mut run = Running::start(lab.process(typed));
    run.until(&journals(&lab), || kept_phases(&lab) > 0);
    run.send(Signal::INT);
    let ended = run.end();
    assert_interrupted(&ended);
    let report: serde_json::Value = serde_json::from_str(&ended.output).expect("JSON");
    assert_eq!(report["outcome"], "interrupted");
    assert_eq!(report, lab.json(["show", "latest"], 0));
}

#[test]
fn a_signal_ends_tiobench_and_the_trials_to_come() {
    let lab = Lab::new();
    lab.output(["list"], 0);
    let directory = testkit::scratch_folder();
    for (signal, mode) in [(Signal::INT, ""), (Signal::TERM, "--classic")] {
        let typed = format!(
            "tiobench {mode} --size=4 --threads=1,2 --random=100 --runs=2000 --progress --dir"
        );
        let typed = typed.split_whitespace().map(OsStr::new);
        let typed = typed.chain([directory.path().as_os_str()]);
        let mut run = Running::start(lab.process(typed));
        // The first trial has ended and another goes on.
        run.until(&journals(&lab), || kept_phases(&lab) > 4);
        run.send(signal);
        let ended = run.end();
        assert_interrupted(&ended);
        assert_says(&ended.talk, &["1/4000 ", "random read"]);
        assert_says(&squeezed(&ended.output), &["interrupted"]);
        // Thousands of trials that had no turn are no thousands of lines.
        assert!(ended.output.lines().count() < 100, "{}", ended.output);
        assert_empty(directory.path());
        let id = lab.json(["show", "latest"], 0)["id"].clone();
        lab.output(["delete", id.as_str().expect("an id")], 0);
    }
}

/// Both signals have come by the time that the process can do anything about the first:
/// the second ends it as it ends any program, and what is left is cleaned afterwards.
#[test]
fn a_second_signal_insists() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let run = long_quick(&lab, directory.path());
    run.send(Signal::STOP);
    run.send(Signal::INT);
    run.send(Signal::TERM);
    run.send(Signal::CONT);
    let ended = run.end();
    let deaths = [Signal::INT, Signal::TERM].map(|signal| Some(signal.as_raw()));
    assert!(deaths.contains(&ended.status.signal()), "{ended:?}");
    assert_says(&lab.output(["clean"], 0), &["1 removed"]);
    assert_empty(directory.path());
}

#[test]
fn what_a_kill_leaves_is_cleaned_and_disturbs_nobody() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let run = long_quick(&lab, directory.path());
    run.send(Signal::KILL);
    run.end();
    let [left] = &entries(directory.path())[..] else {
        panic!("one directory is left: {:?}", entries(directory.path()));
    };
    let killed = lab.json(["show", "latest"], 0);
    assert!(killed["outcome"].is_null(), "{killed:#}");
    assert_eq!(phase(&killed, "sequential_write")["outcome"], "completed");
    assert_says(&lab.output(["list"], 0), &["cut off"]);

    // The next run leaves it alone.
    let typed = words([&"quick", &"--seconds=1", &"--size=4M", &directory.path()]);
    lab.output(typed, 0);
    assert_eq!(entries(directory.path()), std::slice::from_ref(left));

    let name = &*left.to_string_lossy();
    for arguments in [
        words([&"clean", &"--dry-run"]).to_vec(),
        words([&"clean", &"--dry-run", &directory.path()]).to_vec(),
    ] {
        let text = lab.output(arguments, 0);
        assert_eq!(text.matches(name).count(), 1, "{text}");
        assert_says(&text, &["would remove", "1 would remove"]);
        assert!(left.exists());
    }
    assert_says(&lab.output(["clean"], 0), &[&format!("removed {name}")]);
    assert_empty(directory.path());
    assert_says(&lab.output(["clean"], 0), &["Nothing was left behind"]);
}

/// Where the store is gone too, the directory itself says whose it is.
#[test]
fn what_a_kill_leaves_is_found_by_looking_too() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let run = long_quick(&lab, directory.path());
    run.send(Signal::KILL);
    run.end();
    let other = Lab::new();
    assert_says(&other.output(["clean"], 0), &["Nothing was left behind"]);
    let text = other.output(words([&"clean", &directory.path()]), 0);
    assert_says(&text, &["1 removed"]);
    assert_empty(directory.path());
    // The undo journal of the first store has nothing to do any more.
    assert_says(&lab.output(["clean"], 0), &["Nothing was left behind"]);
}

#[test]
fn a_run_that_goes_on_is_not_cleaned() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let run = long_quick(&lab, directory.path());
    let before = entries(directory.path());
    for lab in [&lab, &Lab::new()] {
        let text = lab.output(words([&"clean", &directory.path()]), 0);
        assert_says(&text, &["left alone", "is being run"]);
        assert_eq!(entries(directory.path()), before);
    }
    assert_says(&lab.talk(["list"], 0), &["is still being run"]);
    run.send(Signal::INT);
    let ended = run.end();
    assert_interrupted(&ended);
    assert_empty(directory.path());
}
