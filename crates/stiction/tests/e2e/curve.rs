//! `curve`: rates that are raised until they break.

use std::ffi::OsString;

use serde_json::Value;
use stiction_core::metrics;
use testkit::ScratchLoop;

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, words};

/// No operation is as fast as the limit, so the first rate breaks, and its halves too.
const BREAKS: &str = "--limit=p50=1ns";

#[test]
fn a_limit_that_nothing_keeps_is_broken_by_every_rate() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let arguments = words([
        &"curve",
        &"--seconds=1",
        &"--points=2",
        &"--size=4M",
        &"--depth-max=4",
        &BREAKS,
        &folder.path(),
    ]);
    let report = lab.json(arguments, 0);
    assert_empty(folder.path());
    let curve = &report["curve"];
    assert_eq!(curve["limit"]["figure"], "p50");
    assert_eq!(curve["limit"]["at_most_ns"], 1);
    let rates = curve["rates"].as_array().unwrap();
    assert_eq!(rates.len(), 4, "the first of two, and three halves of it");
    let asked = |rate: &Value| rate["asked_operations_per_s"].as_f64().unwrap();
    for rate in rates {
        assert_ne!(rate["outcome"], "held");
        let figure = &rate["figures"][&*metrics::DONE_OVER_ASKED.name];
        assert!(figure["lowest"].as_f64() <= figure["highest"].as_f64());
    }
    assert!(
        rates
            .windows(2)
            .all(|pair| asked(&pair[0]) < asked(&pair[1]))
    );
    let run = &curve["runs"][0];
    assert!(run["maximum_operations_per_s"].as_f64().unwrap() > 0.0);
    assert!(run["held_operations_per_s"].is_null());
    assert_eq!(
        run["broke_operations_per_s"].as_f64().unwrap(),
        asked(&rates[0])
    );

    warm_up_can_be_moved(&lab, &report);
    let shown = lab.output(["show"], 0);
    assert_fits(&shown);
    assert_says(
        &shown,
        &["A closed loop reaches", "o p99", "too slow", "engine: "],
    );
    // The last words, over as many lines as they take.
    let (_, end) = shown.rsplit_once("phases: ").expect("the count of figures");
    assert_says(end, &["No rate held with p50 <= 1"]);
    assert_says(&lab.output(["list"], 0), &["curve", "No rate held"]);
}

/// The first tenth of a second was warm-up: cut off again, the figures are those that were
/// stored, and another cut gives others.
fn warm_up_can_be_moved(lab: &Lab, report: &Value) {
    let figures = |report: &Value| -> Vec<Value> {
        let phases = report["results"][0]["phases"].as_array().unwrap();
        let measured = phases.iter().filter(|phase| phase["kind"] == "measure");
        measured.map(|phase| phase["figures"].clone()).collect()
    };
    let with = |options: &[&str]| {
        let words = ["show", "latest"].iter().chain(options);
        figures(&lab.json(words, 0))
    };
    assert_eq!(with(&[]), figures(report));
    assert_eq!(with(&["--ramp=100ms"]), figures(report));
    let operations = |figures: &[Value]| -> Vec<f64> {
        let value = |one: &Value| one[&*metrics::OPERATIONS.name]["value"].as_f64();
        figures.iter().map(|one| value(one).unwrap()).collect()
    };
    let (whole, late) = (
        operations(&with(&["--ramp=0"])),
        operations(&with(&["--from=600ms"])),
    );
    let early = operations(&with(&["--ramp=0", "--to=600ms"]));
    for ((whole, early), late) in whole.iter().zip(early).zip(late) {
        assert!(early > 0.0 && late > 0.0);
        assert_eq!(
            early + late,
            *whole,
            "every operation is in one of the parts"
        );
    }
    let gone = lab.output(["show", "--ramp=1h"], 0);
    assert_says(&gone, &["too-short", "No figures"]);
    assert_says(&lab.talk(["show", "--ramp=2s", "--to=1s"], 2), &["--to"]);
}

#[test]
fn a_rate_that_makes_no_sense_is_refused_with_what_would_do() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    for (option, words) in [
        ("--limit=p98=2ms", "p99.9"),
        ("--limit=2ms", "p99=2ms"),
        ("--points=1", "give 2 to 100"),
        ("--depth-max=0", "give 1 to 4096"),
        ("--bs=100", "give 512 bytes or more"),
    ] {
        let talk = lab.talk(words_of(option, folder.path()), 2);
        assert_says(&talk, &[words]);
    }
    assert_empty(folder.path());
}

fn words_of(option: &str, directory: &std::path::Path) -> [OsString; 3] {
    words([&"curve", &option, &directory])
}

#[test]
fn root_a_device_that_is_handed_over_is_worked_on_to_its_end() {
    testkit::require_root!();
    let lab = Lab::new();
    let device = ScratchLoop::new(16 << 20);
    let mut grant = OsString::from("--scratch=");
    grant.push(device.path());
    grant.push("=");
    grant.push(device.backing_file());
    let arguments = words([&"curve", &"--seconds=1", &"--points=2", &BREAKS, &grant]);
    let report = lab.json(arguments, 0);
    let phases = report["results"][0]["phases"].as_array().unwrap();
    assert_eq!(phases[0]["name"], "lay_down");
    // The whole of it, although nobody said how large it is.
    let bytes = &phases[0]["figures"][&*metrics::BYTES.name]["value"];
    assert_eq!(bytes.as_f64(), Some(16.0 * 1_048_576.0));
    assert_eq!(phases.len(), 2 + 4);
}
