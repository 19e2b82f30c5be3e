//! What interleaved blocks decide.

use super::only_row;
use crate::sessions::{cell, measured, read_at};
use stiction_analysis::Verdict;
use stiction_analysis::compare::{CompareOptions, Row, Side, compare};
use stiction_core::{Better, Measurement, Metric, MetricClass, Session, Unit, metrics};

/// A session of blocks in the order A B, B A, A B, ... with these rates.
fn interleaved(rates: &[(f64, f64)]) -> Session {
    let mut session = measured(1);
    for (index, &(a, b)) in rates.iter().enumerate() {
        let mut block = [
            read_at(cell().with("directory", "a"), a),
            read_at(cell().with("directory", "b"), b),
        ];
        if index % 2 == 1 {
            block.reverse();
        }
        session.trials.extend(block);
    }
    session
}

fn judged(rates: &[(f64, f64)]) -> Row {
    let session = interleaved(rates);
    let a = Side::labelled(&session, "a").unwrap();
    let b = Side::labelled(&session, "b").unwrap();
    only_row(&compare(&a, &b, &CompareOptions::default())).clone()
}

/// Rates of A that drift by a tenth, and B at `factor` of them give or take a
/// hundredth.
fn drifting(factor: f64, blocks: usize) -> Vec<(f64, f64)> {
    (0..blocks)
        .map(|block| {
            let a = 1e8 * (1.0 + 0.1 * block as f64 / blocks as f64);
            let wobble = [0.01, -0.01, 0.005, -0.005][block % 4];
            (a, a * (factor + wobble))
        })
        .collect()
}

#[test]
fn a_loss_beyond_the_smallest_effect_is_worse() {
    let row = judged(&drifting(0.9, 10));
    assert_eq!(row.verdict, Some(Verdict::Worse));
    let estimate = row.estimate.unwrap();
    assert_eq!(estimate.blocks, 10);
    assert!((estimate.change_percent + 10.0).abs() < 1.0, "{estimate:?}");
    assert!(estimate.lowest_percent < -10.0 && estimate.highest_percent < -9.0);
    // The ten log differences have a deviation of 0.009799: exp(2.801585 x 0.009799 /
    // sqrt(0.955 x 10)) - 1 = 0.00892.
    assert!(
        (estimate.visible_percent - 0.892).abs() < 1e-3,
        "{estimate:?}"
    );
    // All ten differences have one sign: 2 of 1024 patterns are as far out.
    assert!((estimate.p_adjusted - 2.0 / 1024.0).abs() < 1e-12);
}

#[test]
fn a_gain_is_better_and_a_shorter_time_too() {
    assert_eq!(judged(&drifting(1.1, 10)).verdict, Some(Verdict::Better));
    let mut session = interleaved(&drifting(0.9, 10));
    for trial in &mut session.trials {
        trial.phases[0].measurements[0].metric = metrics::ELAPSED;
    }
    let a = Side::labelled(&session, "a").unwrap();
    let b = Side::labelled(&session, "b").unwrap();
    let found = compare(&a, &b, &CompareOptions::default());
    let row = only_row(&found);
    assert_eq!(row.verdict, Some(Verdict::Better));
    assert!(
        row.estimate.unwrap().change_percent < -9.0,
        "the sign is the metric's"
    );
}

#[test]
fn within_the_smallest_effect_is_the_same() {
    assert_eq!(judged(&drifting(1.002, 10)).verdict, Some(Verdict::Same));
}

#[test]
fn real_but_of_a_size_about_the_margin_is_slight() {
    assert_eq!(
        judged(&drifting(0.975, 10)).verdict,
        Some(Verdict::SlightlyWorse)
    );
}

#[test]
fn a_wide_spread_cannot_tell_and_says_how_many_runs_would() {
    let rates: Vec<(f64, f64)> = (0..8)
        .map(|block| (1e8, 1e8 * [0.7, 1.3, 1.2, 0.75][block % 4]))
        .collect();
    let row = judged(&rates);
    let Some(Verdict::CannotTell {
        reasons,
        runs_needed,
    }) = row.verdict
    else {
        panic!("{:?}", row.verdict);
    };
    // k = 4 for eight blocks. The fourth average from below is that of ln 0.7 and
    // ln 0.75, from above that of ln 1.3 and ln 1.2: exp gives 0.7246 and 1.2490.
    let said = "after 8 blocks anything from -27.5 % to +24.9 % is possible";
    assert_eq!(reasons, [said]);
    assert!(
        runs_needed.is_some_and(|runs| runs > 100),
        "{runs_needed:?}"
    );
}

#[test]
fn five_blocks_are_too_few() {
    let row = judged(&drifting(0.5, 5));
    let reasons = row.verdict.as_ref().unwrap().reasons();
    assert_eq!(reasons[0], "5 blocks, and a verdict needs 6");
}

#[test]
fn the_same_side_first_in_every_block_is_no_random_order() {
    let mut session = measured(1);
    for (a, b) in drifting(0.5, 8) {
        session
            .trials
            .push(read_at(cell().with("directory", "a"), a));
        session
            .trials
            .push(read_at(cell().with("directory", "b"), b));
    }
    let a = Side::labelled(&session, "a").unwrap();
    let b = Side::labelled(&session, "b").unwrap();
    let found = compare(&a, &b, &CompareOptions::default());
    let reasons = only_row(&found).verdict.as_ref().unwrap().reasons();
    assert!(
        reasons[0].starts_with("8 blocks with the same side first"),
        "{reasons:?}"
    );
}

