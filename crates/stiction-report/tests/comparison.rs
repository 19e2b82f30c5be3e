//! Two sides held against each other.

mod build;

use stiction_analysis::compare::{CompareOptions, Side, matrix};
use stiction_core::{
    Cell, Measurement, Metric, Phase, PhaseKind, PhaseOutcome, Provenance, Session, SessionId,
    metrics,
};
use stiction_report::{Shown, Style, comparison, json};

/// A session read from a file, with trials of one phase.
fn imported(layout: &str, phase: &str, rows: Vec<(Cell, Vec<Measurement>)>) -> Session {
    let mut session = build::session();
    session.header.provenance = Provenance::Imported {
        file: "post.txt".to_owned(),
        layout: layout.to_owned(),
    };
    session.header.environment = stiction_core::Environment::default();
    session.trials = rows
        .into_iter()
        .map(|(cell, measurements)| {
            let phase = Phase {
                measurements,
                ..Phase::new(phase, PhaseKind::Measure)
            };
            build::trial(cell, 0, vec![phase])
        })
        .collect();
    session
}

/// The value of `text` times `unit`, as printed.
fn printed(metric: Metric, unit: f64, text: &str) -> Measurement {
    let value: f64 = text.trim_end_matches('%').parse().unwrap();
    Measurement::imported(metric, value * unit, 1, text)
}

/// Two kernels of the post of 2003, latencies corrected.
fn two_kernels() -> Session {
    let row = |kernel: &str, [rate, cpu, mean, max, efficiency]: [&str; 5]| {
        let mut latency = printed(metrics::LATENCY_MEAN, 1e6 / 3.0, mean);
        latency.corrected = Some("printed as a sum over 3 runs".to_owned());
        let cell = build::cell(32, 4096, 8192).with("kernel", kernel);
        let measurements = vec![
            printed(metrics::RATE, build::MIB, rate),
            latency,
            printed(metrics::LATENCY_MAX, 1e6, max),
            printed(metrics::CPU_PERCENT, 1.0, cpu),
            printed(metrics::CPU_EFFICIENCY, build::MIB, efficiency),
        ];
        (cell, measurements)
    };
    imported(
        "tiobench-posted",
        "write",
        vec![
            row("2.5.59", ["3.42", "17.36%", "83.976", "3109518.52", "20"]),
            row(
                "2.5.59-mm2",
                ["32.39", "34.28%", "7.742", "340597.62", "94"],
            ),
        ],
    )
}

fn labels(session: &Session, a: &str, b: &str) -> stiction_analysis::compare::Matrix {
    let side = |label| Side::labelled(session, label).unwrap();
    matrix(&side(a), &[side(b)], &CompareOptions::default())
}

/// 32.39 / 3.42 = 9.47; 1 s / 3.42 = 292 ms, of which 17.36 % are 50.8 ms of CPU.
#[test]
fn two_labels_of_one_table() {
    let session = two_kernels();
    let found = labels(&session, "2.5.59", "2.5.59-mm2");
    let expected = "\
3 cannot tell                                             2.5.59 -> 2.5.59-mm2
session 20021130-105912-7000; 1 run a side; all at 32 threads, 4 KiB blocks, 8
GiB in all

                              2.5.59    2.5.59-mm2   change   ratio
? write rate              3.42 MiB/s   32.39 MiB/s   +847 %   9.47x
? write latency mean       27.992 ms      2.581 ms  -90.8 %  0.092x
? write cpu efficiency  20 MiB/s/CPU  94 MiB/s/CPU   +370 %   4.70x
  2 figures described and not judged (--all lists them)

What moved with it
  write
                  2.5.59  2.5.59-mm2   change   ratio
  time per MiB    292 ms     30.9 ms  -89.4 %   0.11x
  of it CPU      50.8 ms     10.6 ms  -79.2 %   0.21x  moved
  of it waiting   242 ms     20.3 ms  -91.6 %  0.084x  moved
  CPU time and waiting both changed the time for a MiB.

Why
- CANNOT TELL, all: 1 run a side: nothing is known of the spread
- likely to decide everything: 6 runs a side, interleaved in one session

context  both sides are of one session
about    unknown: all

CANNOT TELL: all 3 figures
";
    assert_eq!(comparison(&found, Shown::default(), Style::Plain), expected);
}

