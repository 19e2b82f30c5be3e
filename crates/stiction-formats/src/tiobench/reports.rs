//! One run of the driver after the other in a text, and how many runs of tiotest
//! each of them adds up.

use std::collections::BTreeSet;
use std::ops::Range;

use stiction_core::CaveatCode;

use super::known::{Known, Layout};
use super::runs::{self, Runs, Said, Sample};
use super::said::Remarks;
use crate::command::{Command, Program};
use crate::harvest::Harvest;

/// Splits rows into reports: a driver prints each section once, so a title that
/// comes again begins another report. Tables made for mail put many reports side by
/// side, by one author and one script: they are one.
pub(super) fn split(rows: &[Known]) -> Vec<Range<usize>> {
    let mut reports: Vec<Range<usize>> = Vec::new();
    let mut titles_seen = BTreeSet::new();
    let mut title_before = None;
    for (nth, row) in rows.iter().enumerate() {
        let title = (row.at.title_index, row.at.layout);
        let is_new_section = title_before != Some(title);
        let comes_again = is_new_section
            && row.at.layout != Layout::Posted
            && titles_seen.contains(&row.at.title);
        let is_other_layout = title_before.is_some_and(|(_, layout)| layout != row.at.layout);
        match reports.last_mut() {
            Some(report) if !comes_again && !is_other_layout => report.end = nth + 1,
            _ => {
                reports.push(nth..nth + 1);
                titles_seen.clear();
            }
        }
        titles_seen.insert(&row.at.title);
        title_before = Some(title);
    }
    reports
}

/// How many runs the rows of `report` add up.
pub(super) fn runs_of(
    report: &Range<usize>,
    rows: &[Known],
    commands: &[Command],
    remarks: &Remarks,
) -> Runs {
    let samples: Vec<Sample> = rows[report.clone()].iter().filter_map(sample).collect();
    let index = |nth: usize| rows.get(nth).map(|row| row.at.index);
    let before = report
        .start
        .checked_sub(1)
        .and_then(index)
        .map_or(0, |last| last + 1);
    let first = index(report.start).unwrap_or(0);
    let after = index(report.end).unwrap_or(usize::MAX);
    let drivers = || commands.iter().filter(|c| c.program == Program::Tiobench);
    let command = match drivers().count() {
        1 => drivers().next(),
        _ => Command::above(commands, Program::Tiobench, first),
    };
    let said = Said {
        numruns: remarks
            .sums(before..first)
            .or_else(|| command.and_then(Command::runs)),
        means: remarks.means(first..after),
        progress: commands
            .iter()
            .filter(|command| (before..after).contains(&command.index))
            .filter_map(|command| command.run)
            .max(),
    };
    runs::infer(&samples, said)
}

/// The evidence of a row. 0.4 prints random rates far too high, so they are none.
fn sample(row: &Known) -> Option<Sample> {
    if row.at.layout == Layout::V0_4 && row.is_random() {
        return None;
    }
    Sample::of(
        &row.at.printed,
        row.block_bytes()?,
        row.thread_count()?,
        row.at.title.phase == "read",
        row.at.line,
    )
}

/// Doubts the latencies of a report whose runs cannot be told. That they were
/// divided is said by each phase.
pub(super) fn doubt(harvest: &mut Harvest, runs: &Runs) {
    match runs {
        Runs::Known(..) | Runs::AtLeast(..) | Runs::Means(_) => {}
        Runs::Unknown => harvest.doubt(
            CaveatCode::SummedOverRuns,
            "tiobench adds latencies up over --numruns, and nothing in the text tells how many \
             runs there were",
        ),
        Runs::Contradiction(reason) => {
            harvest.doubt(CaveatCode::Inconsistent, reason.clone());
        }
    }
}
