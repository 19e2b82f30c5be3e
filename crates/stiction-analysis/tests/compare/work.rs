//! Whether two sides did the same work, and on what.

use super::{only_row, reasons, whole};
use crate::lay::{begun, level, scattered, trial};
use crate::sessions::{cell, measured, read_at, with};
use stiction_analysis::Verdict;
use stiction_analysis::compare::{CompareOptions, Side, compare};
use stiction_core::{Cell, Filesystem, Job, Measurement, Session, TargetStack, Tool, metrics};

fn some_job() -> Job {
    (0..)
        .flat_map(|number| testkit::sessions::sample(number).trials)
        .flat_map(|trial| trial.phases)
        .find_map(|phase| phase.job)
        .unwrap()
}

/// Blocks of `a` with one job and `b` with another, a rate, a time and a mean latency each.
fn two_jobs(change: impl Fn(&mut Job)) -> Session {
    let mut session = measured(1);
    for (block, (a, b)) in scattered(0.9, 8).into_iter().enumerate() {
        for (name, value) in [("a", a), ("b", b)] {
            let figures = vec![
                Measurement::new(metrics::RATE, value, 1),
                Measurement::new(metrics::ELAPSED, 1e9 / value, 1),
                Measurement::new(metrics::LATENCY_MEAN, 1e14 / value, 1),
            ];
            let mut trial = with(Cell::new().with("configuration", name), "read", figures);
            trial.block = Some(block as u32);
            let mut job = some_job();
            if name == "b" {
                change(&mut job);
            }
            trial.phases[0].job = Some(job);
            session.trials.push(trial);
        }
    }
    session
}

fn of_configurations(
    session: &Session,
    options: &CompareOptions,
) -> stiction_analysis::compare::Comparison {
    let side = |name| Side::at_level(session, "configuration", &level(name));
    compare(&side("a"), &side("b"), options)
}

#[test]
fn configurations_may_differ_in_their_job_and_it_is_told() {
    let session = two_jobs(|job| job.depth = 77);
    let found = of_configurations(&session, &CompareOptions::default());
    let verdicts: Vec<_> = found.rows.iter().map(|row| row.verdict.clone()).collect();
    // The time of the same bytes says what the rate says; a mean latency has no median
    // beside it that would.
    let worse = Some(Verdict::Worse);
    assert_eq!(verdicts, [worse.clone(), None, worse]);
    let told = found
        .notes
        .iter()
        .any(|note| note.starts_with("read: depth is ") && note.ends_with(" in A and 77 in B"));
    assert!(told, "{:?}", found.notes);
}

#[test]
fn times_of_different_amounts_of_work_are_not_comparable_but_rates_are() {
    let session = two_jobs(|job| {
        for region in &mut job.regions {
            region.length_bytes *= 2;
        }
    });
    let found = of_configurations(&session, &CompareOptions::default());
    let [rate, elapsed, latency] = &found.rows[..] else {
        panic!()
    };
    assert_eq!(rate.verdict, Some(Verdict::Worse));
    assert_eq!(latency.verdict, Some(Verdict::Worse));
    assert!(matches!(
        elapsed.verdict,
        Some(Verdict::NotComparable { .. })
    ));
}

#[test]
fn other_jobs_of_other_sides_are_refused_unless_they_are_allowed() {
    let mut a = measured(1);
    a.trials.push(read_at(cell(), 1e8));
    a.trials[0].phases[0].job = Some(some_job());
    let mut b = a.clone();
    b.header.id = begun(9, "x", "y").header.id;
    b.trials[0].phases[0].job.as_mut().unwrap().depth = 77;
    assert!(matches!(
        only_row(&whole(&a, &b)).verdict,
        Some(Verdict::NotComparable { .. })
    ));
    let options = CompareOptions {
        allow: vec!["job".to_owned()],
        ..CompareOptions::default()
    };
    let allowed = compare(&Side::whole(&a), &Side::whole(&b), &options);
    assert!(matches!(
        only_row(&allowed).verdict,
        Some(Verdict::CannotTell { .. })
    ));
}

#[test]
fn another_version_of_the_benchmark_is_not_comparable_unless_allowed() {
    let version = |number: u64, version: &str| {
        let mut session = measured(number);
        session.header.environment.tool = Tool {
            name: "stiction".to_owned(),
            version: version.to_owned(),
        };
        session.trials.push(read_at(cell(), 1e8));
        session
    };
    let (a, b) = (version(1, "0.1.0"), version(2, "0.2.0"));
    assert_eq!(
        reasons(&whole(&a, &b)),
        ["A is of stiction 0.1.0 and B of stiction 0.2.0"]
    );
    let options = CompareOptions {
        allow: vec!["tool".to_owned()],
        ..CompareOptions::default()
    };
    let allowed = compare(&Side::whole(&a), &Side::whole(&b), &options);
    assert!(matches!(
        only_row(&allowed).verdict,
        Some(Verdict::CannotTell { .. })
    ));
}

