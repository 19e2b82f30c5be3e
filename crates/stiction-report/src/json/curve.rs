//! What a curve came to, as JSON: a part of the report of its session.

use serde::Serialize;
use stiction_analysis::curve::{Curve, Knee, Reading, Row, Spread};
use stiction_core::{LatencyLimit, Metric, RateOutcome, Session, metrics};

#[derive(Serialize)]
pub(super) struct CurveView {
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<LatencyLimit>,
    done_over_asked_min_ratio: f64,
    runs: Vec<RunView>,
    rates: Vec<RateView>,
}

#[derive(Serialize)]
struct RunView {
    maximum_operations_per_s: Option<f64>,
    held_operations_per_s: Option<f64>,
    broke_operations_per_s: Option<f64>,
    broke: Option<RateOutcome>,
    knee_operations_per_s: Option<f64>,
    knee: Option<&'static str>,
}

#[derive(Serialize)]
struct RateView {
    asked_operations_per_s: f64,
    outcome: RateOutcome,
    runs_count: usize,
    /// By the metric's name, which says the unit.
    figures: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct SpreadView {
    value: f64,
    lowest: f64,
    highest: f64,
}

/// The curve of a session that is one.
pub(super) fn curve(session: &Session) -> Option<CurveView> {
    let curve = Curve::of(session)?;
    Some(CurveView {
        limit: curve.bound.limit,
        done_over_asked_min_ratio: curve.bound.done_over_asked_min,
        runs: curve.runs.iter().map(run).collect(),
        rates: curve.rows.iter().map(rate).collect(),
    })
}

fn run(run: &Reading) -> RunView {
    RunView {
        maximum_operations_per_s: run.maximum_per_s,
        held_operations_per_s: run.held_per_s,
        broke_operations_per_s: run.broke.map(|(per_s, _)| per_s),
        broke: run.broke.map(|(_, outcome)| outcome),
        knee_operations_per_s: run.knee.map(Knee::per_s),
        knee: run.knee.map(|knee| match knee {
            Knee::At(_) => "at",
            Knee::Below(_) => "at_or_below",
            Knee::Beyond(_) => "at_or_beyond",
        }),
    }
}

fn rate(row: &Row<'_>) -> RateView {
    let latency = |quantile, metric: Metric| {
        let spread = row.latency_ns(quantile, &metric);
        (metric, spread)
    };
    let figure = |metric: Metric| {
        let spread = row.figure(&metric);
        (metric, spread)
    };
    let figures = [
        figure(metrics::OPERATION_RATE),
        figure(metrics::DONE_OVER_ASKED),
        figure(metrics::LATENCY_MEAN),
        latency(0.5, metrics::LATENCY_P50),
        latency(0.99, metrics::LATENCY_P99),
        latency(0.999, metrics::LATENCY_P999),
        figure(metrics::LATENCY_MAX),
        figure(metrics::LATENESS_MEAN),
        figure(metrics::LATENESS_P99),
    ];
    RateView {
        asked_operations_per_s: row.asked_per_s,
        outcome: row.outcome,
        runs_count: row.phases.len(),
        figures: figures
            .into_iter()
            .filter_map(|(metric, spread)| Some((metric.name.to_string(), view(spread?))))
            .collect(),
    }
}

fn view(spread: Spread) -> serde_json::Value {
    let Spread {
        value,
        lowest,
        highest,
    } = spread;
    let view = SpreadView {
        value,
        lowest,
        highest,
    };
    serde_json::to_value(view).expect("a spread is plain data")
}
