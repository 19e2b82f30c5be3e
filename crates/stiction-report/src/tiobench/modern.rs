//! Our own report of a tiobench session: rates with their spread, fairness, CPU
//! and latencies of every operation, each number with the word for what it is about.

mod latencies;

use stiction_core::{Cell, PhaseOutcome, Trial, TrialOutcome, format_bytes, metrics};

use crate::cell::cell_text;
use crate::doubts::doubts;
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{saved, session_gap, tells_of, title, trial_gaps};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::machine_line;
use crate::runs::Runs;
use crate::stack::{stack_line, without_home};
use latencies::latency_table;

/// Phases in the order in which they run, with the titles of their tables.
const SECTIONS: [(&str, &str); 4] = [
    ("write", "Sequential writes"),
    ("random_write", "Random writes"),
    ("read", "Sequential reads"),
    ("random_read", "Random reads"),
];

/// One row: a cell with the runs of one phase of it.
struct Row<'a> {
    cell: &'a Cell,
    runs: Runs<'a>,
}

/// The tables of each phase by threads and block size, the doubts, and the best
/// rates in the last line.
#[must_use]
pub fn modern(judged: &Judged<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let mut trials: Vec<(&Trial, Vec<JudgedPhase<'_>>)> = judged.trials().collect();
    set_interrupted_aside(&mut trials);
    head(&mut page, judged, &trials);
    let mut best = Vec::new();
    let mut mixed = 0;
    for (name, title) in SECTIONS {
        let rows = rows(&trials, name);
        if rows.is_empty() {
            continue;
        }
        page.blank();
        page.line(Span::new(Role::Strong, title));
        write_groups(&mut page, &rows);
        mixed += rows
            .iter()
            .filter(|row| row.runs.common_subject().is_none())
            .count();
        best.extend(best_rate(name, &rows).map(|text| (name, text)));
    }
    let phases: Vec<JudgedPhase<'_>> = trials
        .iter()
        .flat_map(|(trial, phases)| phases.iter().map(move |judged| (*trial, *judged)))
        .filter(|(trial, judged)| judged.is_measured() && !tells_of(trial, judged.phase))
        .map(|(_, judged)| judged)
        .collect();
    if !best.is_empty() {
        write_legend(&mut page);
    }
    write_doubts(&mut page, judged, &phases, mixed);
    page.line(saved(&judged.session().header.id, "show"));
    page.line(Span::new(Role::Strong, answer(&best)));
    page.finish()
}

fn head(page: &mut Page, judged: &Judged<'_>, trials: &[(&Trial, Vec<JudgedPhase<'_>>)]) {
    let session = judged.session();
    let environment = &session.header.environment;
    page.edges(
        Span::new(Role::Strong, "stiction tiobench"),
        Span::new(Role::Faint, session.header.id.as_str()),
    );
    for stack in &environment.targets {
        page.paragraph(
            "",
            format!("{}: {}", without_home(&stack.path), stack_line(stack)),
        );
    }
    let machine = machine_line(environment);
    if !machine.is_empty() {
        page.line(machine);
    }
    match runs_of_a_cell(trials) {
        (Some(1), Some(1)) => page.line("1 run of each cell: nothing is known of the spread."),
        (Some(fewest), Some(most)) => {
            let count = if fewest == most {
                most.to_string()
            } else {
                format!("{fewest} to {most}")
            };
            page.paragraph(
                "",
                format!(
                    "{count} runs of each cell: rates are medians with the lowest and highest \
                     run beside, latencies are of all operations of all runs."
                ),
            );
        }
        _ => {}
    }
}

