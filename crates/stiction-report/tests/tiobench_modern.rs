//! Our own report of tiobench.

mod build;

use build::{cell, nvme_stack, on, session, trial, with};
use stiction_core::{
    Direction, Histogram, Interval, Phase, PhaseKind, PhaseOutcome, Recording, Session, SessionEnd,
    SessionOutcome, SkipCode, SkipReason, Subject, Trial, TrialOutcome, metrics,
};
use stiction_report::tiobench::modern;
use stiction_report::{Judged, Style};

fn recording(direction: Direction, latencies_us: impl Iterator<Item = u64>) -> Recording {
    let mut latencies = Histogram::new();
    latencies_us.for_each(|us| latencies.record(us * 1000));
    Recording {
        direction,
        intervals: vec![Interval {
            start_ns: 0,
            length_ns: 1_000_000_000,
            bytes: 1,
            latencies,
        }],
    }
}

/// A phase with operations of 1 us, 2 us and so on to 2 ms.
fn phase(name: &str, direction: Direction, rate: f64, fairness: f64) -> Phase {
    let phase = Phase {
        recordings: vec![recording(direction, 1..=2000)],
        ..Phase::new(name, PhaseKind::Measure)
    };
    with(
        phase,
        &[
            (metrics::RATE, rate * build::MIB, 1),
            (metrics::CPU_PERCENT, 34.28, 1),
            (metrics::CPU_SYSTEM_WIDE_PERCENT, 41.0, 1),
            (metrics::CPU_EFFICIENCY, rate * build::MIB / 0.3428, 1),
            (metrics::FAIRNESS, fairness, 1),
        ],
    )
}

/// Three interleaved runs of 100, 110 and 95 MiB/s a thread.
fn three_runs() -> Session {
    let mut session = session();
    session.header.environment.targets = vec![nvme_stack("/home/someone/data")];
    for (repetition, rate, fairness) in [(0, 100.0, 0.99), (1, 110.0, 0.91), (2, 95.0, 0.98)] {
        for threads in [8, 1] {
            let rate = rate * f64::from(threads);
            let mut write = phase("write", Direction::Write, rate, fairness);
            write
                .recordings
                .push(recording(Direction::Sync, [50_000].into_iter()));
            let read = phase("read", Direction::Read, 2.0 * rate, fairness);
            session.trials.push(trial(
                cell(threads, 131_072, 8192),
                repetition,
                vec![write, read],
            ));
        }
    }
    session
}

#[test]
fn runs_are_shown_with_their_spread_and_their_latencies_together() {
    let session = three_runs();
    let judged = Judged::by(&session, |_, phase| match phase.name.as_str() {
        "read" => on(Subject::Cache, "the device read 0 B of 8 GiB asked"),
        _ => on(Subject::Disk, "the device wrote all of it"),
    });
    insta::assert_snapshot!(modern(&judged, Style::Plain));
}

#[test]
fn runs_that_disagree_have_no_word_and_failed_runs_are_named() {
    let mut session = three_runs();
    session.trials[5].outcome = TrialOutcome::Failed {
        message: "write tiobench.0: No space left on device (errno 28)".to_owned(),
    };
    let judged = Judged::by(&session, |trial: &Trial, _| {
        if trial.repetition == 1 {
            on(Subject::Limiter, "the rate is flat at 110 MiB/s")
        } else {
            on(Subject::Disk, "")
        }
    });
    let text = modern(&judged, Style::Plain);
    assert!(text.contains("\n    1 128 KiB unknown 100 MiB/s   -5.0..+10.0 %"));
    assert!(text.contains(
        "\n- In 4 rows the runs are about different things, so that the word is unknown.\n"
    ));
    assert!(text.contains(
        "\n- 1 thread, 128 KiB blocks, 8 GiB in all, run 3: failed: write tiobench.0: No\n"
    ));
    assert_eq!(
        text.lines().last(),
        Some("Best: write unknown 800 MiB/s (8 thr); read unknown 1.56 GiB/s (8 thr)")
    );
}

#[test]
fn directories_and_sizes_have_tables_of_their_own() {
    let mut session = three_runs();
    for trial in &mut session.trials {
        let directory = if trial.repetition == 1 { "/a" } else { "/b" };
        trial.cell = trial.cell.clone().with("directory", directory);
    }
    let text = modern(&Judged::examine(&session), Style::Plain);
    let headings: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  8 GiB in all"))
        .collect();
    assert_eq!(
        headings,
        ["  8 GiB in all, /a", "  8 GiB in all, /b"].repeat(2)
    );
}

/// 8 threads were interrupted in their third write, of which a tenth of the rate was
/// done; 1 thread's third run and all of the fourth had no turn.
#[test]
fn what_an_interruption_cut_short_is_no_run_and_what_it_kept_from_running_is_one_line() {
    let mut session = three_runs();
    session.trials[4].outcome = TrialOutcome::Interrupted;
    session.trials[4].phases.truncate(1);
    session.trials[4].phases[0] = Phase {
        outcome: PhaseOutcome::EndedEarly,
        ..phase("write", Direction::Write, 80.0, 0.98)
    };
    let skipped = |threads, repetition| Trial {
        outcome: TrialOutcome::Skipped(SkipReason::new(SkipCode::Interrupted, "no turn")),
        ..trial(cell(threads, 131_072, 8192), repetition, Vec::new())
    };
    session.trials[5] = skipped(1, 2);
    session.trials.extend([skipped(8, 3), skipped(1, 3)]);
    session.end = Some(SessionEnd {
        outcome: SessionOutcome::Interrupted,
        at: session.header.started,
        message: None,
    });
    let judged = Judged::by(&session, |_, _| on(Subject::Disk, "the device moved it"));
    let text = modern(&judged, Style::Plain);
    // Medians of two runs, 100 and 110 MiB/s a thread.
    assert!(text.contains("write disk 840 MiB/s (8 thr)"), "{text}");
    assert!(text.contains("-4.8..+4.8 %"), "{text}");
    assert_eq!(text.matches("no turn").count(), 1, "{text}");
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        squeezed.contains("run 3, and 2 more: skipped: no turn"),
        "{text}"
    );
}
