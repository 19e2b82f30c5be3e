//! One metric of one phase of one cell, on both sides, as JSON.

use serde::Serialize;
use stiction_analysis::Verdict;
use stiction_analysis::compare::{Change, Estimate, Method, Row, Scale, SideValue};
use stiction_core::{Better, Cell, Subject};

/// One row.
#[derive(Serialize)]
pub(super) struct RowView<'a> {
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
    /// Each block's values, A's first, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    block_values: Vec<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<FloorView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    reasons: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_needed_count: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<RemarkView<'a>>,
}

/// The noise that runs of one configuration against itself showed.
#[derive(Serialize)]
struct FloorView<'a> {
    deviation_percent: f64,
    blocks_count: u32,
    from: &'a str,
}

#[derive(Serialize)]
struct RemarkView<'a> {
    code: &'static str,
    text: &'a str,
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
    method: &'static str,
    change_percent: f64,
    change_percent_lowest: f64,
    change_percent_highest: f64,
    p_adjusted: f64,
    blocks_count: u32,
    visible_percent: f64,
}

/// All of one row.
pub(super) fn row(row: &Row) -> RowView<'_> {
    RowView {
        cell: &row.cell,
        phase: &row.phase,
        metric: &row.metric.name,
        better: row.metric.better,
        a: row.a.as_ref().map(side),
        b: row.b.as_ref().map(side),
        change: row.change.as_ref().map(change),
        block_values: row.blocks.iter().map(|block| [block.a, block.b]).collect(),
        estimate: row.estimate.map(estimate),
        effect_percent: row.effect_percent,
        floor: row.floor.as_ref().map(|floor| FloorView {
            deviation_percent: floor.deviation.exp_m1() * 100.0,
            blocks_count: floor.blocks,
            from: &floor.from,
        }),
        verdict: row.verdict.as_ref().map(verdict_key),
        reasons: row.verdict.as_ref().map_or(&[], Verdict::reasons),
        runs_needed_count: match row.verdict {
            Some(Verdict::CannotTell { runs_needed, .. }) => runs_needed,
            _ => None,
        },
        remarks: row
            .remarks
            .iter()
            .map(|remark| RemarkView {
                code: remark.code.as_str(),
                text: &remark.text,
            })
            .collect(),
    }
}

fn estimate(found: Estimate) -> EstimateView {
    EstimateView {
        method: method_key(found.method),
        change_percent: found.change_percent,
        change_percent_lowest: found.lowest_percent,
        change_percent_highest: found.highest_percent,
        p_adjusted: found.p_adjusted,
        blocks_count: found.blocks,
        visible_percent: found.visible_percent,
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

/// The verdict as machine-readable output spells it.
pub(crate) fn verdict_key(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::SlightlyWorse => "slightly_worse",
        Verdict::SlightlyBetter => "slightly_better",
        Verdict::Same => "same",
        Verdict::CannotTell { .. } => "cannot_tell",
        Verdict::Failed { .. } => "failed",
        Verdict::NotRun { .. } => "not_run",
        Verdict::NotComparable { .. } => "not_comparable",
    }
}

/// What an estimate rests on, as machine-readable output spells it.
pub(crate) fn method_key(method: Method) -> &'static str {
    match method {
        Method::Paired => "paired",
        Method::Unpaired => "unpaired",
    }
}

/// Which way a metric is better, as machine-readable output spells it.
pub(crate) fn better_key(better: Better) -> &'static str {
    match better {
        Better::More => "more",
        Better::Less => "less",
        Better::Neither => "neither",
    }
}
