//! Candidates held against a baseline: the verdicts first and the worst of them first,
//! what moved with them, what speaks against them, and what it all comes to last.

mod context;
mod csv;
mod doubts;
mod entry;
mod grid;
mod groups;
mod head;
mod junit;
mod latencies;
mod lint;
mod listing;
mod mail;
mod markdown;
mod overview;
mod percent_table;
mod reasons;
mod subject;
mod times;

use stiction_analysis::compare::{Comparison, Matrix, SummaryTable};
use stiction_analysis::noise::Repeat;
use stiction_core::MetricClass;

use crate::page::{Page, Role, Span, Style};
use doubts::write_doubts;
use entry::shared_levels;
use reasons::{write_noise, write_reasons};

pub use csv::csv;
pub use junit::{JunitRules, junit};
pub use lint::{MAIL_WIDTH, MailFault, mail_faults};
pub use mail::mail;
pub use markdown::markdown;
pub use percent_table::osdl;

/// How much of a comparison is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Every row: those that are the same and those that are only described, too.
    pub all: bool,
    /// Where the time of every phase went, and not only of those whose rows stand first.
    pub why: bool,
}

/// The verdicts, every figure that a reader has to see with its change, the reasons,
/// and what it all comes to in the last line.
#[must_use]
pub fn comparison(matrix: &Matrix, shown: Shown, style: Style) -> String {
    let mut page = Page::of_width(style, MAIL_WIDTH);
    head::write_head(&mut page, matrix);
    match &matrix.comparisons[..] {
        [only] => write_comparison(&mut page, only, shown),
        several => {
            overview::write_overview(&mut page, matrix);
            for comparison in several {
                page.blank();
                head::write_candidate(&mut page, comparison);
                if shown.all {
                    write_comparison(&mut page, comparison, shown);
                } else {
                    write_candidate(&mut page, comparison, shown);
                }
            }
            if !shown.all {
                write_doubts(&mut page, several);
                write_reasons(&mut page, matrix.rows().map(|(_, row)| row));
            }
        }
    }
    for noise in noises(matrix) {
        write_noise(&mut page, noise);
    }
    if matrix.comparisons.len() > 1 || matrix.tables.iter().any(has_repeat) {
        // Of a single cell the overview has told as much.
        let says_more = |table: &&SummaryTable| shown.all || has_repeat(table) || has_cells(table);
        for table in told_tables(matrix, shown).filter(says_more) {
            percent_table::write_percent_table(&mut page, matrix, table);
        }
    }
    page.blank();
    let (role, text) = head::answer(matrix);
    page.paragraph("", Span::new(role, text));
    page.finish()
}

fn write_comparison(page: &mut Page, comparison: &Comparison, shown: Shown) {
    let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
    context::write_before(page, comparison);
    listing::write_listing(page, comparison, &shared, shown);
    times::write_why(page, comparison, &shared, shown);
    context::write_unmatched(page, comparison);
    write_doubts(page, std::slice::from_ref(comparison));
    write_reasons(page, &comparison.rows);
    context::write_after(page, comparison);
}

/// What the overview does not tell of one candidate among several: what differs that does
/// not belong to it, and where its time went if that is asked for.
fn write_candidate(page: &mut Page, comparison: &Comparison, shown: Shown) {
    context::write_unexpected(page, comparison);
    if shown.why {
        let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
        times::write_why(page, comparison, &shared, shown);
    }
    context::write_unmatched(page, comparison);
}

/// What the sessions show of their own noise, once for candidates of the same sessions.
fn noises(matrix: &Matrix) -> Vec<&[Repeat]> {
    let mut found: Vec<&[Repeat]> = Vec::new();
    for comparison in &matrix.comparisons {
        if !found.contains(&comparison.noise.as_slice()) {
            found.push(&comparison.noise);
        }
    }
    found
}

/// The tables over several cells or of several candidates: of rates and times, and of all
/// metrics where all is asked for.
fn told_tables(matrix: &Matrix, shown: Shown) -> impl Iterator<Item = &SummaryTable> {
    let several = matrix.comparisons.len() > 1;
    matrix.tables.iter().filter(move |table| {
        let says_more = several || has_repeat(table) || has_cells(table);
        says_more && (shown.all || table.metric.class == MetricClass::Throughput)
    })
}

fn has_cells(table: &SummaryTable) -> bool {
    table.rows.iter().any(|row| row.cells > 1)
}

fn has_repeat(table: &SummaryTable) -> bool {
    table.rows.iter().any(|row| row.repeats_baseline)
}

/// A line that introduces a part of a report.
fn heading(page: &mut Page, text: impl Into<String>) {
    page.blank();
    page.paragraph("", Span::new(Role::Strong, text));
}
