//! Latencies of a cell: of all operations of all its runs together.

use stiction_core::{Direction, Metric, Phase, format_duration_ns, metrics};

use super::{Row, threads_and_block};
use crate::figure::rounded_count;
use crate::page::{Column, Span, Table};
use crate::runs::quantile_text;

/// A row for each cell that has latencies.
pub(super) fn latency_table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::right("thr", 5),
        Column::right("block", 8),
        Column::right("ops", 7),
        Column::right("mean", 7),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("p99.9", 7),
        Column::right("max", 7),
        Column::right("sync", 7),
        Column::right("sync max", 8),
    ]);
    for row in rows {
        let mut cells = threads_and_block(row).to_vec();
        cells.extend(latencies(row).into_iter().map(Span::from));
        if cells.iter().skip(2).any(|cell| !cell.is_empty()) {
            table.row(cells);
        }
    }
    table
}

/// Operations, mean, percentiles and maximum, then the median and the maximum of
/// the syncs. From the histograms of all runs together where there are any.
fn latencies(row: &Row<'_>) -> [String; 8] {
    let phases = row.runs.phases();
    let time = |ns: Option<f64>| ns.map_or_else(String::new, format_duration_ns);
    let moved = row.runs.merged(&[Direction::Read, Direction::Write]);
    let [count, mean, p50, p99, p999, max] = match &moved {
        Some(all) => [
            rounded_count(all.count() as f64),
            time(all.mean_ns()),
            time(all.quantile_ns(0.5).map(|ns| ns as f64)),
            quantile_text(all, 0.99),
            quantile_text(all, 0.999),
            time(all.max_ns().map(|ns| ns as f64)),
        ],
        None => [
            operations(&phases),
            over_runs(row, &metrics::LATENCY_MEAN),
            over_runs(row, &metrics::LATENCY_P50),
            over_runs(row, &metrics::LATENCY_P99),
            over_runs(row, &metrics::LATENCY_P999),
            over_runs(row, &metrics::LATENCY_MAX),
        ],
    };
    let [sync, sync_max] = match row.runs.merged(&[Direction::Sync]) {
        Some(all) => [
            time(all.quantile_ns(0.5).map(|ns| ns as f64)),
            time(all.max_ns().map(|ns| ns as f64)),
        ],
        None => [
            over_runs(row, &metrics::SYNC_LATENCY_P50),
            over_runs(row, &metrics::SYNC_LATENCY_MAX),
        ],
    };
    [count, mean, p50, p99, p999, max, sync, sync_max]
}

fn operations(phases: &[&Phase]) -> String {
    let counts: Vec<f64> = phases
        .iter()
        .filter_map(|phase| phase.value(&metrics::OPERATIONS))
        .collect();
    if counts.is_empty() {
        return String::new();
    }
    rounded_count(counts.iter().sum())
}

/// Without histograms: the median over the runs.
fn over_runs(row: &Row<'_>, metric: &Metric) -> String {
    row.runs
        .median(metric)
        .map_or_else(String::new, format_duration_ns)
}
