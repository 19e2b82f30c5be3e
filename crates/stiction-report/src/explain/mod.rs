//! What an explanation says, for a terminal.

mod counters;
mod next;
mod phase;
mod words;

use stiction_analysis::compare::RunOrder;
use stiction_analysis::explain::{
    Attribution, Explanation, Fate, Likely, PhaseExplanation, Score, TimeSplit,
};

use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::text::counted;

use words::{cell_and_phase, theme_words};

/// How much of an explanation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplainShown {
    /// Everything, not the first few of each list.
    pub all: bool,
}

/// Differences shown unless all are.
const DIFFERENCES: usize = 8;
/// Phases of two sides shown unless all are.
const PHASES: usize = 2;

/// What an explanation says, for a terminal.
#[must_use]
pub fn explain(explanation: &Explanation, shown: ExplainShown, style: Style) -> String {
    let mut page = Page::new(style);
    let named = |letter: &str, name: &str| {
        if letter == name {
            letter.to_owned()
        } else {
            format!("{letter} {name}")
        }
    };
    let sides = match &explanation.b {
        Some(b) => format!("{} -> {}", named("A", &explanation.a), named("B", b)),
        None => explanation.a.clone(),
    };
    let title = Span::new(Role::Strong, "stiction explain");
    match &explanation.b {
        // Names are never cut: they have lines of their own.
        Some(b) if sides.len() > page.width() / 2 => {
            page.line(title);
            page.paragraph("  A is ", explanation.a.as_str());
            page.paragraph("  B is ", b.as_str());
        }
        _ => page.edges(title, sides),
    }
    for note in &explanation.notes {
        page.paragraph("! ", Span::new(Role::Doubt, note.as_str()));
    }
    if let Some(attribution) = &explanation.attribution {
        write_differences(&mut page, &explanation.differs, shown);
        write_attribution(&mut page, attribution);
    }
    let phases = &explanation.phases;
    let most = match (shown.all, &explanation.b) {
        (false, Some(_)) => PHASES,
        _ => phases.len(),
    };
    let (first, rest) = furthest_apart(phases, most);
    for phase in first {
        phase::write(&mut page, phase, shown);
    }
    if !rest.is_empty() {
        page.blank();
        let named = |phase: &&PhaseExplanation| cell_and_phase(&phase.cell, &phase.phase);
        let named: Vec<String> = rest.iter().map(named).collect();
        page.paragraph(
            "",
            format!("Apart by less (--all has them): {}", named.join("; ")),
        );
    }
    next::write(&mut page, &explanation.next, !explanation.phases.is_empty());
    if !explanation.others.is_empty() {
        page.blank();
        let others = explanation.others.join(", ");
        page.paragraph(
            "",
            format!("Not looked at: {others}. Name two to explain those."),
        );
    }
    page.blank();
    page.paragraph("", Span::new(Role::Strong, answer(explanation)));
    page.finish()
}

fn write_differences(page: &mut Page, differs: &[Likely], shown: ExplainShown) {
    if differs.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(
        Role::Strong,
        "What differs, what usually weighs most first",
    ));
    let most = if shown.all { usize::MAX } else { DIFFERENCES };
    let mut table = Table::new(vec![
        Column::left("", 29),
        Column::left("A", 22),
        Column::left("B", 22),
    ]);
    for likely in differs.iter().take(most) {
        let difference = &likely.difference;
        let (a, b) = apart(&difference.a, &difference.b);
        table.row(vec![difference.key.as_str().into(), a.into(), b.into()]);
        if !likely.reason.is_empty() {
            let reason = format!("  {}", likely.reason);
            table.note(Span::new(Role::Faint, reason));
        }
    }
    page.table(2, &table);
    if differs.len() > most {
        let left = counted(differs.len() - most, "other");
        page.line(format!("  and {left} (--all)"));
    }
}

/// Of two lists what is in one alone; other values as they are.
fn apart(a: &str, b: &str) -> (String, String) {
    if !(a.contains(',') && b.contains(',')) {
        return (a.to_owned(), b.to_owned());
    }
    let only = |one: &str, other: &str| -> String {
        let others: Vec<&str> = other.split(',').collect();
        let own = one.split(',').filter(|item| !others.contains(item));
        own.collect::<Vec<_>>().join(",")
    };
    (only(a, b), only(b, a))
}

