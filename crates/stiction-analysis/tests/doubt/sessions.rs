//! Doubts about whole sessions: how often, in which order, and by which clock.

use stiction_analysis::doubt::examine_session;
use stiction_core::{
    CaveatCode, Cell, Measurement, Phase, PhaseKind, Provenance, Session, SessionEnd,
    SessionOutcome, Trial, metrics,
};

/// Trials at so many threads each, one a minute, in this order.
fn session(threads: &[u32]) -> Session {
    let mut session = testkit::sessions::sample(1);
    session.header.provenance = Provenance::Measured;
    session.header.caveats = Vec::new();
    let minutes = 0_u64..;
    session.trials = minutes
        .zip(threads)
        .map(|(minute, &threads)| {
            let mut phase = Phase::new("read", PhaseKind::Measure);
            phase.measurements = vec![Measurement::new(metrics::RATE, 1e8, 1)];
            phase.start_ns = minute * 60_000_000_000;
            phase.elapsed_ns = 60_000_000_000;
            let cell = Cell::new().with("threads", threads);
            Trial {
                phases: vec![phase],
                ..Trial::new(cell, 0)
            }
        })
        .collect();
    let minutes = threads.len() as i64;
    session.end = Some(SessionEnd {
        outcome: SessionOutcome::Completed,
        at: session.header.started + jiff::SignedDuration::from_mins(minutes),
        message: None,
    });
    session
}

fn codes(session: &Session) -> Vec<CaveatCode> {
    let found = examine_session(session);
    found.iter().map(|caveat| caveat.code).collect()
}

#[test]
fn one_run_of_each_cell_tells_nothing_of_the_spread() {
    assert_eq!(codes(&session(&[1])), [CaveatCode::SingleRun]);
    assert_eq!(codes(&session(&[1, 2, 4])), [CaveatCode::SingleRun]);
    assert_eq!(codes(&session(&[1, 1])), []);
    let mut failed = session(&[1, 1]);
    failed.trials[1].phases.clear();
    assert_eq!(codes(&failed), [CaveatCode::SingleRun]);
    let mut imported = session(&[1]);
    imported.header.provenance = Provenance::Imported {
        file: "x".to_owned(),
        layout: "bonnie".to_owned(),
    };
    assert_eq!(codes(&imported), [], "its format says what it was");
}

#[test]
fn runs_that_followed_each_other_are_told_from_those_in_turns() {
    assert_eq!(codes(&session(&[1, 1, 2, 2])), [CaveatCode::NotInterleaved]);
    assert_eq!(codes(&session(&[1, 2, 2, 1])), []);
    assert_eq!(codes(&session(&[1, 2, 1, 2])), []);
    assert_eq!(codes(&session(&[1, 1, 1])), [], "there is but one");
}

#[test]
fn a_wall_clock_that_was_set_back_is_seen_by_the_other() {
    let mut set_back = session(&[1, 1]);
    let end = set_back.end.as_mut().unwrap();
    end.at -= jiff::SignedDuration::from_secs(90);
    let found = examine_session(&set_back);
    let [caveat] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(caveat.code, CaveatCode::CoarseClock);
    assert!(caveat.detail.contains("took 90.0 s less"), "{caveat:?}");
    let mut later = session(&[1, 1]);
    later.end.as_mut().unwrap().at += jiff::SignedDuration::from_secs(90);
    assert_eq!(codes(&later), [], "removing files takes its time");
}
