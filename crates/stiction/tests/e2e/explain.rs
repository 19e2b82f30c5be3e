//! What is said of a difference, and of one session; never that one thing made another.

use serde_json::Value;

use crate::compare::{blocks, keep, session};
use crate::lab::{Lab, assert_fits, assert_says, squeezed, words};

/// Words that claim a cause.
const CAUSAL: [&str; 13] = [
    "because",
    "caus",
    "due to",
    "owing to",
    "thanks to",
    "responsible",
    "leads to",
    "led to",
    "results in",
    "culprit",
    "therefore",
    "hence",
    " blame",
];

#[track_caller]
fn assert_claims_no_cause(text: &str) {
    let text = squeezed(text).to_lowercase();
    for word in CAUSAL {
        assert!(!text.contains(word), "`{word}` in:\n{text}");
    }
}

#[test]
fn two_configurations_are_explained_and_one_session_alone_is() {
    let lab = Lab::new();
    let mut two = blocks(0, "two", 0.8, 0.01);
    for trial in &mut two.trials {
        let is_b = trial.cell.get("configuration").unwrap().to_string() == "b";
        let phase = &mut trial.phases[0];
        phase.elapsed_ns = 1_000_000_000;
        let rate = phase.measurements[0].value as u64;
        phase.witnesses.devices.push(stiction_core::DeviceTraffic {
            device: "vda".to_owned(),
            reads: if is_b { 2000 } else { 1000 },
            read_bytes: rate,
            ..stiction_core::DeviceTraffic::default()
        });
    }
    let mut alone = session(9, "alone");
    alone.trials = two.trials[..1].to_vec();
    alone.trials[0].block = None;
    alone.trials[0].cell = stiction_core::Cell::new();
    keep(&lab, &[two, alone]);

    let text = lab.output(["explain", "two"], 0);
    assert_fits(&text);
    assert_claims_no_cause(&text);
    let said = squeezed(&text);
    assert_says(
        &said,
        &[
            "A a -> B b",
            "Moved together with the rate",
            "reads of the device",
        ],
    );
    assert!(
        text.trim_end()
            .lines()
            .last()
            .unwrap()
            .starts_with("read rate -"),
        "{text}"
    );

    let found = lab.json(["explain", "two"], 0);
    let moved = found["phases"][0]["counters"]["moved"].as_array().unwrap();
    let names: Vec<&str> = moved
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"reads of the device"), "{names:?}");

    let text = lab.output(["explain", "alone"], 0);
    assert_fits(&text);
    assert_claims_no_cause(&text);
    assert_says(&text, &["read"]);
    let said = lab.talk(["explain", "alone", "--taken-back", "two"], 2);
    assert_says(&said, &["there is one side"]);
    lab.output(["explain", "nothing"], 2);
}

/// Data of ext3 that go through the journal: the device writes each byte twice, and jbd2
/// is named.
#[test]
fn root_data_in_the_journal_of_ext3_are_explained() {
    testkit::require_root!();
    testkit::require_program!("mkfs.ext3");
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = "ab --blocks 8 --scratch-size 128M --set filesystem=ext3 \
                 --a-set mount_options=data=ordered --b-set mount_options=data=journal \
                 write-and-fsync -m 16 --runs 1";
    let typed = typed.split_whitespace().map(Into::into);
    let typed: Vec<std::ffi::OsString> = typed.chain([directory.path().into()]).collect();
    // Whether it is slower is not what this is about: machines of tests are busy.
    let ended = lab.stiction(typed).output().expect("stiction runs");
    assert!(matches!(ended.status.code(), Some(0 | 1 | 3)), "{ended:?}");

    let found = lab.json(["explain", "latest", "--all"], 0);
    assert_eq!(found["attribution"]["one_thing"], "mount_options");
    let phase = &found["phases"][0];
    let counter = |name: &str| -> &Value {
        let moved = phase["counters"]["moved"].as_array().unwrap().iter();
        let mut named = moved.filter(|one| one["name"] == name);
        named
            .next()
            .unwrap_or_else(|| panic!("no `{name}` in {phase}"))
    };
    let written = counter("bytes written by the device");
    let (a, b) = (
        written["value_a"].as_f64().unwrap(),
        written["value_b"].as_f64().unwrap(),
    );
    assert!(
        (0.95..1.3).contains(&a) && (1.9..2.5).contains(&b),
        "{written}"
    );
    // mkfs gives filesystems below 512 MiB blocks of 1 KiB: 1024 for each MiB, and some that
    // describe them.
    let logged = counter("jbd2 blocks written to the journal");
    let (a, b) = (
        logged["value_a"].as_f64().unwrap(),
        logged["value_b"].as_f64().unwrap(),
    );
    assert!(a < 64.0 && (1024.0..1280.0).contains(&b), "{logged}");

    let text = lab.output(words([&"explain", &"latest"]), 0);
    assert_fits(&text);
    assert_claims_no_cause(&text);
    let said = squeezed(&text);
    assert_says(
        &said,
        &["mount_options alone differs", "The next run", "jbd2"],
    );
}