/// A compile under io_halfmem, from contest's logs: 306.82 s at 87 % and 461.74 s at
/// 57 % of CPU, while the load wrote 32 files in 307 s and 33 in 465 s.
#[test]
fn a_job_that_waits_while_its_load_moves_less() {
    let row = |filesystem: &str, [time, cpu, files, load_s]: [&str; 4]| {
        let cell = Cell::new()
            .with("filesystem", filesystem)
            .with("load", "io_halfmem");
        let mut size = printed(metrics::LOAD_FILE_SIZE, 1.0, "263168000");
        size.printed = None;
        let measurements = vec![
            printed(metrics::ELAPSED, 1.0, time),
            printed(metrics::CPU_PERCENT, 1.0, cpu).with_digits_cut(),
            printed(metrics::LOAD_FILES, 1.0, files),
            size,
            printed(metrics::LOAD_ELAPSED, 1.0, load_s),
        ];
        (cell, measurements)
    };
    let session = imported(
        "contest-log",
        "job",
        vec![
            row("ext2", ["306.82", "87%", "32", "307"]),
            row("ext3", ["461.74", "57%", "33", "465"]),
        ],
    );
    let text = comparison(
        &labels(&session, "ext2", "ext3"),
        Shown::default(),
        Style::Plain,
    );
    let (_, times) = text.split_once("\nWhat moved with it\n").unwrap();
    let (times, _) = times.split_once("\n\n").unwrap();
    assert_eq!(
        times,
        "  job
                      ext2      ext3   change  ratio
  time               307 s     462 s  +50.5 %
  of it CPU          268 s     266 s   -1.1 %
  of it waiting       38 s     196 s   +412 %  5.12x  moved
  load beside it  27 MiB/s  18 MiB/s  -31.9 %
  What changed the time is waiting; the CPU time hardly changed. The job waits
  longer and the load beside it moves less: I/O efficiency was lost."
    );
}

/// The same configuration stands in the table twice, 26.02 and 5.99 points apart.
#[test]
fn a_table_shows_its_own_noise() {
    let row = |kernel: &str, highest: &str, average: &str| {
        let measurements = vec![
            printed(metrics::CHANGE_HIGHEST, 1.0, highest),
            printed(metrics::CHANGE_AVERAGE, 1.0, average),
        ];
        (Cell::new().with("kernel", kernel), measurements)
    };
    let mut session = imported(
        "osdl-percent",
        "random_read",
        vec![
            row("test8", "30.62", "-31.13"),
            row("test9", "48.14", "-27.66"),
            row("test9", "22.12", "-33.65"),
        ],
    );
    session.trials[2].repetition = 1;
    let text = comparison(
        &labels(&session, "test8", "test9"),
        Shown::default(),
        Style::Plain,
    );
    let (_, reasons) = text.split_once("\nWhy").unwrap();
    assert_eq!(
        reasons,
        "
- CANNOT TELL, all: 1 run in A: nothing is known of its spread
- CANNOT TELL, all, for one: 2 runs of one configuration lie 26.0 points
  apart, and this difference is no larger

context  both sides are of one session
about    unknown: all

Noise: runs of one configuration lie so far apart
- random read change highest: 26.0 points over 2 runs (kernel test9)
- random read change average: 5.99 points over 2 runs (kernel test9)

CANNOT TELL: all 2 figures
"
    );
}

/// Two sessions on two kernels; the second failed where the first did not.
fn two_sessions() -> (Session, Session) {
    let (mut a, mut b) = (build::quick_session(), build::quick_session());
    a.header.label = Some("before".to_owned());
    b.header.label = Some("after".to_owned());
    b.header.id = SessionId::new(b.header.started, 99);
    let environment = &mut b.header.environment;
    environment.kernel.as_mut().unwrap().release = "6.13.0".to_owned();
    for session in [&mut a, &mut b] {
        session.trials[0].phases.drain(..5);
        for phase in &mut session.trials[0].phases {
            phase.measurements.truncate(1);
        }
    }
    b.trials[0].phases[0].outcome = PhaseOutcome::Failed {
        message: "write data at 0: Input/output error (errno 5)".to_owned(),
    };
    b.trials[0].phases.pop();
    (a, b)
}

#[test]
fn what_differs_stands_first_and_what_failed_is_a_regression() {
    let (a, b) = two_sessions();
    let sides = (Side::whole(&a), Side::whole(&b));
    let found = matrix(&sides.0, &[sides.1], &CompareOptions::default());
    let expected = "\
1 FAILED                                                       before -> after
sessions 20021130-105912-7000 -> 20021130-105912-3300; 1 boot a side

Environment: differs in
                 A      B
  kernel.release 6.12.9 6.13.0

                             before  after
! random write deep rate  812 MiB/s      -

Only on one side
- A: commit: the other side has no phase `commit` in this cell

Why
- FAILED, all: B: it failed: write data at 0: Input/output error (errno 5)

context  differs in 1 other fact, listed above
about    unknown: all

REGRESSION: 1 FAILED
";
    assert_eq!(comparison(&found, Shown::default(), Style::Plain), expected);
    let document: serde_json::Value = serde_json::from_str(&json::comparison(&found)).unwrap();
    assert_eq!(document["outcome"], "regression");
    assert_eq!(document["candidates"][0]["rows"][0]["verdict"], "failed");
}
