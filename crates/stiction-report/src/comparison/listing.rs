//! The rows of one candidate, worst first, what is the same folded.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Change, Comparison, RemarkCode, Row};
use stiction_core::Cell;

use super::Shown;
use super::entry::{
    Entry, Kind, change_text, entries, interval_text, p_text, value_text, worst_first,
};
use super::grid::{Grid, Head, Line};
use crate::figure::{ratio, size_percent};
use crate::page::{Page, Role, Span};
use crate::text::counted;

/// Rows of which nothing can be told that are listed unless all are asked for.
const MOST_UNKNOWN: usize = 16;

/// Remarks that many rows share, and that are no different where nothing can be told.
const GATHERED: [RemarkCode; 3] = [RemarkCode::Drift, RemarkCode::Modes, RemarkCode::Outlier];

/// Every row that the reader has to see, worst first, and how many are folded.
pub(super) fn write_listing(page: &mut Page, comparison: &Comparison, shared: &Cell, shown: Shown) {
    let mut entries = entries(comparison, shared);
    worst_first(&mut entries);
    let folded = fold(&mut entries, shown);
    if !entries.is_empty() {
        page.blank();
        grid(comparison, &entries, shown).write(page);
    }
    for text in gathered(&entries, shown) {
        page.line(Span::new(Role::Faint, text));
    }
    for (count, what) in folded {
        let text = format!("  {} {what} (--all lists them)", counted(count, "figure"));
        page.line(Span::new(Role::Faint, text));
    }
}

/// Takes away what is not listed, and says how many rows of what that is.
fn fold(entries: &mut Vec<Entry<'_>>, shown: Shown) -> Vec<(usize, &'static str)> {
    if shown.all {
        return Vec::new();
    }
    let mut unknown = 0;
    let mut folded = [
        (0, "the same"),
        (0, "described and not judged"),
        (0, "more of which nothing can be told"),
    ];
    entries.retain(|entry| {
        let place = match Kind::of(entry.row) {
            Kind::Same => 0,
            Kind::Described => 1,
            Kind::CannotTell | Kind::NotRun | Kind::NotComparable => {
                unknown += 1;
                if unknown <= MOST_UNKNOWN {
                    return true;
                }
                2
            }
            _ => return true,
        };
        folded[place].0 += 1;
        false
    });
    folded.into_iter().filter(|(count, _)| *count > 0).collect()
}

/// What is to be known of the numbers of several rows of which nothing can be told: a
/// line for each kind, in place of one beneath each row.
fn gathered(entries: &[Entry<'_>], shown: Shown) -> Vec<String> {
    let rows = entries.iter().map(|entry| entry.row);
    let rows: Vec<&Row> = rows.filter(|row| is_gathered(row, shown)).collect();
    let told = GATHERED.into_iter().filter_map(|code| {
        let has = |row: &&&Row| row.remarks.iter().any(|remark| remark.code == code);
        let count = rows.iter().filter(has).count();
        let what = match code {
            RemarkCode::Drift => "drifted from run to run, which blocks absorb",
            RemarkCode::Modes => "with runs about two values",
            _ => "with runs far from the others, which are kept",
        };
        (count > 0).then(|| format!("  {} {what}", counted(count, "figure")))
    });
    told.collect()
}

/// Whether what is remarkable of a row's numbers is told in a line for several rows.
fn is_gathered(row: &Row, shown: Shown) -> bool {
    !shown.all && Kind::of(row) == Kind::CannotTell
}

fn grid(comparison: &Comparison, entries: &[Entry<'_>], shown: Shown) -> Grid {
    let heads = ["change", "95 %", "p adj", "ratio"].map(Head::of);
    let sides = [
        Head::named(&comparison.a, "A"),
        Head::named(&comparison.b, "B"),
    ];
    // Intervals say more, and leave no room for ratios.
    let has_ratios = entries.iter().all(|entry| entry.row.estimate.is_none());
    Grid {
        name_head: String::new(),
        heads: sides.into_iter().chain(heads).collect(),
        emphasised: 2,
        ruled: false,
        lines: entries
            .iter()
            .map(|entry| line(entry, has_ratios, shown))
            .collect(),
    }
}

fn line(entry: &Entry<'_>, has_ratio: bool, shown: Shown) -> Line {
    let row = entry.row;
    let kind = Kind::of(row);
    Line {
        mark: match kind.mark() {
            "" => " ",
            mark => mark,
        },
        role: kind.role(),
        name: entry.name.clone(),
        cells: vec![
            value_text(row, row.a.as_ref()),
            value_text(row, row.b.as_ref()),
            change_text(row),
            interval_text(row),
            p_text(row),
            if has_ratio {
                ratio_text(row)
            } else {
                String::new()
            },
        ],
        notes: notes(row, shown),
    }
}

/// How many times A's value B's is, where a percentage tells it badly.
fn ratio_text(row: &Row) -> String {
    let found = row.change.as_ref().and_then(Change::ratio);
    found.map_or_else(String::new, ratio)
}

/// What stands beneath a row: that a change is slight, what would settle it, and what
/// else is to be known of its numbers.
fn notes(row: &Row, shown: Shown) -> Vec<String> {
    let mut notes = Vec::new();
    match &row.verdict {
        Some(Verdict::SlightlyWorse | Verdict::SlightlyBetter) => {
            let size = row
                .effect_percent
                .map_or_else(|| "what matters".to_owned(), size_percent);
            notes.push(format!("slightly: real, but it may be smaller than {size}"));
        }
        Some(Verdict::CannotTell {
            runs_needed: Some(needed),
            ..
        }) => notes.extend(more_blocks(row, *needed)),
        _ => {}
    }
    let told = row
        .remarks
        .iter()
        .filter(|remark| remark.code != RemarkCode::RealButSmall)
        .filter(|remark| !(is_gathered(row, shown) && GATHERED.contains(&remark.code)));
    notes.extend(told.map(|remark| remark.text.clone()));
    notes
}

fn more_blocks(row: &Row, needed: u32) -> Option<String> {
    let blocks = row.estimate?.blocks;
    let more = needed.checked_sub(blocks).filter(|&more| more > 0)?;
    let size = row.effect_percent.map(size_percent);
    let size = size.map_or_else(String::new, |size| format!(" {size}"));
    Some(format!(
        "about {} would settle{size}",
        counted(more as usize, "more block")
    ))
}
