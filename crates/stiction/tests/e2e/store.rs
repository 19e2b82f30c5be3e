//! Keeping sessions: finding them by name, taking them out and in, and making the
//! database anew.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use crate::lab::{Lab, assert_says, entries, seed, words};

/// A lab with a session that was measured and two that were imported.
fn stocked() -> Lab {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = words([
        &"quick",
        &"--seconds=1",
        &"--size=4M",
        &"--label=here",
        &directory.path(),
    ]);
    lab.output(typed, 0);
    for (name, label) in [
        ("tiobench-ext3-32-threads.txt", "posted"),
        ("contest-log-ext3.txt", "contest"),
    ] {
        lab.output(words([&"import", &"--label", &label, &seed(name)]), 0);
    }
    lab
}

/// The ids of all sessions, latest first.
fn ids(lab: &Lab) -> Vec<String> {
    let list = lab.json(["list"], 0);
    let sessions = list["sessions"].as_array().expect("sessions");
    let id = |session: &serde_json::Value| session["id"].as_str().expect("an id").to_owned();
    sessions.iter().map(id).collect()
}

/// All that is said of all sessions.
fn everything(lab: &Lab) -> Vec<String> {
    let mut texts = vec![lab.output(["list"], 0), lab.output(["list", "--json"], 0)];
    for id in ids(lab) {
        texts.push(lab.output(["show", &id], 0));
        texts.push(lab.output(["show", "--json", &id], 0));
        texts.push(lab.output(["export", &id], 0));
    }
    texts
}

fn database(lab: &Lab) -> PathBuf {
    lab.store().join("store.sqlite3")
}

#[test]
fn a_database_made_anew_says_the_same() {
    let lab = stocked();
    let before = everything(&lab);
    assert_eq!(ids(&lab).len(), 3);
    assert_says(
        &lab.output(["store", "rebuild"], 0),
        &["3 sessions", "0 unreadable"],
    );
    assert_eq!(everything(&lab), before);
    std::fs::remove_file(database(&lab)).expect("a database");
    assert_eq!(everything(&lab), before, "any command makes it anew");
}

#[test]
fn a_damaged_database_is_told_and_can_be_made_anew() {
    let lab = stocked();
    let before = everything(&lab);
    // The header stays, what follows is noise.
    let mut file = OpenOptions::new()
        .write(true)
        .open(database(&lab))
        .expect("a database");
    let length = file.metadata().expect("its size").len();
    let noise: Vec<u8> = (100..length).map(|byte| (byte * 7 % 251) as u8).collect();
    file.seek(SeekFrom::Start(100)).expect("a place in it");
    file.write_all(&noise).expect("noise");
    let damaged = std::fs::read(database(&lab)).expect("a database");

    for command in ["list", "show"] {
        let talk = lab.talk([command], 2);
        let path = database(&lab);
        assert_says(
            &talk,
            &[
                &*path.to_string_lossy(),
                "damaged",
                "`stiction store rebuild`",
            ],
        );
    }
    assert_eq!(
        std::fs::read(database(&lab)).expect("a database"),
        damaged,
        "changed nothing"
    );
    assert_says(&lab.output(["store", "rebuild"], 0), &["3 sessions"]);
    assert_eq!(everything(&lab), before);
}

#[test]
fn what_is_exported_comes_back_as_it_was() {
    let lab = stocked();
    let other = Lab::new();
    for id in ids(&lab) {
        let text = lab.output(["export", &id], 0);
        let file = other.store().join("session.json");
        std::fs::write(&file, &text).expect("a file");
        let imported = other.output(words([&"import", &file]), 0);
        assert_says(&imported, &[&id]);
        assert_eq!(other.output(["export", &id], 0), text);
        // Once.
        let talk = other.talk(words([&"import", &file]), 2);
        assert_says(&talk, &[&id]);
    }
    assert_eq!(ids(&lab), ids(&other));
    // From stdin as well.
    let third = Lab::new();
    let text = lab.output(["export", "here"], 0);
    third
        .stiction(["import", "-"])
        .write_stdin(text.clone())
        .assert()
        .code(0);
    assert_eq!(third.output(["export", "here"], 0), text);
}

#[test]
fn what_is_deleted_stays_away() {
    let lab = stocked();
    let all = ids(&lab);
    let [kept, gone, gone_too] = &all[..] else {
        panic!("{all:?}");
    };
    // One name that is none: nothing is deleted.
    assert_says(&lab.talk(["delete", gone, "zzzz"], 2), &["`zzzz`"]);
    assert_eq!(ids(&lab), all);
    assert_says(
        &lab.output(["delete", gone, gone_too], 0),
        &[gone, gone_too],
    );
    assert_eq!(ids(&lab), [kept.as_str()]);
    lab.output(["store", "rebuild"], 0);
    assert_eq!(ids(&lab), [kept.as_str()]);
    assert_says(&lab.talk(["show", gone], 2), &[gone, "`stiction list`"]);
    assert_eq!(entries(&lab.store().join("journals")).len(), 1);
}

#[test]
fn a_session_answers_to_id_beginning_tail_and_label() {
    let lab = stocked();
    let id = |name: &str| {
        lab.json(["show", name], 0)["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let all = ids(&lab);
    assert_eq!(id("latest"), all[0]);
    for whole in &all {
        let tail = whole.rsplit('-').next().expect("a tail");
        assert_eq!([id(whole), id(tail)], [whole.clone(), whole.clone()]);
        assert_eq!(id(&whole[..whole.len() - 1]), *whole);
    }
    assert_eq!(id("contest"), all[0]);
    assert_eq!(id("posted"), all[1]);
    assert_eq!(id("here"), all[2]);
    let listed = lab.json(["list", "--label", "here"], 0);
    assert_eq!(listed["sessions"][0]["id"], all[2].as_str());
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1));
    let listed = lab.json(["list", "--workload", "quick"], 0);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1));
    let listed = lab.json(["list", "--limit", "2"], 0);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_name_of_several_sessions_is_asked_back() {
    let lab = stocked();
    let file = seed("contest-log-ext2.txt");
    lab.output(words([&"import", &"--label=contest", &file]), 0);
    let all = ids(&lab);
    // All were made in this century.
    for (name, meant) in [("contest", 2), ("20", 4)] {
        for command in ["show", "delete", "export"] {
            let talk = lab.talk([command, name], 2);
            assert_says(
                &talk,
                &[&format!("`{name}` means {meant} sessions"), &all[0]],
            );
        }
    }
    assert_eq!(ids(&lab), all);
}

#[test]
fn something_else_in_the_place_of_the_database_is_told() {
    let lab = Lab::new();
    for (what, reason) in [
        (
            &b"no database at all, but long enough to be one"[..],
            "damaged",
        ),
        (b"SQLite format 3\0and then nothing of it", "damaged"),
    ] {
        std::fs::write(database(&lab), what).expect("a file");
        assert_says(&lab.talk(["list"], 2), &[reason, "store rebuild"]);
        lab.output(["store", "rebuild"], 0);
        assert!(lab.output(["list"], 0).contains("No sessions"));
    }
    std::fs::remove_file(database(&lab)).expect("a database");
    std::fs::create_dir(database(&lab)).expect("a directory");
    assert_says(&lab.talk(["list"], 2), &["store.sqlite3"]);
    let file = seed("README.md");
    let talk = lab.talk(words([&"list", &"--store", &file]), 2);
    assert_says(&talk, &["Not a directory", "--store"]);
}
