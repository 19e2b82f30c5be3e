//! Sides of several sessions: what makes blocks, and what counts as a repetition.

use super::{only_row, reasons};
use crate::lay::{begun, in_blocks, level, runs, scattered, trial};
use stiction_analysis::Verdict;
use stiction_analysis::compare::{
    CompareOptions, Comparison, Method, RemarkCode, RunOrder, Side, Unit, compare,
};
use stiction_core::{Cell, Kernel, Session, TrialOutcome, metrics};

fn joined<'a>(name: &str, sessions: &'a [Session]) -> Side<'a> {
    Side::joined(name, sessions.iter().map(Side::whole).collect()).unwrap()
}

fn against(a: &[Session], b: &[Session], options: &CompareOptions) -> Comparison {
    compare(&joined("a", a), &joined("b", b), options)
}

/// A B B A A B B A ...: the minutes of one side's sessions.
fn alternating(side: i64, sessions: i64) -> Vec<i64> {
    (0..sessions)
        .map(|index| {
            4 * index
                + if index % 2 == 0 {
                    2 * side
                } else {
                    2 - 2 * side
                }
        })
        .collect()
}

fn split(values: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    values.iter().copied().unzip()
}

#[test]
fn recorded_blocks_are_taken_as_they_are() {
    let session = in_blocks(&metrics::RATE, &scattered(0.9, 8));
    let side = |name| Side::at_level(&session, "configuration", &level(name));
    let found = compare(&side("a"), &side("b"), &CompareOptions::default());
    let row = only_row(&found);
    assert_eq!(row.verdict, Some(Verdict::Worse));
    assert_eq!(
        (row.blocks.len(), found.replication.order),
        (8, RunOrder::Interleaved)
    );
    assert_eq!(
        (found.replication.a, found.replication.unit),
        (8, Unit::Run)
    );
}

#[test]
fn runs_of_one_block_are_averaged_as_logarithms_and_raise_no_n() {
    let mut session = in_blocks(&metrics::RATE, &[(1e8, 2e8); 7]);
    // A second run of B in every block, of half the rate: the geometric mean is A's.
    let again: Vec<_> = session
        .trials
        .iter()
        .filter(|t| t.cell.get("configuration") == Some(&level("b")))
        .cloned()
        .collect();
    for mut trial in again {
        trial.phases[0].measurements[0].value = 0.5e8;
        session.trials.push(trial);
    }
    let side = |name| Side::at_level(&session, "configuration", &level(name));
    let found = compare(&side("a"), &side("b"), &CompareOptions::default());
    let row = only_row(&found);
    assert_eq!((row.blocks.len(), row.estimate.unwrap().blocks), (7, 7));
    assert!((row.blocks[0].b / 1e8 - 1.0).abs() < 1e-12);
    assert_eq!(row.verdict, Some(Verdict::Same));
}

#[test]
fn a_block_that_lacks_a_side_is_left_out_and_told() {
    let mut session = in_blocks(&metrics::RATE, &scattered(0.9, 8));
    let mut last = session.trials.pop().unwrap();
    last.phases.clear();
    last.outcome = TrialOutcome::Interrupted;
    session.trials.push(last);
    let side = |name| Side::at_level(&session, "configuration", &level(name));
    let found = compare(&side("a"), &side("b"), &CompareOptions::default());
    let row = only_row(&found);
    assert_eq!(
        (row.estimate.unwrap().blocks, row.verdict.clone()),
        (7, Some(Verdict::Worse))
    );
    let remark = row
        .remarks
        .iter()
        .find(|r| r.code == RemarkCode::Unfinished)
        .unwrap();
    assert_eq!(remark.text, "1 block lacks a side and was left out");
}

#[test]
fn sessions_that_alternate_are_blocks() {
    let (of_a, of_b) = split(&scattered(0.9, 6));
    let a = runs(&alternating(0, 6), "one", "6.9", &of_a);
    let b = runs(&alternating(1, 6), "one", "6.9", &of_b);
    let found = against(&a, &b, &CompareOptions::default());
    assert_eq!(only_row(&found).verdict, Some(Verdict::Worse));
    assert_eq!(found.sessions.0.len(), 6);
    // Strict alternation with A always first is no random order.
    let a = runs(&[0, 4, 8, 12, 16, 20], "one", "6.9", &of_a);
    let b = runs(&[2, 6, 10, 14, 18, 22], "one", "6.9", &of_b);
    let found = against(&a, &b, &CompareOptions::default());
    assert!(reasons(&found)[0].starts_with("6 blocks with the same side first in all"));
}

