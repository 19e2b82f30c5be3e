//! The rules of 2.5: classes and their effects, what is described, what is remarked.

use super::only_row;
use crate::lay::{in_blocks, level, scattered};
use stiction_analysis::compare::{CompareOptions, Control, RemarkCode, Row, Side, compare};
use stiction_analysis::noise::{Floor, floors};
use stiction_analysis::{Effects, Verdict};
use stiction_core::{Cell, Measurement, Metric, MetricClass, Session, metrics};

fn sides(session: &Session, options: &CompareOptions) -> Vec<Row> {
    let side = |name| Side::at_level(session, "configuration", &level(name));
    compare(&side("a"), &side("b"), options).rows
}

fn judged(metric: &Metric, values: &[(f64, f64)], options: &CompareOptions) -> Row {
    let rows = sides(&in_blocks(metric, values), options);
    rows.into_iter().next().unwrap()
}

fn remarks(row: &Row) -> Vec<RemarkCode> {
    row.remarks.iter().map(|remark| remark.code).collect()
}

#[test]
fn a_cpu_share_has_to_differ_by_a_point() {
    let options = CompareOptions::default();
    // 3 % and 3.9 %: 30 % more, and less than a point.
    let little = judged(&metrics::CPU_PERCENT, &[(3.0, 3.9); 8], &options);
    assert_eq!(little.verdict, Some(Verdict::Same));
    assert!((little.effect_percent.unwrap() - 100.0 / 3.0).abs() < 1e-9);
    let much = judged(&metrics::CPU_PERCENT, &[(3.0, 4.2); 8], &options);
    assert_eq!(much.verdict, Some(Verdict::Worse));
    // 60 % and 63.6 %: 6 %, and more than a point.
    let large = judged(&metrics::CPU_PERCENT, &[(60.0, 63.6); 8], &options);
    assert_eq!(
        (large.verdict, large.effect_percent),
        (Some(Verdict::Worse), Some(5.0))
    );
}

#[test]
fn each_class_has_its_own_smallest_effect() {
    let options = CompareOptions {
        effects: Effects {
            throughput: 0.2,
            latency_extreme: Some(0.5),
            ..Effects::default()
        },
        ..CompareOptions::default()
    };
    let rate = judged(&metrics::RATE, &[(1e8, 0.9e8); 8], &options);
    assert_eq!(rate.verdict, Some(Verdict::Same));
    assert_eq!(remarks(&rate), [RemarkCode::RealButSmall]);
    let mean = judged(&metrics::LATENCY_MEAN, &[(1e6, 1.1e6); 8], &options);
    assert_eq!(mean.verdict, Some(Verdict::Worse));
    // Maxima are described unless the user says from what on they matter.
    let longest = judged(&metrics::LATENCY_MAX, &[(1e6, 2e6); 8], &options);
    assert_eq!(longest.verdict, Some(Verdict::Worse));
    let described = judged(
        &metrics::LATENCY_MAX,
        &[(1e6, 2e6); 8],
        &CompareOptions::default(),
    );
    assert_eq!((described.verdict, described.effect_percent), (None, None));
}

#[test]
fn only_the_classes_that_were_asked_for_are_judged() {
    let options = CompareOptions {
        classes: vec![MetricClass::LatencyMean],
        ..CompareOptions::default()
    };
    assert_eq!(
        judged(&metrics::RATE, &[(1e8, 0.5e8); 8], &options).verdict,
        None
    );
    let mean = judged(&metrics::LATENCY_MEAN, &[(1e6, 2e6); 8], &options);
    assert_eq!(mean.verdict, Some(Verdict::Worse));
}

#[test]
fn a_percentile_of_too_few_operations_is_described() {
    let mut session = in_blocks(&metrics::LATENCY_P999, &[(1e6, 2e6); 8]);
    let of = |session: &Session| sides(session, &CompareOptions::default()).remove(0);
    assert_eq!(of(&session).verdict, Some(Verdict::Worse));
    // Ten beyond p99.9 need 10,000 in every run.
    session.trials[3].phases[0].measurements[0].n = 9_999;
    let row = of(&session);
    assert_eq!(row.verdict, None);
    let remark = row
        .remarks
        .iter()
        .find(|r| r.code == RemarkCode::TooFewOperations);
    assert_eq!(
        remark.unwrap().text,
        "9999 operations in a run, and p99.9 needs 10000"
    );
}

#[test]
fn all_values_equal_are_the_same_and_not_nothing() {
    let row = judged(&metrics::RATE, &[(1e8, 1e8); 6], &CompareOptions::default());
    assert_eq!(row.verdict, Some(Verdict::Same));
    let estimate = row.estimate.unwrap();
    assert_eq!((estimate.change_percent, estimate.p_adjusted), (0.0, 1.0));
    assert_eq!(
        (estimate.lowest_percent, estimate.highest_percent),
        (0.0, 0.0)
    );
}