#[test]
fn work_without_a_job_is_known_by_its_parameters() {
    let of = |number: u64, parameters: serde_json::Value| {
        let mut session = measured(number);
        session.header.plan.as_mut().unwrap().parameters = parameters;
        session.trials.push(read_at(cell(), 1e8));
        session
    };
    let a = of(
        1,
        serde_json::json!({"slots": 4, "memory_bytes": 1000, "seed": 1, "may_fill": true, "threads": [1]}),
    );
    let b = of(
        2,
        serde_json::json!({"slots": 8, "memory_bytes": 1040, "seed": 2, "may_fill": false, "threads": [1, 2]}),
    );
    assert_eq!(reasons(&whole(&a, &b)), ["its slots is 4 in A and 8 in B"]);
    let options = CompareOptions {
        allow: vec!["slots".to_owned()],
        ..CompareOptions::default()
    };
    let allowed = compare(&Side::whole(&a), &Side::whole(&b), &options);
    assert!(matches!(
        only_row(&allowed).verdict,
        Some(Verdict::CannotTell { .. })
    ));
}

/// How often it was done, in which order and what ended it are no part of the work.
#[test]
fn the_number_of_blocks_is_no_part_of_the_work() {
    let of = |number: u64, blocks: u32, order: &str, stop: serde_json::Value| {
        let mut session = measured(number);
        session.header.plan.as_mut().unwrap().parameters = serde_json::json!({
            "configurations": [{"name": "a", "parameters": {"command": "sort"}}],
            "blocks": blocks, "order": order, "stop": stop, "calibration": false,
        });
        session.trials.push(read_at(cell(), 1e8));
        session
    };
    let a = of(1, 6, "random", serde_json::json!({}));
    let b = of(2, 10, "abba", serde_json::json!({"budget_ns": 1}));
    let found = whole(&a, &b);
    assert!(matches!(
        only_row(&found).verdict,
        Some(Verdict::CannotTell { .. })
    ));
    assert!(found.parameters.is_empty(), "{:?}", found.parameters);
}

#[test]
fn what_is_allowed_beside_the_factor_is_told() {
    let mut a = begun(0, "x", "6.9");
    let mut b = begun(1, "y", "6.10");
    for (session, distribution) in [(&mut a, "one"), (&mut b, "two")] {
        session.header.environment.distribution = Some(distribution.to_owned());
        session.trials.push(read_at(cell(), 1e8));
    }
    let options = |allow: &[&str]| CompareOptions {
        factor: Some("kernel".to_owned()),
        allow: allow.iter().map(|&key| key.to_owned()).collect(),
        ..CompareOptions::default()
    };
    let refused = compare(&Side::whole(&a), &Side::whole(&b), &options(&[]));
    assert!(matches!(
        only_row(&refused).verdict,
        Some(Verdict::NotComparable { .. })
    ));
    let allowed = compare(
        &Side::whole(&a),
        &Side::whole(&b),
        &options(&["distribution"]),
    );
    assert!(matches!(
        only_row(&allowed).verdict,
        Some(Verdict::CannotTell { .. })
    ));
    assert_eq!(
        allowed.notes,
        [
            "distribution may differ, as was allowed: a difference cannot be put down to kernel alone"
        ]
    );
}

fn stack(path: &str, kind: &str) -> TargetStack {
    TargetStack {
        path: path.to_owned(),
        filesystem: Some(Filesystem {
            kind: kind.to_owned(),
            ..Filesystem::default()
        }),
        layers: Vec::new(),
        missing: Vec::new(),
    }
}

/// Configurations on places of their own differ in what stands there, and that is what
/// they are about; each trial counts with what it began on.
#[test]
fn each_configuration_stands_on_its_own_places() {
    let mut session = measured(1);
    session.header.environment.targets = vec![stack("/a", "ext2"), stack("/b", "ext4")];
    session.header.plan.as_mut().unwrap().parameters = serde_json::json!({"configurations": [
        {"name": "a", "places": [0], "parameters": {"mode": "x"}},
        {"name": "b", "places": [1], "parameters": {"mode": "y"}},
    ]});
    for name in ["a", "b"] {
        let cell = Cell::new().with("configuration", name);
        session.trials.push(trial(cell, metrics::RATE, 1e8));
    }
    let found = of_configurations(&session, &CompareOptions::default());
    let keys: Vec<_> = found
        .environment
        .differs
        .iter()
        .map(|d| (d.key.as_str(), d.named))
        .collect();
    assert_eq!(keys, [("target.path", true), ("target.filesystem", true)]);
    let parameters: Vec<_> = found
        .parameters
        .iter()
        .map(|d| (d.key.as_str(), d.named))
        .collect();
    assert_eq!(parameters, [("parameters.mode", true), ("places", true)]);
    assert!(matches!(
        only_row(&found).verdict,
        Some(Verdict::CannotTell { .. })
    ));
    // What a hook changed shows in the trial's own targets.
    session.trials[1].targets = Some(vec![stack("/b", "xfs")]);
    let found = of_configurations(&session, &CompareOptions::default());
    let filesystem = found
        .environment
        .differs
        .iter()
        .find(|d| d.key == "target.filesystem")
        .unwrap();
    assert_eq!(
        (filesystem.a.as_str(), filesystem.b.as_str()),
        ("ext2", "xfs")
    );
}
