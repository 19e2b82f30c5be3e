//! Tables in HTML: Bonnie's row, and Bonnie++'s coloured table.

use std::fmt::Write as _;

use stiction_core::Session;

use super::row::{Figures, Row, rows};
use crate::text::markup;

use super::spelled::{Shown, kib_per_s, latency, per_s, size, whole};

const MIB: f64 = 1_048_576.0;

/// A row of a table for each run, without a head: what Bonnie printed with `-html`.
/// Fourteen cells: name, MiB, and each phase's rate and CPU share.
#[must_use]
pub fn html_row(session: &Session) -> String {
    let mut text = String::new();
    for row in rows(session).iter().filter(|row| row.has_io()) {
        let mib = row.size_bytes.unwrap_or(0) >> 20;
        let mut cells = vec![markup(&row.machine), mib.to_string()];
        for (place, figures) in row.io.iter().enumerate() {
            let spell: fn(f64) -> String = if place == 5 {
                |rate| format!("{rate:.1}")
            } else {
                kib_per_s
            };
            cells.push(figures.rate.spelled("", spell));
            cells.push(figures.cpu_percent.spelled("", |cpu| format!("{cpu:.1}")));
        }
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| format!("<TD>{cell}</TD>"))
            .collect();
        // Writing into memory does not fail.
        let _ = writeln!(text, "<TR>{}</TR>", cells.concat());
    }
    text
}

/// A page with one table of all runs: columns without figures are left out, and each
/// figure has a colour from red for the worst of its column to green for the best.
#[must_use]
pub fn html_plus_plus(session: &Session) -> String {
    let rows = rows(session);
    let columns: Vec<Column> = columns()
        .into_iter()
        .filter(|column| {
            rows.iter()
                .any(|row| (column.of)(row).rate != Shown::Missing)
        })
        .collect();
    let mut text = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <title>Bonnie++ results</title>\n<style>td, th { text-align: center; padding: 2px 4px }\
         </style></head>\n<body><table border=\"1\">\n",
    );
    text.push_str(&head(&columns));
    let latencies = rows.iter().any(|row| {
        let all = row.io.iter().chain(&row.of_files);
        all.into_iter().any(|one| one.latency_ns_max.is_some())
    });
    for row in &rows {
        text.push_str(&body_row(row, &rows, &columns));
        if latencies {
            text.push_str(&latency_row(row, &rows, &columns));
        }
    }
    text.push_str("</table></body>\n</html>\n");
    text
}

/// One phase of the table.
struct Column {
    title: &'static str,
    unit: &'static str,
    of: fn(&Row) -> Figures,
    spell: fn(f64) -> String,
}

fn columns() -> [Column; 12] {
    let mib_per_s: fn(f64) -> String = |rate| format!("{:.0}", rate / MIB);
    let bulk = |title, of| Column {
        title,
        unit: "M/sec",
        of,
        spell: mib_per_s,
    };
    let files = |title, of| Column {
        title,
        unit: "/sec",
        of,
        spell: whole,
    };
    [
        bulk("Output Per Char", |row| row.io[0]),
        bulk("Output Block", |row| row.io[1]),
        bulk("Output Rewrite", |row| row.io[2]),
        bulk("Input Per Char", |row| row.io[3]),
        bulk("Input Block", |row| row.io[4]),
        Column {
            title: "Random Seeks",
            unit: "/sec",
            of: |row| row.io[5],
            spell: per_s,
        },
        files("Sequential Create", |row| row.of_files[0]),
        files("Sequential Read", |row| row.of_files[1]),
        files("Sequential Delete", |row| row.of_files[2]),
        files("Random Create", |row| row.of_files[3]),
        files("Random Read", |row| row.of_files[4]),
        files("Random Delete", |row| row.of_files[5]),
    ]
}

fn head(columns: &[Column]) -> String {
    let mut first = String::from(
        "<tr><th rowspan=\"2\">Name</th><th rowspan=\"2\">Size</th><th rowspan=\"2\">Files</th>",
    );
    let mut second = String::from("<tr>");
    for Column { title, unit, .. } in columns {
        let _ = write!(first, "<th colspan=\"2\">{title}</th>");
        let _ = write!(second, "<th>{unit}</th><th>% CPU</th>");
    }
    format!("{first}</tr>\n{second}</tr>\n")
}