#[test]
fn an_outlier_is_flagged_and_kept() {
    let mut values = scattered(1.0, 10);
    values[4].1 = 3e7;
    let row = judged(&metrics::RATE, &values, &CompareOptions::default());
    assert_eq!(row.estimate.unwrap().blocks, 10);
    let remark = row
        .remarks
        .iter()
        .find(|r| r.code == RemarkCode::Outlier)
        .unwrap();
    assert_eq!(remark.text, "run 5 of B lies far from the others; kept");
    assert_ne!(row.verdict, Some(Verdict::Worse));
}

#[test]
fn a_number_that_is_none_has_failed() {
    let mut session = in_blocks(&metrics::RATE, &scattered(1.0, 8));
    session.trials[5].phases[0].measurements[0].value = f64::NAN;
    let rows = sides(&session, &CompareOptions::default());
    assert!(matches!(
        rows[0].verdict,
        Some(Verdict::Failed { only_b: true, .. })
    ));
    assert_eq!(
        rows[0].verdict.as_ref().unwrap().reasons(),
        ["B: it is no number"]
    );
    session.trials[5].phases[0].measurements[0].value = f64::INFINITY;
    let rows = sides(&session, &CompareOptions::default());
    assert!(matches!(rows[0].verdict, Some(Verdict::Failed { .. })));
}

#[test]
fn one_block_says_what_a_verdict_needs() {
    let row = judged(&metrics::RATE, &[(1e8, 0.5e8)], &CompareOptions::default());
    let reasons = row.verdict.as_ref().unwrap().reasons();
    assert_eq!(reasons, ["1 run a side: nothing is known of the spread"]);
    let row = judged(
        &metrics::RATE,
        &[(1e8, 0.5e8); 5],
        &CompareOptions::default(),
    );
    assert_eq!(
        row.verdict.as_ref().unwrap().reasons()[0],
        "5 blocks, and a verdict needs 6"
    );
}

/// Ten cells with p = 2/64 each: Benjamini and Hochberg leave them as they are, since all
/// are equal; the chance of any false alarm is higher.
#[test]
fn browsing_keeps_the_share_of_false_ones() {
    let mut session = in_blocks(&metrics::RATE, &scattered(0.9, 6));
    for trial in &mut session.trials {
        for cell in 0..9u32 {
            let mut phase = trial.phases[0].clone();
            phase.name = format!("other {cell}");
            trial.phases.push(phase);
        }
    }
    let browsing = CompareOptions {
        control: Control::ShareOfFalse,
        ..CompareOptions::default()
    };
    for row in sides(&session, &browsing) {
        assert!((row.estimate.unwrap().p_adjusted - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(row.verdict, Some(Verdict::Worse));
    }
}

fn floor(deviation: f64) -> Floor {
    Floor {
        cell: Cell::new(),
        phase: "read".to_owned(),
        metric: "rate_bytes_per_s".to_owned(),
        deviation,
        blocks: 12,
        from: "calibration k3f9".to_owned(),
    }
}

#[test]
fn an_effect_below_the_noise_is_out_of_reach() {
    let options = CompareOptions {
        floors: vec![floor(0.06)],
        ..CompareOptions::default()
    };
    let row = judged(&metrics::RATE, &scattered(1.0, 10), &options);
    // qt(.975, 9) = 2.2622, times 0.06, over the square root of 10: exp gives 4.39 %.
    assert!(
        (row.floor_percent.unwrap() - 4.385).abs() < 2e-3,
        "{:?}",
        row.floor_percent
    );
    let remark = row
        .remarks
        .iter()
        .find(|r| r.code == RemarkCode::BelowNoise)
        .unwrap();
    assert_eq!(
        remark.text,
        "the noise of 10 blocks is 4.4 % (calibration k3f9): SAME within 3.0 % is out of reach"
    );
    let quiet = CompareOptions {
        floors: vec![floor(0.01)],
        ..CompareOptions::default()
    };
    let row = judged(&metrics::RATE, &scattered(1.0, 10), &quiet);
    assert!(row.floor.is_some() && !remarks(&row).contains(&RemarkCode::BelowNoise));
}

/// A configuration that the plan states under two names is an A/A for free.
#[test]
fn a_configuration_stated_twice_tells_the_noise() {
    let mut session = in_blocks(&metrics::RATE, &scattered(1.0, 8));
    let one =
        |name: &str, size: u32| serde_json::json!({"name": name, "parameters": {"size": size}});
    let plan = session.header.plan.as_mut().unwrap();
    plan.parameters = serde_json::json!({"configurations": [one("a", 1), one("b", 2)]});
    assert!(floors(&session).is_empty());
    let plan = session.header.plan.as_mut().unwrap();
    plan.parameters = serde_json::json!({"configurations": [one("a", 1), one("b", 1)]});
    let found = floors(&session);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].from, "a and b are one configuration");
    // The eight log differences have their middle at 0, and the middle of their sizes,
    // 2, 2, 4, 6, 6, 7, 9 and 9 thousandths, at six.
    let expected = 1.4826 * 0.006;
    assert!((found[0].deviation - expected).abs() < 1e-4, "{found:?}");
    let rows = sides(&session, &CompareOptions::default());
    assert_eq!(rows[0].floor.as_ref(), Some(&found[0]));
}

