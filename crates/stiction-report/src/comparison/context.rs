//! How the two sides differ besides their figures: machines, parameters, what only one
//! has.

use stiction_analysis::compare::{Comparison, Difference, SideValue, Unmatched};
use stiction_core::{Cell, Level, Subject};

use super::entry::{own_levels, shared_levels};
use crate::cell::cell_text;
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Table};
use crate::text::counted;

/// Sessions, factors, and what differs without belonging to the factor: all that a
/// reader has to know before any figure.
pub(super) fn write_before(page: &mut Page, comparison: &Comparison) {
    for side in &comparison.factors {
        let level = |level: &Option<Level>| {
            level
                .as_ref()
                .map_or_else(|| "not said".to_owned(), ToString::to_string)
        };
        let (a, b) = (level(&side.a), level(&side.b));
        // The sides are often called by it.
        if (&a, &b) == (&comparison.a, &comparison.b) {
            continue;
        }
        page.paragraph("  ", format!("{}: {a} -> {b}", side.factor));
    }
    // A command is said as it was typed; its words are the same once more.
    let typed = comparison
        .parameters
        .iter()
        .any(|found| found.key == "command");
    let parameters = comparison.parameters.iter();
    let parameters: Vec<&Difference> = parameters
        .filter(|found| !(typed && found.key == "parameters.command.words"))
        .collect();
    write_differences(page, "Environment: differs in", &unnamed(comparison));
    write_differences(page, "Parameters: differ in", &parameters);
    write_notes(page, comparison);
}

/// What differs without belonging to the factor, and no more: of one candidate among
/// several, whose name says what it is.
pub(super) fn write_unexpected(page: &mut Page, comparison: &Comparison) {
    write_differences(page, "Environment: differs in", &unnamed(comparison));
    write_notes(page, comparison);
}

fn unnamed(comparison: &Comparison) -> Vec<&Difference> {
    comparison.environment.unnamed().collect()
}

fn write_differences(page: &mut Page, head: &str, found: &[&Difference]) {
    if !found.is_empty() {
        page.blank();
        page.line(Span::new(Role::Strong, head));
        page.table(2, &differences(found));
    }
}

fn write_notes(page: &mut Page, comparison: &Comparison) {
    for note in &comparison.notes {
        page.paragraph("! ", Span::new(Role::Doubt, note.as_str()));
    }
}

fn differences(differences: &[&Difference]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 26),
        Column::left("A", 23),
        Column::left("B", 23),
    ]);
    for difference in differences {
        // What the user named is expected; the rest may explain any change.
        let role = if difference.named {
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

/// What the environments come to, in a line or two after the figures.
pub(super) fn write_after(page: &mut Page, comparison: &Comparison) {
    page.blank();
    page.paragraph("context  ", said(comparison));
    let environment = &comparison.environment;
    let side = [("A", &environment.only_a), ("B", &environment.only_b)];
    for (name, keys) in side.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        page.paragraph(&format!("  known of {name} only: "), keys.join(", "));
    }
    write_subjects(page, comparison);
}

/// Whether the environments differ, and in what that the user named or allowed.
pub(super) fn said(comparison: &Comparison) -> String {
    let environment = &comparison.environment;
    let keys = |chosen: fn(&Difference) -> bool| {
        let found = environment.differs.iter().filter(|one| chosen(one));
        let keys: Vec<&str> = found.map(|one| one.key.as_str()).collect();
        keys.join(", ")
    };
    if comparison.is_of_one_session() && environment.differs.is_empty() {
        return "both sides are of one session".to_owned();
    }
    let (named, allowed) = (keys(|one| one.named), keys(|one| one.allowed && !one.named));
    let mut parts = Vec::new();
    if !named.is_empty() {
        parts.push(format!("as named in {named}"));
    }
    if !allowed.is_empty() {
        parts.push(format!("as allowed in {allowed}"));
    }
    let others = environment.unnamed().count();
    if others > 0 {
        parts.push(format!(
            "in {}, listed above",
            counted(others, "other fact")
        ));
    }
    if parts.is_empty() {
        "no known difference".to_owned()
    } else {
        format!("differs {}", parts.join("; "))
    }
}

/// What only one side has.
pub(super) fn write_unmatched(page: &mut Page, comparison: &Comparison) {
    if comparison.unmatched.is_empty() {
        return;
    }
    let shared = shared_levels(comparison.unmatched.iter().map(|one| &one.cell));
    page.blank();
    page.line(Span::new(Role::Strong, "Only on one side"));
    for one in &comparison.unmatched {
        let text = unmatched_text(one, &own_levels(&one.cell, &shared));
        page.paragraph("- ", Span::new(Role::Doubt, text));
    }
}

fn unmatched_text(one: &Unmatched, own: &Cell) -> String {
    let side = if one.in_a { "A" } else { "B" };
    let mut what: Vec<String> = one.phase.iter().map(|name| title(name)).collect();
    if !own.is_empty() {
        what.push(cell_text(own));
    } else if what.is_empty() && !one.cell.is_empty() {
        what.push(cell_text(&one.cell));
    }
    let what = if what.is_empty() {
        "the whole workload".to_owned()
    } else {
        what.join(", ")
    };
    format!("{side}: {what}: {}", one.reason)
}

/// What the figures are about, the phases that share it together: `disk: commit`.
fn write_subjects(page: &mut Page, comparison: &Comparison) {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in &comparison.rows {
        let subject = |side: &Option<SideValue>| side.as_ref().map(|side| side.subject);
        let Some(about) = about(subject(&row.a), subject(&row.b)) else {
            continue;
        };
        let phase = title(&row.phase);
        match groups.iter_mut().find(|(other, _)| *other == about) {
            Some((_, phases)) if phases.contains(&phase) => {}
            Some((_, phases)) => phases.push(phase),
            None => groups.push((about, vec![phase])),
        }
    }
    let single = groups.len() == 1;
    let texts: Vec<String> = groups
        .into_iter()
        .map(|(about, phases)| {
            let phases = if single {
                "all".to_owned()
            } else {
                phases.join(", ")
            };
            format!("{about}: {phases}")
        })
        .collect();
    if !texts.is_empty() {
        page.paragraph("about    ", texts.join("; "));
    }
}

fn about(a: Option<Subject>, b: Option<Subject>) -> Option<String> {
    match (a, b) {
        (Some(a), Some(b)) if a == b => Some(a.to_string()),
        (Some(a), Some(b)) => Some(format!("A {a}, B {b}")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_string()),
        (None, None) => None,
    }
}
