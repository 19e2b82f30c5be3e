//! The percent-from-baseline table of 2003, with what it lacked: the geometric mean
//! with its interval, counts of verdicts, and what chance alone would show.

use stiction_analysis::compare::{AtCell, Counts, Matrix, Summary, SummaryTable};
use stiction_core::{Cell, Level, MetricClass};

use super::entry::own_levels;
use super::grid::{Grid, Head, Line};
use super::groups::capital;
use crate::cell::cell_text;
use crate::figure::{interval, label, signed};
use crate::outcome::title;
use crate::page::{Page, Role, Span};
use crate::text::ascii;

/// The table of one metric.
pub(super) fn write_percent_table(page: &mut Page, matrix: &Matrix, table: &SummaryTable) {
    if table.rows.is_empty() {
        return;
    }
    page.blank();
    let heading = capital(&heading(matrix, table));
    page.paragraph("", Span::new(Role::Strong, heading));
    let heads = [
        "Lowest %",
        "Highest %",
        "Ave %",
        "Geo %",
        "[95 %]",
        "W/B/S/?",
    ];
    let grid = Grid {
        name_head: "against it".to_owned(),
        heads: heads.map(Head::of).into(),
        emphasised: heads.len(),
        ruled: true,
        lines: table.rows.iter().map(line).collect(),
    };
    grid.write(page);
    if let Some(equal) = &table.equal {
        let text = format!(
            "A configuration equal to {} would show about {}/{} ({}).",
            matrix.baseline,
            signed(equal.lowest_percent, 0),
            signed(equal.highest_percent, 0),
            equal.from
        );
        page.paragraph("", text);
    }
}

/// `random read rate against 6.9, 128 KiB blocks (threads in parentheses)`
fn heading(matrix: &Matrix, table: &SummaryTable) -> String {
    let (phase, metric) = (title(&table.phase), label(&table.metric));
    let mut text = format!("{phase} {metric} against {}", matrix.baseline);
    if !table.fixed.is_empty() {
        text.push_str(", ");
        text.push_str(&cell_text(&table.fixed));
    }
    if let Some(parameter) = &table.parameter {
        let parameter = parameter.trim_end_matches("_bytes").replace('_', " ");
        text.push_str(&format!(" ({parameter} in parentheses)"));
    }
    text
}

fn line(summary: &Summary) -> Line {
    let percent = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| signed(v, 1));
    let again = if summary.repeats_baseline {
        " (again)"
    } else {
        ""
    };
    Line {
        name: format!("{}{again}", summary.name),
        cells: vec![
            at(summary.lowest.as_ref(), 1),
            at(summary.highest.as_ref(), 1),
            percent(summary.average_percent),
            percent(summary.geometric_percent),
            summary
                .geometric_interval_percent
                .map_or_else(String::new, |(low, high)| {
                    format!("[{}]", interval(low, high))
                }),
            counts(summary.counts),
        ],
        ..Line::default()
    }
}

/// A change with where it stands: `-67.1(8)`.
fn at(found: Option<&AtCell>, decimals: usize) -> String {
    found.map_or_else(
        || "-".to_owned(),
        |at| format!("{}{}", signed(at.percent, decimals), place(&at.cell)),
    )
}

/// `(8)`; empty where no level tells the cells apart.
fn place(cell: &Cell) -> String {
    let levels: Vec<String> = cell
        .iter()
        .map(|(factor, level)| level_text(factor, level))
        .collect();
    if levels.is_empty() {
        String::new()
    } else {
        format!("({})", ascii(&levels.join(",")))
    }
}

fn level_text(factor: &str, level: &Level) -> String {
    match level {
        Level::Integer(bytes) if factor.ends_with("_bytes") => short_size(bytes.unsigned_abs()),
        level => level.to_string(),
    }
}