/// What may be said of the difference, and what not.
fn write_attribution(page: &mut Page, attribution: &Attribution) {
    page.blank();
    let things = &attribution.things;
    let said = match (attribution.one_thing(), &things[..]) {
        (Some(thing), _) => format!(
            "{thing} alone differs, and which side ran first was drawn: a difference goes with \
             it. By which way it acts is not shown by what moved along."
        ),
        (None, []) => "Nothing that was written down differs between the sides.".to_owned(),
        (None, [thing]) => format!(
            "{thing} alone differs, but {}: what drifted looks the same.",
            order_words(attribution.order)
        ),
        (None, several) => {
            let count = several.len();
            format!(
                "{count} things differ ({}): no difference below is put down to one of them.",
                listed(several)
            )
        }
    };
    page.paragraph("", said);
    let Some(back) = &attribution.taken_back else {
        return;
    };
    for phase in &back.phases {
        let fate = match phase.fate {
            Fate::Went => "the effect went",
            Fate::Partly => "a part of the effect went",
            Fate::Stayed => "the effect stayed",
        };
        let sure = if phase.is_sure || phase.fate == Fate::Stayed {
            ""
        } else {
            "; too few runs to be sure"
        };
        page.paragraph(
            "",
            format!(
                "{}: taken back in {}, {fate} ({:+.1} % in B, {:+.1} % when taken back{sure}).",
                cell_and_phase(&phase.cell, &phase.phase),
                back.name,
                phase.b_percent,
                phase.back_percent
            ),
        );
    }
}

fn listed(things: &[String]) -> String {
    const MOST: usize = 4;
    let first = things.iter().take(MOST).map(String::as_str);
    let mut text = first.collect::<Vec<_>>().join(", ");
    if things.len() > MOST {
        text.push_str(&format!(" and {} more", things.len() - MOST));
    }
    text
}

fn order_words(order: RunOrder) -> &'static str {
    match order {
        RunOrder::Interleaved => "runs were interleaved",
        RunOrder::OneSideFirst => "the same side ran first in all blocks",
        RunOrder::NotInterleaved => "the runs of the sides were not interleaved",
    }
}

/// How far a phase's score is apart, as a logarithm.
fn apart_by(phase: &PhaseExplanation) -> f64 {
    let ratio = phase.score.as_ref().and_then(Score::ratio);
    ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

/// The `most` phases whose scores differ most, in the order that they ran, and the others.
fn furthest_apart(
    phases: &[PhaseExplanation],
    most: usize,
) -> (Vec<&PhaseExplanation>, Vec<&PhaseExplanation>) {
    let mut ranked: Vec<&PhaseExplanation> = phases.iter().collect();
    // What the last line is about is always shown.
    let told = telling(phases);
    let is_told = |phase: &PhaseExplanation| told.is_some_and(|told| std::ptr::eq(told, phase));
    ranked.sort_by(|a, b| {
        let by_score = apart_by(b).total_cmp(&apart_by(a));
        is_told(b).cmp(&is_told(a)).then(by_score)
    });
    ranked.truncate(most);
    phases
        .iter()
        .partition(|phase| ranked.iter().any(|one| std::ptr::eq(*one, *phase)))
}

/// The phase that says most: of those with a reading the one whose score differs most, else
/// the first.
fn telling(phases: &[PhaseExplanation]) -> Option<&PhaseExplanation> {
    let read = phases.iter().filter(|phase| !phase.readings.is_empty());
    let most = read.reduce(|most, next| {
        if apart_by(next) > apart_by(most) {
            next
        } else {
            most
        }
    });
    most.or(phases.first())
}

/// The last line.
fn answer(explanation: &Explanation) -> String {
    let Some(phase) = telling(&explanation.phases) else {
        return "There is nothing to explain: no phase has numbers.".to_owned();
    };
    let name = title(&phase.phase);
    if explanation.b.is_none() {
        let part = phase.times.0.as_ref().and_then(TimeSplit::largest);
        return match part {
            Some(part) => format!(
                "{name}: more than half of the time is {}",
                words::part(part)
            ),
            None => format!("{name}: no part is more than half of the time"),
        };
    }
    let score = phase.score.as_ref().map_or_else(
        || name.clone(),
        |score| format!("{name} {}", words::score_change(score)),
    );
    let themes: Vec<&str> = phase
        .readings
        .iter()
        .map(|reading| theme_words(reading.theme))
        .collect();
    match &themes[..] {
        [] => format!("{score}: nothing that was counted tells a way"),
        [first, ..] => format!("{score}: consistent with {first}"),
    }
}
