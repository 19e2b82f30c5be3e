//! The layouts of a comparison, and the XML that a gate writes.

use stiction_core::{
    Cell, Direction, Histogram, Interval, Measurement, Phase, PhaseKind, Recording, Trial, metrics,
};

use crate::compare::{blocks, keep, session};
use crate::lab::{Lab, words};

#[test]
fn each_layout_is_a_form_of_its_own() {
    let lab = Lab::new();
    keep(&lab, &[blocks(0, "worse", 0.9, 0.001)]);
    let of = |layout: &str| lab.output(["compare", "worse", "--layout", layout], 1);

    let text = lab.output(["compare", "worse"], 1);
    assert!(text.starts_with("2 WORSE "), "{text}");
    assert_eq!(text.lines().last(), Some("REGRESSION: 2 WORSE"));
    assert_eq!(of("text"), text);

    let mail = of("mail");
    let subject = mail.lines().next().unwrap();
    assert!(
        subject.starts_with("Subject: [BENCH] b vs a: read rate -10 %"),
        "{subject}"
    );
    assert!(mail.lines().all(|line| line.len() <= 78 && line.is_ascii()));
    assert!(mail.contains("stiction tiobench"), "{mail}");

    assert!(of("markdown").starts_with("## b vs a: read rate "));
    let table = of("csv");
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.lines().all(|line| line.split(',').count() == 28));
    assert!(of("osdl").contains("a (baseline)"));
    assert!(of("junit").contains("<testsuite name=\"b against a\" tests=\"2\" failures=\"2\""));
    let said = lab.talk(["compare", "worse", "--layout", "mail", "--json"], 2);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn a_gate_writes_test_cases() {
    let lab = Lab::new();
    keep(&lab, &[blocks(0, "unsure", 0.98, 0.3)]);
    let file = lab.store().join("results.xml");
    let gate = |strictness: &str, code| {
        let typed = words([&"gate", &"unsure", &strictness, &"--junit", &file]);
        lab.output(typed, code);
        std::fs::read_to_string(&file).unwrap()
    };
    let lenient = gate("--lenient", 0);
    assert!(
        lenient.contains("failures=\"0\" skipped=\"2\""),
        "{lenient}"
    );
    let strict = gate("--strict", 1);
    assert!(strict.contains("failures=\"2\" skipped=\"0\""), "{strict}");
}

/// 2 MiB read in 1 s and 1 MiB written.
#[test]
fn reads_and_writes_of_a_mix_are_told_apart() {
    let lab = Lab::new();
    let recording = |direction, bytes| {
        let mut latencies = Histogram::new();
        latencies.record(1_000_000);
        Recording {
            direction,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 1_000_000_000,
                bytes,
                latencies,
            }],
        }
    };
    let mixed = |minute: i64, label: &str| {
        let mut session = session(minute, label);
        let phase = Phase {
            elapsed_ns: 1_000_000_000,
            recordings: vec![
                recording(Direction::Read, 2 << 20),
                recording(Direction::Write, 1 << 20),
            ],
            measurements: vec![Measurement::new(metrics::RATE, 3_145_728.0, 2)],
            ..Phase::new("mix", PhaseKind::Measure)
        };
        session.trials.push(Trial {
            phases: vec![phase],
            ..Trial::new(Cell::new(), 0)
        });
        session
    };
    keep(&lab, &[mixed(0, "one"), mixed(1, "two")]);
    let text = lab.output(["compare", "one", "two"], 3);
    for (figure, value) in [
        ("mix rate", "3.00 MiB/s"),
        ("mix read rate", "2.00 MiB/s"),
        ("mix write rate", "1.00 MiB/s"),
    ] {
        let mut lines = text.lines().map(|line| line.trim_start_matches("? "));
        let line = lines.find(|line| line.starts_with(&format!("{figure} ")));
        assert!(line.is_some_and(|line| line.contains(value)), "{text}");
    }
}