/// The fewest and the most trials of one cell that have numbers, of the cells that have
/// any.
fn runs_of_a_cell(trials: &[(&Trial, Vec<JudgedPhase<'_>>)]) -> (Option<usize>, Option<usize>) {
    let mut runs: Vec<(&Cell, usize)> = Vec::new();
    for (trial, phases) in trials {
        if !phases.iter().any(|judged| judged.phase.has_numbers()) {
            continue;
        }
        match runs.iter_mut().find(|(cell, _)| **cell == trial.cell) {
            Some((_, count)) => *count += 1,
            None => runs.push((&trial.cell, 1)),
        }
    }
    let counts = || runs.iter().map(|(_, count)| *count);
    (counts().min(), counts().max())
}

/// Leaves out the phase that an interruption cut short where there is a whole run of
/// its cell: it is no run like the others.
fn set_interrupted_aside(trials: &mut [(&Trial, Vec<JudgedPhase<'_>>)]) {
    let whole: Vec<(&Cell, String)> = trials
        .iter()
        .flat_map(|(trial, phases)| phases.iter().map(move |judged| (*trial, judged.phase)))
        .filter(|(_, phase)| phase.outcome == PhaseOutcome::Completed)
        .map(|(trial, phase)| (&trial.cell, phase.name.clone()))
        .collect();
    for (trial, phases) in trials {
        if trial.outcome == TrialOutcome::Interrupted {
            phases.retain(|judged| {
                judged.phase.outcome != PhaseOutcome::EndedEarly
                    || !whole.contains(&(&trial.cell, judged.phase.name.clone()))
            });
        }
    }
}

/// The rows of one phase, cells in the order of their threads and block size.
fn rows<'a>(trials: &'a [(&'a Trial, Vec<JudgedPhase<'a>>)], name: &str) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (trial, phases) in trials {
        let ran = phases
            .iter()
            .find(|judged| judged.phase.name == name && judged.phase.has_numbers());
        let Some(&judged) = ran else { continue };
        match rows.iter_mut().find(|row| *row.cell == trial.cell) {
            Some(row) => row.runs.0.push(judged),
            None => rows.push(Row {
                cell: &trial.cell,
                runs: Runs(vec![judged]),
            }),
        }
    }
    rows.sort_by_key(|row| {
        let level = |factor| row.cell.get(factor).cloned();
        (
            level("directory"),
            level("file_size_bytes"),
            level("block_size_bytes"),
            level("threads"),
        )
    });
    rows
}

/// The tables, one pair for each directory and size where these vary.
fn write_groups(page: &mut Page, rows: &[Row<'_>]) {
    let group = |row: &Row<'_>| {
        let mut cell = row.cell.clone();
        if let Some(directory) = cell.get("directory").map(ToString::to_string) {
            cell = cell.with("directory", without_home(&directory));
        }
        cell_text(&cell.without("threads").without("block_size_bytes"))
    };
    let mut start = 0;
    for end in 1..=rows.len() {
        if end < rows.len() && group(&rows[end]) == group(&rows[start]) {
            continue;
        }
        let heading = group(&rows[start]);
        if !heading.is_empty() {
            page.line(format!("  {heading}"));
        }
        page.table(2, &rate_table(&rows[start..end]));
        let latencies = latency_table(&rows[start..end]);
        if !latencies.is_empty() {
            page.table(2, &latencies);
        }
        start = end;
    }
}

fn threads_and_block(row: &Row<'_>) -> [Span; 2] {
    let block = row.cell.integer("block_size_bytes");
    [
        row.cell
            .get("threads")
            .map_or_else(|| "-".to_owned(), ToString::to_string)
            .into(),
        block
            .map_or_else(
                || "-".to_owned(),
                |bytes| format_bytes(bytes.unsigned_abs()),
            )
            .into(),
    ]
}

fn rate_table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::right("thr", 5),
        Column::right("block", 8),
        Column::left("what", 7),
        Column::right("rate", 11),
        Column::right("lowest..highest", 15),
        Column::right("fair", 4),
        Column::right("CPU", 7),
        Column::right("all CPU", 7),
        Column::right("per CPU", 10),
    ]);
    for row in rows {
        let mut cells = threads_and_block(row).to_vec();
        let subject = row.runs.subject();
        cells.push(Span::new(Role::of(subject), subject.to_string()));
        cells.push(row.runs.median_text(&metrics::RATE).into());
        cells.push(row.runs.spread(&metrics::RATE).into());
        cells.push(fairness(row).into());
        cells.push(row.runs.median_text(&metrics::CPU_PERCENT).into());
        cells.push(
            row.runs
                .median_text(&metrics::CPU_SYSTEM_WIDE_PERCENT)
                .into(),
        );
        let efficiency = row.runs.median(&metrics::CPU_EFFICIENCY);
        cells.push(efficiency.map_or_else(String::new, per_cpu).into());
        table.row(cells);
    }
    table
}

/// What one busy CPU would move; the head of the column has the unit's CPU.
fn per_cpu(rate: f64) -> String {
    measured(stiction_core::Unit::BytesPerSecond, rate)
}

/// Jain's index of the least fair run, where there are several threads.
fn fairness(row: &Row<'_>) -> String {
    let several = row.runs.0.iter().any(|run| run.phase.workers.len() > 1);
    match row.runs.values(&metrics::FAIRNESS).first() {
        Some(least) if several || row.cell.integer("threads") != Some(1) => format!("{least:.2}"),
        _ => String::new(),
    }
}

/// The highest median rate of a phase, with its word and its cell.
fn best_rate(name: &str, rows: &[Row<'_>]) -> Option<String> {
    let rate = |row: &Row<'_>| row.runs.median(&metrics::RATE);
    let best = rows
        .iter()
        .filter(|row| rate(row).is_some())
        .max_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)))?;
    let subject = best.runs.subject();
    let threads = best
        .cell
        .integer("threads")
        .map_or_else(String::new, |threads| format!(" ({threads} thr)"));
    Some(format!(
        "{} {subject} {}{threads}",
        title(name),
        best.runs.median_text(&metrics::RATE)
    ))
}

/// The best sequential rates; where those phases were left out, the random ones.
fn answer(best: &[(&str, String)]) -> String {
    let of = |names: [&str; 2]| -> Vec<&str> {
        best.iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(_, text)| text.as_str())
            .collect()
    };
    let sequential = of(["write", "read"]);
    let texts = if sequential.is_empty() {
        of(["random_write", "random_read"])
    } else {
        sequential
    };
    if texts.is_empty() {
        return "Nothing was measured".to_owned();
    }
    format!("Best: {}", texts.join("; "))
}

fn write_legend(page: &mut Page) {
    page.blank();
    page.paragraph(
        "",
        Span::new(
            Role::Faint,
            "fair: Jain's index of the threads' rates in the least fair run, 1 when all are \
             equal. CPU: of the process, all CPU: of the machine; 100 % is one CPU. per CPU: \
             what one CPU kept busy by the process would move. sync: median of the fsyncs, which \
             are in the rate and not in the other latencies.",
        ),
    );
}

fn write_doubts(page: &mut Page, judged: &Judged<'_>, phases: &[JudgedPhase<'_>], mixed: usize) {
    let session = judged.session();
    let mut sentences: Vec<String> = session_gap(session).into_iter().collect();
    sentences.extend(trial_gaps(&session.trials));
    if mixed > 0 {
        let rows = if mixed == 1 { "row" } else { "rows" };
        sentences.push(format!(
            "In {mixed} {rows} the runs are about different things, so that the word is unknown."
        ));
    }
    sentences.extend(doubts(session, phases));
    if sentences.is_empty() && !phases.is_empty() {
        sentences.push("No doubts: in every phase the device moved what was asked.".to_owned());
    }
    if !sentences.is_empty() {
        page.blank();
    }
    for sentence in sentences {
        page.paragraph("- ", Span::new(Role::Doubt, sentence));
    }
}
