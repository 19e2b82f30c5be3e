//! Histories: what changed, what people say of it, and that this stays.

use std::path::Path;

use stiction_core::{Session, export_session};
use testkit::sessions::{nightly, nights};

use crate::lab::{Lab, assert_fits, assert_says, words};

/// A lab with fifteen nights at one rate, and ten that are a fifth slower.
pub(crate) fn stocked() -> (Lab, Vec<Session>) {
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

pub(crate) fn states(lab: &Lab) -> Vec<(String, String)> {
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

/// The command of nights that print what is in `speed` of their directory, and got slower
/// by a fifth; the first fifteen of them ran in `before`, the others in `after`.
fn nights_of_a_command(before: &Path, after: &Path) -> (Lab, String) {
    let command = [
        "stiction",
        "run",
        "--order=random",
        "--metric=speed[/s,more]=/([0-9]+)/",
        "--command=cat speed",
    ];
    let mut sessions = nights(&[[100e6; 15].as_slice(), &[80e6; 10]].concat());
    for (night, session) in sessions.iter_mut().enumerate() {
        let place = if night < 15 { before } else { after };
        session.header.command = command.map(str::to_owned).to_vec();
        session.header.environment.targets[0].path = place.display().to_string();
    }
    let lab = filled(&sessions);
    let id = states(&lab)[0].0.clone();
    (lab, id)
}

/// Confirms with `more` words, and returns what six blocks said of the speed.
fn confirmed(lab: &Lab, id: &str, more: &[&str], code: i32) -> (String, f64) {
    let confirm = ["history", "confirm", id, "--run", "--blocks", "6"];
    let told = lab.json(confirm.iter().chain(more), code);
    assert_eq!(told["schema"], "stiction-comparison");
    let rows = told["candidates"][0]["rows"].as_array().expect("rows");
    let is_speed = |row: &&serde_json::Value| row["metric"].to_string().contains("speed");
    let row = rows.iter().find(is_speed).expect("what was printed");
    assert_eq!(row["estimate"]["blocks_count"], 6, "{row}");
    let change = row["estimate"]["change_percent"].as_f64();
    let verdict = row["verdict"].as_str().expect("a verdict");
    (verdict.to_owned(), change.expect("a change"))
}

#[test]
fn confirming_runs_the_sides_that_commands_make() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let (lab, id) = nights_of_a_command(place.path(), place.path());
    let set = |speed: u32| format!("echo {speed} > {}/speed", place.path().display());
    let (slow, fast) = (set(80), set(100));
    let hooks = ["--a-prepare", &fast, "--b-prepare", &slow];
    let (verdict, change) = confirmed(&lab, &id, &hooks, 1);
    assert_eq!(verdict, "worse");
    assert!((change + 20.0).abs() < 1e-6, "{change}");
    let kept = lab.json(["export", "latest"], 0)["session"]["header"]["command"].take();
    let command: Vec<&str> = kept
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|w| w.as_str())
        .collect();
    assert!(
        command.ends_with(&["--", "cat", "speed", "---", "cat", "speed"]),
        "{kept}"
    );

    // Without them nothing is run.
    let sessions = lab.json(["list"], 0);
    let run = ["history", "confirm", &id, "--run"];
    says(&lab.output(run, 3), "Nothing that was observed");
    says(&lab.talk(run, 3), "not run");
    assert_eq!(lab.json(["list"], 0), sessions);
    let no_run = ["history", "confirm", &id, "--blocks", "6"];
    says(&lab.talk(no_run, 2), "--run");
}

#[test]
fn confirming_runs_each_side_in_its_directory() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    for (place, speed) in [(&before, "100\n"), (&after, "80\n")] {
        std::fs::create_dir(place).expect("a directory");
        std::fs::write(place.join("speed"), speed).expect("a file");
    }
    let (lab, id) = nights_of_a_command(&before, &after);
    let (verdict, change) = confirmed(&lab, &id, &[], 1);
    assert_eq!(verdict, "worse");
    assert!((change + 20.0).abs() < 1e-6, "{change}");
}

#[test]
fn a_smallest_effect_of_interest_decides_what_is_a_change() {
    let (lab, _) = stocked();
    let state = |mei: &str| lab.json(["history", "--mei", mei], 0)["series"][0]["state"].clone();
    assert_eq!(state("throughput=15%"), "changed");
    // 80 of 100 is 22 % from either side, on logarithms.
    assert_eq!(state("throughput=30%"), "steady");
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
