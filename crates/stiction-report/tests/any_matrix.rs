//! What holds for every comparison in every layout, however odd its names and numbers.

mod build;
#[path = "build/matrix.rs"]
mod kernels;

use proptest::prelude::*;
use stiction_analysis::Verdict;
use stiction_analysis::compare::{
    AtCell, Comparison, Counts, Difference, EqualRange, Fact, Matrix, Remark, RemarkCode, Row,
    RunOrder, Summary, SummaryTable,
};
use stiction_analysis::decompose::{Breakdown, Decomposition, Moved, Per, Range};
use stiction_core::{Caveat, CaveatCode, Cell, Level, Metric, metrics};
use stiction_report::{
    JunitRules, MAIL_WIDTH, Shown, Style, comparison, csv, json, junit, mail, mail_faults,
    markdown, osdl,
};

/// Names of phases, of factors' levels, of sides: from directories and other people.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z_]{1,12}",
        "\\PC{0,120}",
        "[a-z/]{60,140}",
        "(/[a-z \n\t\u{1b}\u{e9}]{0,30}){1,4}",
        Just("<b>&\"]]>,```".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        -100.0..1e3f64,
        0.0..1e15f64,
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(f64::NEG_INFINITY),
        Just(f64::INFINITY),
        Just(f64::NAN),
    ]
}

