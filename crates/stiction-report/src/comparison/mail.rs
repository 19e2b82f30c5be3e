//! A comparison as the mail that a kernel developer sends: plain text of 78 columns.

use stiction_analysis::compare::{Comparison, Control, Matrix, Row};
use stiction_core::Better;

use super::entry::{Kind, counts_of, counts_text, shared_levels};
use super::groups::{capital, groups};
use super::lint::MAIL_WIDTH;
use super::percent_table::write_percent_table;
use super::subject::subject;
use super::times::{chosen, of_phase, said};
use super::{Shown, context, doubts, head, heading, latencies, reasons};
use crate::figure::size_percent;
use crate::page::{Page, Style};
use crate::text::counted;

/// The mail: one subject from the worst cell, a summary, a table for each group of
/// figures, the candidates against the baseline, latencies, what moved, and how it was
/// measured. [`mail_faults`](super::mail_faults) finds nothing in it.
#[must_use]
pub fn mail(matrix: &Matrix, shown: Shown) -> String {
    let mut page = Page::of_width(Style::Plain, MAIL_WIDTH);
    page.line(format!("Subject: {}", subject(matrix)));
    write_summary(&mut page, matrix);
    for comparison in &matrix.comparisons {
        if matrix.comparisons.len() > 1 {
            let found = counts_text(&counts_of(&comparison.rows), ", ");
            let sides = format!("{} against {}: {found}", comparison.b, comparison.a);
            heading(&mut page, sides);
        }
        context::write_before(&mut page, comparison);
        write_groups(&mut page, matrix, comparison, shown);
        context::write_unmatched(&mut page, comparison);
    }
    for table in super::told_tables(matrix, shown) {
        write_percent_table(&mut page, matrix, table);
    }
    for comparison in &matrix.comparisons {
        latencies::write_latencies(&mut page, comparison, shown);
        write_moved(&mut page, comparison, shown);
        doubts::write_doubts(&mut page, std::slice::from_ref(comparison));
        reasons::write_reasons(&mut page, &comparison.rows);
    }
    for noise in super::noises(matrix) {
        reasons::write_noise(&mut page, noise);
    }
    write_setup(&mut page, matrix);
    page.finish()
}

fn write_summary(page: &mut Page, matrix: &Matrix) {
    heading(page, "Summary");
    let rows = || matrix.rows().map(|(_, row)| row);
    let counts = counts_of(rows());
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let within = head::effects(rows()).map_or_else(String::new, |effects| {
        format!("; same means within {effects}")
    });
    let mut sentences = vec![if total == 0 {
        "Nothing was judged.".to_owned()
    } else {
        let found = counts_text(&counts, ", ");
        format!("{found}, of {}{within}.", counted(total, "figure"))
    }];
    if let [only] = &matrix.comparisons[..]
        && let Some(repeated) = head::repeated(&only.replication)
    {
        sentences.push(format!("{}.", capital(&repeated)));
    }
    let family = &matrix.family;
    if family.judged > 0 {
        sentences.push(match family.control {
            Control::AnyFalseAlarm => "Chance of any false alarm in this mail: 5 %.".to_owned(),
            Control::ShareOfFalse => "Of what is claimed, 5 % may be false.".to_owned(),
        });
    }
    if let Some((least, most)) = family.visible_percent {
        let seen = head::span(least, most);
        sentences.push(format!(
            "Smallest change that these runs could see: {seen}."
        ));
    }
    sentences.extend(known_noise(matrix));
    page.paragraph("  ", sentences.join(" "));
}

/// How large the noise is that calibration, or the baseline once more, showed: that of
/// the noisiest figure.
fn known_noise(matrix: &Matrix) -> Option<String> {
    let floors = matrix.rows().filter_map(|(_, row)| row.floor.as_ref());
    let widest = floors.max_by(|one, other| one.deviation.total_cmp(&other.deviation))?;
    let percent = size_percent(100.0 * widest.deviation.exp_m1());
    let blocks = counted(widest.blocks as usize, "A/A block");
    Some(format!("Noise ({}, {blocks}): {percent}.", widest.from))
}

