//! Reports of tiobench's driver in all their layouts, of the scripts that sum
//! them up, and the tables that people made of them for mail.

mod cut;
mod doubts;
mod head;
mod known;
mod old;
mod phases;
mod reports;
mod row;
mod runs;
mod said;

use crate::harvest::Harvest;
use crate::label;
use crate::page::Page;
use head::{Head, Title};
use known::{Layout, Placed};
use row::{NoRow, Printed};
use said::{Remark, Remarks};

/// Reads every report.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let mut scan = Scan::default();
    for index in 0..page.len() {
        if page.is_open(index) && !page.is_blank(index) {
            scan.line(page, index);
        }
    }
    if !scan.rows.is_empty() || !scan.old_rows.is_empty() {
        scan.units.iter().for_each(|&line| page.claim(line));
    }
    phases::finish(harvest, scan.rows, &scan.remarks);
    old::finish(page, harvest, scan.old_rows, &scan.remarks);
}

/// Where in a report the scan is, and the rows that it has found.
#[derive(Default)]
struct Scan {
    title: Option<(Title, usize)>,
    head: Option<Head>,
    /// Lines of the table so far, to be claimed with its first row.
    pending: Vec<usize>,
    /// Lines that explain units or say how figures were made.
    units: Vec<usize>,
    remarks: Remarks,
    is_0_4: bool,
    /// The unit of maxima, which a compact table names in its first row alone.
    max_unit_ns: Option<f64>,
    rows: Vec<Placed>,
    old_rows: Vec<old::OldRow>,
}

impl Scan {
    /// Looks at one line that is open and not blank.
    fn line(&mut self, page: &mut Page, index: usize) {
        let text = page.text(index);
        if head::is_units(text) {
            self.is_0_4 = head::says_version(text).unwrap_or(self.is_0_4);
            self.units.push(index);
            return;
        }
        if let Some(remark) = Remark::parse(text) {
            self.remarks.add(index, remark);
            self.units.push(index);
            return;
        }
        if let Some(title) = Title::parse(text) {
            self.title = Some((title, index));
            self.head = None;
            self.max_unit_ns = None;
            self.pending = vec![index];
            return;
        }
        if label::is_rule(text) {
            self.pending.push(index);
            return;
        }
        let mut head = self.head.unwrap_or_default();
        if head.add_line(text) {
            self.head = Some(head);
            self.pending.push(index);
            return;
        }
        if self.head.is_some_and(|head| head.four_phases) {
            self.old_row(page, index);
        } else {
            self.row(page, index);
        }
    }

    fn old_row(&mut self, page: &mut Page, index: usize) {
        let begins_table = !self.pending.is_empty();
        match old::parse(page, index, begins_table) {
            Ok((row, lines)) => {
                self.claim(page, index, lines);
                self.old_rows.push(row);
            }
            Err(NoRow::Broken(reason)) => page.refuse(index, reason),
            Err(NoRow::Prose | NoRow::Unfinished) => {}
        }
    }

    fn row(&mut self, page: &mut Page, index: usize) {
        let parsed = parse_with_next(page, index, self.head.as_ref());
        let Some((title, title_index)) = &self.title else {
            let is_whole = matches!(&parsed, Ok((row, _)) if row.efficiency.is_some());
            if is_whole {
                page.refuse(
                    index,
                    "a row of tiobench under no title that names its phase",
                );
            }
            return;
        };
        match parsed {
            Ok((mut printed, lines)) => {
                let is_underlined = page.text(title_index + 1).trim_start().starts_with("==");
                let layout = match (&self.head, printed.size_mib) {
                    _ if self.is_0_4 || is_underlined => Layout::V0_4,
                    (Some(head), _) if head.size && head.kernel => Layout::Tiosum,
                    (Some(head), _) if head.size => Layout::V0_3_3,
                    (None, Some(_)) => Layout::V0_3_3,
                    _ => Layout::Posted,
                };
                if printed.max_unit_ns > 1e6 {
                    self.max_unit_ns = Some(printed.max_unit_ns);
                }
                printed.max_unit_ns = self.max_unit_ns.unwrap_or(printed.max_unit_ns);
                self.rows.push(Placed {
                    index,
                    line: page.number(index),
                    layout,
                    title_index: *title_index,
                    title: title.clone(),
                    named_kernel: self.head.is_some_and(|head| head.kernel),
                    printed,
                });
                self.claim(page, index, lines);
            }
            Err(NoRow::Unfinished) => {
                page.refuse(index, "a row of tiobench without all of its figures");
            }
            Err(NoRow::Broken(reason)) => page.refuse(index, reason),
            Err(NoRow::Prose) => {}
        }
    }

    fn claim(&mut self, page: &mut Page, index: usize, lines: usize) {
        self.pending.drain(..).for_each(|line| page.claim(line));
        (index..index + lines).for_each(|line| page.claim(line));
    }
}

/// The row on line `index`, or on it and the next where mail broke it in two.
fn parse_with_next(
    page: &Page,
    index: usize,
    head: Option<&Head>,
) -> Result<(Printed, usize), NoRow> {
    let words = page.words(index);
    let alone = row::parse(&words, head);
    let may_go_on = matches!(alone, Err(NoRow::Unfinished | NoRow::Prose));
    if may_go_on && page.is_open(index + 1) && !page.is_blank(index + 1) {
        let next = page.words(index + 1);
        let next_is_whole = row::parse(&next, head).is_ok_and(|row| row.name.is_some());
        let joined = [words, next].concat();
        if let (false, Ok(row)) = (next_is_whole, row::parse(&joined, head)) {
            return Ok((row, 2));
        }
    }
    alone.map(|row| (row, 1))
}
