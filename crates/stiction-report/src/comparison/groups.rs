//! The rows of one candidate in tables: one metric of one phase over the levels of a
//! factor, or the metrics of a phase where no factor varies.

use std::collections::BTreeMap;

use stiction_analysis::compare::{Comparison, Matrix, Row};
use stiction_core::{Better, Cell, Level};

use super::entry::{Kind, change_text, interval_text, name, p_text, shared_levels, value_text};
use super::grid::{Grid, Head, Line};
use crate::cell::{cell_text, level_text};
use crate::figure::label;
use crate::outcome::title;

/// Rows that make one table.
pub(super) struct Group<'a> {
    /// `Random read rate, 128 KiB blocks`
    pub(super) title: String,
    /// `MiB/s, more is better`; what the rows do not share is left out.
    pub(super) about: String,
    /// The factor whose levels the rows are, or empty.
    name_head: String,
    rows: Vec<(String, &'a Row)>,
    /// Of all values, where they share one.
    unit: Option<String>,
}

/// Phase, metric and the levels that rows of a table share.
type Key<'a> = (&'a str, &'a str, Cell);

/// The tables of a candidate's `chosen` rows, in the order of its rows.
pub(super) fn groups<'a>(
    matrix: &Matrix,
    comparison: &'a Comparison,
    chosen: impl Fn(&Row) -> bool,
) -> Vec<Group<'a>> {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| chosen(row)).collect();
    let factor = matrix.projection.row.clone().or_else(|| varying(&rows));
    let mut by_levels = Tables::default();
    for row in rows {
        let rest = match &factor {
            Some(factor) => row.cell.clone().without(factor),
            None => row.cell.clone(),
        };
        by_levels.put((&row.phase, &row.metric.name, rest), row);
    }
    // What has a single row says more beside the other figures of its phase.
    let mut merged = Tables::default();
    for (key, rows) in by_levels.tables {
        match rows[..] {
            [only] => merged.put((&only.phase, "", Cell::new()), only),
            _ => rows
                .into_iter()
                .for_each(|row| merged.put(key.clone(), row)),
        }
    }
    let factor = factor.unwrap_or_default();
    let group = |((_, metric, rest), rows): &(Key<'_>, Vec<&'a Row>)| {
        if metric.is_empty() {
            of_phase(rows)
        } else {
            of_metric(rows, &factor, rest)
        }
    };
    merged.tables.iter().map(group).collect()
}

/// Rows by key, in order of appearance. A comparison may have thousands of either.
#[derive(Default)]
struct Tables<'a> {
    tables: Vec<(Key<'a>, Vec<&'a Row>)>,
    places: BTreeMap<Key<'a>, usize>,
}

impl<'a> Tables<'a> {
    fn put(&mut self, key: Key<'a>, row: &'a Row) {
        let place = *self.places.entry(key.clone()).or_insert_with(|| {
            self.tables.push((key, Vec::new()));
            self.tables.len() - 1
        });
        self.tables[place].1.push(row);
    }
}

/// The factor that makes the rows of tables: the first that has several levels, the
/// usual ones first.
fn varying(rows: &[&Row]) -> Option<String> {
    const FIRST: [&str; 3] = ["threads", "block_size_bytes", "file_size_bytes"];
    let varies = |factor: &&str| {
        let mut levels = rows.iter().map(|row| row.cell.get(factor));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    let others = rows
        .iter()
        .flat_map(|row| row.cell.iter().map(|(factor, _)| factor));
    let mut factors = FIRST.into_iter().chain(others);
    factors.find(varies).map(str::to_owned)
}

fn of_metric<'a>(rows: &[&'a Row], factor: &str, rest: &Cell) -> Group<'a> {
    let first = rows[0];
    let mut text = format!("{} {}", title(&first.phase), label(&first.metric));
    if !rest.is_empty() {
        text = format!("{text}, {}", cell_text(rest));
    }
    let level = |row: &Row| match row.cell.get(factor) {
        // The head says what it is.
        Some(Level::Integer(number)) if factor == "threads" => number.to_string(),
        Some(level) => level_text(factor, level),
        None => "-".to_owned(),
    };
    let name_head = factor.trim_end_matches("_bytes").replace('_', " ");
    let rows = rows.iter().map(|row| (level(row), *row)).collect();
    Group::new(&text, name_head, rows)
}

fn of_phase<'a>(rows: &[&'a Row]) -> Group<'a> {
    let shared = shared_levels(rows.iter().map(|row| &row.cell));
    let phase = title(&rows[0].phase);
    let mut text = phase.clone();
    if !shared.is_empty() {
        text = format!("{text}, {}", cell_text(&shared));
    }
    let short = |row: &Row| {
        let name = name(row, &shared);
        let after = name.strip_prefix(&phase).map(str::trim_start);
        after.map(str::to_owned).unwrap_or(name)
    };
    let rows = rows.iter().map(|row| (short(row), *row)).collect();
    Group::new(&text, String::new(), rows)
}

impl<'a> Group<'a> {
    fn new(text: &str, name_head: String, rows: Vec<(String, &'a Row)>) -> Self {
        let unit = shared_unit(&rows);
        let better = shared(rows.iter().map(|(_, row)| row.metric.better));
        let better = better.and_then(|better| match better {
            Better::More => Some("more is better"),
            Better::Less => Some("less is better"),
            Better::Neither => None,
        });
        let about: Vec<&str> = unit.as_deref().into_iter().chain(better).collect();
        Self {
            title: capital(text),
            about: about.join(", "),
            name_head,
            rows,
            unit,
        }
    }

    /// Whether all rows came to that.
    pub(super) fn is_all(&self, kind: Kind) -> bool {
        self.rows.iter().all(|(_, row)| Kind::of(row) == kind)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table.
    pub(super) fn grid(&self, comparison: &Comparison) -> Grid {
        let heads = ["change", "95 %", "p adj", "verdict"].map(Head::of);
        let sides = [
            Head::named(&comparison.a, "A"),
            Head::named(&comparison.b, "B"),
        ];
        Grid {
            name_head: self.name_head.clone(),
            heads: sides.into_iter().chain(heads).collect(),
            emphasised: 5,
            ruled: true,
            lines: self
                .rows
                .iter()
                .map(|(name, row)| self.line(name, row))
                .collect(),
        }
    }

    fn line(&self, name: &str, row: &Row) -> Line {
        let value = |text: String| match &self.unit {
            Some(unit) => text.trim_end_matches(unit.as_str()).trim_end().to_owned(),
            None => text,
        };
        let kind = Kind::of(row);
        let interval = match interval_text(row) {
            none if none.is_empty() => none,
            interval => format!("[{interval}]"),
        };
        Line {
            mark: "",
            role: kind.role(),
            name: name.to_owned(),
            cells: vec![
                value(value_text(row, row.a.as_ref())),
                value(value_text(row, row.b.as_ref())),
                change_text(row),
                interval,
                p_text(row),
                kind.word().to_owned(),
            ],
            notes: Vec::new(),
        }
    }
}

/// The unit behind the blank of every value, where all have the same.
fn shared_unit(rows: &[(String, &Row)]) -> Option<String> {
    let sides = rows.iter().flat_map(|(_, row)| {
        let sides = [row.a.as_ref(), row.b.as_ref()];
        let known = sides.into_iter().flatten();
        known.map(|side| value_text(row, Some(side)))
    });
    let unit = |text: String| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    shared(sides.map(unit)).flatten()
}

/// What all items are; `None` where they differ or there are none.
fn shared<T: PartialEq>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.all(|item| item == first).then_some(first)
}

/// The text with a capital letter in front.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
