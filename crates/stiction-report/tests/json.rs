//! The JSON documents are those that the documentation shows.

mod build;
#[path = "build/fio.rs"]
mod fio;

use build::{doubting, on, session_on, trial, with};
use stiction_analysis::compare::{CompareOptions, Side, matrix};
use stiction_analysis::selftest::{Bound, Figure, Limit, Reading, Row, SEED, Size};
use stiction_core::{
    Caveat, CaveatCode, Cell, Extent, FileMap, Measurement, Phase, PhaseKind, Plan, Seed, Session,
    Subject, Summary, metrics,
};
use stiction_report::{ImportedFile, ImportedSession, Judged, Listed, UnreadLine, json};

const DOCUMENTATION: &str = include_str!("../../../docs/json.md");

/// The example of that schema in the documentation.
fn documented(schema: &str) -> &'static str {
    DOCUMENTATION
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .find(|example| example.contains(&format!("\"schema\": \"{schema}\"")))
        .unwrap()
}

fn memory_session() -> Session {
    let mut session = session_on("2.5.62", "tmpfs");
    session.header.label = Some("before".to_owned());
    session.header.command = vec!["quick".to_owned(), "/mnt".to_owned()];
    session.header.plan = Some(Plan {
        workload: "quick".to_owned(),
        parameters: serde_json::Value::Null,
        seed: Seed(1),
        preparation: stiction_core::Preparation::default(),
        trials: Vec::new(),
    });
    let commit = Phase {
        elapsed_ns: 120_000_000,
        ..Phase::new("commit", PhaseKind::Measure)
    };
    let commit = with(
        commit,
        &[
            (metrics::OPERATION_RATE, 750.0, 90),
            (metrics::LATENCY_P50, 1.21e6, 90),
        ],
    );
    session.trials = vec![trial(Cell::new(), 0, vec![commit])];
    session
}

fn judged(session: &Session) -> Judged<'_> {
    Judged::by(session, |_, _| {
        doubting(
            on(Subject::Cache, "tmpfs lives in memory"),
            Caveat::new(CaveatCode::TooFewSamples, "90 operations: no p99"),
        )
    })
}

#[test]
fn reports_are_as_documented() {
    let session = memory_session();
    assert_eq!(
        json::session(&judged(&session)),
        documented("stiction-report")
    );
}

#[test]
fn lists_are_as_documented() {
    let session = memory_session();
    let listed = Listed {
        summary: Summary::from(&session),
        headline: judged(&session).headline(),
        can_go_on: false,
    };
    assert_eq!(json::list(&[listed]), documented("stiction-list"));
}

#[test]
fn imports_are_as_documented() {
    let file = ImportedFile {
        file: "post.txt".to_owned(),
        sessions: vec![ImportedSession {
            id: memory_session().header.id,
            layout: "tiobench-posted".to_owned(),
            trials: 3,
            figures: 42,
            corrected: 12,
            caveats: vec![Caveat::new(
                CaveatCode::SummedOverRuns,
                "latencies were added up over 3 runs",
            )],
        }],
        unread: vec![UnreadLine {
            line: 1,
            text: "Quad P3 Xeon (4GB ram)  8 GB files  4K blocksize  32 threads".to_owned(),
            reason: "prose".to_owned(),
        }],
        messages: vec!["the head of the second table is shifted by two columns".to_owned()],
    };
    assert_eq!(json::import(&[file]), documented("stiction-import"));
}

#[test]
fn comparisons_are_as_documented() {
    let row = |kernel: &str, rate: f64, printed: &str| {
        let rate = rate * build::MIB;
        let phase = Phase {
            measurements: vec![
                Measurement::imported(metrics::RATE, rate, 1, printed),
                Measurement::new(metrics::CPU_PERCENT, 25.0, 1),
            ],
            ..Phase::new("write", PhaseKind::Measure)
        };
        trial(
            Cell::new().with("kernel", kernel).with("threads", 32u32),
            0,
            vec![phase],
        )
    };
    let mut session = memory_session();
    session.trials = vec![row("2.5.59", 4.0, "4.0"), row("2.5.59-mm2", 32.0, "32.0")];
    let side = |label| Side::labelled(&session, label).unwrap();
    let found = matrix(
        &side("2.5.59"),
        &[side("2.5.59-mm2")],
        &CompareOptions::default(),
    );
    assert_eq!(json::comparison(&found), documented("stiction-comparison"));
}

/// Objects whose keys are names that come from elsewhere.
const BY_NAME: [&str; 2] = ["figures", "cell"];

/// Every number has its unit in its key, or is a number of things.
#[test]
fn keys_name_their_units() {
    const UNITS: [&str; 6] = ["_ns", "_s", "_bytes", "_count", "_number", "_percent"];
    const THINGS: [&str; 9] = [
        "schema_version",
        "completed",
        "interrupted",
        "skipped",
        "failed",
        "repetition",
        "n",
        "online",
        "allowed",
    ];
    fn check(key: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::Number(_) => assert!(
                UNITS.iter().any(|unit| key.ends_with(unit)) || THINGS.contains(&key),
                "{key} does not name its unit"
            ),
            serde_json::Value::Array(items) => items.iter().for_each(|item| check(key, item)),
            serde_json::Value::Object(map) if BY_NAME.contains(&key) => {
                for (name, figure) in map {
                    assert!(
                        metrics::by_name(name).is_some(),
                        "{name} is not a metric's name"
                    );
                    assert!(figure["value"].is_number());
                }
            }
            serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| check(key, value)),
            _ => {}
        }
    }
    for schema in ["stiction-report", "stiction-list", "stiction-import"] {
        check("", &serde_json::from_str(documented(schema)).unwrap());
    }
}

/// Two files of two blocks, woven into each other.
#[test]
fn layouts_are_as_documented() {
    let map = |path: &str, places: [u64; 2]| FileMap {
        path: path.to_owned(),
        device: 1,
        filesystem_magic: 0xef53,
        size_bytes: 8192,
        block_size_bytes: 4096,
        hole_bytes: 0,
        extents: Some(
            (0..2)
                .map(|number| Extent {
                    file_offset_bytes: number * 4096,
                    device_offset_bytes: places[number as usize],
                    length_bytes: 4096,
                    flags: number as u32 * Extent::LAST,
                })
                .collect(),
        ),
    };
    let maps = [map("a", [40_960, 49_152]), map("b", [45_056, 53_248])];
    assert_eq!(json::layout(&maps), documented("stiction-layout"));
}

#[test]
fn selftests_are_as_documented() {
    let reading = |case: &str, value: f64| Reading {
        case: case.to_owned(),
        value,
    };
    let row = Row {
        property: "any false alarm over 60 cells",
        bound: Bound {
            limit: Limit::AtMost(0.075),
            figure: Figure::Share,
            replicates: 1000,
        },
        limit: Limit::AtMost(0.125),
        replicates: 200,
        readings: vec![reading("8 blocks", 0.03125), reading("16 blocks", 0.0625)],
    };
    assert_eq!(
        json::selftest(&[row], Size::Quick, SEED),
        documented("stiction-selftest")
    );
}

#[test]
fn lints_of_job_files_are_as_documented() {
    let (resolved, lint) = fio::linted(fio::RING);
    assert_eq!(
        json::fio_lint(&resolved, &lint),
        documented("stiction-fio-lint")
    );
}