#[test]
fn runs_that_follow_each_other_in_alternating_sessions_are_one_repetition_a_session() {
    let session = |minute: i64, rate: f64| {
        let mut session = begun(minute, "boot", "6.9");
        for (index, wobble) in [0.99, 1.0, 1.01].into_iter().enumerate() {
            let mut run = trial(Cell::new(), metrics::RATE, rate * wobble);
            run.start_ns = index as u64;
            session.trials.push(run);
        }
        session
    };
    let (of_a, of_b) = split(&scattered(0.9, 6));
    let side = |side: i64, rates: &[f64]| -> Vec<Session> {
        let minutes = alternating(side, 6);
        minutes
            .into_iter()
            .zip(rates)
            .map(|(minute, &rate)| session(minute, rate))
            .collect()
    };
    let found = against(&side(0, &of_a), &side(1, &of_b), &CompareOptions::default());
    let row = only_row(&found);
    assert_eq!(row.a.as_ref().unwrap().runs.len(), 18);
    assert_eq!(
        (row.estimate.unwrap().blocks, found.replication.unit),
        (6, Unit::Session)
    );
    assert_eq!(row.verdict, Some(Verdict::Worse));
}

#[test]
fn one_boot_a_side_never_gives_a_verdict_where_the_kernel_differs() {
    let kernel = |minutes: &[i64], boot: &str, release: &str, rates: &[f64]| {
        let mut sessions = runs(minutes, boot, release, rates);
        for session in &mut sessions {
            let kernel = session.header.environment.kernel.as_mut().unwrap();
            kernel.boot = Some(stiction_core::Digest::of(boot.as_bytes()));
        }
        sessions
    };
    let (of_a, of_b) = split(&scattered(0.5, 10));
    let a = kernel(&alternating(0, 10), "first", "6.9", &of_a);
    let b = kernel(&alternating(1, 10), "second", "6.10", &of_b);
    let options = CompareOptions {
        factor: Some("kernel".to_owned()),
        accept_batched: true,
        ..CompareOptions::default()
    };
    let found = against(&a, &b, &options);
    assert_eq!(found.replication.unit, Unit::Boot);
    assert_eq!(
        reasons(&found)[0],
        "1 boot a side: 0 degrees of freedom, since what differs is fixed at boot"
    );
}

#[test]
fn boots_that_alternate_decide_about_a_kernel_and_runs_inside_them_are_averaged() {
    let (of_a, of_b) = split(&scattered(0.9, 6));
    let a = runs(&alternating(0, 6), "a", "6.9", &of_a);
    let b = runs(&alternating(1, 6), "b", "6.10", &of_b);
    let doubled = |sessions: &[Session]| -> Vec<Session> {
        let twice = |session: &Session| {
            let mut session = session.clone();
            session.trials.push(session.trials[0].clone());
            session
        };
        sessions.iter().map(twice).collect()
    };
    let options = CompareOptions {
        factor: Some("kernel".to_owned()),
        ..CompareOptions::default()
    };
    let found = against(&doubled(&a), &doubled(&b), &options);
    assert_eq!(
        (found.replication.unit, found.replication.a),
        (Unit::Boot, 6)
    );
    let row = only_row(&found);
    assert_eq!(row.estimate.unwrap().blocks, 6);
    assert_eq!(row.verdict, Some(Verdict::Worse));
}

#[test]
fn boots_that_were_not_recorded_may_all_be_one() {
    let (of_a, of_b) = split(&scattered(0.5, 6));
    let unknown = |mut sessions: Vec<Session>, release: &str| {
        for session in &mut sessions {
            session.header.environment.kernel = Some(Kernel {
                release: release.to_owned(),
                ..Kernel::default()
            });
        }
        sessions
    };
    let a = unknown(runs(&alternating(0, 6), "a", "6.9", &of_a), "6.9");
    let b = unknown(runs(&alternating(1, 6), "b", "6.9", &of_b), "6.10");
    let found = against(&a, &b, &CompareOptions::default());
    assert!(reasons(&found)[0].starts_with("1 boot a side"));
}

