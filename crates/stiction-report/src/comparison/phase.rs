//! The figures of one phase side by side, each with its change and its verdict.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Change, Comparison, Row, Scale, SideValue};
use stiction_analysis::decompose::Decomposition;
use stiction_core::{Better, Cell};

use super::times::{said, write_times};
use crate::cell::cell_text;
use crate::figure::{change as percent_change, label, ranged, significant};
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Table};

/// Ratios from here on are told beside the percentage.
const TELLING_RATIO: f64 = 2.0;

/// The rows of one phase of one cell, and where its time went.
pub(super) fn write_phase(page: &mut Page, comparison: &Comparison, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    page.blank();
    let cell = if first.cell.is_empty() {
        String::new()
    } else {
        format!(", {}", cell_text(&first.cell))
    };
    let subject = |of: fn(&Row) -> Option<&SideValue>| rows.iter().find_map(of).map(|v| v.subject);
    let about = match (subject(|row| row.a.as_ref()), subject(|row| row.b.as_ref())) {
        (Some(a), Some(b)) if a == b => format!(" ({a})"),
        (Some(a), Some(b)) => format!(" (A {a}, B {b})"),
        (Some(a), None) => format!(" (A {a})"),
        (None, Some(b)) => format!(" (B {b})"),
        (None, None) => String::new(),
    };
    page.paragraph(
        "",
        Span::new(
            Role::Strong,
            format!("{}{about}{cell}", title(&first.phase)),
        ),
    );
    let mut table = Table::new(vec![
        Column::left("", 17),
        Column::right("A", 14),
        Column::right("B", 14),
        Column::right("change", 9),
        Column::right("ratio", 6),
        Column::left("", 14),
    ]);
    for row in rows
        .iter()
        .filter(|row| row.metric.better != Better::Neither)
    {
        table.row(figures(row));
        if let Some(estimate) = row.estimate {
            table.note(format!(
                "  {} ({} to {}; {} blocks, p {})",
                percent_change(estimate.change_percent),
                percent_change(estimate.lowest_percent),
                percent_change(estimate.highest_percent),
                estimate.blocks,
                p_text(estimate.p_adjusted)
            ));
        }
    }
    let decomposition = decomposition_of(comparison, &first.cell, &first.phase);
    if let Some(decomposition) = decomposition {
        write_times(&mut table, decomposition);
    }
    page.table(2, &table);
    if let Some(sentence) = decomposition.and_then(said) {
        page.paragraph("  ", sentence);
    }
}

fn decomposition_of<'a>(
    comparison: &'a Comparison,
    cell: &Cell,
    phase: &str,
) -> Option<&'a Decomposition> {
    comparison
        .decompositions
        .iter()
        .find(|found| found.cell == *cell && found.phase == phase)
}

fn figures(row: &Row) -> Vec<Span> {
    let side = |value: &Option<SideValue>| {
        value.as_ref().map_or_else(
            || "-".to_owned(),
            |side| ranged(row.metric.unit, side.value, (side.lowest, side.highest)),
        )
    };
    let verdict = row.verdict.as_ref();
    vec![
        label(&row.metric).into(),
        side(&row.a).into(),
        side(&row.b).into(),
        row.change.as_ref().map_or_else(String::new, change).into(),
        row.change
            .as_ref()
            .and_then(Change::ratio)
            .map_or_else(String::new, ratio)
            .into(),
        verdict.map_or_else(Span::default, |verdict| {
            Span::new(verdict_role(verdict), verdict.word())
        }),
    ]
}

fn change(change: &Change) -> String {
    match change.scale {
        Scale::Percent => percent_change(change.value),
        Scale::Points => format!("{:+.1} pts", change.value),
    }
}

/// `9.47x` or `0.11x` for changes that a percentage tells badly.
pub(super) fn ratio(ratio: f64) -> String {
    if ratio >= TELLING_RATIO {
        format!("{}x", significant(ratio, 3))
    } else if ratio > 0.0 && ratio <= 1.0 / TELLING_RATIO {
        format!("{}x", significant(ratio, 2))
    } else {
        String::new()
    }
}

fn verdict_role(verdict: &Verdict) -> Role {
    match verdict {
        Verdict::Worse | Verdict::SlightlyWorse | Verdict::Failed { .. } => Role::Bad,
        Verdict::Better | Verdict::SlightlyBetter => Role::Good,
        Verdict::Same => Role::Text,
        Verdict::CannotTell { .. } | Verdict::NotComparable { .. } => Role::Doubt,
    }
}

/// A probability; never p = 0.
fn p_text(p: f64) -> String {
    if p < 0.001 {
        "<.001".to_owned()
    } else {
        format!("{p:.3}").trim_start_matches('0').to_owned()
    }
}
