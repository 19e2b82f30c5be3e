//! Sides by label, pattern, list, level and named baseline; what a gate ends with.

use std::path::PathBuf;

use crate::lab::{Lab, seed, words};
use stiction_core::{
    Cell, Environment, Measurement, Phase, PhaseKind, Plan, Provenance, RECORD_FORMAT_VERSION,
    Seed, Session, SessionHeader, SessionId, Trial, export_session, metrics,
};

/// A measured session without trials that began so many minutes after the others.
pub(crate) fn session(minute: i64, label: &str) -> Session {
    let start: jiff::Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
    let started = start + jiff::SignedDuration::from_mins(minute);
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, minute.unsigned_abs() + 77),
            started,
            label: Some(label.to_owned()),
            command: vec!["tiobench".to_owned()],
            provenance: Provenance::Measured,
            plan: Some(Plan {
                workload: "tiobench".to_owned(),
                parameters: serde_json::json!({}),
                seed: Seed(1),
                preparation: stiction_core::Preparation::default(),
                trials: Vec::new(),
            }),
            environment: Environment::default(),
            caveats: Vec::new(),
            invocation: None,
        },
        trials: Vec::new(),
        end: None,
        resumptions: Vec::new(),
    }
}

fn trial(cell: Cell, rate: f64) -> Trial {
    let mut phase = Phase::new("read", PhaseKind::Measure);
    phase
        .measurements
        .push(Measurement::new(metrics::RATE, rate, 1));
    phase
        .measurements
        .push(Measurement::new(metrics::LATENCY_MEAN, 1e14 / rate, 1000));
    Trial {
        phases: vec![phase],
        ..Trial::new(cell, 0)
    }
}

/// A session of blocks in which `b` runs at `factor` of `a`, give or take `noise`.
pub(crate) fn blocks(minute: i64, label: &str, factor: f64, noise: f64) -> Session {
    let mut session = session(minute, label);
    for block in 0..8u32 {
        let wobble = 1.0 + noise * [1.0, -1.0, 0.5, -0.5][block as usize % 4];
        for (name, rate) in [("a", 1e8), ("b", 1e8 * factor * wobble)] {
            let mut trial = trial(Cell::new().with("configuration", name), rate);
            trial.block = Some(block);
            session.trials.push(trial);
        }
    }
    session
}

/// One run.
fn run(minute: i64, label: &str, rate: f64) -> Session {
    let mut session = session(minute, label);
    session.trials.push(trial(Cell::new(), rate));
    session
}

/// Keeps sessions in the lab's store.
pub(crate) fn keep(lab: &Lab, sessions: &[Session]) {
    for session in sessions {
        let file: PathBuf = lab.store().join(format!("{}.json", session.header.id));
        std::fs::write(&file, export_session(session)).unwrap();
        lab.output(words([&"import", &file]), 0);
        std::fs::remove_file(&file).unwrap();
    }
}

/// `a` and `b` in runs that alternate: A B B A A B B A...
fn alternating() -> Vec<Session> {
    let of = |index: i64, label: &str, factor: f64| {
        let wobble = 1.0 + 0.002 * (index % 3) as f64;
        run(index, label, 1e8 * factor * wobble)
    };
    (0..16)
        .map(|index| match index % 4 {
            0 | 3 => of(index, "nightly-a", 1.0),
            _ => of(index, "nightly-b", 0.9),
        })
        .collect()
}

#[test]
fn a_gate_ends_with_what_it_found() {
    let lab = Lab::new();
    keep(
        &lab,
        &[
            blocks(0, "worse", 0.9, 0.001),
            blocks(1, "same", 1.001, 0.001),
            blocks(2, "unsure", 0.98, 0.3),
            run(3, "one", 1e8),
            run(4, "two", 1e8),
        ],
    );
    for (label, code) in [("same", 0), ("worse", 1), ("unsure", 3)] {
        lab.output(["gate", label], code);
        lab.output(["compare", label], code);
    }
    lab.output(["gate", "one", "two"], 3);
    lab.output(["gate", "unsure", "--strict"], 1);
    let said = lab.talk(["gate", "unsure", "--lenient"], 0);
    assert!(
        said.contains("lenient: something could not be told, and passes"),
        "{said}"
    );
    lab.output(["gate", "worse", "--lenient"], 1);
    lab.output(["gate", "one", "nothing"], 2);
    lab.output(["gate", "one", "two", "--strict", "--lenient"], 2);
}

