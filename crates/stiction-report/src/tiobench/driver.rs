//! The report of tiobench's driver, versions 0.3.3 and 0.4.

use std::fmt::Write as _;

use stiction_core::Session;

use super::perl::{centred, decimal, left, number, right, unknown};
use super::room::{other_amounts, without_room};
use super::row::{Figures, Row, rows};
use super::{ClassicOptions, Heads, Latencies, SECTIONS};
use crate::text::{WIDTH, wrap};

/// Lines of a page in Perl's `format`; the head is printed again on each page.
const PAGE_LINES: usize = 60;
/// Width of the first column; longer identifiers are cut.
const IDENTIFIER: usize = 28;

/// Width of the size.
pub(super) const SIZE: usize = 6;
/// Width of the number of threads.
pub(super) const THREADS: usize = 3;

/// Where the two versions differ.
pub(super) struct Layout {
    megabyte: &'static str,
    underlined: bool,
    head: Option<[&'static str; 3]>,
    pub(super) block: usize,
    pub(super) rate: usize,
    efficiency: usize,
    /// Added to the CPU's share before dividing by it.
    cpu_allowance: f64,
}

const HEAD_0_3_3: [&str; 3] = [
    "                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU",
    "Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff",
    "---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----",
];

const HEAD_0_4: [&str; 3] = [
    "                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU",
    "Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff",
    "---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------",
];

/// The report as tiobench 0.3.3 prints it at the end of a session.
///
/// Several directories are told apart in the first column, as `IDENTIFIER:DIR`.
#[must_use]
pub fn classic_0_3_3(session: &Session, options: &ClassicOptions) -> String {
    let layout = Layout {
        megabyte: "megabytes",
        underlined: false,
        head: (options.heads == Heads::Printed).then_some(HEAD_0_3_3),
        block: 5,
        rate: 6,
        efficiency: 5,
        cpu_allowance: 0.0,
    };
    report(session, options, &layout)
}

/// The report as tiobench 0.4 prints it since August 2020; [`Heads`] does not matter.
///
/// Several directories are told apart as in [`classic_0_3_3`].
#[must_use]
pub fn classic_0_4(session: &Session, options: &ClassicOptions) -> String {
    let layout = Layout {
        megabyte: "megabytes (2^20 bytes, 1,048,576 bytes)",
        underlined: true,
        head: Some(HEAD_0_4),
        block: 6,
        rate: 12,
        efficiency: 7,
        cpu_allowance: 0.00001,
    };
    report(session, options, &layout)
}

fn report(session: &Session, options: &ClassicOptions, layout: &Layout) -> String {
    let rows = rows(session, options);
    let names = names(&rows, IDENTIFIER);
    let mut text = heading(&rows, options, &names);
    text.push_str(&units(layout));
    for (phase, title) in SECTIONS {
        let lines: Vec<String> = rows
            .iter()
            .zip(&names.firsts)
            .filter_map(|(row, name)| {
                let figures = row.figures(phase, options.latencies)?;
                Some(line(row, name, &figures, layout))
            })
            .collect();
        if !lines.is_empty() {
            text.push_str(&section(title, &lines, layout));
        }
    }
    let mut remarks = remarks(&rows, options);
    remarks.extend(without_room(&rows, options, layout));
    remarks.extend(other_amounts(&rows));
    text.push_str(&remark_lines(&remarks));
    text
}

fn units(layout: &Layout) -> String {
    format!(
        "
Unit information
================
File size = {}
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load
",
        layout.megabyte
    )
}

fn section(title: &str, lines: &[String], layout: &Layout) -> String {
    let mut text = format!("\n{title}\n");
    if layout.underlined {
        let _ = writeln!(text, "{}", "=".repeat(title.len()));
    }
    let rows_of_a_page = PAGE_LINES - layout.head.map_or(0, |head| head.len());
    for page in lines.chunks(rows_of_a_page) {
        for line in layout.head.iter().flatten() {
            let _ = writeln!(text, "{line}");
        }
        for line in page {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn line(row: &Row<'_>, name: &str, figures: &Figures, layout: &Layout) -> String {
    let figure = |value: Option<f64>, width, decimals| match value {
        Some(value) => decimal(value, width, decimals),
        None => unknown(width),
    };
    [
        left(name, IDENTIFIER),
        format!(" {}", centred(&size_text(row), SIZE)),
        format!(" {}", centred(&integer(row.block_size_bytes), layout.block)),
        format!(" {}", right(&integer(row.threads), THREADS)),
        format!("  {}", figure(figures.rate_mib_per_s, layout.rate, 2)),
        format!(" {}%", cpu_text(figures.cpu_percent, 5)),
        format!(" {}", figure(figures.latency_ms_mean, 9, 3)),
        format!(" {}", figure(figures.latency_ms_max, 11, 2)),
        format!("  {}", figure(figures.over_2s_percent, 8, 5)),
        format!(" {}", figure(figures.over_10s_percent, 8, 5)),
        format!(
            " {}",
            figure(
                efficiency(figures, layout.cpu_allowance),
                layout.efficiency,
                0
            )
        ),
    ]
    .concat()
}

/// `CPU Eff`: rate over CPU share, from unrounded values.
pub(super) fn efficiency(figures: &Figures, cpu_allowance: f64) -> Option<f64> {
    Some(figures.rate_mib_per_s? / (figures.cpu_percent? / 100.0 + cpu_allowance))
}

/// The CPU share as text, cut to its field.
pub(super) fn cpu_text(percent: Option<f64>, width: usize) -> String {
    match percent {
        Some(percent) if percent.is_finite() => right(&number(percent), width),
        _ => unknown(width),
    }
}

/// The size as the driver's option has it.
pub(super) fn size_text(row: &Row<'_>) -> String {
    row.size_mib.map_or_else(|| "-".to_owned(), number)
}

pub(super) fn integer(value: Option<i64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The first column of every row, and what it takes to read it.
pub(super) struct Names {
    pub(super) firsts: Vec<String>,
    /// The directories by number, when they stand as numbers in the first column.
    pub(super) legend: Vec<String>,
}

/// Tells directories apart in the first column: `IDENTIFIER:DIR` where that fits
/// and has no blank in it, else `IDENTIFIER:1` and so on with a legend.
pub(super) fn names(rows: &[Row<'_>], width: usize) -> Names {
    let mut directories: Vec<&str> = Vec::new();
    for row in rows {
        if let Some(directory) = row
            .directory
            .as_deref()
            .filter(|d| !directories.contains(d))
        {
            directories.push(directory);
        }
    }
    if directories.len() < 2 {
        return Names {
            firsts: rows.iter().map(|row| row.identifier.clone()).collect(),
            legend: Vec::new(),
        };
    }
    let suffix = |row: &Row<'_>| row.directory.clone().unwrap_or_default();
    let fits = rows.iter().all(|row| {
        let suffix = suffix(row);
        row.identifier.len() + 1 + suffix.len() <= width && !suffix.contains(' ')
    });
    if fits {
        return Names {
            firsts: rows
                .iter()
                .map(|row| format!("{}:{}", row.identifier, suffix(row)))
                .collect(),
            legend: Vec::new(),
        };
    }
    let numbered = |row: &Row<'_>| {
        let place = directories
            .iter()
            .position(|d| row.directory.as_deref() == Some(d));
        let suffix = format!(":{}", place.map_or(0, |place| place + 1));
        let room = width.saturating_sub(suffix.len()).min(row.identifier.len());
        format!("{}{suffix}", &row.identifier[..room])
    };
    Names {
        firsts: rows.iter().map(numbered).collect(),
        legend: directories
            .iter()
            .zip(1..)
            .map(|(directory, place)| format!("Directory {place} = {directory}"))
            .collect(),
    }
}

/// What has to be said before the table, so that nobody misreads it.
pub(super) fn heading(rows: &[Row<'_>], options: &ClassicOptions, names: &Names) -> String {
    let mut text = String::new();
    if options.latencies == Latencies::SummedAsWas {
        let runs = rows.iter().map(|row| row.trials.len()).max().unwrap_or(0);
        let _ = writeln!(
            text,
            "Latency and Lat% are SUMS over {runs} {}, as tiobench 0.3.3 printed them.",
            if runs == 1 { "run" } else { "runs" }
        );
    }
    for line in &names.legend {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// What has to be said after the table: how runs were combined, and what is missing.
pub(super) fn remarks(rows: &[Row<'_>], options: &ClassicOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    let runs = rows.iter().map(|row| row.trials.len()).max().unwrap_or(0);
    if runs > 1 && options.latencies == Latencies::Averaged {
        remarks.push(format!(
            "Latency and Lat% are means over {runs} runs; tiobench 0.3.3 printed sums."
        ));
    }
    remarks.extend(
        rows.iter()
            .flat_map(Row::gaps)
            .map(|gap| format!("Not measured: {gap}")),
    );
    remarks
}

/// The remarks after a blank line, none without any.
pub(super) fn remark_lines(remarks: &[String]) -> String {
    let mut text = String::new();
    for (index, remark) in remarks.iter().enumerate() {
        if index == 0 {
            text.push('\n');
        }
        for line in wrap(remark, WIDTH) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}
