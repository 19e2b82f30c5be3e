//! What holds for every session, however little or however odd it is.

mod build;

use proptest::prelude::*;
use stiction_analysis::compare::{CompareOptions, Side, matrix};
use stiction_core::{
    Caveat, CaveatCode, Cell, Environment, Kernel, LayerKind, Level, Measurement, Metric, Phase,
    PhaseKind, PhaseOutcome, Provenance, Session, SkipCode, SkipReason, Summary, TargetStack,
    Trial, TrialOutcome, WorkerSummary, metrics,
};
use stiction_report::tiobench::{
    ClassicOptions, TiotestOptions, classic_0_3_3, classic_0_4, classic_old, modern, posted,
    tiotest_terse, tiotest_verbose,
};
use stiction_report::{
    ImportedFile, ImportedSession, Judged, Listed, Shown, Style, UnreadLine, WIDTH, bonnie,
    comparison, import, json, list, quick, show, stack_line,
};

/// Names as they come from directories, devices and other people's files.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z]{1,8}",
        "\\PC{0,120}",
        "(/[a-z \n\t\u{1b}\u{e9}]{0,30}){1,6}",
    ]
}

fn phase_name() -> impl Strategy<Value = String> {
    let known = [
        "write",
        "random_write",
        "read",
        "random_read",
        "sequential_read",
        "sequential_write",
        "random_read_deep",
        "commit",
        "putc",
        "put_block",
        "get_block",
        "seeks",
        "create_sequential",
        "delete_random",
    ];
    prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => name()]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        0.0..1e3f64,
        0.0..1e18f64,
        -1e6..0.0f64,
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

fn measurement() -> impl Strategy<Value = Measurement> {
    let metric = prop::sample::select(metrics::ALL.to_vec());
    let printed = prop::option::of(prop_oneof!["[0-9]{1,9}(\\.[0-9]{0,9})?%?", name()]);
    (
        metric,
        value(),
        any::<u64>(),
        printed,
        prop::option::of(name()),
    )
        .prop_map(
            |(metric, value, n, printed, corrected): (Metric, f64, u64, _, _)| Measurement {
                printed,
                corrected,
                ..Measurement::new(metric, value, n)
            },
        )
}

fn caveat() -> impl Strategy<Value = Caveat> {
    (prop::sample::select(CaveatCode::ALL.to_vec()), name())
        .prop_map(|(code, detail)| Caveat::new(code, detail))
}

fn phase() -> impl Strategy<Value = Phase> {
    let outcome = prop_oneof![
        4 => Just(PhaseOutcome::Completed),
        1 => Just(PhaseOutcome::EndedEarly),
        1 => name().prop_map(|detail| PhaseOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, detail))),
        1 => name().prop_map(|message| PhaseOutcome::Failed { message }),
    ];
    let worker = (any::<u32>(), any::<u32>()).prop_map(|(bytes, last_ns)| WorkerSummary {
        bytes: bytes.into(),
        last_ns: last_ns.into(),
        ..WorkerSummary::default()
    });
    (
        phase_name(),
        outcome,
        prop::collection::vec(measurement(), 0..12),
        prop::collection::vec(caveat(), 0..4),
        prop::collection::vec(worker, 0..4),
        any::<u64>(),
        prop::collection::vec(name(), 0..3),
    )
        .prop_map(
            |(name, outcome, measurements, caveats, workers, elapsed_ns, notes)| Phase {
                outcome,
                measurements,
                caveats,
                workers,
                elapsed_ns,
                notes,
                ..Phase::new(name, PhaseKind::Measure)
            },
        )
}