fn write_groups(page: &mut Page, matrix: &Matrix, comparison: &Comparison, shown: Shown) {
    let mut same = 0;
    let is_shown =
        |row: &Row| row.verdict.is_some() || (shown.all && row.metric.better != Better::Neither);
    for group in groups(matrix, comparison, is_shown) {
        if !shown.all && group.is_all(Kind::Same) {
            same += group.len();
            continue;
        }
        heading(page, group.title.as_str());
        if !group.about.is_empty() {
            page.paragraph("", group.about.as_str());
        }
        group.grid(comparison).write(page);
    }
    if same > 0 {
        page.blank();
        let word = if same == 1 { "is" } else { "are" };
        page.paragraph(
            "",
            format!(
                "{} in other tables {word} the same.",
                counted(same, "figure")
            ),
        );
    }
}

fn write_moved(page: &mut Page, comparison: &Comparison, shown: Shown) {
    let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
    let (found, _) = chosen(comparison, shown);
    let told: Vec<String> = found
        .into_iter()
        .filter_map(|one| Some(format!("{}: {}", of_phase(one, &shared), said(one)?)))
        .collect();
    if told.is_empty() {
        return;
    }
    heading(page, "What moved with it");
    for text in told {
        page.paragraph("  ", text);
    }
}

/// Facts of a setup that a reader of a mail looks for, by the beginnings of their keys.
const TOLD: [&str; 9] = [
    "host_name",
    "cpu.model",
    "cpu.online",
    "memory.total",
    "kernel.release",
    "distribution",
    "target",
    "limits.",
    "tool.",
];

fn write_setup(page: &mut Page, matrix: &Matrix) {
    page.blank();
    let facts = &matrix.setup.common;
    let told = TOLD.iter().flat_map(|beginning| {
        let of = facts
            .iter()
            .filter(move |fact| fact.key.starts_with(beginning));
        of.filter(|fact| !fact.value.is_empty() && !fact.key.contains(".queue."))
    });
    let told: Vec<String> = told
        .map(|fact| format!("{} {}", fact.key, fact.value))
        .collect();
    if !told.is_empty() {
        page.paragraph("Setup     ", told.join("; "));
    }
    for comparison in &matrix.comparisons {
        let said = context::said(comparison);
        page.paragraph("Context   ", format!("{}: {said}", comparison.b));
    }
    // A table that was imported was not measured by a command that could be repeated.
    let words = matrix.setup.commands.iter().map(|(_, words)| &words[..]);
    let mut seen: Vec<&[String]> = Vec::new();
    for words in words.map(without_program) {
        let is_imported = words.first().is_none_or(|word| word == "import");
        if !is_imported && !seen.contains(&words) {
            seen.push(words);
            page.paragraph("Repeat    ", format!("stiction {}", quoted(words)));
        }
    }
    let ids = session_ids(matrix.comparisons.iter());
    if !seen.is_empty() {
        page.paragraph("Raw data  ", format!("stiction export {}", ids.join(" ")));
    }
    page.paragraph("Seed      ", matrix.family.seed.0.to_string());
}

/// The words of a command behind the program's name.
fn without_program(words: &[String]) -> &[String] {
    match words {
        [program, rest @ ..] if program == "stiction" => rest,
        words => words,
    }
}

/// The sessions of both sides of all comparisons, each once.
pub(super) fn session_ids<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in comparisons.flat_map(|one| one.sessions.0.iter().chain(&one.sessions.1)) {
        let id = id.to_string();
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// The words as a shell takes them.
fn quoted(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:%+@".contains(c);
    let texts: Vec<String> = words
        .iter()
        .map(|word| {
            if !word.is_empty() && word.chars().all(is_plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        })
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let words = ["run", "--command", "dd if=a", "it's", ""].map(str::to_owned);
        assert_eq!(quoted(&words), r"run --command 'dd if=a' 'it'\''s' ''");
    }
}
