//! Histories: what changed, what people say of it, and that this stays.

use std::path::Path;

use stiction_core::{Session, export_session};
use testkit::sessions::{nightly, nights};

use crate::lab::{Lab, assert_fits, assert_says, words};

/// A lab with fifteen nights at one rate, and ten that are a fifth slower.
fn stocked() -> (Lab, Vec<Session>) {
    let sessions = nights(&[[100e6; 15].as_slice(), &[80e6; 10]].concat());
    (filled(&sessions), sessions)
}

fn filled(sessions: &[Session]) -> Lab {
    let lab = Lab::new();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |session: &Session| {
        let path = folder.path().join(format!("{}.json", session.header.id));
        std::fs::write(&path, export_session(session)).expect("a file");
        path.into_os_string()
    };
    let files = sessions.iter().map(write);
    lab.output(std::iter::once("import".into()).chain(files), 0);
    lab
}

fn says(text: &str, part: &str) {
    assert_says(text, &[part]);
}

fn states(lab: &Lab) -> Vec<(String, String)> {
    let json = lab.json(["history"], 0);
    let series = json["series"].as_array().expect("series");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let states = series.iter().map(|s| (text(&s["id"]), text(&s["state"])));
    states.collect()
}

#[test]
fn a_change_is_found_and_an_annotation_settles_it() {
    let (lab, sessions) = stocked();
    let changed = states(&lab);
    assert_eq!(changed.len(), 1);
    let (id, state) = &changed[0];
    assert_eq!(state, "changed");
    let list = lab.output(["history"], 0);
    assert_fits(&list);
    says(&list, "1 changed for the worse");
    let detail = lab.output(["history", &id[..4]], 0);
    assert_fits(&detail);
    let first_slow = sessions[15].header.id.as_str();
    says(&detail, &format!("worse, at {first_slow}"));
    says(&lab.output(["history", "--layout", "markdown"], 0), id);

    let note = [
        "history",
        "annotate",
        id,
        "--at",
        first_slow,
        "--why",
        "by design",
    ];
    says(&lab.output(note, 0), "accepted, by design");
    assert_eq!(states(&lab), [(id.clone(), "steady".to_owned())]);
    lab.output(["store", "rebuild"], 0);
    assert_eq!(states(&lab)[0].1, "steady", "notes outlive the database");
    says(&lab.output(["history", id], 0), "by design");
    lab.output(
        ["history", "annotate", id, "--at", first_slow, "--remove"],
        0,
    );
    assert_eq!(states(&lab)[0].1, "changed");
    let talk = lab.talk(
        ["history", "annotate", id, "--at", first_slow, "--remove"],
        2,
    );
    says(&talk, "there is no note");
}

#[test]
fn names_that_mean_nothing_are_refused() {
    let (lab, sessions) = stocked();
    says(&lab.talk(["history", "zzzz"], 2), "stiction history --all");
    let session = sessions[3].header.id.as_str();
    for typed in [
        &["history", "annotate", "zzzz", "--at", session, "--why", "x"][..],
        &[
            "history", "annotate", "all", "--at", "20990101", "--why", "x",
        ],
        &["history", "annotate", "all", "--at", session],
        &["history", "--order", "/nothing/at/all"],
    ] {
        lab.talk(typed, 2);
    }
    let notes = lab.store().join("annotations.json");
    assert!(!notes.exists());
    std::fs::write(&notes, "{").expect("a file");
    says(&lab.talk(["history"], 2), "annotations.json");
}

#[test]
fn labels_give_the_order_where_they_are_asked_to() {
    let mut sessions = nights(&[100e6; 6]);
    for (session, label) in sessions.iter_mut().zip(["f", "e", "d", "c", "b", "a"]) {
        session.header.label = Some(label.to_owned());
    }
    let lab = filled(&sessions);
    let order = lab.store().join("order");
    std::fs::write(&order, "a\nb\nc\nd\ne\n").expect("a file");
    let json = lab.json(words([&"history", &"--order", &order]), 0);
    let series = &json["series"][0];
    let labels: Vec<_> = series["points"]
        .as_array()
        .expect("points")
        .iter()
        .collect();
    let labels: Vec<_> = labels.iter().map(|p| p["label"].as_str()).collect();
    assert_eq!(labels, ["a", "b", "c", "d", "e"].map(Some));
    assert_eq!(series["unplaced_count"], 1);
}

