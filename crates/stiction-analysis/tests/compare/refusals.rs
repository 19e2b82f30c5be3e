//! What is refused, and why.

use super::{only_row, reasons, whole};
use crate::sessions::{cell, imported, measured, printed, read_at, with};
use stiction_analysis::compare::{CompareOptions, Comparison, Side, compare};
use stiction_analysis::{Outcome, Verdict};
use stiction_core::{
    Caveat, CaveatCode, Kernel, Measurement, PhaseOutcome, Session, SkipCode, SkipReason,
    TrialOutcome, metrics,
};

fn pair(change: impl FnOnce(&mut Session)) -> Comparison {
    let mut a = measured(1);
    let mut b = measured(2);
    a.trials.push(read_at(cell(), 1e8));
    b.trials.push(read_at(cell(), 9e7));
    change(&mut b);
    whole(&a, &b)
}

#[test]
fn one_run_a_side_cannot_tell() {
    let found = pair(|_| {});
    assert_eq!(
        reasons(&found),
        ["1 run a side: nothing is known of the spread"]
    );
    let Some(Verdict::CannotTell { runs_needed, .. }) = &only_row(&found).verdict else {
        panic!("{:?}", only_row(&found).verdict);
    };
    assert_eq!(*runs_needed, Some(6));
    assert_eq!(found.outcome(), Outcome::CannotTell);
}

#[test]
fn several_runs_that_were_not_interleaved_cannot_tell() {
    let mut a = measured(1);
    let mut b = measured(2);
    for run in 0..8 {
        a.trials.push(read_at(cell(), 1e8 + f64::from(run)));
        b.trials.push(read_at(cell(), 5e7 + f64::from(run)));
    }
    let two_sessions = whole(&a, &b);
    assert!(reasons(&two_sessions)[0].contains("8 runs in A and 8 in B, not interleaved"));
    // One after the other in one session is no better.
    let mut session = measured(3);
    for (kernel, rate) in [("x", 1e8), ("y", 5e7)] {
        let runs = (0..8).map(|_| read_at(cell().with("directory", kernel), rate));
        session.trials.extend(runs);
    }
    let a = Side::labelled(&session, "x").unwrap();
    let b = Side::labelled(&session, "y").unwrap();
    let batched = compare(&a, &b, &CompareOptions::default());
    assert!(
        reasons(&batched)[0].contains("followed each other"),
        "{:?}",
        reasons(&batched)
    );
}

#[test]
fn failures_are_failures_and_never_zero_percent() {
    for (change, reason) in [
        (
            PhaseOutcome::Failed {
                message: "/x/0: write at 4096: EIO".to_owned(),
            },
            "B: it failed: /x/0: write at 4096: EIO",
        ),
        (
            PhaseOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, "1 GiB of 2 free")),
            "B: it was skipped: 1 GiB of 2 free",
        ),
    ] {
        let found = pair(|b| {
            b.trials[0].phases[0].outcome = change.clone();
            b.trials[0].phases[0].measurements.clear();
        });
        let row = only_row(&found);
        assert_eq!((row.change, row.b.is_none()), (None, true));
        assert!(matches!(
            row.verdict,
            Some(Verdict::Failed { only_b: true, .. })
        ));
        assert_eq!(reasons(&found), [reason]);
        assert_eq!(found.outcome(), Outcome::Regression);
    }
    let zero = pair(|b| b.trials[0] = read_at(cell(), 0.0));
    assert_eq!(reasons(&zero), ["B: it is 0: nothing was done"]);
}

#[test]
fn a_phase_that_its_failed_trial_never_reached_has_failed() {
    let found = pair(|b| {
        b.trials[0].phases.clear();
        let message = "/x/0: open: EROFS".to_owned();
        b.trials[0].outcome = TrialOutcome::Failed { message };
    });
    assert_eq!(reasons(&found), ["B: the trial failed: /x/0: open: EROFS"]);
    // A phase that was never part of B's work is no failure.
    let absent = pair(|b| b.trials[0].phases[0].name = "write".to_owned());
    assert_eq!((absent.rows.len(), absent.unmatched.len()), (0, 2));
}

#[test]
fn zero_is_a_legal_share_of_slow_operations() {
    let mut a = imported(1, "tiobench-0.3.3");
    let mut b = imported(2, "tiobench-0.3.3");
    let over = |text| vec![printed(metrics::CPU_PERCENT, text)];
    a.trials.push(with(cell(), "read", over("0.00%")));
    b.trials.push(with(cell(), "read", over("3.00%")));
    let found = whole(&a, &b);
    assert_eq!(only_row(&found).change, None);
    assert!(reasons(&found).contains(&"a change from 0 is no percentage".to_owned()));
}