#[test]
fn batched_sides_are_judged_where_that_is_accepted_and_it_is_said() {
    let (of_a, of_b) = split(&scattered(0.9, 8));
    let a = runs(&[0, 1, 2, 3, 4, 5, 6, 7], "one", "6.9", &of_a);
    let b = runs(&[10, 11, 12, 13, 14, 15, 16, 17], "one", "6.9", &of_b);
    let refused = against(&a, &b, &CompareOptions::default());
    assert!(reasons(&refused)[0].contains("not interleaved"));
    let options = CompareOptions {
        accept_batched: true,
        ..CompareOptions::default()
    };
    let found = against(&a, &b, &options);
    let row = only_row(&found);
    let estimate = row.estimate.unwrap();
    assert_eq!(
        (estimate.method, row.verdict.clone()),
        (Method::Unpaired, Some(Verdict::Worse))
    );
    // All eight of A above all of B: 2 of the 12870 ways to choose 8 of 16.
    assert!((estimate.p_adjusted - 2.0 / 12870.0).abs() < 1e-12);
    assert!(
        row.remarks
            .iter()
            .any(|remark| remark.code == RemarkCode::NotInterleaved)
    );
    // Three a side have no interval at all.
    let few = against(&a[..3], &b[..3], &options);
    assert!(
        reasons(&few)[0].contains("a verdict without blocks needs 4 of each"),
        "{few:?}"
    );
}

#[test]
fn a_clock_that_went_back_leaves_the_order_unknown() {
    let (of_a, of_b) = split(&scattered(0.5, 6));
    let a = runs(&alternating(0, 6), "one", "6.9", &of_a);
    let mut b = runs(&alternating(1, 6), "one", "6.9", &of_b);
    let ended = |session: &mut Session, minutes| {
        session.end = Some(stiction_core::SessionEnd {
            outcome: stiction_core::SessionOutcome::Completed,
            at: session.header.started + jiff::SignedDuration::from_mins(minutes),
            message: None,
        });
    };
    ended(&mut b[0], -5);
    let back = against(&a, &b, &CompareOptions::default());
    assert!(
        reasons(&back)[0].contains("the clock went back during session"),
        "{:?}",
        reasons(&back)
    );
    // One that lasted into the next.
    ended(&mut b[0], 3);
    let overlap = against(&a, &b, &CompareOptions::default());
    assert!(
        reasons(&overlap)[0].contains("overlap in time"),
        "{:?}",
        reasons(&overlap)
    );
}

#[test]
fn blocks_of_several_sessions_are_told_to_be_an_extension() {
    let first = in_blocks(&metrics::RATE, &scattered(0.9, 6));
    let mut second = in_blocks(&metrics::RATE, &scattered(0.9, 4));
    let other = begun(30, "boot", "6.9");
    second.header.id = other.header.id;
    second.header.started = other.header.started;
    let side = |name: &str| {
        let parts = [&first, &second].map(|s| Side::at_level(s, "configuration", &level(name)));
        Side::joined(name, parts.into()).unwrap()
    };
    let found = compare(&side("a"), &side("b"), &CompareOptions::default());
    assert_eq!(only_row(&found).estimate.unwrap().blocks, 10);
    assert!(found.notes.contains(
        &"blocks of 2 sessions are judged together: extended once after a look".to_owned()
    ));
}

#[test]
fn a_session_that_is_named_twice_counts_once() {
    let session = in_blocks(&metrics::RATE, &scattered(0.9, 6));
    let side = || Side::at_level(&session, "configuration", &level("a"));
    let twice = Side::joined("a", vec![side(), side()]).unwrap();
    let b = Side::at_level(&session, "configuration", &level("b"));
    let found = compare(&twice, &b, &CompareOptions::default());
    assert_eq!(only_row(&found).a.as_ref().unwrap().runs.len(), 6);
    assert_eq!(found.sessions.0.len(), 1);
    assert!(Side::joined("none", Vec::new()).is_none());
}
