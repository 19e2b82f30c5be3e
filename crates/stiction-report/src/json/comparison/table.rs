//! One metric over all cells, a row for each candidate, as JSON.

use serde::Serialize;
use stiction_analysis::compare::{AtCell, Summary, SummaryTable};
use stiction_core::Cell;

/// One table.
#[derive(Serialize)]
pub(super) struct TableView<'a> {
    phase: &'a str,
    metric: &'a str,
    fixed: &'a Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'a str>,
    rows: Vec<SummaryView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    equal_to_baseline: Option<EqualView<'a>>,
}

#[derive(Serialize)]
struct SummaryView<'a> {
    name: &'a str,
    repeats_baseline: bool,
    cells_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest: Option<AtView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest: Option<AtView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geometric_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geometric_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geometric_percent_highest: Option<f64>,
    verdict_counts: CountsView,
}

#[derive(Serialize)]
struct AtView<'a> {
    change_percent: f64,
    cell: &'a Cell,
}

#[derive(Serialize)]
struct CountsView {
    worse_count: u32,
    better_count: u32,
    same_count: u32,
    slight_count: u32,
    cannot_tell_count: u32,
    failed_count: u32,
    not_run_count: u32,
    not_comparable_count: u32,
}

/// What chance alone would show.
#[derive(Serialize)]
struct EqualView<'a> {
    lowest_percent: f64,
    highest_percent: f64,
    from: &'a str,
}

/// All of one table.
pub(super) fn table(table: &SummaryTable) -> TableView<'_> {
    TableView {
        phase: &table.phase,
        metric: &table.metric.name,
        fixed: &table.fixed,
        parameter: table.parameter.as_deref(),
        rows: table.rows.iter().map(summary).collect(),
        equal_to_baseline: table.equal.as_ref().map(|equal| EqualView {
            lowest_percent: equal.lowest_percent,
            highest_percent: equal.highest_percent,
            from: &equal.from,
        }),
    }
}

fn summary(row: &Summary) -> SummaryView<'_> {
    let interval = row.geometric_interval_percent;
    SummaryView {
        name: &row.name,
        repeats_baseline: row.repeats_baseline,
        cells_count: row.cells,
        lowest: row.lowest.as_ref().map(at),
        highest: row.highest.as_ref().map(at),
        average_percent: row.average_percent,
        geometric_percent: row.geometric_percent,
        geometric_percent_lowest: interval.map(|(lowest, _)| lowest),
        geometric_percent_highest: interval.map(|(_, highest)| highest),
        verdict_counts: CountsView {
            worse_count: row.counts.worse,
            better_count: row.counts.better,
            same_count: row.counts.same,
            slight_count: row.counts.slight,
            cannot_tell_count: row.counts.cannot_tell,
            failed_count: row.counts.failed,
            not_run_count: row.counts.not_run,
            not_comparable_count: row.counts.not_comparable,
        },
    }
}

fn at(found: &AtCell) -> AtView<'_> {
    AtView {
        change_percent: found.percent,
        cell: &found.cell,
    }
}
