//! `stiction metadata`: its report, its refusals, and what a kill leaves.

use rustix::process::Signal;

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, entries, words};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

#[test]
fn every_call_has_its_line_and_nothing_is_left() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = words([&"metadata", &"--quick", &"--sync", &"6", &directory.path()]);
    let text = lab.output(typed, 0);
    assert_fits(&text);
    let phases = [
        "make directories",
        "create",
        "sync filesystem",
        "sync files",
        "rename",
    ];
    assert_says(&text.to_lowercase(), &phases);
    assert_says(&text, &["files made and synced "]);
    let json = lab.json(["show", "latest"], 0);
    let figures = &json["results"][0]["phases"][1]["figures"];
    assert_eq!(figures["operations_count"]["value"], 400.0);
    assert!(figures["latency_ns_p50"]["value"].as_f64() > Some(0.0));
    assert_empty(directory.path());
}

#[test]
fn trees_without_end_are_refused() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let deep = ["metadata", "--depth", "30"];
    let talk = lab.talk(words([&deep[0], &deep[1], &deep[2], &directory.path()]), 2);
    assert_says(&talk, &["depth", "more than a million directories"]);
    assert_empty(directory.path());
}

#[test]
fn what_a_kill_leaves_is_cleaned() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = words([&"metadata", &"--files", &"3000000", &directory.path()]);
    lab.output(["list"], 0);
    for finished in [0, 1] {
        let before = kept_phases(&lab);
        let mut run = Running::start(lab.process(&typed));
        run.until(directory.path(), || !entries(directory.path()).is_empty());
        run.until(&journals(&lab), || kept_phases(&lab) >= before + finished);
        run.send(Signal::KILL);
        run.end();
        assert_eq!(entries(directory.path()).len(), 1);
        assert_says(&lab.output(["clean"], 0), &["1 removed"]);
        assert_empty(directory.path());
    }
}
