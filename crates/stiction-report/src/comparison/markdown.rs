//! A comparison as Markdown: the summary a list, each table in a fenced block, what
//! claims nothing inside a fold.

use std::fmt::Write;

use stiction_analysis::compare::{Comparison, Matrix, Row};
use stiction_core::Better;

use super::entry::{Kind, counts_of, counts_text, shared_levels};
use super::groups::{Group, capital, groups};
use super::lint::MAIL_WIDTH;
use super::subject::subject;
use super::{Shown, context, doubts, head, latencies, percent_table, reasons, times};
use crate::page::{Page, Style};
use crate::text::{ascii, counted};

/// The document. Tables are in fenced blocks, so that no character of a name means
/// anything there; with [`Shown::all`] described figures are there too.
#[must_use]
pub fn markdown(matrix: &Matrix, shown: Shown) -> String {
    let mut document = Document::default();
    let title = subject(matrix);
    document.heading(2, title.trim_start_matches("[BENCH] "));
    let counts = counts_of(matrix.rows().map(|(_, row)| row));
    let counts = counts
        .iter()
        .map(|(kind, count)| format!("{count} {}", kind.word()));
    document.list(counts.chain(head::rests_on(matrix)));
    for comparison in &matrix.comparisons {
        write_candidate(&mut document, matrix, comparison, shown);
    }
    for table in super::told_tables(matrix, shown) {
        document.block(|page| percent_table::write_percent_table(page, matrix, table));
    }
    let (_, answer) = head::answer(matrix);
    document.paragraph(&answer);
    document.text
}

fn write_candidate(
    document: &mut Document,
    matrix: &Matrix,
    comparison: &Comparison,
    shown: Shown,
) {
    document.heading(3, &format!("{} against {}", comparison.b, comparison.a));
    let mut sentences = vec![counts_text(&counts_of(&comparison.rows), ", ")];
    sentences.extend(head::repeated(&comparison.replication));
    sentences.push(format!("context: {}", context::said(comparison)));
    sentences.retain(|sentence| !sentence.is_empty());
    let sentences: Vec<String> = sentences
        .iter()
        .map(|one| format!("{}.", capital(one)))
        .collect();
    document.paragraph(&sentences.join(" "));
    document.block(|page| context::write_before(page, comparison));
    let claims_nothing =
        |group: &Group<'_>| group.is_all(Kind::Same) || group.is_all(Kind::Described);
    let is_shown =
        |row: &Row| row.verdict.is_some() || (shown.all && row.metric.better != Better::Neither);
    let (same, others): (Vec<Group<'_>>, Vec<Group<'_>>) = groups(matrix, comparison, is_shown)
        .into_iter()
        .partition(claims_nothing);
    for group in &others {
        document.group(group, comparison);
    }
    let count = same.iter().map(Group::len).sum();
    let summary = format!("{} of which no change is claimed", counted(count, "figure"));
    document.fold(&summary, |inside| {
        for group in &same {
            inside.group(group, comparison);
        }
    });
    let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
    document.fold("Latencies, what moved, doubts and reasons", |inside| {
        inside.block(|page| {
            latencies::write_latencies(page, comparison, shown);
            times::write_why(page, comparison, &shared, shown);
            context::write_unmatched(page, comparison);
            doubts::write_doubts(page, std::slice::from_ref(comparison));
            reasons::write_noise(page, &comparison.noise);
            reasons::write_reasons(page, &comparison.rows);
        });
    });
}

/// Markdown as it grows.
#[derive(Default)]
struct Document {
    text: String,
}

impl Document {
    fn paragraph(&mut self, text: &str) {
        self.part(&escaped(text));
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.part(&format!("{} {}", "#".repeat(level), escaped(text)));
    }

    fn list(&mut self, items: impl Iterator<Item = String>) {
        let items: Vec<String> = items.map(|item| format!("- {}", escaped(&item))).collect();
        if !items.is_empty() {
            self.part(&items.join("\n"));
        }
    }

    fn group(&mut self, group: &Group<'_>, comparison: &Comparison) {
        let about = if group.about.is_empty() {
            String::new()
        } else {
            format!(" ({})", group.about)
        };
        self.paragraph(&format!("{}{about}", group.title));
        self.block(|page| group.grid(comparison).write(page));
    }

    /// What is written, in a fenced block; nothing where nothing is written.
    fn block(&mut self, write: impl FnOnce(&mut Page)) {
        let mut page = Page::of_width(Style::Plain, MAIL_WIDTH);
        write(&mut page);
        let written = page.finish();
        let written = written.trim_matches('\n');
        if !written.is_empty() {
            // A fence is longer than any in the text (CommonMark 0.31, 4.5).
            let longest = written.lines().map(backticks).max().unwrap_or(0);
            let fence = "`".repeat((longest + 1).max(3));
            self.part(&format!("{fence}text\n{written}\n{fence}"));
        }
    }

    fn fold(&mut self, summary: &str, write: impl FnOnce(&mut Self)) {
        let mut inside = Self::default();
        write(&mut inside);
        if !inside.text.is_empty() {
            self.part(&format!("<details><summary>{summary}</summary>"));
            self.part(inside.text.trim_end());
            self.part("</details>");
        }
    }

    /// A part, apart from the one before by an empty line.
    fn part(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }
}

/// Backticks that a line begins with, behind its blanks.
fn backticks(line: &str) -> usize {
    let line = line.trim_start();
    line.len() - line.trim_start_matches('`').len()
}

/// Text in which no character means anything to Markdown or HTML (CommonMark 0.31,
/// 2.4).
fn escaped(text: &str) -> String {
    let mut found = String::new();
    for c in ascii(text).chars() {
        if "\\`*_{}[]<>#|~&".contains(c) {
            found.push('\\');
        }
        found.push(c);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_nothing_to_markdown() {
        assert_eq!(escaped("a_b <i> #1 `x`"), r"a\_b \<i\> \#1 \`x\`");
    }

    #[test]
    fn a_fence_is_longer_than_those_inside_it() {
        let mut document = Document::default();
        document.block(|page| page.line("  ````"));
        assert_eq!(document.text, "`````text\n  ````\n`````\n");
        document.fold("empty", |_| {});
        assert_eq!(document.text, "`````text\n  ````\n`````\n");
    }
}
