//! The table in which tiobench results of several kernels were posted to mailing
//! lists in 2002 and 2003: one row a kernel, size and block in prose.

use std::fmt::Write as _;

use stiction_core::Session;

use super::driver::{efficiency, integer, remark_lines, remarks};
use super::perl::unknown;
use super::row::{Figures, Row, rows};
use super::{ClassicOptions, Latencies};
use crate::text::ascii;

/// Phases in the order of the posts, with their titles.
const SECTIONS: [(&str, &str); 4] = [
    ("write", "Sequential Writes"),
    ("read", "Sequential Reads"),
    ("random_write", "Random Writes"),
    ("random_read", "Random Reads"),
];
/// Dashes under the figures.
const RULE: usize = 60;

/// Rows of one size and block size, which stand in prose over their tables.
struct Group<'a> {
    size_mib: Option<f64>,
    block_size_bytes: Option<i64>,
    rows: Vec<(Row<'a>, &'a str)>,
}

/// The sessions side by side, one row for each in every table. Without several
/// thread counts there is no column for them, as in the posts.
#[must_use]
pub fn posted(sessions: &[&Session], options: &ClassicOptions) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for session in sessions {
        for row in rows(session, options) {
            let filesystem = filesystem(session, &row);
            let key = (row.size_mib, row.block_size_bytes);
            match groups
                .iter_mut()
                .find(|group| (group.size_mib, group.block_size_bytes) == key)
            {
                Some(group) => group.rows.push((row, filesystem)),
                None => groups.push(Group {
                    size_mib: row.size_mib,
                    block_size_bytes: row.block_size_bytes,
                    rows: vec![(row, filesystem)],
                }),
            }
        }
    }
    let mut text = String::new();
    for group in &mut groups {
        group.rows.sort_by_key(|(row, _)| row.threads);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&group_text(group, options));
    }
    text
}

/// The filesystem of a row, empty when nothing says.
fn filesystem<'a>(session: &'a Session, row: &Row<'a>) -> &'a str {
    let cell = row.trials.first().map(|trial| &trial.cell);
    if let Some(stiction_core::Level::Text(name)) = cell.and_then(|cell| cell.get("filesystem")) {
        return name;
    }
    match &session.header.environment.targets[..] {
        [stack] => stack.filesystem.as_ref().map_or("", |fs| fs.kind.as_str()),
        _ => "",
    }
}

fn group_text(group: &Group<'_>, options: &ClassicOptions) -> String {
    let mut threads: Vec<Option<i64>> = group.rows.iter().map(|(row, _)| row.threads).collect();
    threads.dedup();
    let alone = threads.len() == 1;
    let width = group
        .rows
        .iter()
        .map(|(row, _)| row.identifier.len())
        .max()
        .unwrap_or(0)
        .max(10);
    let mut text = prose(group, alone);
    for (phase, title) in SECTIONS {
        let lines: Vec<(Option<i64>, String)> = group
            .rows
            .iter()
            .filter_map(|(row, _)| {
                let figures = row.figures(phase, options.latencies)?;
                let count = (!alone).then(|| integer(row.threads));
                Some((row.threads, line(row, width, count.as_deref(), &figures)))
            })
            .collect();
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", titled(title, group));
        text.push_str(&head(width, alone));
        let mut previous = lines[0].0;
        for (threads, line) in lines {
            if threads != previous {
                text.push('\n');
                previous = threads;
            }
            let _ = writeln!(text, "{line}");
        }
    }
    if options.latencies == Latencies::SummedAsWas {
        text.push_str(
            "\nLatency and Lat% are SUMS over the runs, as tiobench 0.3.3 printed them.\n",
        );
    }
    let rows: Vec<Row<'_>> = group.rows.iter().map(|(row, _)| row.clone()).collect();
    text.push_str(&remark_lines(&remarks(&rows, options)));
    text
}

fn prose(group: &Group<'_>, alone: bool) -> String {
    let mut parts = Vec::new();
    if let Some(size) = group.size_mib {
        parts.push(if size >= 1024.0 && size % 1024.0 == 0.0 {
            format!("{} GB files", size / 1024.0)
        } else {
            format!("{size} MB files")
        });
    }
    if let Some(block) = group.block_size_bytes {
        parts.push(if block % 1024 == 0 {
            format!("{}K blocksize", block / 1024)
        } else {
            format!("{block} bytes blocksize")
        });
    }
    if let Some(threads) = group.rows.first().and_then(|(row, _)| row.threads)
        && alone
    {
        parts.push(format!("{threads} threads"));
    }
    let mut text = String::new();
    if !parts.is_empty() {
        let _ = writeln!(text, "{}", parts.join("  "));
    }
    text.push_str("Rate = MB/sec  latency in milliseconds\n");
    text
}

/// `Sequential Writes ext3`; the filesystem is left out where rows differ in it.
fn titled(title: &str, group: &Group<'_>) -> String {
    let filesystem = ascii(group.rows[0].1);
    if filesystem.is_empty() || group.rows.iter().any(|(_, other)| *other != filesystem) {
        return title.to_owned();
    }
    format!("{title} {filesystem}")
}

fn head(width: usize, alone: bool) -> String {
    let (gap, thr, rule) = if alone {
        ("", "", "")
    } else {
        ("     ", "  Thr", "  ---")
    };
    format!(
        "{blank:width$}{gap}                       Avg       Maximum    Lat%     Lat%    CPU
{kernel:width$}{thr}    Rate  (CPU%)   Latency       Latency     >2s     >10s    Eff
{dashes}{rule} {figures}
",
        blank = "",
        kernel = "Kernel",
        dashes = "-".repeat(width),
        figures = "-".repeat(RULE),
    )
}

fn line(row: &Row<'_>, width: usize, threads: Option<&str>, figures: &Figures) -> String {
    let figure = |value: Option<f64>, width: usize, decimals: usize| match value {
        Some(value) if value.is_finite() => format!("{value:width$.decimals$}"),
        _ => unknown(width),
    };
    let threads = threads.map_or_else(String::new, |threads| format!("  {threads:>3}"));
    format!(
        "{:width$}{threads}  {}  {}% {} {} {} {} {}",
        row.identifier,
        figure(figures.rate_mib_per_s, 6, 2),
        cpu(figures.cpu_percent),
        figure(figures.latency_ms_mean, 9, 3),
        figure(figures.latency_ms_max, 13, 2),
        figure(figures.over_2s_percent, 8, 5),
        figure(figures.over_10s_percent, 8, 5),
        figure(efficiency(figures, 0.0), 5, 0),
    )
}

/// The CPU share in five columns; from 100 on it has a decimal less.
fn cpu(percent: Option<f64>) -> String {
    match percent {
        Some(percent) if percent >= 99.995 => format!("{percent:5.1}"),
        Some(percent) if percent.is_finite() => format!("{percent:5.2}"),
        _ => unknown(5),
    }
}
