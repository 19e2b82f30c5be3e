//! Several candidates beside one baseline: a row for each figure, a column for each
//! candidate.

use stiction_analysis::compare::{Comparison, Matrix, Row};
use stiction_core::{Cell, MetricClass};

use super::entry::{Kind, change_text, name, shared_levels, value_text};
use super::grid::{Grid, Head, Line};
use crate::page::{Page, Role, Span};
use crate::text::counted;

/// What stands for the baseline and the candidates.
const LETTERS: [&str; 25] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S",
    "T", "U", "V", "W", "X", "Y",
];
/// Candidates beside each other in one table.
const MOST_BESIDE: usize = 4;
/// Figures that are listed of those that no candidate is better or worse in.
const MOST_UNDECIDED: usize = 12;

/// Every figure in which a candidate is better or worse, and the rates and times of the
/// others; the rest is told of each candidate by itself.
pub(super) fn write_overview(page: &mut Page, matrix: &Matrix) {
    // Letters begin again where there are more candidates than letters.
    let letters = LETTERS[1..].chunks(MOST_BESIDE).cycle();
    for (beside, letters) in matrix.comparisons.chunks(MOST_BESIDE).zip(letters) {
        page.blank();
        write_beside(page, matrix, beside, letters);
    }
}

fn write_beside(page: &mut Page, matrix: &Matrix, beside: &[Comparison], letters: &'static [&str]) {
    let shared = shared_levels(matrix.rows().map(|(_, row)| &row.cell));
    let figures = figures(beside);
    let decided = figures.iter().filter(|figure| figure.is_decided());
    let undecided = figures.iter().filter(|figure| !figure.is_decided());
    let told = undecided.filter(|figure| figure.is_a_rate());
    let lines: Vec<Line> = decided
        .chain(told.take(MOST_UNDECIDED))
        .map(|figure| figure.line(beside, &shared))
        .collect();
    let left = figures.len() - lines.len();
    let candidates = beside.iter().zip(letters);
    let heads = candidates.map(|(one, letter)| Head::named(&one.b, letter));
    Grid {
        name_head: String::new(),
        heads: std::iter::once(Head::named(&matrix.baseline, LETTERS[0]))
            .chain(heads)
            .collect(),
        emphasised: usize::MAX,
        ruled: false,
        lines,
    }
    .write(page);
    if left > 0 {
        let text = format!("  {} more (--all lists them)", counted(left, "figure"));
        page.line(Span::new(Role::Faint, text));
    }
}

/// One figure of the baseline, and the row of each candidate that has it.
struct Figure<'a> {
    of: &'a Row,
    rows: Vec<Option<&'a Row>>,
}

impl<'a> Figure<'a> {
    fn is_decided(&self) -> bool {
        let mut rows = self.rows.iter().flatten();
        rows.any(|row| Kind::of(row) < Kind::CannotTell)
    }

    fn is_a_rate(&self) -> bool {
        self.of.metric.class == MetricClass::Throughput
    }

    fn line(&self, beside: &[Comparison], shared: &Cell) -> Line {
        let worst = self.rows.iter().flatten().map(|row| Kind::of(row)).min();
        let changes = self.rows.iter().zip(beside).map(|(row, _)| match row {
            Some(row) => told(row),
            None => "-".to_owned(),
        });
        Line {
            mark: worst.map_or(" ", |kind| match kind.mark() {
                "" => " ",
                mark => mark,
            }),
            role: worst.map_or(Role::Text, Kind::role),
            name: name(self.of, shared),
            cells: std::iter::once(value_text(self.of, self.of.a.as_ref()))
                .chain(changes)
                .collect(),
            notes: Vec::new(),
        }
    }
}

/// The change with what it is: `-67.1 % X`, `same`.
fn told(row: &Row) -> String {
    match Kind::of(row) {
        Kind::Failed => "FAILED".to_owned(),
        Kind::Same => "same".to_owned(),
        Kind::NotComparable => "#".to_owned(),
        kind => format!("{} {}", change_text(row), kind.mark()),
    }
}

/// The judged figures of all candidates, those that one is better or worse in first.
fn figures(beside: &[Comparison]) -> Vec<Figure<'_>> {
    let mut found: Vec<Figure<'_>> = Vec::new();
    for (number, comparison) in beside.iter().enumerate() {
        for row in comparison.rows.iter().filter(|row| row.verdict.is_some()) {
            let is_same = |figure: &Figure<'_>| {
                let of = figure.of;
                of.phase == row.phase && of.metric == row.metric && of.cell == row.cell
            };
            let at = found.iter().position(is_same).unwrap_or_else(|| {
                found.push(Figure {
                    of: row,
                    rows: vec![None; beside.len()],
                });
                found.len() - 1
            });
            found[at].rows[number] = Some(row);
        }
    }
    let worst = |figure: &Figure<'_>| figure.rows.iter().flatten().map(|row| Kind::of(row)).min();
    found.sort_by_key(worst);
    found
}
