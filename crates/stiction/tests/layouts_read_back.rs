//! What is printed in a classic layout is read back as it was.

use stiction_core::{
    Cell, Environment, Kernel, Measurement, Metric, Phase, PhaseKind, Provenance,
    RECORD_FORMAT_VERSION, Session, SessionHeader, SessionId, Trial, metrics,
};
use stiction_report::tiobench::{
    ClassicOptions, Heads, Latencies, TiotestOptions, classic_0_3_3, classic_0_4, classic_old,
    posted, tiotest_terse, tiotest_verbose,
};

const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;

/// One phase: rate in MiB/s, CPU share in percent, maximum latency in ms.
type Figures = (&'static str, f64, f64, f64);

const PHASES: [Figures; 4] = [
    ("read", 35.28, 17.69, 6316.85),
    ("random_read", 0.69, 0.889, 300.25),
    ("write", 32.39, 34.28, 113_532.54),
    ("random_write", 0.66, 0.25, 14.5),
];

/// The mean latency in ms of threads that are in an operation for nine tenths of
/// the time: latencies that their rate does not allow would be read as sums.
fn mean_ms(rate: f64, threads: u32) -> f64 {
    0.9 * f64::from(threads) * 4096.0 / (rate * MIB) * 1000.0
}

fn phase((name, rate, cpu_percent, max_ms): Figures, threads: u32) -> Phase {
    let elapsed_s = 100.0;
    let amount = rate * elapsed_s * MIB;
    let values = [
        (metrics::BYTES, amount),
        (metrics::OPERATIONS, amount / 4096.0),
        (metrics::ELAPSED, elapsed_s),
        (metrics::CPU_USER, 0.0),
        (metrics::CPU_SYSTEM, cpu_percent / 100.0 * elapsed_s),
        (metrics::LATENCY_MEAN, mean_ms(rate, threads) * NS_PER_MS),
        (metrics::LATENCY_MAX, max_ms * NS_PER_MS),
        (metrics::LATENCY_OVER_2S, 0.01429),
        (metrics::LATENCY_OVER_10S, 0.005),
    ];
    Phase {
        measurements: values
            .into_iter()
            .map(|(metric, value)| Measurement::new(metric, value, 1))
            .collect(),
        ..Phase::new(name, PhaseKind::Measure)
    }
}

/// A session of two thread counts on one kernel, in one or several directories.
fn session(directories: &[&str], runs: u32) -> Session {
    let started = "2003-02-04T12:00:00Z".parse().unwrap();
    let kernel = Kernel {
        release: "2.5.59-mm2".to_owned(),
        ..Kernel::default()
    };
    let mut trials = Vec::new();
    for directory in directories {
        for threads in [1u32, 32] {
            for repetition in 0..runs {
                let cell = Cell::new()
                    .with("threads", threads)
                    .with("block_size_bytes", 4096u32)
                    .with("file_size_bytes", 8u64 << 30);
                let cell = match directories {
                    [_] => cell,
                    _ => cell.with("directory", *directory),
                };
                trials.push(Trial {
                    phases: PHASES
                        .into_iter()
                        .map(|figures| phase(figures, threads))
                        .collect(),
                    ..Trial::new(cell, repetition)
                });
            }
        }
    }
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: Vec::new(),
            provenance: Provenance::Measured,
            plan: None,
            environment: Environment {
                kernel: Some(kernel),
                ..Environment::default()
            },
            caveats: Vec::new(),
        },
        trials,
        end: None,
    }
}

/// The trials that are read from a text.
fn read(text: &str) -> Vec<Trial> {
    let imported = stiction_formats::read(text);
    imported
        .sessions
        .into_iter()
        .flat_map(|session| session.trials)
        .collect()
}

/// Checks a figure of a phase to the digits that the layout has.
fn check(trial: &Trial, phase: &str, metric: &Metric, value: f64, text: &str) {
    let read = trial
        .phase(phase)
        .and_then(|phase| phase.measurement(metric))
        .unwrap_or_else(|| panic!("no {} of {phase} in\n{text}", metric.name));
    let (lowest, highest) = read.printed_range();
    let slack = 1e-9 * value.abs();
    assert!(
        (lowest - slack..=highest + slack).contains(&value),
        "{} of {phase}: {value} is not in {lowest}..{highest}\n{text}",
        metric.name
    );
}

