//! A comparison as JSON.

use serde::Serialize;
use stiction_analysis::compare::{
    Change, Comparison, Difference, Doubt, Row, Scale, SideFactor, SideValue, Unmatched,
};
use stiction_analysis::decompose::{Breakdown, Decomposition, Efficiency, Moved, Per, Range};
use stiction_analysis::noise::Repeat;
use stiction_analysis::{Outcome, Verdict};
use stiction_core::{Better, Cell, Level, SessionId, Subject};

use super::document;

#[derive(Serialize)]
struct ComparisonView<'a> {
    outcome: &'static str,
    a: SideName<'a>,
    b: SideName<'a>,
    factors: Vec<FactorView<'a>>,
    environment_differs: Vec<DifferenceView<'a>>,
    environment_known_of_a_only: &'a [String],
    environment_known_of_b_only: &'a [String],
    parameters_differ: Vec<DifferenceView<'a>>,
    notes: &'a [String],
    rows: Vec<RowView<'a>>,
    doubts: Vec<DoubtView<'a>>,
    unmatched: Vec<UnmatchedView<'a>>,
    times: Vec<TimesView<'a>>,
    noise: Vec<NoiseView<'a>>,
}

#[derive(Serialize)]
struct SideName<'a> {
    name: &'a str,
    sessions: &'a [SessionId],
}

#[derive(Serialize)]
struct FactorView<'a> {
    factor: &'a str,
    a: &'a Option<Level>,
    b: &'a Option<Level>,
}

#[derive(Serialize)]
struct DifferenceView<'a> {
    key: &'a str,
    a: &'a str,
    b: &'a str,
    named: bool,
}

#[derive(Serialize)]
struct RowView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    /// Its name says the unit of the values.
    metric: &'a str,
    better: Better,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<SideView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<SideView<'a>>,
    #[serde(flatten)]
    change: Option<ChangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    reasons: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_needed_count: Option<u32>,
}

#[derive(Serialize)]
struct SideView<'a> {
    value: f64,
    value_lowest: f64,
    value_highest: f64,
    run_values: &'a [f64],
    subject: Subject,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChangeView {
    Percent {
        change_percent: f64,
        change_percent_lowest: f64,
        /// Null when the printed digits of A can stand for 0.
        change_percent_highest: f64,
    },
    Points {
        change_points: f64,
        change_points_lowest: f64,
        change_points_highest: f64,
    },
}

#[derive(Serialize)]
struct EstimateView {
    change_percent: f64,
    change_percent_lowest: f64,
    change_percent_highest: f64,
    p_adjusted: f64,
    blocks_count: u32,
    visible_percent: f64,
}

/// A doubt about one phase of one cell, of the first run that has it.
#[derive(Serialize)]
struct DoubtView<'a> {
    side: &'static str,
    cell: &'a Cell,
    phase: &'a str,
    code: &'static str,
    detail: &'a str,
    runs_count: u32,
}

#[derive(Serialize)]
struct UnmatchedView<'a> {
    side: &'static str,
    cell: &'a Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    reason: &'a str,
}

/// The parts of the time of one phase, per run or per MiB that was moved.
#[derive(Serialize)]
struct TimesView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    per: &'static str,
    a: TimeView,
    b: TimeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    io_efficiency: Option<&'static str>,
}

#[derive(Serialize)]
struct TimeView {
    elapsed_s: RangeView,
    cpu_s: RangeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_s: Option<RangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_bytes_per_s: Option<RangeView>,
}

/// What a figure lies between.
#[derive(Serialize)]
struct RangeView {
    lowest: f64,
    highest: f64,
}

#[derive(Serialize)]
struct NoiseView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    metric: &'a str,
    run_values: &'a [f64],
    #[serde(flatten)]
    spread: SpreadView,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum SpreadView {
    SpreadPercent(f64),
    SpreadPoints(f64),
}

/// A comparison with every row, its verdict and all reasons. Schema
/// `stiction-comparison`.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    let side = |name, sessions| SideName { name, sessions };
    let environment = &comparison.environment;
    let view = ComparisonView {
        outcome: outcome(comparison.outcome()),
        a: side(&comparison.a, &comparison.sessions.0),
        b: side(&comparison.b, &comparison.sessions.1),
        factors: comparison.factors.iter().map(factor).collect(),
        environment_differs: environment.differs.iter().map(difference).collect(),
        environment_known_of_a_only: &environment.only_a,
        environment_known_of_b_only: &environment.only_b,
        parameters_differ: comparison.parameters.iter().map(difference).collect(),
        notes: &comparison.notes,
        rows: comparison.rows.iter().map(row).collect(),
        doubts: comparison.doubts.iter().map(doubt).collect(),
        unmatched: comparison.unmatched.iter().map(unmatched).collect(),
        times: comparison.decompositions.iter().map(times).collect(),
        noise: comparison.noise.iter().map(noise).collect(),
    };
    document("stiction-comparison", view)
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NoRegression => "no_regression",
        Outcome::Regression => "regression",
        Outcome::CannotTell => "cannot_tell",
        Outcome::NotComparable => "not_comparable",
    }
}

fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::SlightlyWorse => "slightly_worse",
        Verdict::SlightlyBetter => "slightly_better",
        Verdict::Same => "same",
        Verdict::CannotTell { .. } => "cannot_tell",
        Verdict::Failed { .. } => "failed",
        Verdict::NotComparable { .. } => "not_comparable",
    }
}

fn factor(side: &SideFactor) -> FactorView<'_> {
    FactorView {
        factor: &side.factor,
        a: &side.a,
        b: &side.b,
    }
}

fn difference(difference: &Difference) -> DifferenceView<'_> {
    DifferenceView {
        key: &difference.key,
        a: &difference.a,
        b: &difference.b,
        named: difference.named,
    }
}

fn row(row: &Row) -> RowView<'_> {
    RowView {
        cell: &row.cell,
        phase: &row.phase,
        metric: &row.metric.name,
        better: row.metric.better,
        a: row.a.as_ref().map(side),
        b: row.b.as_ref().map(side),
        change: row.change.as_ref().map(change),
        estimate: row.estimate.map(|estimate| EstimateView {
            change_percent: estimate.change_percent,
            change_percent_lowest: estimate.lowest_percent,
            change_percent_highest: estimate.highest_percent,
            p_adjusted: estimate.p_adjusted,
            blocks_count: estimate.blocks,
            visible_percent: estimate.visible_percent,
        }),
        verdict: row.verdict.as_ref().map(verdict),
        reasons: row.verdict.as_ref().map_or(&[], Verdict::reasons),
        runs_needed_count: match row.verdict {
            Some(Verdict::CannotTell { runs_needed, .. }) => runs_needed,
            _ => None,
        },
    }
}

fn side(side: &SideValue) -> SideView<'_> {
    SideView {
        value: side.value,
        value_lowest: side.lowest,
        value_highest: side.highest,
        run_values: &side.runs,
        subject: side.subject,
        printed: side.printed.as_deref(),
        corrected: side.corrected.as_deref(),
    }
}

fn change(change: &Change) -> ChangeView {
    let Change {
        scale,
        value,
        lowest,
        highest,
    } = *change;
    match scale {
        Scale::Percent => ChangeView::Percent {
            change_percent: value,
            change_percent_lowest: lowest,
            change_percent_highest: highest,
        },
        Scale::Points => ChangeView::Points {
            change_points: value,
            change_points_lowest: lowest,
            change_points_highest: highest,
        },
    }
}

fn doubt(doubt: &Doubt) -> DoubtView<'_> {
    DoubtView {
        side: side_word(doubt.in_a),
        cell: &doubt.cell,
        phase: &doubt.phase,
        code: doubt.caveat.code.as_str(),
        detail: &doubt.caveat.detail,
        runs_count: doubt.runs,
    }
}

fn side_word(in_a: bool) -> &'static str {
    if in_a { "a" } else { "b" }
}

fn unmatched(unmatched: &Unmatched) -> UnmatchedView<'_> {
    UnmatchedView {
        side: side_word(unmatched.in_a),
        cell: &unmatched.cell,
        phase: unmatched.phase.as_deref(),
        reason: &unmatched.reason,
    }
}

fn times(found: &Decomposition) -> TimesView<'_> {
    TimesView {
        cell: &found.cell,
        phase: &found.phase,
        per: match found.per {
            Per::Run => "run",
            Per::Mebibyte => "mebibyte",
        },
        a: time(&found.a),
        b: time(&found.b),
        moved: found.moved.map(|moved| match moved {
            Moved::Nothing => "nothing",
            Moved::Cpu => "cpu",
            Moved::Waiting => "waiting",
            Moved::Both => "both",
        }),
        io_efficiency: found.efficiency.map(|efficiency| match efficiency {
            Efficiency::Lost => "lost",
            Efficiency::Gained => "gained",
            Efficiency::Traded => "traded",
        }),
    }
}

fn time(side: &Breakdown) -> TimeView {
    let range = |range: Range| RangeView {
        lowest: range.lowest,
        highest: range.highest,
    };
    TimeView {
        elapsed_s: range(side.elapsed_s),
        cpu_s: range(side.cpu_s),
        waiting_s: side.waiting_s.map(range),
        load_bytes_per_s: side.load_bytes_per_s.map(range),
    }
}

fn noise(repeat: &Repeat) -> NoiseView<'_> {
    NoiseView {
        cell: &repeat.cell,
        phase: &repeat.phase,
        metric: &repeat.metric.name,
        run_values: &repeat.values,
        spread: match repeat.scale {
            Scale::Percent => SpreadView::SpreadPercent(repeat.spread),
            Scale::Points => SpreadView::SpreadPoints(repeat.spread),
        },
    }
}