fn cell() -> impl Strategy<Value = Cell> {
    let factor = prop::sample::select(vec![
        "threads",
        "block_size_bytes",
        "file_size_bytes",
        "directory",
        "kernel",
        "filesystem",
        "configuration",
        "files",
    ]);
    let level = prop_oneof![
        any::<i64>().prop_map(Level::Integer),
        (0i64..1 << 40).prop_map(Level::Integer),
        name().prop_map(Level::Text),
    ];
    prop::collection::vec((factor, level), 0..6).prop_map(|levels| {
        levels
            .into_iter()
            .fold(Cell::new(), |cell, (factor, level)| {
                cell.with(factor, level)
            })
    })
}

fn trial() -> impl Strategy<Value = Trial> {
    let outcome = prop_oneof![
        4 => Just(TrialOutcome::Completed),
        1 => Just(TrialOutcome::Interrupted),
        1 => name().prop_map(|detail| TrialOutcome::Skipped(SkipReason::new(SkipCode::NotPermitted, detail))),
        1 => name().prop_map(|message| TrialOutcome::Failed { message }),
    ];
    (
        cell(),
        0u32..4,
        outcome,
        prop::collection::vec(phase(), 0..6),
        prop::collection::vec(caveat(), 0..2),
    )
        .prop_map(|(cell, repetition, outcome, phases, caveats)| Trial {
            outcome,
            phases,
            caveats,
            ..Trial::new(cell, repetition)
        })
}

fn stack() -> impl Strategy<Value = TargetStack> {
    let kinds = [
        LayerKind::Disk,
        LayerKind::Partition,
        LayerKind::DeviceMapper,
        LayerKind::Raid,
        LayerKind::Loop,
        LayerKind::Zram,
        LayerKind::Network,
        LayerKind::Other,
    ];
    let layer = (
        prop::sample::select(kinds.to_vec()),
        name(),
        prop::option::of(name()),
    );
    (
        name(),
        any::<bool>(),
        prop::collection::vec(layer, 0..6),
        prop::collection::vec(name(), 0..4),
    )
        .prop_map(|(path, raw, layers, words)| {
            let mut stack = build::nvme_stack(&path);
            let template = stack.layers[1].clone();
            stack.layers = layers
                .into_iter()
                .map(|(kind, name, model)| stiction_core::Layer {
                    kind,
                    name,
                    model,
                    ..template.clone()
                })
                .collect();
            if let Some(filesystem) = &mut stack.filesystem {
                filesystem.mount_options.clone_from(&words);
            }
            if raw {
                stack.filesystem = None;
            }
            stack.missing = words;
            stack
        })
}

fn session() -> impl Strategy<Value = Session> {
    (
        prop::collection::vec(trial(), 0..6),
        prop::collection::vec(stack(), 0..3),
        prop::option::of(name()),
        prop::option::of(name()),
        prop::collection::vec(caveat(), 0..2),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(trials, targets, label, release, caveats, ended, imported)| {
                let mut session = build::session();
                session.header.label.clone_from(&label);
                session.header.command.extend(label);
                session.header.caveats = caveats;
                session.header.environment = Environment {
                    targets,
                    kernel: release.map(|release| Kernel {
                        release,
                        ..Kernel::default()
                    }),
                    ..Environment::default()
                };
                if imported {
                    session.header.provenance = Provenance::Imported {
                        file: "a\nb".to_owned(),
                        layout: "tiobench-0.3.3".to_owned(),
                    };
                }
                if !ended {
                    session.end = None;
                }
                session.trials = trials;
                session
            },
        )
}

/// Every line of a report fits and is printable ASCII.
fn fits(report: &str) -> Result<(), TestCaseError> {
    prop_assert!(report.ends_with('\n'));
    for line in report.lines() {
        prop_assert!(line.len() <= WIDTH, "{} columns: {line}", line.len());
        prop_assert!(
            line.chars().all(|c| c == ' ' || c.is_ascii_graphic()),
            "{line:?}"
        );
        prop_assert!(!line.ends_with(' '), "{line:?}");
    }
    Ok(())
}