fn body_row(row: &Row, rows: &[Row], columns: &[Column]) -> String {
    let mut text = format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td>",
        markup(&row.machine),
        row.size_bytes.map(size).unwrap_or_default(),
        markup(&row.files.joined(':')),
    );
    for column in columns {
        let figures = (column.of)(row);
        let rates = scale(rows, |row| value((column.of)(row).rate));
        let rate = figures.rate.spelled("+++++", column.spell);
        text.push_str(&cell(&rate, colour(value(figures.rate), rates, true)));
        // A CPU share says something only against what was got for it.
        let costs = scale(rows, |row| cost((column.of)(row)));
        let cpu = figures.cpu_percent.spelled("+++", whole);
        text.push_str(&cell(&cpu, colour(cost(figures), costs, false)));
    }
    text.push_str("</tr>\n");
    text
}

fn latency_row(row: &Row, rows: &[Row], columns: &[Column]) -> String {
    let mut text = String::from("<tr><td colspan=\"3\">Latency</td>");
    for column in columns {
        let ns = (column.of)(row).latency_ns_max;
        let range = scale(rows, |row| (column.of)(row).latency_ns_max);
        let spelled = ns.map(latency).unwrap_or_default();
        let shade = colour(ns, range, false);
        let _ = write!(text, "<td colspan=\"2\"{}>{spelled}</td>", style(shade));
    }
    text.push_str("</tr>\n");
    text
}

fn value(shown: Shown) -> Option<f64> {
    match shown {
        Shown::Value(value) => Some(value),
        _ => None,
    }
}

/// CPU share over rate.
fn cost(figures: Figures) -> Option<f64> {
    let rate = value(figures.rate).filter(|rate| *rate > 0.0)?;
    Some(value(figures.cpu_percent)? / rate)
}

/// Least and greatest of a column; `None` when a single run has it. Where they are less
/// than a factor of two apart, the range is widened on both sides by the square root of
/// what is missing, so that small differences keep weak colours.
fn scale(rows: &[Row], of: impl Fn(&Row) -> Option<f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = rows.iter().filter_map(of).filter(|v| *v > 0.0).collect();
    if values.len() < 2 {
        return None;
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    let ratio = greatest / least;
    let widened = if ratio < 2.0 {
        (2.0 / ratio).sqrt()
    } else {
        1.0
    };
    Some((least / widened, greatest * widened))
}

/// Red, green and blue from 0 to 255.
fn colour(value: Option<f64>, range: Option<(f64, f64)>, more_is_better: bool) -> Option<[u8; 3]> {
    let (least, greatest) = range?;
    let share = ((value? - least) / (greatest - least)).clamp(0.0, 1.0);
    let good = if more_is_better { share } else { 1.0 - share };
    let level = |share: f64| (255.0 * share).round() as u8;
    Some([level(1.0 - good), level(good), 0])
}

fn style(colour: Option<[u8; 3]>) -> String {
    colour.map_or_else(String::new, |[red, green, blue]| {
        format!(" bgcolor=\"#{red:02X}{green:02X}{blue:02X}\"")
    })
}

fn cell(text: &str, colour: Option<[u8; 3]>) -> String {
    format!("<td{}>{text}</td>", style(colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third apart: widened by sqrt(2 / (4/3)) on both sides, the lower value stands
    /// at (3 - 2.449) / (4.899 - 2.449) = 0.2247 of the range.
    #[test]
    fn colours_go_from_the_worst_to_the_best() {
        assert_eq!(colour(Some(1.0), Some((1.0, 4.0)), true), Some([255, 0, 0]));
        assert_eq!(colour(Some(4.0), Some((1.0, 4.0)), true), Some([0, 255, 0]));
        assert_eq!(
            colour(Some(4.0), Some((1.0, 4.0)), false),
            Some([255, 0, 0])
        );
        assert_eq!(
            colour(Some(2.5), Some((1.0, 4.0)), true),
            Some([128, 128, 0])
        );
        assert_eq!(colour(Some(1.0), None, true), None);
        let widened = (2.0f64 / (4.0 / 3.0)).sqrt();
        let (least, greatest) = (3.0 / widened, 4.0 * widened);
        assert_eq!(
            colour(Some(3.0), Some((least, greatest)), true),
            Some([198, 57, 0])
        );
    }
}
