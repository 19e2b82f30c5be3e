//! Two sides held against each other: how their machines differ, every figure side
//! by side, where the time went, what speaks against them, and what may be claimed.

mod doubts;
mod phase;
mod reasons;
mod times;

use stiction_analysis::Outcome;
use stiction_analysis::compare::{Comparison, Difference, Unmatched};
use stiction_core::{Level, SessionId};

use crate::cell::cell_text;
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Style, Table};
use doubts::write_doubts;
use phase::write_phase;
use reasons::{write_noise, write_reasons};

/// The two sides, difference of environment first, then every figure with its
/// change and its verdict, the reasons, and what it all comes to in the last line.
#[must_use]
pub fn comparison(comparison: &Comparison, style: Style) -> String {
    let mut page = Page::new(style);
    write_head(&mut page, comparison);
    write_environment(&mut page, comparison);
    for note in &comparison.notes {
        page.paragraph("! ", Span::new(Role::Doubt, note.as_str()));
    }
    let mut rows = &comparison.rows[..];
    while let Some(first) = rows.first() {
        let together = rows
            .iter()
            .take_while(|row| row.cell == first.cell && row.phase == first.phase)
            .count();
        let (phase, rest) = rows.split_at(together);
        write_phase(&mut page, comparison, phase);
        rows = rest;
    }
    write_unmatched(&mut page, comparison);
    write_doubts(&mut page, comparison);
    write_noise(&mut page, &comparison.noise);
    write_reasons(&mut page, &comparison.rows);
    page.blank();
    write_answer(&mut page, comparison);
    page.finish()
}

fn write_head(page: &mut Page, comparison: &Comparison) {
    let (sessions_a, sessions_b) = &comparison.sessions;
    let b_from = if comparison.is_of_one_session() {
        "same session".to_owned()
    } else {
        sessions_text(sessions_b)
    };
    page.edges(
        Span::new(Role::Strong, format!("A  {}", comparison.a)),
        Span::new(Role::Faint, sessions_text(sessions_a)),
    );
    page.edges(
        Span::new(Role::Strong, format!("B  {}", comparison.b)),
        Span::new(Role::Faint, b_from),
    );
    for side in &comparison.factors {
        let level = |level: &Option<Level>| {
            level
                .as_ref()
                .map_or_else(|| "not said".to_owned(), ToString::to_string)
        };
        page.paragraph(
            "   ",
            format!(
                "{}: {} in A, {} in B",
                side.factor,
                level(&side.a),
                level(&side.b)
            ),
        );
    }
}

/// The session of a side, or how many it is of.
fn sessions_text(sessions: &[SessionId]) -> String {
    match sessions {
        [only] => only.to_string(),
        several => format!("{} sessions", several.len()),
    }
}

fn write_environment(page: &mut Page, comparison: &Comparison) {
    let environment = &comparison.environment;
    page.blank();
    if comparison.is_of_one_session() {
        page.line("Environment: both sides are of one session.");
    } else if environment.differs.is_empty() {
        page.line("Environment: no known difference.");
    } else {
        page.line(Span::new(Role::Strong, "Environment: differs in"));
        page.table(2, &differences(&environment.differs));
    }
    let side = [("A", &environment.only_a), ("B", &environment.only_b)];
    for (name, keys) in side.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        page.paragraph(&format!("  known of {name} only: "), keys.join(", "));
    }
    if !comparison.parameters.is_empty() {
        page.line(Span::new(Role::Strong, "Parameters: differ in"));
        page.table(2, &differences(&comparison.parameters));
    }
}

fn differences(differences: &[Difference]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 26),
        Column::left("A", 24),
        Column::left("B", 24),
    ]);
    for difference in differences {
        // What the user named is expected; the rest may explain any change.
        let role = if difference.named || difference.allowed {
            Role::Text
        } else {
            Role::Doubt
        };
        table.row(vec![
            Span::new(role, difference.key.as_str()),
            difference.a.as_str().into(),
            difference.b.as_str().into(),
        ]);
    }
    table
}

fn write_unmatched(page: &mut Page, comparison: &Comparison) {
    if comparison.unmatched.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Only on one side"));
    for Unmatched {
        cell,
        phase,
        in_a,
        reason,
    } in &comparison.unmatched
    {
        let side = if *in_a { "A" } else { "B" };
        let mut what: Vec<String> = phase.iter().map(|name| title(name)).collect();
        if !cell.is_empty() {
            what.push(cell_text(cell));
        }
        let what = if what.is_empty() {
            "the whole workload".to_owned()
        } else {
            what.join(", ")
        };
        page.paragraph(
            "- ",
            Span::new(Role::Doubt, format!("{side}: {what}: {reason}")),
        );
    }
}

/// How many rows came to what, and what that makes of the whole.
fn write_answer(page: &mut Page, comparison: &Comparison) {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for verdict in comparison
        .rows
        .iter()
        .filter_map(|row| row.verdict.as_ref())
    {
        match counts.iter_mut().find(|(word, _)| *word == verdict.word()) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict.word(), 1)),
        }
    }
    let (role, word) = match comparison.outcome() {
        Outcome::NoRegression => (Role::Good, "No regression"),
        Outcome::Regression => (Role::Bad, "REGRESSION"),
        Outcome::CannotTell => (Role::Doubt, "CANNOT TELL"),
        Outcome::NotComparable => (Role::Doubt, "NOT COMPARABLE"),
    };
    let text = match &counts[..] {
        [] => format!("{word}: there is nothing to hold against each other"),
        [(only, 1)] if *only == word => format!("{word}: the only figure"),
        [(only, count)] if *only == word => format!("{word}: all {count} figures"),
        counts => {
            let counts: Vec<String> = counts
                .iter()
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            format!("{word}: {}", counts.join(", "))
        }
    };
    page.line(Span::new(role, text));
}
