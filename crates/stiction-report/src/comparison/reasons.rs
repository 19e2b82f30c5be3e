//! Why nothing is claimed: the noise that the sessions show of themselves, and the
//! reasons of each verdict that refuses.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Row, Scale};
use stiction_analysis::noise::{Repeat, widest};
use stiction_core::MetricClass;

use super::entry::{name, shared_levels};
use crate::cell::cell_text;
use crate::figure::{label, significant};
use crate::outcome::title;
use crate::page::{Page, Role, Span};

/// Reasons that are listed; the JSON document has all.
const MOST_REASONS: usize = 12;

/// Figures whose noise is listed.
const MOST_NOISE: usize = 6;

/// How far runs of one configuration lie apart: for each metric the widest of all
/// cells, since anything smaller is noise for sure. The first metrics stand for the rest.
pub(super) fn write_noise(page: &mut Page, noise: &[Repeat]) {
    let mut widest = widest(noise);
    widest.retain(|repeat| is_judged(repeat));
    if widest.is_empty() {
        return;
    }
    page.blank();
    page.paragraph(
        "",
        Span::new(
            Role::Strong,
            "Noise: runs of one configuration lie so far apart",
        ),
    );
    for repeat in widest.iter().take(MOST_NOISE) {
        let spread = match repeat.scale {
            Scale::Percent => format!("{} %", significant(repeat.spread, 2)),
            Scale::Points => format!("{} points", significant(repeat.spread, 3)),
        };
        let cell = if repeat.cell.is_empty() {
            String::new()
        } else {
            format!(" ({})", cell_text(&repeat.cell))
        };
        page.paragraph(
            "- ",
            format!(
                "{} {}: {spread} over {} runs{cell}",
                title(&repeat.phase),
                label(&repeat.metric),
                repeat.values.len()
            ),
        );
    }
    if let Some(more) = widest.len().checked_sub(MOST_NOISE + 1) {
        page.line(format!("- and {} more; --json has them all", more + 1));
    }
}

/// Percentages of a baseline are described, and yet what their readers judge by.
fn is_judged(repeat: &Repeat) -> bool {
    repeat.scale == Scale::Points
        || !matches!(
            repeat.metric.class,
            MetricClass::Descriptive | MetricClass::LatencyExtreme
        )
}

/// Rows that share a reason for claiming nothing.
struct Refusal<'a> {
    word: &'static str,
    /// Of the first of them.
    reason: &'a str,
    /// The reason without its figures: what differs in these alone is one reason.
    kind: String,
    /// Whether all of them have the same figures.
    is_same_in_all: bool,
    rows: Vec<String>,
}

/// The words of a reason, its figures taken out.
fn without_figures(reason: &str) -> String {
    let is_of_a_figure = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    reason.replace(is_of_a_figure, "")
}

/// Why nothing is claimed, each reason with the rows that it holds for.
pub(super) fn write_reasons<'a>(page: &mut Page, rows: impl IntoIterator<Item = &'a Row>) {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let shared = shared_levels(rows.iter().map(|row| &row.cell));
    let judged: Vec<&Row> = rows
        .into_iter()
        .filter(|row| row.verdict.is_some())
        .collect();
    let mut refusals: Vec<Refusal<'_>> = Vec::new();
    for row in &judged {
        let Some(verdict) = &row.verdict else {
            continue;
        };
        for reason in verdict.reasons() {
            let name = name(row, &shared);
            let kind = without_figures(reason);
            let known =
                |refusal: &&mut Refusal<'_>| refusal.word == verdict.word() && refusal.kind == kind;
            match refusals.iter_mut().find(known) {
                Some(refusal) => {
                    refusal.is_same_in_all &= refusal.reason == reason;
                    refusal.rows.push(name);
                }
                None => refusals.push(Refusal {
                    word: verdict.word(),
                    reason,
                    kind,
                    is_same_in_all: true,
                    rows: vec![name],
                }),
            }
        }
    }
    if refusals.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Why"));
    refusals.sort_by_key(|refusal| std::cmp::Reverse(refusal.rows.len()));
    for refusal in refusals.iter().take(MOST_REASONS) {
        let whose = match refusal.rows.len() {
            count if count == judged.len() => "all".to_owned(),
            1..=2 => refusal.rows.join(", "),
            count => format!("{count} of {}", judged.len()),
        };
        // Of several rows the figures are those of the first.
        let one = if refusal.is_same_in_all {
            ""
        } else {
            ", for one"
        };
        let text = format!("{}, {whose}{one}: {}", refusal.word, refusal.reason);
        page.paragraph("- ", Span::new(Role::Doubt, text));
    }
    if let Some(more) = refusals.len().checked_sub(MOST_REASONS + 1) {
        page.line(format!("- and {} more; --json has them all", more + 1));
    }
    if let Some(runs) = judged.iter().filter_map(|row| runs_needed(row)).max() {
        page.paragraph(
            "- ",
            format!("likely to decide everything: {runs} runs a side, interleaved in one session"),
        );
    }
}

fn runs_needed(row: &Row) -> Option<u32> {
    match row.verdict {
        // Where there were that many already, it is not their number that is missing.
        Some(Verdict::CannotTell { runs_needed, .. }) => {
            let had = [&row.a, &row.b].map(|side| side.as_ref().map_or(0, |side| side.runs.len()));
            runs_needed.filter(|&needed| had.iter().any(|&had| had < needed as usize))
        }
        _ => None,
    }
}
