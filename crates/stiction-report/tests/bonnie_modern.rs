//! Our own report of a bonnie session.

mod build;

use build::{doubting, on, session_on, trial, with};
use stiction_core::{
    Caveat, CaveatCode, Cell, Direction, Histogram, Interval, Phase, PhaseKind, PhaseOutcome,
    Recording, Session, Subject, metrics,
};
use stiction_report::bonnie::modern;
use stiction_report::{Judged, Style};

const MIB: f64 = 1_048_576.0;

/// A phase of 100 operations of 2 ms in 0.2 s, at this rate.
fn phase(name: &str, rate: f64, per_second: f64) -> Phase {
    let mut phase = Phase::new(name, PhaseKind::Measure);
    phase.elapsed_ns = 200_000_000;
    let mut latencies = Histogram::new();
    (0..100).for_each(|_| latencies.record(2_000_000));
    phase.recordings = vec![Recording {
        direction: Direction::Whole,
        intervals: vec![Interval {
            start_ns: 0,
            length_ns: phase.elapsed_ns,
            bytes: 0,
            latencies,
        }],
    }];
    with(
        phase,
        &[
            (metrics::RATE, rate, 100),
            (metrics::OPERATION_RATE, per_second, 100),
            (metrics::BYTES, rate * 0.2, 100),
            (metrics::CPU_PERCENT, 25.0, 1),
        ],
    )
}

/// Runs at 90, 100 and 120 MiB/s, the last cut short in its second phase.
fn runs() -> Session {
    let mut session = session_on("6.18", "ext4");
    let cell = Cell::new()
        .with("threads", 1u32)
        .with("block_size_bytes", 8192u32)
        .with("file_size_bytes", 1u64 << 30)
        .with("files", "16");
    session.trials = [90.0, 100.0, 120.0]
        .into_iter()
        .zip(0..)
        .map(|(rate, repetition)| {
            let mut seeks = phase("seeks", 8192.0 * 500.0, 500.0);
            if repetition == 2 {
                seeks.outcome = PhaseOutcome::EndedEarly;
            }
            let phases = vec![
                phase("put_block", rate * MIB, rate * 128.0),
                seeks,
                phase("delete_random", 0.0, 4000.0),
            ];
            trial(cell.clone(), repetition, phases)
        })
        .collect();
    session
}

fn report(session: &Session) -> String {
    let judged = Judged::by(session, |_, _| on(Subject::Disk, ""));
    modern(&judged, Style::Plain)
}

/// The words of the line that begins with `name`, of its first table.
fn row<'a>(report: &'a str, name: &str) -> Vec<&'a str> {
    let line = report
        .lines()
        .find(|line| line.trim_start().starts_with(name))
        .unwrap_or_else(|| panic!("no {name} in\n{report}"));
    line.split_whitespace().collect()
}

/// Medians with the lowest and highest run beside: -10 % and +20 %.
#[test]
fn runs_are_put_together_and_nothing_is_hidden() {
    let report = report(&runs());
    assert_eq!(
        row(&report, "write "),
        [
            "write",
            "disk",
            "100",
            "MiB/s",
            "12.8",
            "k/s",
            "-10.0..+20.0",
            "%",
            "25.0",
            "%"
        ]
    );
    assert!(
        !report.contains("+++"),
        "0.2 s are no reason to hide anything"
    );
    assert!(report.contains("3 runs: rates are medians"));
    assert!(report.contains("One file: 1 thread, 8 KiB blocks, 1 GiB in all"));
    // Files have a rate of files alone.
    let deleted = row(&report, "delete, random");
    assert_eq!(deleted[..5], ["delete,", "random", "disk", "4.00", "k/s"]);
    assert_eq!(
        report.lines().last().unwrap(),
        "write disk 100 MiB/s; seeks disk 500/s"
    );
}

/// The session calls it `put_block`, the table `write`.
#[test]
fn doubts_call_phases_as_the_tables_do() {
    let session = runs();
    let judged = Judged::by(&session, |_, phase| {
        let finding = on(Subject::Disk, "");
        let short = Caveat::new(CaveatCode::TooShort, "it took 200 ms");
        match phase.name.as_str() {
            "put_block" => doubting(finding, short),
            _ => finding,
        }
    });
    let report = modern(&judged, Style::Plain);
    let doubt = "- write (too-short): it took 200 ms.";
    assert!(report.lines().any(|line| line == doubt), "{report}");
}

/// 100 operations a run of 2 ms each; a seek that was cut short is none of them.
#[test]
fn latencies_are_of_whole_operations_of_whole_runs() {
    let report = report(&runs());
    let of = |name: &str, nth: usize| -> String {
        let lines = report
            .lines()
            .filter(|line| line.trim_start().starts_with(name));
        let all: Vec<&str> = lines.collect();
        all[nth].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(
        of("write ", 1).starts_with("write 300 2.00 ms 2.00 ms"),
        "{report}"
    );
    assert!(of("seeks ", 1).starts_with("seeks 200 2.00 ms"), "{report}");
}

#[test]
fn a_session_without_figures_says_so() {
    let mut session = runs();
    session
        .trials
        .iter_mut()
        .for_each(|trial| trial.phases.clear());
    assert_eq!(
        report(&session).lines().last().unwrap(),
        "Nothing was measured."
    );
}
