//! Reports of Bonnie and of Bonnie++: text, and comma-separated lines.
//!
//! ```text
//!      -------Sequential Output-------- ---Sequential Input-- --Random--
//!      -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
//!   MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
//! 1000  7197 27.4  8557 12.0  4273  7.3  8049 40.6  9049  8.0 111.5  1.3
//! ```

mod csv;
mod figures;
mod row;
mod version;

use stiction_core::{Cell, Phase};

use crate::command::{Command, Program};
use crate::harvest::{Harvest, Row};
use crate::label::Titles;
use crate::page::Page;
use figures::add_latency;
use row::Report;

/// Lines of a head.
const HEAD_LINES: usize = 3;

/// Reads every report.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    csv::read(page, harvest);
    let titles = Titles::of(page);
    // The second part of 1.0x does not say whose it is.
    let mut named_above = None;
    let mut index = 0;
    while index < page.len() {
        let Some(report) = report_at(page, index) else {
            index += 1;
            continue;
        };
        let first_row = index + HEAD_LINES;
        let end = rows(page, harvest, &titles, &report, &mut named_above, first_row);
        if end > first_row {
            (index..first_row).for_each(|line| page.claim(line));
        }
        index = end;
    }
}

/// The report whose head begins on line `index`.
fn report_at(page: &Page, index: usize) -> Option<Report> {
    let is_open = (index..index + HEAD_LINES).all(|line| page.is_open(line));
    is_open.then(|| Report::of_head([index, index + 1, index + 2].map(|line| page.text(line))))?
}

/// Reads rows from line `index` on; the line after the last one.
fn rows(
    page: &mut Page,
    harvest: &mut Harvest,
    titles: &Titles,
    report: &Report,
    named_above: &mut Option<String>,
    mut index: usize,
) -> usize {
    while page.is_open(index) && !page.is_blank(index) {
        let mut lines = 1;
        let mut words = page.words(index);
        if report.lacks_words(&words) && page.is_open(index + 1) {
            words.extend(page.words(index + 1));
            lines = 2;
        }
        let parsed = match report.row(&words) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => break,
            Err(reason) => {
                page.refuse(index, reason);
                index += 1;
                continue;
            }
        };
        let line = page.number(index);
        let above = titles.claim_above(page, index);
        let size = parsed
            .file_size_bytes
            .or_else(|| size_of_command(harvest, index));
        let mut cell = Cell::new();
        if report.is_files {
            cell = cell.with("files", parsed.files.as_str());
        } else if let Some(size) = size {
            cell = cell.with("file_size_bytes", size);
        }
        if let Some(machine) = parsed.label.as_ref().filter(|_| above.is_some()) {
            harvest.state("machine", machine.as_str());
        }
        let label = above.or(parsed.label.clone());
        let label = if report.is_files {
            label.or(report.name.clone()).or(named_above.clone())
        } else {
            named_above.clone_from(&label);
            label
        };
        let mut phases = parsed.phases(report, size);
        if take_latencies(page, index + lines, &mut phases) {
            lines += 1;
        }
        for phase in phases.into_iter().flatten() {
            harvest.add(
                report.layout(),
                Row {
                    line,
                    label: label.clone(),
                    cell: cell.clone(),
                    phase,
                },
            );
        }
        (index..index + lines).for_each(|line| page.claim(line));
        index += lines;
    }
    index
}

/// Adds the latencies of line `index` to the phases, if it is such a line; the columns
/// of phases that did not run are blank there.
fn take_latencies(page: &Page, index: usize, phases: &mut [Option<Phase>]) -> bool {
    const LABEL: usize = 17;
    const COLUMN: usize = 10;
    if !page.is_open(index) || page.words(index).first() != Some(&"Latency") {
        return false;
    }
    let words = page.words(index);
    let text = page.text(index);
    let by_place = |place: usize| {
        let start = LABEL + place * COLUMN;
        let end = (start + COLUMN).min(text.len());
        text.get(start..end).unwrap_or("").trim()
    };
    for (place, phase) in phases.iter_mut().enumerate() {
        let latency = match words.get(place + 1) {
            Some(word) if words.len() == 1 + figures::IO_PHASES.len() => word,
            _ => by_place(place),
        };
        if let Some(phase) = phase {
            add_latency(phase, latency);
        }
    }
    true
}

/// The size that the nearest Bonnie command above line `index` asks for.
fn size_of_command(harvest: &Harvest, index: usize) -> Option<u64> {
    Command::above(&harvest.commands, Program::Bonnie, index)
        .and_then(|command| command.file_sizes_bytes().last().copied())
}