fn verdict() -> impl Strategy<Value = Option<Verdict>> {
    let reasons = || prop::collection::vec(name(), 1..3);
    prop_oneof![
        Just(None),
        Just(Some(Verdict::Worse)),
        Just(Some(Verdict::Better)),
        Just(Some(Verdict::SlightlyWorse)),
        Just(Some(Verdict::SlightlyBetter)),
        Just(Some(Verdict::Same)),
        (reasons(), prop::option::of(any::<u32>())).prop_map(|(reasons, runs_needed)| Some(
            Verdict::CannotTell {
                reasons,
                runs_needed
            }
        )),
        (reasons(), any::<bool>())
            .prop_map(|(reasons, only_b)| Some(Verdict::Failed { only_b, reasons })),
        reasons().prop_map(|reasons| Some(Verdict::NotComparable { reasons })),
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    let factor = prop::sample::select(vec!["threads", "block_size_bytes", "kernel", "x"]);
    let level = prop_oneof![
        (0i64..64).prop_map(Level::Integer),
        any::<i64>().prop_map(Level::Integer),
        name().prop_map(Level::Text),
    ];
    prop::collection::vec((factor, level), 0..4).prop_map(|levels| {
        let with = |cell: Cell, (factor, level)| cell.with(factor, level);
        levels.into_iter().fold(Cell::new(), with)
    })
}

fn row() -> impl Strategy<Value = Row> {
    (
        prop_oneof![Just("read".to_owned()), name()],
        prop::sample::select(metrics::ALL.to_vec()),
        cell(),
        [number(), number(), number(), number(), number(), number()],
        verdict(),
        [any::<bool>(), any::<bool>(), any::<bool>()],
        prop::collection::vec(name(), 0..2),
    )
        .prop_map(
            |(phase, metric, cell, numbers, verdict, has, remarks): (_, Metric, _, _, _, _, _)| {
                let [a, b, change, lowest, highest, p] = numbers;
                let numbers = kernels::Numbers {
                    a,
                    b,
                    change: [change, lowest, highest],
                    p,
                    verdict: Verdict::Same,
                };
                let mut row = kernels::row(&phase, metric, cell, numbers);
                row.verdict = verdict;
                row.a = row.a.filter(|_| has[0]);
                row.b = row.b.filter(|_| has[1]);
                row.estimate = row.estimate.filter(|_| has[2]);
                let remark = |text| Remark {
                    code: RemarkCode::Modes,
                    text,
                };
                row.remarks = remarks.into_iter().map(remark).collect();
                row
            },
        )
}

fn candidate() -> impl Strategy<Value = Comparison> {
    (
        prop::collection::vec(row(), 0..12),
        name(),
        name(),
        prop::collection::vec((name(), name(), any::<bool>()), 0..3),
        any::<bool>(),
    )
        .prop_map(|(rows, a, b, differs, batched)| {
            let mut found = kernels::kernels();
            found.decompositions = rows.iter().map(decomposition).collect();
            found.doubts = rows.iter().map(doubt).collect();
            found.rows = rows;
            found.environment.differs = differs
                .into_iter()
                .map(|(key, value, named)| Difference {
                    a: key.clone(),
                    key,
                    b: value,
                    named,
                    allowed: false,
                })
                .collect();
            found.notes.push(a.clone());
            found.a = a;
            found.b = b;
            if batched {
                found.replication.order = RunOrder::NotInterleaved;
            }
            found
        })
}

fn decomposition(row: &Row) -> Decomposition {
    let range = |value: f64| Range {
        lowest: value,
        highest: value,
    };
    let side = |value: f64| Breakdown {
        elapsed_s: range(value),
        cpu_s: range(value / 2.0),
        waiting_s: Some(range(value / 2.0)),
        load_bytes_per_s: None,
    };
    Decomposition {
        cell: row.cell.clone(),
        phase: row.phase.clone(),
        per: Per::Run,
        a: side(1.0),
        b: side(2.0),
        moved: Some(Moved::Both),
        efficiency: None,
    }
}

fn doubt(row: &Row) -> stiction_analysis::compare::Doubt {
    stiction_analysis::compare::Doubt {
        in_a: true,
        cell: row.cell.clone(),
        phase: row.phase.clone(),
        caveat: Caveat::new(CaveatCode::TooFewSamples, row.phase.clone()),
        runs: 1,
    }
}

fn table() -> impl Strategy<Value = SummaryTable> {
    let at = || {
        let at = (number(), cell()).prop_map(|(percent, cell)| AtCell { percent, cell });
        prop::option::of(at)
    };
    let summary = (
        name(),
        any::<bool>(),
        at(),
        at(),
        prop::option::of(number()),
        prop::option::of((number(), number())),
    )
        .prop_map(
            |(name, repeats_baseline, lowest, highest, mean, interval)| Summary {
                name,
                repeats_baseline,
                cells: 4,
                lowest,
                highest,
                average_percent: mean,
                geometric_percent: mean,
                geometric_interval_percent: interval,
                counts: Counts {
                    worse: u32::MAX,
                    ..Counts::default()
                },
            },
        );
    (
        name(),
        cell(),
        prop::option::of(name()),
        prop::collection::vec(summary, 0..4),
        prop::option::of((number(), number(), name())),
    )
        .prop_map(|(phase, fixed, parameter, rows, equal)| SummaryTable {
            phase,
            metric: metrics::RATE,
            fixed,
            parameter,
            rows,
            equal: equal.map(|(lowest_percent, highest_percent, from)| EqualRange {
                lowest_percent,
                highest_percent,
                from,
            }),
        })
}

fn any_matrix() -> impl Strategy<Value = Matrix> {
    (
        prop::collection::vec(candidate(), 0..3),
        prop::collection::vec(table(), 0..3),
        name(),
        prop::collection::vec((name(), name()), 0..3),
        prop::option::of(name()),
    )
        .prop_map(|(comparisons, tables, baseline, facts, row)| {
            let mut matrix = kernels::matrix();
            matrix.comparisons = comparisons;
            matrix.tables = tables;
            matrix.baseline = baseline;
            let facts = facts.into_iter().map(|(key, value)| Fact { key, value });
            matrix.setup.common.extend(facts);
            matrix.projection.row = row;
            matrix
        })
}

const ALL: Shown = Shown {
    all: true,
    why: true,
};

/// Every line is printable ASCII, and the text ends with a line's end.
fn is_text(text: &str) -> Result<(), TestCaseError> {
    let printable = |c: char| c == '\n' || c == ' ' || c.is_ascii_graphic();
    prop_assert!(text.chars().all(printable), "{text:?}");
    Ok(())
}

/// A name as CSV has it.
fn shown(name: &str) -> String {
    name.replace(|c: char| c.is_control(), "?")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_layout_takes_every_comparison(matrix in any_matrix()) {
        for shown in [Shown::default(), ALL] {
            let terminal = comparison(&matrix, shown, Style::Plain);
            is_text(&terminal)?;
            for line in terminal.lines() {
                prop_assert!(line.len() <= MAIL_WIDTH, "{line}");
                prop_assert!(!line.ends_with(' '), "{line:?}");
            }
            prop_assert_eq!(mail_faults(&mail(&matrix, shown)), []);
            is_text(&markdown(&matrix, shown))?;
        }
        is_text(&osdl(&matrix))?;
        let document: serde_json::Value = serde_json::from_str(&json::comparison(&matrix)).unwrap();
        prop_assert_eq!(&document["schema_version"], &serde_json::json!(2));
    }

    /// As many lines as figures, each with all fields, the names as they were but for
    /// control characters.
    #[test]
    fn the_long_form_reads_back(matrix in any_matrix()) {
        let text = csv(&matrix);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let place = |name: &str| head.iter().position(|field| field == name).unwrap();
        let (phase, value) = (place("phase"), place("baseline_value"));
        let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let rows: Vec<_> = matrix.rows().collect();
        prop_assert_eq!(lines.len(), rows.len());
        for (line, (candidate, row)) in lines.iter().zip(rows) {
            prop_assert_eq!(&line[place("candidate")], &shown(&candidate.b));
            prop_assert_eq!(&line[phase], &shown(&row.phase));
            let known = row.a.as_ref().map(|side| side.value).filter(|value| value.is_finite());
            prop_assert_eq!(line[value].parse::<f64>().ok(), known);
        }
    }

    /// A case for each judged figure; failures and skips as counted in the head.
    #[test]
    fn test_cases_read_back(matrix in any_matrix(), strict in any::<bool>()) {
        let rules = JunitRules { cannot_tell_fails: strict };
        let counts = read_back(&junit(&matrix, rules)).map_err(TestCaseError::fail)?;
        let judged = matrix.rows().filter(|(_, row)| {
            row.verdict.is_some() && row.metric.better != stiction_core::Better::Neither
        });
        prop_assert_eq!(counts.cases, judged.count());
        prop_assert_eq!((counts.failures, counts.skipped), counts.told);
        prop_assert!(!strict || counts.skipped == 0);
    }
}

/// What a reader of XML finds.
#[derive(Debug, Default)]
struct Found {
    cases: usize,
    failures: usize,
    skipped: usize,
    /// Failures and skips as the outermost element tells them.
    told: (usize, usize),
}

fn read_back(text: &str) -> Result<Found, String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut found = Found::default();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Eof => return Ok(found),
            Event::Start(element) | Event::Empty(element) => {
                let mut told = Vec::new();
                for attribute in element.attributes() {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    let value = attribute
                        .decoded_and_normalized_value(
                            quick_xml::XmlVersion::Implicit1_0,
                            reader.decoder(),
                        )
                        .map_err(|error| error.to_string())?;
                    told.push((attribute.key.as_ref().to_owned(), value.into_owned()));
                }
                let count = |key: &str| {
                    let found = told.iter().find(|(name, _)| name == key.as_bytes());
                    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
                };
                match element.name().as_ref() {
                    b"testsuites" => found.told = (count("failures"), count("skipped")),
                    b"testcase" => found.cases += 1,
                    b"failure" => found.failures += 1,
                    b"skipped" => found.skipped += 1,
                    _ => {}
                }
            }
            Event::Text(text) => {
                let text = text.decode().map_err(|error| error.to_string())?;
                let allowed = |c: char| c == '\n' || c == '\t' || c >= ' ';
                if !text.chars().all(allowed) {
                    return Err(format!("{text:?} is not allowed in XML 1.0"));
                }
            }
            _ => {}
        }
    }
}
