//! The rows of a comparison as every layout tells them: a name, a mark, two values, a
//! change with its interval.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Change, Comparison, Row, Scale, SideValue};
use stiction_core::{Better, Cell, Unit};

use crate::cell::cell_text;
use crate::figure::{change, change_within, interval, label, probability, ranged};
use crate::outcome::title;
use crate::page::Role;

/// One row, with what all rows share left out of its name.
pub(super) struct Entry<'a> {
    pub(super) row: &'a Row,
    /// `random read rate, 8 threads`
    pub(super) name: String,
}

/// The rows that have a better side, in the order of the comparison.
pub(super) fn entries<'a>(comparison: &'a Comparison, shared: &Cell) -> Vec<Entry<'a>> {
    let rows = comparison.rows.iter();
    rows.filter(|row| row.metric.better != Better::Neither)
        .map(|row| Entry {
            row,
            name: name(row, shared),
        })
        .collect()
}

/// Phase, metric, and the levels of the cell that are not `shared`.
pub(super) fn name(row: &Row, shared: &Cell) -> String {
    let figure = format!("{} {}", title(&row.phase), label(&row.metric));
    let own = cell_text(&own_levels(&row.cell, shared));
    if own.is_empty() {
        figure
    } else {
        format!("{figure}, {own}")
    }
}

/// The levels of `cell` that are not `shared`.
pub(super) fn own_levels(cell: &Cell, shared: &Cell) -> Cell {
    let own = cell
        .iter()
        .filter(|(factor, level)| shared.get(factor) != Some(*level));
    own.fold(Cell::new(), |own, (factor, level)| {
        own.with(factor, level.clone())
    })
}

/// The levels that all of these cells have.
pub(super) fn shared_levels<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Cell {
    let mut cells = cells.into_iter();
    let Some(first) = cells.next() else {
        return Cell::new();
    };
    cells.fold(first.clone(), |shared, cell| {
        let both = shared
            .iter()
            .filter(|(factor, level)| cell.get(factor) == Some(*level));
        both.fold(Cell::new(), |both, (factor, level)| {
            both.with(factor, level.clone())
        })
    })
}

/// What a verdict is in a list: its place among the others, and its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Failed,
    Worse,
    SlightlyWorse,
    Better,
    SlightlyBetter,
    CannotTell,
    NotRun,
    NotComparable,
    Same,
    /// Never judged.
    Described,
}

impl Kind {
    /// All, worst first.
    pub(super) const ALL: [Self; 10] = [
        Self::Failed,
        Self::Worse,
        Self::SlightlyWorse,
        Self::Better,
        Self::SlightlyBetter,
        Self::CannotTell,
        Self::NotRun,
        Self::NotComparable,
        Self::Same,
        Self::Described,
    ];

    pub(super) fn of(row: &Row) -> Self {
        match &row.verdict {
            Some(Verdict::Failed { .. }) => Self::Failed,
            Some(Verdict::Worse) => Self::Worse,
            Some(Verdict::SlightlyWorse) => Self::SlightlyWorse,
            Some(Verdict::Better) => Self::Better,
            Some(Verdict::SlightlyBetter) => Self::SlightlyBetter,
            Some(Verdict::CannotTell { .. }) => Self::CannotTell,
            Some(Verdict::NotRun { .. }) => Self::NotRun,
            Some(Verdict::NotComparable { .. }) => Self::NotComparable,
            Some(Verdict::Same) => Self::Same,
            None => Self::Described,
        }
    }

    /// One column that says it without colour. What is slight has the small letter, or
    /// the mark with a word beneath.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Failed => "!",
            Self::Worse => "X",
            Self::SlightlyWorse => "x",
            Self::Better | Self::SlightlyBetter => "+",
            Self::CannotTell => "?",
            Self::NotRun => "-",
            Self::NotComparable => "#",
            Self::Same | Self::Described => "",
        }
    }

    /// The word in a list of counts: capitals for what calls for action.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Failed => "FAILED",
            Self::Worse => "WORSE",
            Self::SlightlyWorse => "slightly worse",
            Self::Better => "better",
            Self::SlightlyBetter => "slightly better",
            Self::CannotTell => "cannot tell",
            Self::NotRun => "not run",
            Self::NotComparable => "not comparable",
            Self::Same => "same",
            Self::Described => "described",
        }
    }

    pub(super) fn role(self) -> Role {
        match self {
            Self::Failed | Self::Worse | Self::SlightlyWorse => Role::Bad,
            Self::Better | Self::SlightlyBetter => Role::Good,
            Self::CannotTell | Self::NotRun | Self::NotComparable => Role::Doubt,
            Self::Same | Self::Described => Role::Text,
        }
    }
}

