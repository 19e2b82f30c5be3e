//! One session in full.

mod build;

use build::{doubting, on, session, witnessed_session};
use stiction_core::{
    Caveat, CaveatCode, Measurement, Phase, PhaseKind, PhaseOutcome, Provenance, SkipCode,
    SkipReason, Subject, Trial, TrialOutcome, metrics,
};
use stiction_report::{Judged, Style, show};

#[test]
fn everything_that_is_known_is_shown() {
    let session = witnessed_session();
    let judged = Judged::by(&session, |_, phase| match phase.name.as_str() {
        "sequential_write" => doubting(
            on(
                Subject::Unknown,
                "no device under the target shows its traffic",
            ),
            Caveat::new(CaveatCode::WitnessMissing, "no device traffic"),
        ),
        _ => on(Subject::Disk, "the device read 100 % of the 2 GiB asked"),
    });
    insta::assert_snapshot!(show(&judged, Style::Plain));
}

/// Latencies of three runs were added up; the table said 7.742.
#[test]
fn an_imported_figure_shows_its_print_and_its_correction() {
    let mut session = session();
    session.header.provenance = Provenance::Imported {
        file: "post.txt".to_owned(),
        layout: "tiobench-posted".to_owned(),
    };
    let mut latency = Measurement::imported(metrics::LATENCY_MEAN, 7.742e6 / 3.0, 1, "7.742");
    latency.corrected = Some("added up over 3 runs".to_owned());
    let mut phase = Phase::new("write", PhaseKind::Measure);
    phase.measurements = vec![
        Measurement::imported(metrics::RATE, 32.39 * build::MIB, 1, "32.39"),
        latency,
    ];
    phase.caveats = vec![Caveat::new(
        CaveatCode::SummedOverRuns,
        "latencies are sums over 3 runs",
    )];
    session.trials = vec![build::trial(build::cell(32, 4096, 8192), 0, vec![phase])];
    let text = show(&Judged::examine(&session), Style::Plain);
    for line in [
        "  imported from post.txt, as tiobench-posted",
        "    figure             value n printed as",
        "    rate         32.39 MiB/s 1 32.39",
        "    latency mean    2.581 ms 1 7.742",
        "    corrected  latency mean: added up over 3 runs",
        "    ! summed-over-runs: latencies are sums over 3 runs",
        "  summed-over-runs       Several runs were added up where a mean was meant.",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn trials_and_phases_that_did_not_run_say_why() {
    let mut session = session();
    session.trials = vec![
        Trial {
            outcome: TrialOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, "1 GiB is free")),
            ..Trial::new(build::cell(1, 4096, 100), 0)
        },
        Trial {
            outcome: TrialOutcome::Failed {
                message: "open /mnt/x: Permission denied (errno 13)".to_owned(),
            },
            phases: vec![Phase {
                outcome: PhaseOutcome::Skipped(SkipReason::new(
                    SkipCode::NotPermitted,
                    "caches are dropped by root alone",
                )),
                ..Phase::new("drop_caches", PhaseKind::Prepare)
            }],
            ..Trial::new(build::cell(2, 4096, 100), 0)
        },
    ];
    session.end = None;
    let text = show(&Judged::examine(&session), Style::Plain);
    for line in [
        "  outcome       cut off",
        "  skipped (no-space): 1 GiB is free",
        "  failed: open /mnt/x: Permission denied (errno 13)",
        "    drop caches skipped: caches are dropped by root alone",
        "No figures",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
