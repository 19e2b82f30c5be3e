//! What stands first and last: the counts, the sides, what the verdicts rest on, and
//! what it all comes to.

use stiction_analysis::Outcome;
use stiction_analysis::compare::{Comparison, Control, Matrix, Replication, Row, RunOrder};
use stiction_core::SessionId;

use super::entry::{Kind, counts_of, counts_text, shared_levels};
use crate::cell::cell_text;
use crate::figure::size_percent;
use crate::page::{Page, Role, Span};
use crate::text::counted;

/// The counts of the whole and the sides, the sessions, and what the verdicts rest on.
pub(super) fn write_head(page: &mut Page, matrix: &Matrix) {
    let counts = counts_of(matrix.rows().map(|(_, row)| row));
    let sides = match &matrix.comparisons[..] {
        [only] => format!("{} -> {}", only.a, only.b),
        several => format!(
            "{} -> {}",
            matrix.baseline,
            counted(several.len(), "candidate")
        ),
    };
    write_counts(page, &counts, &sides);
    let mut facts = Vec::new();
    if let [only] = &matrix.comparisons[..] {
        facts.push(sessions(only));
        facts.extend(repeated(&only.replication));
    }
    facts.extend(rests_on(matrix));
    let shared = shared_levels(matrix.rows().map(|(_, row)| &row.cell));
    if !shared.is_empty() {
        facts.push(format!("all at {}", cell_text(&shared)));
    }
    page.paragraph("", facts.join("; "));
}

/// The counts of one candidate among several, and what it is.
pub(super) fn write_candidate(page: &mut Page, comparison: &Comparison) {
    write_counts(page, &counts_of(&comparison.rows), &comparison.b);
    let mut facts = vec![sessions(comparison)];
    facts.extend(repeated(&comparison.replication));
    page.paragraph("", facts.join("; "));
}

fn write_counts(page: &mut Page, counts: &[(Kind, usize)], sides: &str) {
    let worst = match counts.first() {
        Some((Kind::Same, _)) => Role::Good,
        Some((kind, _)) => kind.role(),
        None => Role::Doubt,
    };
    let found = match counts_text(counts, "  ") {
        none if none.is_empty() => "nothing was judged".to_owned(),
        found => found,
    };
    let (found, sides) = (Span::new(worst, found), Span::new(Role::Strong, sides));
    // Names differ at their ends: none is cut.
    if found.len() + 2 + sides.len() <= page.width() && sides.len() <= page.width() / 2 {
        page.edges(found, sides);
    } else {
        page.paragraph("", found);
        page.paragraph("", sides);
    }
}

/// The sessions of both sides.
fn sessions(comparison: &Comparison) -> String {
    let (a, b) = &comparison.sessions;
    let several = |ids: &[SessionId]| match ids {
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => "none".to_owned(),
    };
    if a == b {
        let word = if a.len() == 1 { "session" } else { "sessions" };
        format!("{word} {}", several(a))
    } else {
        format!("sessions {} -> {}", several(a), several(b))
    }
}

/// How often each side was repeated, and in which order.
pub(super) fn repeated(replication: &Replication) -> Option<String> {
    let (one, many) = replication.unit.words();
    let said = |count: u32| format!("{count} {}", if count == 1 { one } else { many });
    let (a, b) = (replication.a, replication.b);
    if a == 0 && b == 0 {
        return None;
    }
    let count = if a == b {
        format!("{} a side", said(a))
    } else {
        format!("{} of A and {} of B", said(a), said(b))
    };
    Some(match replication.order {
        RunOrder::Interleaved => format!("{count}, interleaved in random order"),
        RunOrder::OneSideFirst => format!("{count}, interleaved with one side always first"),
        RunOrder::NotInterleaved if a.max(b) > 1 => format!("{count}, NOT INTERLEAVED"),
        RunOrder::NotInterleaved => count,
    })
}

/// How many blocks the estimates rest on, what counts, and what they could have seen;
/// empty where nothing rests on blocks.
pub(super) fn rests_on(matrix: &Matrix) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some((least, most)) = matrix.family.blocks {
        facts.push(if least == most {
            counted(least as usize, "block")
        } else {
            format!("{least} to {most} blocks")
        });
    }
    if matrix.family.judged == 0 {
        return facts;
    }
    if let Some(effects) = effects(matrix.rows().map(|(_, row)| row)) {
        facts.push(format!("what matters: {effects}"));
    }
    if let Some((least, most)) = matrix.family.visible_percent {
        facts.push(format!(
            "smallest change that could be seen: {}",
            span(least, most)
        ));
    }
    if matrix.family.control == Control::ShareOfFalse {
        facts.push("browsing: of what is claimed 5 % may be false".to_owned());
    }
    facts
}

/// The smallest effects of interest of the judged rows: `3 to 10 %`.
pub(super) fn effects<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<String> {
    let judged = rows.filter(|row| row.estimate.is_some());
    let sizes: Vec<f64> = judged.filter_map(|row| row.effect_percent).collect();
    let least = sizes.iter().copied().reduce(f64::min)?;
    let most = sizes.iter().copied().reduce(f64::max)?;
    Some(span(least, most))
}

/// `2.1 %`, or `2.1 to 4.0 %`.
pub(super) fn span(least: f64, most: f64) -> String {
    let (least, most) = (size_percent(least), size_percent(most));
    if least == most {
        least
    } else {
        format!("{} to {most}", least.trim_end_matches(" %"))
    }
}

/// The last line: the outcome in a word, and the counts that it follows from.
pub(super) fn answer(matrix: &Matrix) -> (Role, String) {
    let counts = counts_of(matrix.rows().map(|(_, row)| row));
    let (role, word) = match matrix.outcome() {
        Outcome::NoRegression => (Role::Good, "No regression"),
        Outcome::Regression => (Role::Bad, "REGRESSION"),
        Outcome::CannotTell => (Role::Doubt, "CANNOT TELL"),
        Outcome::NotComparable => (Role::Doubt, "NOT COMPARABLE"),
    };
    let is_word = |kind: &Kind| kind.word().eq_ignore_ascii_case(word);
    let text = match &counts[..] {
        [] => format!("{word}: there is nothing to hold against each other"),
        [(only, 1)] if is_word(only) => format!("{word}: the only figure"),
        [(only, count)] if is_word(only) => format!("{word}: all {count} figures"),
        counts => format!("{word}: {}", counts_text(counts, ", ")),
    };
    (role, text)
}