/// `128k`: a size as the posts of those years wrote it.
fn short_size(bytes: u64) -> String {
    for (shift, letter) in [(30, 'g'), (20, 'm'), (10, 'k')] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Worse, better, same, and all that nothing is known of.
fn counts(counts: Counts) -> String {
    let rest =
        counts.slight + counts.cannot_tell + counts.failed + counts.not_run + counts.not_comparable;
    format!("{}/{}/{}/{rest}", counts.worse, counts.better, counts.same)
}

/// Columns of the names in the table of 2003.
const NAMES: usize = 28;

/// The tables as they were posted in 2003, worked out again: one for each phase and
/// block size, without intervals and counts.
#[must_use]
pub fn osdl(matrix: &Matrix) -> String {
    let tables = matrix
        .tables
        .iter()
        .filter(|table| is_rate(table) && !table.rows.is_empty());
    let texts: Vec<String> = tables.map(|table| posted(matrix, table)).collect();
    texts.join("\n")
}

/// Whether the table is of what the tables of 2003 were of.
fn is_rate(table: &SummaryTable) -> bool {
    table.metric.class == MetricClass::Throughput
}

fn posted(matrix: &Matrix, table: &SummaryTable) -> String {
    let first = table.rows.iter().find_map(|row| row.highest.as_ref());
    let mut text = format!(
        "{}\n\nKernel                        Lowest %     Highest %   Ave %\n{}\n",
        posted_title(table),
        "-".repeat(60)
    );
    let baseline = format!("{} (baseline)", matrix.baseline);
    // Against itself every level has 0; the posts name the first.
    let at_first = first.map_or_else(String::new, |_| place(&first_cell(matrix, table)));
    text.push_str(&posted_row(
        &baseline,
        &format!("0.00{at_first}"),
        &format!("0.00{at_first}"),
        "0.00",
    ));
    for row in &table.rows {
        let average = row.average_percent.map_or_else(|| "-".to_owned(), unsigned);
        let cell = |found: Option<&AtCell>| {
            found.map_or_else(
                || "-".to_owned(),
                |at| format!("{}{}", unsigned(at.percent), place(&at.cell)),
            )
        };
        text.push_str(&posted_row(
            &row.name,
            &cell(row.lowest.as_ref()),
            &cell(row.highest.as_ref()),
            &average,
        ));
    }
    text
}

/// Two decimals, and no sign but a minus.
fn unsigned(percent: f64) -> String {
    signed(percent, 2).trim_start_matches('+').to_owned()
}

/// A name that is too long for its column has a line of its own.
fn posted_row(name: &str, lowest: &str, highest: &str, average: &str) -> String {
    let name = ascii(name);
    let figures = format!("{lowest:>10}{highest:>13}{average:>9}");
    if name.len() > NAMES {
        format!("{name}\n{:NAMES$}{figures}\n", "")
    } else {
        format!("{name:NAMES$}{figures}\n")
    }
}

/// `Random Reads/128k Block Size` where the phase is one of tiobench's, else its name.
fn posted_title(table: &SummaryTable) -> String {
    let phase = match table.phase.as_str() {
        "read" | "sequential_read" => "Sequential Reads".to_owned(),
        "random_read" => "Random Reads".to_owned(),
        "write" | "sequential_write" => "Sequential Writes".to_owned(),
        "random_write" => "Random Writes".to_owned(),
        other => title(other),
    };
    let phase = ascii(&phase).into_owned();
    match table.fixed.get("block_size_bytes") {
        Some(Level::Integer(bytes)) => {
            format!("{phase}/{} Block Size", short_size(bytes.unsigned_abs()))
        }
        _ => format!("{phase}: {}", label(&table.metric)),
    }
}

/// The first cell of the table, by the levels that vary.
fn first_cell(matrix: &Matrix, table: &SummaryTable) -> Cell {
    let rows = matrix.rows().map(|(_, row)| row);
    let mut of_table = rows.filter(|row| {
        row.phase == table.phase
            && row.metric.name == table.metric.name
            && table
                .fixed
                .iter()
                .all(|(factor, level)| row.cell.get(factor) == Some(level))
    });
    of_table
        .next()
        .map_or_else(Cell::new, |row| own_levels(&row.cell, &table.fixed))
}