#[test]
fn a_clock_that_went_back_is_said() {
    let mut sessions = nights(&[100e6; 6]);
    sessions[4].header.environment.kernel = sessions[1].header.environment.kernel.clone();
    let lab = filled(&sessions);
    let text = lab.output(["history"], 0);
    says(&text, "of a boot that another one followed");
}

#[test]
fn an_empty_store_has_no_history() {
    says(
        &Lab::new().output(["history"], 0),
        "No series in 0 sessions",
    );
}

/// JSON has no NaN; what other programs write in its place is no figure.
#[test]
fn figures_that_are_no_numbers_are_refused_at_import() {
    let good = export_session(&nightly(0, 12_345.5));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let lab = Lab::new();
    for bad in ["NaN", "null", "Infinity", "1e999"] {
        let text = good.replace("12345.5", bad);
        assert_ne!(text, good);
        let path = folder.path().join("bad.json");
        std::fs::write(&path, text).expect("a file");
        refused(&lab, &path);
    }
}

fn refused(lab: &Lab, path: &Path) {
    let output = lab
        .stiction(words([&"import", &path]))
        .output()
        .expect("it runs");
    assert!(!output.status.success(), "{output:?}");
    says(&lab.output(["list"], 0), "No sessions");
}

/// Sessions that got slower where `change` was made.
fn changed_by(change: fn(&mut Session)) -> (Lab, String) {
    let mut sessions = nights(&[[100e6; 15].as_slice(), &[80e6; 10]].concat());
    sessions[15..].iter_mut().for_each(change);
    let lab = filled(&sessions);
    let id = states(&lab)[0].0.clone();
    (lab, id)
}

#[test]
fn confirming_says_which_commands_to_give_on_which_kernel() {
    let (lab, id) = changed_by(|session| {
        let kernel = session
            .header
            .environment
            .kernel
            .as_mut()
            .expect("a kernel");
        kernel.release = "6.19.0".to_owned();
    });
    let text = lab.output(["history", "confirm", &id], 3);
    says(&text, "kernel.release: 6.18.1 -> 6.19.0");
    says(
        &text,
        &format!("stiction compare confirm-{id}-before confirm-{id}-after"),
    );
    // The path of the sample has a blank.
    says(&text, "tiobench --seed 7 '--directory=/mnt/a b' --label");
    let json = lab.json(["history", "confirm", &id], 3);
    assert_eq!(json["how"], "elsewhere");
    assert_eq!(json["commands"].as_array().map(Vec::len), Some(3));
}

#[test]
fn confirming_says_how_to_set_what_can_be_set() {
    let (lab, id) = changed_by(|session| {
        let layers = &mut session.header.environment.targets[0].layers;
        layers[0]
            .queue
            .insert("read_ahead_kb".to_owned(), "4096".to_owned());
    });
    let text = lab.output(["history", "confirm", &id], 3);
    says(
        &text,
        "stiction ab --a-prepare 'echo 128 > /sys/block/vda/queue/read_ahead_kb'",
    );
    says(
        &text,
        "--b-prepare 'echo 4096 > /sys/block/vda/queue/read_ahead_kb'",
    );
}

#[test]
fn confirming_what_has_no_other_side_or_no_change_says_so() {
    let (lab, id) = changed_by(|_| ());
    says(
        &lab.output(["history", "confirm", &id], 3),
        "Nothing that was observed",
    );
    let steady = filled(&nights(&[100e6; 12]));
    let id = states(&steady)[0].0.clone();
    says(
        &steady.talk(["history", "confirm", &id], 2),
        "no change to confirm",
    );
}
