//! The comma-separated lines of Bonnie++, with all fields of each version.

use stiction_core::Session;

use super::Version;
use super::row::{Figures, Row, rows};
use super::spelled::{chunk, kib_per_s, latency, per_s, size, whole};

/// The program, where Bonnie++ has its version: readers that know its versions correct
/// what is wrong with their figures, and nothing of that is wrong here.
const PROGRAM: &str = "stiction";

/// One line for each run: 27 fields of 1.03e, 48 of 1.96, 50 of 2.00a.
#[must_use]
pub fn csv(session: &Session, version: Version) -> String {
    rows(session)
        .iter()
        .map(|row| fields(row, version).join(",") + "\n")
        .collect()
}

fn fields(row: &Row, version: Version) -> Vec<String> {
    let machine = row.machine.clone();
    let mut size = row.size_bytes.map(size).unwrap_or_default();
    let chunk = row.chunk_bytes.map(chunk).unwrap_or_default();
    if version == Version::V103e {
        if !chunk.is_empty() {
            size = format!("{size}:{chunk}");
        }
        let mut all = vec![machine, size];
        all.extend(io_values(row));
        all.push(row.files.joined('/'));
        all.extend(file_values(row));
        return all;
    }
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let format_version = match version {
        Version::V200a => "1.98",
        _ => version.as_str(),
    };
    let mut all = vec![
        format_version.to_owned(),
        PROGRAM.to_owned(),
        machine,
        row.concurrency.to_string(),
        number(row.seed),
        size,
        chunk,
    ];
    if version == Version::V200a {
        all.extend([number(row.seeks), number(row.seekers)]);
    }
    all.extend(io_values(row));
    let files = &row.files;
    all.extend([&files.count, &files.max, &files.min, &files.directories].map(Clone::clone));
    // The chunk of the files, which is that of the file where it is not said.
    all.push(String::new());
    all.extend(file_values(row));
    all.extend(row.io.iter().chain(&row.of_files).map(latency_text));
    all
}

fn latency_text(figures: &Figures) -> String {
    figures.latency_ns_max.map(latency).unwrap_or_default()
}

fn io_values(row: &Row) -> Vec<String> {
    let of = |(place, figures): (usize, &Figures)| {
        let spell = if place == 5 { per_s } else { kib_per_s };
        pair(figures, spell)
    };
    row.io.iter().enumerate().flat_map(of).collect()
}

fn file_values(row: &Row) -> Vec<String> {
    let of = |figures: &Figures| pair(figures, whole);
    row.of_files.iter().flat_map(of).collect()
}

fn pair(figures: &Figures, spell: fn(f64) -> String) -> [String; 2] {
    [
        figures.rate.spelled("+++++", spell),
        figures.cpu_percent.spelled("+++", whole),
    ]
}