/// Worst first: by verdict, and the largest change first among those that claim one.
/// What claims nothing stays in the order of the comparison.
pub(super) fn worst_first(entries: &mut [Entry<'_>]) {
    let size = |entry: &Entry<'_>| match Kind::of(entry.row) {
        Kind::Worse | Kind::SlightlyWorse | Kind::Better | Kind::SlightlyBetter => {
            ratio_size(entry.row)
        }
        _ => 0.0,
    };
    entries.sort_by(|one, other| {
        let kinds = Kind::of(one.row).cmp(&Kind::of(other.row));
        kinds.then(size(other).total_cmp(&size(one)))
    });
}

/// How large a change is as a ratio, up or down: half and double are alike.
fn ratio_size(row: &Row) -> f64 {
    let percent = match (row.estimate, &row.change) {
        (Some(estimate), _) => estimate.change_percent,
        (None, Some(change)) => change.value,
        (None, None) => 0.0,
    };
    (percent / 100.0).ln_1p().abs()
}

/// A side's value with its unit; `-` where it has none.
pub(super) fn value_text(row: &Row, side: Option<&SideValue>) -> String {
    let Some(side) = side else {
        return "-".to_owned();
    };
    let text = ranged(row.metric.unit, side.value, (side.lowest, side.highest));
    match row.metric.unit {
        Unit::BytesPerSecond | Unit::BytesPerSecondPerCpu if side.lowest == side.highest => {
            three_digits(&text)
        }
        _ => text,
    }
}

/// `60.0 MiB/s` for `60 MiB/s`, which stands beside 59.8 MiB/s and is known as well.
fn three_digits(text: &str) -> String {
    let Some((number, unit)) = text.split_once(' ') else {
        return text.to_owned();
    };
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    if digits >= 3 || number.starts_with('0') {
        return text.to_owned();
    }
    let point = if number.contains('.') { "" } else { "." };
    format!("{number}{point}{} {unit}", "0".repeat(3 - digits))
}

/// The change: the estimate where there is one, rounded as its interval allows, else
/// how far the two values are apart.
pub(super) fn change_text(row: &Row) -> String {
    match (row.estimate, &row.change) {
        (Some(estimate), _) => change_within(
            estimate.change_percent,
            (estimate.lowest_percent, estimate.highest_percent),
        ),
        (None, Some(change)) => plain_change(change),
        (None, None) => String::new(),
    }
}

fn plain_change(found: &Change) -> String {
    match found.scale {
        Scale::Percent => change(found.value),
        Scale::Points => format!("{:+.1} pts", found.value),
    }
}

/// The 95 % interval of the estimate; empty where there is none.
pub(super) fn interval_text(row: &Row) -> String {
    row.estimate.map_or_else(String::new, |estimate| {
        interval(estimate.lowest_percent, estimate.highest_percent)
    })
}

/// The adjusted p of the estimate; empty where there is none.
pub(super) fn p_text(row: &Row) -> String {
    row.estimate
        .map_or_else(String::new, |estimate| probability(estimate.p_adjusted))
}

/// How many rows came to what, worst first, those never judged left out.
pub(super) fn counts_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<(Kind, usize)> {
    let judged = rows.into_iter().filter(|row| row.verdict.is_some());
    let kinds: Vec<Kind> = judged.map(Kind::of).collect();
    Kind::ALL
        .into_iter()
        .map(|kind| (kind, kinds.iter().filter(|&&other| other == kind).count()))
        .filter(|&(_, count)| count > 0)
        .collect()
}

/// `2 WORSE, 1 better, 27 same`
pub(super) fn counts_text(counts: &[(Kind, usize)], between: &str) -> String {
    let texts: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {}", kind.word()))
        .collect();
    texts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits_or_more() {
        for (text, padded) in [
            ("60 MiB/s", "60.0 MiB/s"),
            ("1.5 GiB/s", "1.50 GiB/s"),
            ("1 GiB/s", "1.00 GiB/s"),
            ("512 MiB/s", "512 MiB/s"),
            ("1023 KiB/s", "1023 KiB/s"),
            ("0 B/s", "0 B/s"),
        ] {
            assert_eq!(three_digits(text), padded);
        }
    }

    #[test]
    fn levels_that_all_have_are_left_out_of_names() {
        let cell = |threads: u32, kind: &str| {
            Cell::new()
                .with("threads", threads)
                .with("filesystem", kind)
        };
        let cells = [cell(1, "ext4"), cell(8, "ext4")];
        let shared = shared_levels(&cells);
        assert_eq!(shared, Cell::new().with("filesystem", "ext4"));
        assert_eq!(
            own_levels(&cells[1], &shared),
            Cell::new().with("threads", 8u32)
        );
        assert_eq!(shared_levels([]), Cell::new());
    }
}
