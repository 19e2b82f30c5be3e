//! The counters that moved, in groups.

use stiction_analysis::compare::Method;
use stiction_analysis::explain::{Group, MovedCounter, Score, Together};

use super::ExplainShown;
use super::words::name_of;
use crate::figure::{change, label, measured, significant};
use crate::page::{Column, Page, Role, Span, Table};
use crate::text::counted;

/// Counters shown unless all are.
const SHOWN: usize = 14;
/// A counter over its noise by more than this is told as so much.
const MOST_OVER_NOISE: f64 = 99.0;

pub(super) fn write(
    page: &mut Page,
    together: &Together,
    score: Option<&Score>,
    shown: ExplainShown,
) {
    let of_score = score.map_or_else(|| "score".to_owned(), |score| label(&score.metric));
    let repetitions = together.repetitions as usize;
    match together.method {
        Some(method) => {
            let has_moved = score.and_then(Score::has_moved);
            let head = match has_moved {
                Some(true) => format!("Moved together with the {of_score}"),
                Some(false) => format!("Moved, though the {of_score} did not"),
                None => format!("Moved; of the {of_score} it cannot be told"),
            };
            page.line(Span::new(Role::Strong, format!("  {head}")));
            let how = match method {
                Method::Paired => counted(repetitions, "block"),
                Method::Unpaired => format!("{repetitions} runs a side in no blocks"),
            };
            page.paragraph(
                "  ",
                Span::new(
                    Role::Faint,
                    format!(
                        "{} of {} tested, {how}; at most 5 % of those listed are false on average",
                        together.moved.len(),
                        counted(together.tested as usize, "counter"),
                    ),
                ),
            );
            list(page, &together.moved, shown);
        }
        None => {
            page.line(Span::new(
                Role::Strong,
                "  Differ most, and were not tested: too few runs",
            ));
            list(page, &together.differing, shown);
        }
    }
    if let Some(needed) = together.blocks_needed.filter(|_| together.moved.is_empty()) {
        page.paragraph(
            "  ",
            format!(
                "With {repetitions} blocks no counter alone can stand out among {}: {needed} \
                 blocks would do.",
                together.tested
            ),
        );
    }
}

fn list(page: &mut Page, counters: &[MovedCounter], shown: ExplainShown) {
    if counters.is_empty() {
        page.line("  none");
        return;
    }
    let most = if shown.all { usize::MAX } else { SHOWN };
    let mut table = Table::new(vec![
        Column::left("", 40),
        Column::right("A", 9),
        Column::right("B", 9),
        Column::right("change", 8),
        Column::right("/noise", 6),
        Column::left("", 1),
    ]);
    let first = &counters[..counters.len().min(most)];
    for group in groups(first) {
        table.note(Span::new(Role::Faint, group.as_str()));
        for counter in first.iter().filter(|counter| counter.group == group) {
            table.row(cells(counter));
        }
    }
    page.table(2, &table);
    if counters.len() > first.len() {
        let left = counted(counters.len() - first.len(), "other");
        page.line(format!("  and {left} (--all)"));
    }
    let follows = |counter: &MovedCounter| counter.within.is_some_and(|within| within.is_sure());
    if first.iter().any(follows) {
        page.paragraph(
            "  * ",
            Span::new(
                Role::Faint,
                "also goes along with the noise from run to run inside a side",
            ),
        );
    }
}

/// The groups, that of the clearest counter first.
fn groups(counters: &[MovedCounter]) -> Vec<Group> {
    let mut groups = Vec::new();
    for counter in counters {
        if !groups.contains(&counter.group) {
            groups.push(counter.group);
        }
    }
    groups
}

fn cells(counter: &MovedCounter) -> Vec<Span> {
    let moved = match counter.ratio() {
        Some(ratio) if ratio >= 10.0 => format!("{}x", significant(ratio, 3)),
        Some(ratio) => change(100.0 * (ratio - 1.0)),
        None => String::new(),
    };
    let over_noise = counter.over_noise.map_or_else(String::new, |over| {
        if over > MOST_OVER_NOISE {
            format!(">{MOST_OVER_NOISE:.0}")
        } else {
            significant(over, 2)
        }
    });
    let follows = counter.within.is_some_and(|within| within.is_sure());
    vec![
        name_of(counter).into(),
        measured(counter.unit, counter.a).into(),
        measured(counter.unit, counter.b).into(),
        moved.into(),
        over_noise.into(),
        if follows { "*" } else { "" }.into(),
    ]
}
