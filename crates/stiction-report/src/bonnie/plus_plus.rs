//! The text reports of Bonnie++.

use stiction_core::Session;

use super::Version;
use super::row::{Figures, Row, rows};
use super::spelled::{chunk, kib_per_s, latency, per_s, scaled_rate, size, whole};

/// Columns before the first figure.
const NAME: usize = 19;

const IO_HEAD: [&str; 2] = [
    "------Sequential Output------ --Sequential Input- --Random-",
    "-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--",
];
const FILE_HEAD: [&str; 2] = [
    "------Sequential Create------ --------Random Create--------",
    "-Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--",
];
const K_PER_S: &str = " K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP";
const PER_S: &str = "  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP";

/// The report of that version: one part for all runs on one file, one for all runs on
/// many, as `bon_csv2txt` puts several runs together.
#[must_use]
pub fn plus_plus(session: &Session, version: Version) -> String {
    let rows = rows(session);
    let mut lines = Vec::new();
    let io: Vec<&Row> = rows.iter().filter(|row| row.has_io()).collect();
    if !io.is_empty() {
        lines.extend(io_head(&io, version));
        for row in &io {
            lines.push(io_row(row, version));
            lines.extend(latency_line(&row.io, version));
        }
    }
    let of_files: Vec<&Row> = rows.iter().filter(|row| row.has_files()).collect();
    if let Some(first) = of_files.first() {
        lines.extend(file_head(first, io.is_empty(), version));
        for row in &of_files {
            lines.push(file_row(row));
            lines.extend(latency_line(&row.of_files, version));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn version_cell(version: Version) -> String {
    format!("Version {:>5}       ", version.as_str())
}

fn io_head(rows: &[&Row], version: Version) -> [String; 3] {
    let has_chunk = rows.iter().any(|row| row.chunk_bytes.is_some());
    let concurrency = rows.first().map_or(1, |row| row.concurrency);
    let second = match version {
        Version::V196 => format!("{:20}", format!("Concurrency {concurrency:3}")),
        _ => " ".repeat(20),
    };
    let third = match (version, has_chunk) {
        (Version::V200a, _) => format!("{:NAME$}{PER_S}", "Name:Size etc"),
        (_, true) => format!("{:NAME$}{K_PER_S}", "Machine   Size:chnk"),
        (_, false) => format!("{:NAME$}{K_PER_S}", "Machine        Size"),
    };
    [
        format!("{}{}", version_cell(version), IO_HEAD[0]),
        format!("{second}{}", IO_HEAD[1]),
        third,
    ]
}

fn io_row(row: &Row, version: Version) -> String {
    let mut size = size(row.size_bytes.unwrap_or(0));
    let chunk = row.chunk_bytes.map(chunk);
    if version == Version::V200a {
        let concurrency = (row.concurrency > 1).then(|| row.concurrency.to_string());
        let parts = [chunk, concurrency].map(Option::unwrap_or_default);
        size = format!("{size}:{}", parts.join(":"));
        size.truncate(size.trim_end_matches(':').len());
    } else if let Some(chunk) = chunk {
        size = format!("{size}:{chunk}");
    }
    let mut text = name_cell(&row.machine, &size);
    for (place, figures) in row.io.iter().enumerate() {
        let rate = match (place, version) {
            (5, _) => figures.rate.spelled("+++++", per_s),
            (_, Version::V200a) => figures.rate.spelled("+++++", scaled_rate),
            _ => figures.rate.spelled("+++++", kib_per_s),
        };
        text.push_str(&pair(&rate, figures));
    }
    text
}

/// The name, cut so that what stands at its right ends in the last column.
fn name_cell(name: &str, right: &str) -> String {
    let room = NAME.saturating_sub(right.len() + 1);
    format!("{name:room$.room$} {right}")
}

/// A rate and its CPU share, each after a blank.
fn pair(rate: &str, figures: &Figures) -> String {
    let cpu = figures.cpu_percent.spelled("+++", whole);
    format!(" {rate:>5} {cpu:>3}")
}

fn latency_line(figures: &[Figures; 6], version: Version) -> Option<String> {
    if version == Version::V103e || figures.iter().all(|one| one.latency_ns_max.is_none()) {
        return None;
    }
    let mut text = format!("{:17}", "Latency");
    for one in figures {
        let spelled = one.latency_ns_max.map(latency).unwrap_or_default();
        text.push_str(&format!(" {spelled:>9}"));
    }
    Some(text)
}

/// The head of the second part. Where it is the first of the report, or always since
/// 1.9x, version and name stand in front.
fn file_head(row: &Row, is_first: bool, version: Version) -> [String; 3] {
    let named = is_first || version > Version::V103e;
    let blank = || " ".repeat(20);
    let [first, second] = if named {
        [version_cell(version), format!("{:20.20}", row.machine)]
    } else {
        [blank(), blank()]
    };
    let files = &row.files;
    let title = if !files.min.is_empty() {
        "files:max:min       ".trim_end()
    } else if !files.max.is_empty() && files.max.bytes().all(|byte| byte.is_ascii_digit()) {
        "files:max"
    } else {
        "              files"
    };
    [
        format!("{first}{}", FILE_HEAD[0]),
        format!("{second}{}", FILE_HEAD[1]),
        format!("{title:NAME$}{PER_S}"),
    ]
}

fn file_row(row: &Row) -> String {
    let mut text = format!("{:>NAME$}", row.files.joined('/'));
    for figures in &row.of_files {
        let rate = figures.rate.spelled("+++++", whole);
        text.push_str(&pair(&rate, figures));
    }
    text
}