fn listed(session: &Session) -> Listed {
    Listed {
        summary: Summary::from(session),
        headline: Judged::examine(session).headline(),
        can_go_on: session.can_go_on(),
    }
}

fn imported(session: &Session, words: &[String]) -> ImportedFile {
    ImportedFile {
        file: words.first().cloned().unwrap_or_default(),
        sessions: vec![ImportedSession::from(session)],
        unread: words
            .iter()
            .zip(1..)
            .map(|(text, line)| UnreadLine {
                line,
                text: text.clone(),
                reason: text.clone(),
            })
            .collect(),
        messages: words.to_vec(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reports_fit_80_columns(session in session(), words in prop::collection::vec(name(), 0..4)) {
        let judged = Judged::examine(&session);
        let screen = quick(&judged, Style::Plain);
        fits(&screen)?;
        fits(&show(&judged, Style::Plain))?;
        fits(&modern(&judged, Style::Plain))?;
        fits(&bonnie::modern(&judged, Style::Plain))?;
        fits(&list(&[listed(&session)], Style::Plain))?;
        fits(&import(&[imported(&session, &words)], Style::Plain))?;
        for stack in &session.header.environment.targets {
            let line = stack_line(stack);
            prop_assert!(line.chars().all(|c| c == ' ' || c.is_ascii_graphic()), "{line:?}");
        }
    }

    #[test]
    fn comparisons_fit_80_columns(a in session(), b in session()) {
        let found = matrix(&Side::whole(&a), &[Side::whole(&b)], &CompareOptions::default());
        fits(&comparison(&found, Shown::default(), Style::Plain))?;
        let value: serde_json::Value = serde_json::from_str(&json::comparison(&found)).unwrap();
        prop_assert_eq!(&value["schema"], &serde_json::json!("stiction-comparison"));
    }

    /// The classic layouts have a width of their own, but are text all the same.
    #[test]
    fn classic_reports_are_made_of_any_session(session in session()) {
        for options in [ClassicOptions::default(), ClassicOptions {
            latencies: stiction_report::tiobench::Latencies::SummedAsWas,
            heads: stiction_report::tiobench::Heads::Missing,
            identifier: Some("\u{1b}[2J".to_owned()),
        }] {
            for report in [
                classic_0_3_3(&session, &options),
                classic_0_4(&session, &options),
                classic_old(&session, &options),
                posted(&[&session, &session], &options),
                tiotest_verbose(&session, TiotestOptions::default()),
                tiotest_terse(&session),
            ] {
                prop_assert!(report.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()));
            }
        }
    }

    /// So are Bonnie's, whose 64-bit release has tabs; a line of CSV keeps its fields.
    #[test]
    fn bonnies_reports_are_made_of_any_session(session in session()) {
        let versions = [
            (bonnie::Version::V103e, 27),
            (bonnie::Version::V196, 48),
            (bonnie::Version::V200a, 50),
        ];
        let mut reports = vec![
            bonnie::bonnie(&session),
            bonnie::bonnie_64(&session),
            bonnie::html_row(&session),
            bonnie::html_plus_plus(&session),
        ];
        for (version, fields) in versions {
            reports.push(bonnie::plus_plus(&session, version));
            let lines = bonnie::csv(&session, version);
            for line in lines.lines() {
                prop_assert_eq!(line.split(',').count(), fields, "{}", line);
            }
            reports.push(lines);
        }
        for report in reports {
            let is_text = |c: char| matches!(c, '\n' | '\t' | ' ') || c.is_ascii_graphic();
            prop_assert!(report.chars().all(is_text), "{report:?}");
        }
    }

    #[test]
    fn documents_are_json(session in session()) {
        let judged = Judged::examine(&session);
        let words = ["a".to_owned()];
        for text in [
            json::session(&judged),
            json::list(&[listed(&session)]),
            json::import(&[imported(&session, &words)]),
        ] {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&value["schema_version"], &serde_json::json!(1));
        }
    }
}
