//! The reports of write-and-fsync and time-read, and the histogram of the old program.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stiction_core::{Direction, Session, Unit, metrics};

use super::rows::{
    begin, cpu_legend, end, is_synced, measured_phases, median, phase_table, worker_table, writes,
};
use crate::cell::cell_text;
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::page::{Role, Span, Style};
use crate::stack::without_home;
use crate::text::ascii;

/// How long writing took, until the last write had returned and until it was durable.
#[must_use]
pub fn write_and_fsync(judged: &Judged<'_>, style: Style) -> String {
    report(
        judged,
        style,
        "stiction write-and-fsync",
        "written and durable",
    )
}

/// How long reading took.
#[must_use]
pub fn time_read(judged: &Judged<'_>, style: Style) -> String {
    report(judged, style, "stiction time-read", "read")
}

fn report(judged: &Judged<'_>, style: Style, title: &str, done: &str) -> String {
    let session = judged.session();
    let mut page = begin(session, title, style);
    let several_cells = session
        .trials
        .windows(2)
        .any(|pair| pair[0].cell != pair[1].cell);
    if let (Some(trial), false) = (session.trials.first(), several_cells) {
        page.line(cell_text(&trial.cell));
    }
    let rows = rows(judged);
    let answer = answer(&rows, done);
    let rows: Vec<(String, JudgedPhase<'_>)> = rows
        .into_iter()
        .map(|(offset, run, judged)| (row_name(offset, run), judged))
        .collect();
    if !rows.is_empty() {
        page.blank();
        let table = phase_table(&rows);
        page.table(0, &table);
        page.blank();
        page.paragraph("", Span::new(Role::Faint, cpu_legend(&table)));
    }
    for (name, judged) in &rows {
        let workers = &judged.phase.workers;
        if workers.len() > 1 && judged.phase.has_numbers() {
            page.blank();
            page.line(Span::new(Role::Strong, format!("Workers of {name}")));
            let table = worker_table(workers, |number| file_name(session, number));
            page.table(0, &table);
        }
    }
    let phases = measured_phases(judged);
    end(page, judged, &phases, answer)
}

/// The measured phases with their alignment and run, runs of one alignment in one
/// place.
fn rows<'a>(judged: &'a Judged<'_>) -> Vec<(Option<i64>, u32, JudgedPhase<'a>)> {
    let mut rows: Vec<(Option<i64>, u32, JudgedPhase<'_>)> = Vec::new();
    for (trial, phases) in judged.trials() {
        let offset = trial.cell.integer("buffer_offset_bytes");
        let measured = phases.into_iter().filter(JudgedPhase::is_measured);
        rows.extend(measured.map(|judged| (offset, trial.repetition, judged)));
    }
    rows.sort_by_key(|&(offset, run, _)| (offset, run));
    rows
}

fn row_name(offset: Option<i64>, run: u32) -> String {
    let at = offset.map_or_else(String::new, |bytes| format!("+{bytes} B, "));
    format!("{at}run {}", run + 1)
}

/// Where a worker works: of several targets the one that is its turn.
pub(super) fn target_path(session: &Session, number: usize) -> String {
    let targets = &session.header.environment.targets;
    match targets.get(number % targets.len().max(1)) {
        Some(stack) => ascii(&without_home(&stack.path)).into_owned(),
        None => String::new(),
    }
}

/// The directory of a worker's file, by the order in which they are used.
pub(super) fn file_name(session: &Session, number: usize) -> String {
    let targets = &session.header.environment.targets;
    match targets.get(number % targets.len().max(1)) {
        Some(stack) if targets.len() > 1 => {
            format!("{number} {}", without_home(&stack.path))
        }
        _ => number.to_string(),
    }
}

/// The median over the runs, with the word that all of them share; of several
/// alignments the best and the worst.
fn answer(rows: &[(Option<i64>, u32, JudgedPhase<'_>)], done: &str) -> Option<String> {
    let mut by_offset: BTreeMap<Option<i64>, Vec<JudgedPhase<'_>>> = BTreeMap::new();
    for &(offset, _, judged) in rows {
        if judged.phase.has_numbers() {
            by_offset.entry(offset).or_default().push(judged);
        }
    }
    let mut rates: Vec<(f64, Option<i64>)> = by_offset
        .iter()
        .filter_map(|(&offset, phases)| {
            let rates = phases.iter().filter_map(|j| j.phase.value(&metrics::RATE));
            Some((median(rates.collect())?, offset))
        })
        .collect();
    rates.sort_by(|one, other| other.0.total_cmp(&one.0));
    let first = by_offset.values().next()?.first()?;
    let subject = first.finding.subject;
    let mut all = by_offset.values().flatten();
    let word = if all.all(|judged| judged.finding.subject == subject) {
        subject.to_string()
    } else {
        "unknown".to_owned()
    };
    let rate = |rate: f64| measured(Unit::BytesPerSecond, rate);
    match rates[..] {
        [] => None,
        [(only, _)] => {
            let done = if writes(first.phase) && !is_synced(first.phase) {
                "written, nothing is known to be durable"
            } else {
                done
            };
            let runs = match by_offset.values().map(Vec::len).sum() {
                1 => String::new(),
                count => format!(", median of {count}"),
            };
            Some(format!("{word} {} {done}{runs}", rate(only)))
        }
        [(best, at), .., (worst, other)] => Some(format!(
            "{word} {} {done} with the buffer at +{} B, {} at +{} B",
            rate(best),
            at.unwrap_or(0),
            rate(worst),
            other.unwrap_or(0)
        )),
    }
}

/// The histogram of the newer program's `-l`: writes by whole milliseconds, those that
/// occurred, as `seconds.milliseconds: count`. The sync is not in it.
#[must_use]
pub fn millisecond_histogram(session: &Session) -> String {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let recordings = phases
        .filter(|phase| phase.name == "write")
        .filter_map(|phase| phase.recording(Direction::Write));
    for recording in recordings {
        for (latency_ns, count) in recording.total().buckets() {
            *counts.entry(latency_ns / 1_000_000).or_default() += count;
        }
    }
    let mut text = String::new();
    for (ms, count) in counts {
        let _ = writeln!(text, "{:3}.{:03}: {count}", ms / 1000, ms % 1000);
    }
    text
}
