//! A comparison in one line: what the worst cell came to.

use stiction_analysis::compare::{Comparison, Matrix, Row};
use stiction_core::MetricClass;

use super::entry::{Entry, Kind, counts_of, counts_text, entries, shared_levels, worst_first};
use super::lint::MAIL_WIDTH;
use crate::figure::signed;
use crate::text::fit;

/// Columns of the line that a side's name may take.
const NAME: usize = 18;
/// Columns of the whole, behind `Subject: `.
const ROOM: usize = MAIL_WIDTH - "Subject: ".len();

/// `[BENCH] 6.10-rc2 vs 6.9: random read rate -67 %, 8 threads (xfs, nvme0n1)`.
pub(super) fn subject(matrix: &Matrix) -> String {
    let a = fit(&matrix.baseline, NAME);
    let Some((comparison, entry)) = worst(matrix) else {
        return fit(&format!("[BENCH] {a}: nothing to compare"), ROOM);
    };
    let what = match Kind::of(entry.row) {
        Kind::Failed => format!("{} FAILED", entry.name),
        Kind::Same => "no change found".to_owned(),
        Kind::CannotTell | Kind::NotRun | Kind::NotComparable | Kind::Described => {
            counts_text(&counts_of(&comparison.rows), ", ")
        }
        _ => claim(&entry),
    };
    let text = format!("[BENCH] {} vs {a}: {what}", fit(&comparison.b, NAME));
    let on = place(matrix);
    if !on.is_empty() && text.chars().count() + on.chars().count() + 3 <= ROOM {
        fit(&format!("{text} ({on})"), ROOM)
    } else {
        fit(&text, ROOM)
    }
}

/// The worst judged row of all candidates.
fn worst(matrix: &Matrix) -> Option<(&Comparison, Entry<'_>)> {
    let of_each = matrix.comparisons.iter().filter_map(|comparison| {
        let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
        let mut rows = entries(comparison, &shared);
        rows.retain(|entry| entry.row.verdict.is_some());
        worst_first(&mut rows);
        let worst = rows.into_iter().min_by_key(|entry| weight(entry.row));
        worst.map(|entry| (comparison, entry))
    });
    of_each.min_by_key(|(_, entry)| weight(entry.row))
}

/// The verdict first; of equal ones a rate says more to most readers than a tail.
fn weight(row: &Row) -> (Kind, bool) {
    (Kind::of(row), row.metric.class != MetricClass::Throughput)
}

/// `random read rate -67 %, 8 threads`
fn claim(entry: &Entry<'_>) -> String {
    let estimate = entry.row.estimate.map(|estimate| estimate.change_percent);
    let percent = estimate.or_else(|| entry.row.change.as_ref().map(|change| change.value));
    let percent = percent.map_or_else(String::new, |percent| format!(" {} %", signed(percent, 0)));
    match entry.name.split_once(", ") {
        Some((figure, cell)) => format!("{figure}{percent}, {cell}"),
        None => format!("{}{percent}", entry.name),
    }
}

/// The filesystem and the device that all sides stood on.
fn place(matrix: &Matrix) -> String {
    let value = |key: &str| {
        let mut common = matrix.setup.common.iter();
        let found = common.find(|fact| fact.key == key);
        found.map(|fact| fact.value.as_str())
    };
    let device = value("target.devices").and_then(|names| names.split(' ').next_back());
    let parts = value("target.filesystem").into_iter().chain(device);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