/// Every row of the text has the figures that it was printed from.
fn reads_back(text: &str) {
    let trials = read(text);
    let threads: Vec<Option<i64>> = trials.iter().map(|t| t.cell.integer("threads")).collect();
    assert_eq!(threads, [Some(1), Some(32)], "{text}");
    for (trial, threads) in trials.iter().zip([1, 32]) {
        for (phase, rate, cpu_percent, max_ms) in PHASES {
            let mean_ns = mean_ms(rate, threads) * NS_PER_MS;
            check(trial, phase, &metrics::RATE, rate * MIB, text);
            check(trial, phase, &metrics::CPU_PERCENT, cpu_percent, text);
            check(trial, phase, &metrics::LATENCY_MEAN, mean_ns, text);
            check(
                trial,
                phase,
                &metrics::LATENCY_MAX,
                max_ms * NS_PER_MS,
                text,
            );
            check(trial, phase, &metrics::LATENCY_OVER_2S, 0.01429, text);
        }
    }
}

#[test]
fn driver_reports_read_back() {
    let session = session(&["/mnt"], 1);
    let options = ClassicOptions::default();
    reads_back(&classic_0_3_3(&session, &options));
    reads_back(&classic_0_4(&session, &options));
    let without_heads = ClassicOptions {
        heads: Heads::Missing,
        ..options
    };
    reads_back(&classic_0_3_3(&session, &without_heads));
}

#[test]
fn old_and_posted_tables_read_back() {
    let session = session(&["/mnt"], 1);
    reads_back(&posted(&[&session], &ClassicOptions::default()));
    let text = classic_old(&session, &ClassicOptions::default());
    let trials = read(&text);
    check(&trials[0], "read", &metrics::RATE, 35.28 * MIB, &text);
    check(&trials[0], "write", &metrics::CPU_PERCENT, 34.28, &text);
}

#[test]
fn tiotests_output_reads_back() {
    let mut session = session(&["/mnt"], 1);
    session.trials.truncate(1);
    for text in [
        tiotest_verbose(&session, TiotestOptions::default()),
        tiotest_terse(&session),
    ] {
        let trials = read(&text);
        assert_eq!(trials.len(), 1, "{text}");
        for (phase, rate, _, max_ms) in PHASES {
            let mean_ns = mean_ms(rate, 1) * NS_PER_MS;
            check(&trials[0], phase, &metrics::RATE, rate * MIB, &text);
            check(&trials[0], phase, &metrics::LATENCY_MEAN, mean_ns, &text);
            check(
                &trials[0],
                phase,
                &metrics::LATENCY_MAX,
                max_ms * NS_PER_MS,
                &text,
            );
        }
    }
}

/// Directories are not taken for repetitions of each other, and what is said before
/// and after the tables does not disturb them.
#[test]
fn directories_and_sums_over_runs_read_back() {
    let options = ClassicOptions {
        latencies: Latencies::SummedAsWas,
        ..ClassicOptions::default()
    };
    for directories in [
        ["/mnt/a", "/mnt/b"],
        ["/mnt/a blank", "/mnt/a/long/name/of/it"],
    ] {
        let text = classic_0_3_3(&session(&directories, 3), &options);
        let trials = read(&text);
        assert_eq!(trials.len(), 4, "{text}");
        for trial in &trials {
            check(trial, "read", &metrics::RATE, 35.28 * MIB, &text);
            // A reader finds out that three runs were added up.
            let threads = trial.cell.integer("threads").unwrap_or(1) as u32;
            let mean_ns = mean_ms(35.28, threads) * NS_PER_MS;
            check(trial, "read", &metrics::LATENCY_MEAN, mean_ns, &text);
        }
        let kernels: Vec<String> = trials
            .iter()
            .filter_map(|trial| Some(trial.cell.get("kernel")?.to_string()))
            .collect();
        assert_eq!(kernels.len(), 4);
        assert!(trials.iter().all(|trial| trial.repetition == 0), "{text}");
    }
}