#[test]
fn many_cells_raise_the_bar_for_each() {
    // One cell is slower by chance-like figures; sixty quiet ones stand beside it.
    let mut session = interleaved(&drifting(0.9, 8));
    for (index, trial) in session.trials.iter_mut().enumerate() {
        for cell in 0..60u32 {
            let wobble = stiction_core::Seed(7)
                .stream(u64::from(cell))
                .stream(index as u64);
            let rate = 1e8 * (1.0 + (wobble.0 % 1000) as f64 / 1e5);
            let mut phase = trial.phases[0].clone();
            phase.name = format!("quiet {cell}");
            phase.measurements = vec![Measurement::new(metrics::RATE, rate, 1)];
            trial.phases.push(phase);
        }
    }
    let a = Side::labelled(&session, "a").unwrap();
    let b = Side::labelled(&session, "b").unwrap();
    let found = compare(&a, &b, &CompareOptions::default());
    let slower = found.rows.iter().find(|row| row.phase == "read").unwrap();
    let alone = judged(&drifting(0.9, 8)).estimate.unwrap().p_adjusted;
    assert!(slower.estimate.unwrap().p_adjusted >= alone);
    assert_eq!(slower.verdict, Some(Verdict::Worse));
    let alarms = found
        .rows
        .iter()
        .filter(|row| row.verdict == Some(Verdict::Worse))
        .count();
    assert_eq!(alarms, 1);
}

/// A command's own figure is the score; how long it took is told beside it.
#[test]
fn the_figures_that_a_command_tells_are_what_is_judged() {
    let tps = Metric {
        name: "tps_per_s".into(),
        unit: Unit::OperationsPerSecond,
        better: Better::More,
        class: MetricClass::Throughput,
    };
    let mut session = interleaved(&drifting(0.9, 10));
    for trial in &mut session.trials {
        let phase = &mut trial.phases[0];
        let rate = phase.measurements[0].value;
        phase.measurements = vec![
            Measurement::new(metrics::ELAPSED, 1e8 / rate, 1),
            Measurement::new(tps.clone(), rate, 1),
        ];
    }
    let verdicts = |session: &Session| -> Vec<Option<Verdict>> {
        let a = Side::labelled(session, "a").unwrap();
        let b = Side::labelled(session, "b").unwrap();
        let rows = compare(&a, &b, &CompareOptions::default()).rows;
        rows.into_iter().map(|row| row.verdict).collect()
    };
    session.header.plan.as_mut().unwrap().workload = "command".to_owned();
    assert_eq!(verdicts(&session), [None, Some(Verdict::Worse)]);
    for trial in &mut session.trials {
        trial.phases[0].measurements.truncate(1);
    }
    assert_eq!(verdicts(&session), [Some(Verdict::Worse)]);
}

/// The operations of a rate and the time of the same work are the rate said again.
#[test]
fn what_another_figure_tells_is_not_judged_again() {
    let mut session = interleaved(&drifting(0.9, 10));
    for trial in &mut session.trials {
        let phase = &mut trial.phases[0];
        let rate = phase.measurements[0].value;
        phase.measurements = vec![
            Measurement::new(metrics::RATE, rate, 1),
            Measurement::new(metrics::OPERATION_RATE, rate / 4096.0, 1),
            Measurement::new(metrics::ELAPSED, 1e8 / rate, 1),
            Measurement::new(metrics::CPU_PERCENT, 1e8 / rate, 1),
        ];
    }
    let is_judged = |session: &Session| -> Vec<bool> {
        let a = Side::labelled(session, "a").unwrap();
        let b = Side::labelled(session, "b").unwrap();
        let rows = compare(&a, &b, &CompareOptions::default()).rows;
        rows.iter().map(|row| row.verdict.is_some()).collect()
    };
    assert_eq!(is_judged(&session), [true, false, false, true]);
    // Where a single run has no rate, the operations are what there is.
    session.trials[3].phases[0].measurements.remove(0);
    assert_eq!(is_judged(&session), [true, true, false, true]);
}

/// Noise that looks like an effect is no verdict where the plan says that the two are
/// one configuration.
#[test]
fn a_configuration_is_neither_worse_nor_better_than_itself() {
    let mut session = interleaved(&drifting(0.9, 10));
    for trial in &mut session.trials {
        let name = trial.cell.get("directory").unwrap().clone();
        let cell = trial.cell.clone().without("directory");
        trial.cell = cell.with("configuration", name);
    }
    let verdict = |session: &Session| {
        let a = Side::labelled(session, "configuration=a").unwrap();
        let b = Side::labelled(session, "configuration=b").unwrap();
        let comparison = compare(&a, &b, &CompareOptions::default());
        only_row(&comparison).verdict.clone().unwrap()
    };
    let stated = |b: &str| {
        serde_json::json!({"configurations": [
            {"name": "a", "parameters": {"scheduler": "none"}},
            {"name": "b", "parameters": {"scheduler": b}},
        ]})
    };
    session.header.plan.as_mut().unwrap().parameters = stated("kyber");
    assert_eq!(verdict(&session), Verdict::Worse);
    session.header.plan.as_mut().unwrap().parameters = stated("none");
    let itself = verdict(&session);
    assert!(matches!(itself, Verdict::CannotTell { .. }), "{itself:?}");
    assert!(itself.reasons()[0].contains("one configuration"));
}
