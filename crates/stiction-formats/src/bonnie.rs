//! Text reports of Bonnie and of Bonnie++ up to 1.9x.
//!
//! ```text
//!      -------Sequential Output-------- ---Sequential Input-- --Random--
//!      -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
//!   MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
//! 1000  7197 27.4  8557 12.0  4273  7.3  8049 40.6  9049  8.0 111.5  1.3
//! ```

mod row;

use stiction_core::Cell;

use crate::command::{Command, Program};
use crate::harvest::{Harvest, Row};
use crate::label::Titles;
use crate::page::Page;
use row::Report;

/// Lines of a head.
const HEAD_LINES: usize = 3;

/// Reads every report.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let titles = Titles::of(page);
    let mut index = 0;
    while index < page.len() {
        let Some(report) = report_at(page, index) else {
            index += 1;
            continue;
        };
        let first_row = index + HEAD_LINES;
        let end = rows(page, harvest, &titles, &report, first_row);
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
        if let Some(size) = size {
            cell = cell.with("file_size_bytes", size);
        }
        if let Some(machine) = parsed.label.as_ref().filter(|_| above.is_some()) {
            harvest.state("machine", machine.as_str());
        }
        let label = above.or(parsed.label.clone());
        for phase in parsed.phases(report, size) {
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

/// The size that the nearest Bonnie command above line `index` asks for.
fn size_of_command(harvest: &Harvest, index: usize) -> Option<u64> {
    Command::above(&harvest.commands, Program::Bonnie, index)
        .and_then(|command| command.file_sizes_bytes().last().copied())
}
