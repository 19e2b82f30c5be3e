//! The screen of `stiction curve`.

mod build;

use build::{nvme_stack, on, session, trial, with};
use stiction_core::{
    Arrivals, BackendKind, Cell, Direction, Histogram, Interval, Job, LoopKind, Pace, Phase,
    PhaseKind, Plan, Rate, Recording, Region, Seed, Session, Subject, metrics,
};
use stiction_report::{Judged, Style, WIDTH, curve, json, show};

const MS: f64 = 1e6;

/// A rate of one server that does 1000 operations a second, with latencies as of M/M/1.
fn rate(per_s: u64, scale: f64) -> Phase {
    let load = per_s as f64 / 1000.0;
    let mean_ns = scale * MS / (1.0 - load);
    let mut latencies = Histogram::new();
    // 2000 quantiles of the exponential distribution.
    (0..2000).for_each(|n| {
        let share = (f64::from(n) + 0.5) / 2000.0;
        latencies.record((-(1.0 - share).ln() * mean_ns) as u64);
    });
    let p99_ns = latencies.quantile_ns(0.99).unwrap() as f64;
    let phase = Phase {
        elapsed_ns: 2_000_000_000,
        job: Some(Job {
            access: stiction_core::Access::RandomPermutation,
            block_size_bytes: 4096,
            depth: 64,
            backend: BackendKind::IoUring,
            direct: true,
            regions: vec![Region {
                target: 0,
                offset_bytes: 0,
                length_bytes: 1 << 30,
            }],
            pace: Some(Pace {
                rate: Rate::BytesPerS(per_s * 4096),
                by_way: None,
                arrivals: Arrivals::Poisson,
                kind: LoopKind::Open,
            }),
            ..Job::default()
        }),
        recordings: vec![Recording {
            direction: Direction::Read,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 2_000_000_000,
                bytes: 2000 * 4096,
                latencies,
            }],
        }],
        ..Phase::new(format!("rate_{per_s}_per_s"), PhaseKind::Measure)
    };
    with(
        phase,
        &[
            (metrics::OPERATION_RATE, per_s as f64, 2000),
            (metrics::DONE_OVER_ASKED, 1.0, 2000),
            (metrics::LATENCY_MEAN, mean_ns, 2000),
            (metrics::LATENCY_P99, p99_ns, 2000),
            (metrics::LATENESS_P99, 0.2 * MS, 2000),
        ],
    )
}

fn maximum(per_s: f64) -> Phase {
    let phase = Phase {
        job: Some(Job::default()),
        ..Phase::new("maximum", PhaseKind::Measure)
    };
    with(phase, &[(metrics::OPERATION_RATE, per_s, 2000)])
}

fn curve_session(runs: u32) -> Session {
    let mut session = session();
    session.header.environment.targets = vec![nvme_stack("/home/someone/data")];
    session.header.plan = Some(Plan {
        workload: "curve".to_owned(),
        parameters: serde_json::json!({"bound": {
            "limit": {"figure": "p99", "at_most_ns": 10_000_000},
            "done_over_asked_min": 0.98,
        }}),
        seed: Seed(1),
        preparation: stiction_core::Preparation::default(),
        trials: Vec::new(),
    });
    session.trials = (0..runs)
        .map(|run| {
            let scale = 1.0 + 0.2 * f64::from(run);
            let mut phases = vec![maximum(1000.0 - 10.0 * f64::from(run))];
            phases.extend([200, 400, 600, 500].map(|per_s| rate(per_s, scale)));
            trial(Cell::new(), run, phases)
        })
        .collect();
    session
}

fn judged(session: &Session) -> Judged<'_> {
    Judged::by(session, |_, _| on(Subject::Disk, "it moved all of it"))
}

/// With one blank between words, wherever columns and lines end.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 4.605 ms / (1 - load): 10 ms from 540 a second on, and the knee at half of 1000.
#[test]
fn one_run_says_what_holds_and_where_the_knee_is() {
    let session = curve_session(1);
    let text = curve(&judged(&session), Style::Plain);
    assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    for part in [
        "random read of 4 KiB, io_uring, direct, up to 64 in flight, Poisson arrivals",
        "A closed loop reaches 1.00 k/s.",
        "500/s 100 % disk 1.39 ms 9.17 ms - 200 us held",
        "600/s 100 % disk 1.73 ms 11.5 ms - 200 us too slow",
    ] {
        assert!(squeezed(&text).contains(part), "no `{part}` in:\n{text}");
    }
    let answer = text.lines().last().unwrap();
    assert_eq!(
        answer,
        "Holds up to 500/s with p99 <= 10.0 ms; knee at 500/s"
    );
    assert_eq!(judged(&session).headline().as_deref(), Some(answer));
    assert!(show(&judged(&session), Style::Plain).ends_with(&format!("{answer}\n")));
}

/// The second run is slower by a fifth, and breaks at 500.
#[test]
fn several_runs_have_a_range() {
    let session = curve_session(2);
    let text = curve(&judged(&session), Style::Plain);
    assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    for part in [
        "A closed loop reaches 990/s (990 to 1.00 k in 2 runs).",
        "p99 by run",
        "holds the median of such runs with 50.0 %",
    ] {
        assert!(squeezed(&text).contains(part), "no `{part}` in:\n{text}");
    }
    let answer = text.lines().last().unwrap();
    let expected = "Holds up to 400/s (400 to 500 in 2 runs) with p99 <= 10.0 ms; knee at 500/s (the same in 2 runs)";
    assert!(squeezed(&text).contains(expected), "{answer}");

    let document: serde_json::Value =
        serde_json::from_str(&json::session(&judged(&session))).unwrap();
    let found = &document["curve"];
    assert_eq!(found["runs"][0]["held_operations_per_s"], 500.0);
    assert_eq!(found["runs"][1]["held_operations_per_s"], 400.0);
    assert_eq!(found["runs"][1]["broke_operations_per_s"], 500.0);
    assert_eq!(found["runs"][1]["broke"], "too_slow");
    assert_eq!(found["runs"][0]["knee"], "at");
    assert_eq!(found["rates"][2]["asked_operations_per_s"], 500.0);
    assert_eq!(found["rates"][2]["outcome"], "too_slow");
    assert_eq!(found["rates"][2]["runs_count"], 2);
}

#[test]
fn a_session_without_rates_says_why() {
    let mut session = curve_session(1);
    session.trials[0].phases.truncate(1);
    let text = curve(&judged(&session), Style::Plain);
    assert!(text.ends_with("No rate was measured\n"), "{text}");
    assert_eq!(judged(&session).headline(), None);
}