#[test]
fn other_work_is_not_comparable() {
    let mut a = testkit::sessions::sample(1);
    a.trials = vec![read_at(cell(), 1e8)];
    let job = (0..)
        .flat_map(|number| testkit::sessions::sample(number).trials)
        .flat_map(|trial| trial.phases)
        .find_map(|phase| phase.job)
        .unwrap();
    a.trials[0].phases[0].job = Some(job);
    let mut b = a.clone();
    let other = b.trials[0].phases[0].job.as_mut().unwrap();
    other.block_size_bytes = 65_536;
    other.depth = 1;
    other.seed = stiction_core::Seed(99);
    let found = whole(&a, &b);
    assert!(matches!(
        only_row(&found).verdict,
        Some(Verdict::NotComparable { .. })
    ));
    assert_eq!(
        reasons(&found),
        [
            "blocks are 4 KiB in A and 64 KiB in B",
            "depth is 16 in A and 1 in B"
        ]
    );
    assert_eq!(found.outcome(), Outcome::NotComparable);
}

#[test]
fn other_benchmarks_are_not_comparable_but_layouts_of_one_are() {
    let mut log = imported(1, "contest-log");
    let mut table = imported(2, "contest-table, time-zsh");
    let mut tio = imported(3, "tiobench-0.3.3");
    for session in [&mut log, &mut table, &mut tio] {
        session.trials.push(read_at(cell(), 1e8));
    }
    let same = whole(&log, &table);
    assert!(matches!(
        only_row(&same).verdict,
        Some(Verdict::CannotTell { .. })
    ));
    let other = whole(&log, &tio);
    assert_eq!(reasons(&other), ["A is of contest and B of tiobench"]);
}

#[test]
fn a_named_factor_has_to_be_the_only_difference() {
    let mut a = measured(1);
    a.trials.push(read_at(cell(), 1e8));
    let mut b = a.clone();
    let kernel = |release: &str| {
        let release = release.to_owned();
        Some(Kernel {
            release,
            ..Kernel::default()
        })
    };
    a.header.environment.kernel = kernel("6.1");
    b.header.environment.kernel = kernel("6.12");
    b.header.environment.distribution = Some("x".to_owned());
    a.header.environment.distribution = Some("y".to_owned());
    let options = CompareOptions {
        factor: Some("kernel".to_owned()),
        ..CompareOptions::default()
    };
    let named = compare(&Side::whole(&a), &Side::whole(&b), &options);
    assert_eq!(
        reasons(&named),
        ["besides kernel the machines differ in distribution"]
    );
    // Without a name it is a comparison of the two machines as they are.
    let unnamed = whole(&a, &b);
    let keys: Vec<_> = unnamed
        .environment
        .differs
        .iter()
        .map(|d| d.key.as_str())
        .collect();
    assert_eq!(keys, ["kernel.release", "distribution"]);
    assert!(matches!(
        only_row(&unnamed).verdict,
        Some(Verdict::CannotTell { .. })
    ));
}

#[test]
fn parameters_of_the_plan_are_told_without_the_seed() {
    let found = pair(|b| {
        let plan = b.header.plan.as_mut().unwrap();
        plan.parameters = serde_json::json!({"seed": 9, "threads": [8], "sync": true});
    });
    let told: Vec<_> = found
        .parameters
        .iter()
        .map(|d| (d.key.as_str(), d.a.as_str()))
        .collect();
    assert_eq!(told, [("sync", "not set")]);
}

#[test]
fn metrics_of_a_handful_of_operations_are_described_only() {
    let mut a = measured(1);
    let figures = vec![
        Measurement::new(metrics::LATENCY_MAX, 1e9, 1000),
        Measurement::new(metrics::OPERATIONS, 1000.0, 1),
    ];
    a.trials.push(with(cell(), "read", figures));
    let found = whole(&a, &a);
    assert!(found.rows.iter().all(|row| row.verdict.is_none()));
    assert_eq!(found.outcome(), Outcome::NotComparable);
}

#[test]
fn doubts_of_all_runs_are_told_once_with_their_number() {
    let mut a = measured(1);
    for run in 0..3u32 {
        let mut trial = read_at(cell(), 1e8);
        if run > 0 {
            let detail = format!("run {run} was stopped");
            let caveat = Caveat::new(CaveatCode::Interrupted, detail);
            trial.phases[0].caveats.push(caveat);
        }
        a.trials.push(trial);
    }
    let found = whole(&a, &measured_once(2));
    let doubt = match &found.doubts[..] {
        [doubt] => doubt,
        doubts => panic!("{doubts:?}"),
    };
    assert_eq!((doubt.in_a, doubt.runs), (true, 2));
    assert_eq!(doubt.caveat.detail, "run 1 was stopped");
}

fn measured_once(number: u64) -> Session {
    let mut session = measured(number);
    session.trials.push(read_at(cell(), 1e8));
    session
}

/// A cell that was planned and is missing has failed; one that was not is another matrix.
#[test]
fn what_was_planned_and_never_ran_has_failed() {
    let never = pair(|b| {
        b.trials.clear();
        let planned = stiction_core::PlannedTrial::new(cell(), 0);
        b.header.plan.as_mut().unwrap().trials = vec![planned];
    });
    assert_eq!(reasons(&never), ["B: it was planned, and never ran"]);
    assert_eq!(never.outcome(), Outcome::Regression);
    let other = pair(|b| b.trials.clear());
    assert_eq!((other.rows.len(), other.unmatched.len()), (0, 1));
}
