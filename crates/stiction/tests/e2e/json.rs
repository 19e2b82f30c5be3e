//! Documents for programs: every command writes one, its schema named, and every number
//! in it says its unit.

use serde_json::Value;

use crate::history;
use crate::lab::{Lab, seed, words};

const DOCUMENTATION: &str = include_str!("../../../../docs/json.md");

/// Words of keys that are units.
const UNITS: [&str; 8] = [
    "ns", "s", "bytes", "count", "number", "percent", "ratio", "fraction",
];

/// The keys that are documented to hold numbers that need no unit.
fn unitless() -> Vec<&'static str> {
    let (_, section) = DOCUMENTATION
        .split_once("## Numbers without a unit")
        .expect("the section");
    let (table, _) = section.split_once("\n## ").expect("the next section");
    let keys = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split_once(" | "));
    keys.flat_map(|(keys, _)| keys.split("`, `"))
        .map(|key| key.trim_end_matches('`'))
        .collect()
}

/// Whether a key ends in a unit, or has it before what was made of many values:
/// `elapsed_ns`, `latency_ns_p99_9`, `rate_bytes_per_s`.
fn has_unit(key: &str) -> bool {
    let parts: Vec<&str> = key.split('_').collect();
    let made_of_many = |part: &str| {
        ["mean", "max", "lowest", "highest"].contains(&part)
            || part
                .trim_start_matches('p')
                .chars()
                .all(|c| c.is_ascii_digit())
    };
    let end = parts.iter().rposition(|part| !made_of_many(part));
    end.is_some_and(|end| UNITS.contains(&parts[end]) || key.ends_with("_per_cpu"))
}

/// Every number below `value` has a key that says its unit or is documented not to.
fn check_units(document: &str, key: &str, value: &Value) {
    match value {
        Value::Number(_) => assert!(
            has_unit(key) || unitless().contains(&key),
            "{document}: `{key}` says no unit, and docs/json.md does not say why"
        ),
        Value::Array(items) => items
            .iter()
            .for_each(|item| check_units(document, key, item)),
        Value::Object(map) if key == "figures" => {
            for (name, figure) in map {
                assert!(
                    has_unit(name),
                    "{document}: the figure `{name}` says no unit"
                );
                check_units(document, name, figure);
            }
        }
        Value::Object(map) => {
            map.iter()
                .for_each(|(key, value)| check_units(document, key, value));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The document names its schema first, in this version, and all numbers their units.
pub(crate) fn check(document: &Value, schema: &str) {
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(keys[..2], ["schema", "schema_version"], "{schema}");
    assert_eq!(document["schema"], schema);
    let version = if schema == "stiction-comparison" {
        2
    } else {
        1
    };
    assert_eq!(document["schema_version"], version);
    check_units(schema, "", document);
}

#[test]
fn keys_that_say_their_unit_are_told_from_others() {
    for key in [
        "elapsed_ns",
        "latency_ns_p99_9",
        "rate_bytes_per_s",
        "change_percent_lowest",
    ] {
        assert!(has_unit(key), "{key}");
    }
    for key in ["elapsed", "n", "latency_p99", "operations", "p50"] {
        assert!(!has_unit(key), "{key}");
    }
    assert!(unitless().contains(&"value_highest") && unitless().len() > 10);
}

#[test]
fn every_command_writes_a_document() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let measured = |code: i32, typed: &str| {
        let typed = typed.split(' ').map(Into::into);
        let typed: Vec<std::ffi::OsString> = typed.chain([directory.path().into()]).collect();
        lab.json(typed, code)
    };
    let quick = measured(0, "quick --seconds 1 --size 4M");
    check(&quick, "stiction-report");
    let tiobench = "tiobench --size 4 --threads 1,2 --random 50 --runs 2 --label";
    for label in ["a --dir", "b --dir"] {
        check(
            &measured(0, &format!("{tiobench} {label}")),
            "stiction-report",
        );
    }
    check(
        &measured(0, "tiobench --classic --size 4 --threads 1 --random 50 -d"),
        "stiction-report",
    );
    // Refused, and a document all the same.
    let skipped = measured(
        4,
        "tiobench --size 1 --threads 1 --block 1000 --direct --dir",
    );
    check(&skipped, "stiction-report");

    for name in [
        "contest-ext2-ext3.txt",
        "osdl-percent-from-baseline.txt",
        "tree-move-and-bonnie.txt",
    ] {
        check(
            &lab.json(words([&"import", &seed(name)]), 0),
            "stiction-import",
        );
        check(&lab.json(["show", "latest"], 0), "stiction-report");
    }
    check(&lab.json(["list"], 0), "stiction-list");
    let selftest = lab.json(["selftest", "stats", "--only", "steady"], 0);
    check(&selftest, "stiction-selftest");
    check(&lab.json(["history", "--all"], 0), "stiction-history");
    let (past, _) = history::stocked();
    let (changed, _) = &history::states(&past)[0];
    let confirmed = past.json(["history", "confirm", changed], 3);
    check(&confirmed, "stiction-confirmation");
    let note = [
        "history", "annotate", "all", "--at", "latest", "--why", "a disk",
    ];
    check(&lab.json(note, 0), "stiction-annotation");
    check(&lab.json(["compare", "a", "b"], 3), "stiction-comparison");
    check(&lab.json(["explain", "a", "b"], 0), "stiction-explanation");
    check(&lab.json(["explain", "a"], 0), "stiction-explanation");
    let table = seed("tiobench-ext3-32-threads.txt");
    let labels = words([&"compare", &table, &"2.5.59", &"2.5.59-mm2"]);
    check(&lab.json(labels, 3), "stiction-comparison");
    check(&lab.json(["clean", "--dry-run"], 0), "stiction-clean");
    check(&lab.json(["clean"], 0), "stiction-clean");
    check(&lab.json(["store", "path"], 0), "stiction-path");
    check(&lab.json(["store", "rebuild"], 0), "stiction-rebuild");
    check(&lab.json(["delete", "a"], 0), "stiction-delete");
}

/// What is exported is a record with histograms, for `stiction import` and not a
/// document of figures; it names its schema too.
#[test]
fn an_export_names_its_schema_with_and_without_the_option() {
    let lab = Lab::new();
    lab.output(words([&"import", &seed("contest-log-ext3.txt")]), 0);
    let document = lab.json(["export", "latest"], 0);
    assert_eq!(document["schema"], "stiction-session");
    assert_eq!(document["schema_version"], 1);
    let text = lab.output(["export", "latest"], 0);
    assert_eq!(
        serde_json::from_str::<Value>(&text).expect("JSON"),
        document
    );
}

/// A plan is printed as it is recorded, every number with its unit; the seed and the
/// counts of things are its own.
#[test]
fn a_plan_says_its_units() {
    let lab = Lab::new();
    let plan = lab.json(["tiobench", "--dump", "--seed=7"], 0);
    assert_eq!(plan["seed"], 7);
    check_units("plan", "", &plan["parameters"]["random"]);
    assert_eq!(
        plan["trials"].as_array().map(Vec::len),
        Some(12),
        "4 cells, 3 runs each"
    );
    assert!(lab.output(["list"], 0).contains("No sessions"));
}