#[test]
fn several_metrics_of_one_name_in_other_units_are_not_comparable() {
    let mut session = in_blocks(&metrics::ELAPSED, &scattered(1.0, 8));
    for trial in &mut session.trials {
        if trial.cell.get("configuration") == Some(&level("b")) {
            let measurement = &mut trial.phases[0].measurements[0];
            let mut metric = measurement.metric.clone();
            metric.unit = stiction_core::Unit::Nanoseconds;
            *measurement = Measurement::new(metric, measurement.value, 1);
        }
    }
    let side = |name| Side::at_level(&session, "configuration", &level(name));
    let found = compare(&side("a"), &side("b"), &CompareOptions::default());
    let row = only_row(&found);
    assert!(matches!(row.verdict, Some(Verdict::NotComparable { .. })));
    assert_eq!(
        row.verdict.as_ref().unwrap().reasons(),
        ["elapsed_s is in s, and in ns in B"]
    );
    assert_eq!((row.b.is_none(), row.change), (true, None));
}

#[test]
fn drift_is_told_and_changes_no_verdict() {
    let drifting: Vec<(f64, f64)> = scattered(1.0, 12)
        .into_iter()
        .enumerate()
        .map(|(block, (a, b))| {
            let slower = 1.0 - 0.02 * block as f64;
            (a * slower, b * slower)
        })
        .collect();
    let row = judged(&metrics::RATE, &drifting, &CompareOptions::default());
    assert_eq!(row.verdict, Some(Verdict::Same));
    let remark = row.remarks.iter().find(|r| r.code == RemarkCode::Drift);
    let text = &remark.unwrap().text;
    assert!(
        text.starts_with("DRIFT: values fell from run to run (Kendall's tau -0.9"),
        "{text}"
    );
    let still = judged(
        &metrics::RATE,
        &scattered(1.0, 12),
        &CompareOptions::default(),
    );
    assert!(
        !remarks(&still).contains(&RemarkCode::Drift),
        "{:?}",
        still.remarks
    );
}

/// Six blocks of twenty fall to a third on both sides.
#[test]
fn two_modes_are_told_and_not_averaged_away() {
    let values: Vec<(f64, f64)> = scattered(1.0, 20)
        .into_iter()
        .enumerate()
        .map(|(block, (a, b))| {
            let share = if block % 10 < 3 { 1.0 / 3.0 } else { 1.0 };
            (a * share, b * share)
        })
        .collect();
    let row = judged(&metrics::RATE, &values, &CompareOptions::default());
    let remark = row.remarks.iter().find(|r| r.code == RemarkCode::Modes);
    let text = &remark.expect("six of twenty runs lie apart").text;
    assert!(text.starts_with("A: 70 % near 95."), "{text}");
    assert!(text.contains("30 % near 31."), "{text}");
    assert!(
        text.ends_with("neither levels nor shares changed"),
        "{text}"
    );
    // Blocks absorb it: both sides of each lie on one level.
    assert_eq!(row.verdict, Some(Verdict::Same));
}

/// Eight blocks with one sign have p = 2 / 256. The first of five looks may spend 2 - 2
/// Phi(1.96 / sqrt(8 / 32)) = 0.00009 by the function of O'Brien and Fleming, which eight
/// blocks cannot reach; the last of two has 0.0444.
#[test]
fn a_planned_look_spends_only_its_own_part_of_the_level() {
    let verdict = |looks: &[u32]| {
        let mut session = in_blocks(&metrics::RATE, &scattered(0.9, 8));
        let plan = session.header.plan.as_mut().unwrap();
        plan.parameters["stop"] = serde_json::json!({ "looks_after_blocks": looks });
        let rows = sides(&session, &CompareOptions::default());
        let row = rows.into_iter().next().unwrap();
        assert_eq!(row.estimate.unwrap().p_adjusted, 2.0 / 256.0);
        row.verdict.unwrap().word()
    };
    assert_eq!(verdict(&[]), "WORSE");
    assert_eq!(verdict(&[8, 12, 16, 24, 32]), "CANNOT TELL");
    assert_eq!(verdict(&[4, 8]), "WORSE");
}