#[test]
fn a_gate_looks_at_the_classes_and_effects_that_it_is_told() {
    let lab = Lab::new();
    keep(&lab, &[blocks(0, "worse", 0.9, 0.001)]);
    // 10 % of the rate and 11 % of the latency.
    lab.output(["gate", "worse", "--mei", "throughput=20%"], 1);
    lab.output(["gate", "worse", "--mei", "throughput=20%,latency=20%"], 0);
    lab.output(
        ["gate", "worse", "--mei", "20%", "--class", "throughput"],
        0,
    );
    lab.output(["gate", "worse", "--class", "tail"], 4);
    let said = lab.talk(["gate", "worse", "--mei", "speed=2%"], 2);
    assert!(
        said.contains("`speed` is none of throughput, latency"),
        "{said}"
    );
}

#[test]
fn sessions_of_one_label_are_one_side() {
    let lab = Lab::new();
    keep(&lab, &alternating());
    lab.output(["gate", "nightly-a", "nightly-b"], 1);
    // A label is a pattern of itself, and a list of labels a side, too.
    lab.output(["gate", "nightly-[a]", "nightly-b"], 2);
    lab.output(["gate", "nightly-?", "nightly-b"], 3);
    lab.output(["gate", "*-a", "n*-b"], 1);
    lab.output(["gate", "nightly-a,nightly-b", "nightly-b"], 3);
    lab.output(["compare", "nightly-*", "--col", "label"], 1);
    let said = lab.talk(["compare", "nightly-*", "--col", "kernel"], 2);
    assert!(said.contains("nothing says which kernel"), "{said}");
    let said = lab.talk(["compare", "nightly-a"], 2);
    assert!(said.contains("means 8 sessions"), "{said}");
}

#[test]
fn one_session_is_compared_by_the_levels_of_a_factor() {
    let lab = Lab::new();
    keep(&lab, &[blocks(0, "ab", 0.9, 0.001), run(1, "plain", 1e8)]);
    lab.output(["compare", "ab"], 1);
    lab.output(["compare", "ab", "--factor", "configuration"], 1);
    lab.output(["compare", "ab", "b", "a"], 0);
    let said = lab.talk(["compare", "plain"], 2);
    assert!(
        said.contains("`configuration` has not several levels"),
        "{said}"
    );
    let said = lab.talk(["compare", "ab", "--factor", "kernel"], 2);
    assert!(said.contains("--factor configuration makes"), "{said}");
    let said = lab.talk(["compare", "ab", "c", "a"], 2);
    assert!(
        said.contains("nothing in the session is labelled `c`"),
        "{said}"
    );
}

#[test]
fn a_baseline_has_a_name_that_outlives_the_database() {
    let lab = Lab::new();
    keep(&lab, &alternating());
    keep(&lab, &[run(90, "last", 0.9e8)]);
    assert_eq!(
        lab.output(["baseline", "list"], 0),
        "No baselines are set\n"
    );
    let first = lab.json(["list", "--label", "nightly-a"], 0);
    let ids: Vec<String> = first["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .collect();
    let mut set = vec!["baseline", "set", "6.9"];
    set.extend(ids.iter().map(String::as_str));
    lab.output(&set, 0);
    lab.output(["store", "rebuild"], 0);
    let listed = lab.json(["baseline", "list"], 0);
    assert_eq!(listed["baselines"][0]["name"], "6.9");
    assert_eq!(
        listed["baselines"][0]["sessions"].as_array().unwrap().len(),
        8
    );
    lab.output(["gate", "--baseline", "6.9", "nightly-b"], 1);
    lab.output(["gate", "--baseline", "6.9", "last"], 3);
    let said = lab.talk(["gate", "--baseline", "6.10", "last"], 2);
    assert!(
        said.contains("no baseline is called `6.10` There are 6.9."),
        "{said}"
    );
    lab.output(["baseline", "remove", "6.9"], 0);
    lab.output(["baseline", "remove", "6.9"], 2);
    lab.output(["baseline", "set", "x", "nothing"], 2);
    assert_eq!(
        lab.output(["baseline", "list"], 0),
        "No baselines are set\n"
    );
}

/// The table of 2003 holds one configuration twice: whatever is no larger than that is
/// noise, and all of it is of single runs.
#[test]
fn the_percent_table_of_2003_tells_its_own_noise() {
    let lab = Lab::new();
    let table = seed("osdl-percent-from-baseline.txt");
    let text = lab.output(
        words([
            &"compare",
            &table,
            &"linux-2.6.0-test8",
            &"linux-2.6.0-test9",
        ]),
        3,
    );
    // 48.14 and 22.12 in one cell, -27.66 and -33.65 on average.
    assert!(text.contains("26.0 points over 2 runs"), "{text}");
    assert!(text.contains("5.99 points over 2 runs"), "{text}");
    lab.output(words([&"compare", &table, &"--factor", &"kernel"]), 3);
}
