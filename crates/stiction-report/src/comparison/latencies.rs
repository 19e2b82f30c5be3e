//! Latencies of both sides under each other: mean, tail, and operations that stalled.

use std::collections::BTreeMap;

use stiction_analysis::compare::{Comparison, Row};
use stiction_core::{Cell, Metric, metrics};

use super::entry::{Kind, entries, own_levels, shared_levels, value_text, worst_first};
use super::grid::{Grid, Head, Line};
use super::{Shown, heading};
use crate::cell::cell_text;
use crate::outcome::title;
use crate::page::Page;

/// Phases and cells that have a table, unless all are asked for.
const MOST: usize = 4;
/// What a table shows, and of which metric.
const COLUMNS: [(&str, Metric); 4] = [
    ("average", metrics::LATENCY_MEAN),
    ("p99", metrics::LATENCY_P99),
    ("p99.9", metrics::LATENCY_P999),
    ("max", metrics::LATENCY_MAX),
];
/// Operations that stalled: shares of them where they were not counted.
const STALLED: [(&str, Metric); 2] = [
    (">2s", metrics::LATENCY_OVER_2S),
    (">10s", metrics::LATENCY_OVER_10S),
];

/// The rows of one phase of one cell.
struct Latencies<'a> {
    rows: Vec<&'a Row>,
}

/// A table for each phase and cell that has latencies: those of the worst rows, and of
/// what is the same only where all is asked for.
pub(super) fn write_latencies(page: &mut Page, comparison: &Comparison, shown: Shown) {
    let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
    let found = found(comparison);
    let is_news = |one: &Latencies<'_>| {
        let mut kinds = one.rows.iter().map(|row| Kind::of(row));
        kinds.any(|kind| kind < Kind::Same)
    };
    let (first, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_news);
    let most = if shown.all { usize::MAX } else { MOST };
    let others = others.into_iter().filter(|_| shown.all);
    let told: Vec<Latencies<'_>> = first.into_iter().chain(others).collect();
    for latencies in told.iter().take(most) {
        let first = latencies.rows[0];
        let own = cell_text(&own_levels(&first.cell, &shared));
        let own = if own.is_empty() {
            own
        } else {
            format!(", {own}")
        };
        heading(page, format!("Latency, {}{own}", title(&first.phase)));
        latencies.grid(comparison).write(page);
    }
    if told.len() > most {
        page.paragraph(
            "  ",
            format!("and {} more (--all has them)", told.len() - most),
        );
    }
}

/// Every phase of every cell that has latencies, those of the worst rows first.
fn found(comparison: &Comparison) -> Vec<Latencies<'_>> {
    let mut rows = entries(comparison, &Cell::new());
    worst_first(&mut rows);
    let mut places: BTreeMap<(&Cell, &str), usize> = BTreeMap::new();
    let mut found: Vec<Latencies<'_>> = Vec::new();
    for row in rows.iter().map(|entry| entry.row) {
        let place = *places.entry((&row.cell, &row.phase)).or_insert_with(|| {
            found.push(Latencies { rows: Vec::new() });
            found.len() - 1
        });
        found[place].rows.push(row);
    }
    found.retain(|one| {
        let mut names = one.rows.iter().map(|row| &row.metric.name);
        names.any(|name| COLUMNS.iter().any(|(_, metric)| metric.name == *name))
    });
    found
}

impl Latencies<'_> {
    fn grid(&self, comparison: &Comparison) -> Grid {
        let heads = COLUMNS.iter().chain(&STALLED);
        Grid {
            name_head: String::new(),
            heads: heads.map(|(name, _)| Head::of(*name)).collect(),
            emphasised: COLUMNS.len() + STALLED.len(),
            ruled: true,
            lines: vec![
                self.line(comparison, &comparison.a, true),
                self.line(comparison, &comparison.b, false),
            ],
        }
    }

    fn line(&self, comparison: &Comparison, name: &str, is_a: bool) -> Line {
        let value = |metric: &Metric| {
            let row = self.rows.iter().find(|row| row.metric.name == metric.name);
            row.map_or_else(String::new, |row| {
                value_text(row, if is_a { row.a.as_ref() } else { row.b.as_ref() })
            })
        };
        let counted = self.stalls(comparison, is_a);
        let stalled = STALLED
            .iter()
            .enumerate()
            .map(|(place, (_, metric))| match counted {
                Some(counts) => counts[place].to_string(),
                None => value(metric),
            });
        let latencies = COLUMNS.iter().map(|(_, metric)| value(metric));
        Line {
            name: name.to_owned(),
            cells: latencies.chain(stalled).collect(),
            ..Line::default()
        }
    }

    /// Operations over 2 s and over 10 s, all directions together.
    fn stalls(&self, comparison: &Comparison, is_a: bool) -> Option<[u64; 2]> {
        let first = self.rows[0];
        let stalls = comparison.stalls.iter();
        let of_phase = stalls.filter(|one| one.cell == first.cell && one.phase == first.phase);
        let counts = of_phase.map(|one| if is_a { one.a } else { one.b });
        counts.fold(None, |sum: Option<[u64; 2]>, one| {
            let [over_2s, over_10s] = sum.unwrap_or_default();
            Some([over_2s + one.over_2s, over_10s + one.over_10s])
        })
    }
}
