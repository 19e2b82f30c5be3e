//! Our own report of a bonnie session: every phase with its rate, spread, CPU and
//! latencies, each with the word for what it is about. Nothing is left out for being
//! fast.

use stiction_core::{Direction, Histogram, PhaseOutcome, Trial, format_duration_ns, metrics};

use super::row::{FILE_PHASES, IO_PHASES};
use crate::cell::cell_text;
use crate::doubts::doubts_by;
use crate::figure::rounded_count;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{saved, session_gap, tells_of, trial_gaps};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::machine_line;
use crate::runs::{Runs, quantile_text};
use crate::stack::{stack_line, without_home};

/// The phases of one name over all trials.
struct Line<'a> {
    name: &'static str,
    runs: Runs<'a>,
}

/// Two tables for one file, two for many, the doubts, and the block phases and the seeks
/// in the last line.
#[must_use]
pub fn modern(judged: &Judged<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let trials: Vec<(&Trial, Vec<JudgedPhase<'_>>)> = judged.trials().collect();
    let io = lines(&trials, IO_PHASES);
    let of_files = lines(&trials, FILE_PHASES);
    head(&mut page, judged, &io, &of_files);
    let cell = trials.first().map(|(trial, _)| &trial.cell);
    if !io.is_empty() {
        let what = cell.map(|cell| cell_text(&cell.clone().without("files")));
        section(&mut page, "One file", what);
        page.table(2, &rate_table(&io, true));
        page.table(2, &latency_table(&io));
    }
    if !of_files.is_empty() {
        let what = cell
            .and_then(|cell| cell.get("files"))
            .map(|files| format!("{files} (thousands of 1024, sizes, directories)"));
        section(&mut page, "Many files", what);
        page.table(2, &rate_table(&of_files, false));
        page.table(2, &latency_table(&of_files));
    }
    if !io.is_empty() || !of_files.is_empty() {
        legend(&mut page);
    }
    write_doubts(&mut page, judged, &trials);
    page.line(saved(&judged.session().header.id, "show"));
    page.line(Span::new(Role::Strong, answer(&io, &of_files)));
    page.finish()
}

fn section(page: &mut Page, title: &str, what: Option<String>) {
    page.blank();
    let what = what.filter(|text| !text.is_empty());
    let text = what.map_or_else(|| title.to_owned(), |what| format!("{title}: {what}"));
    page.line(Span::new(Role::Strong, text));
}

fn head(page: &mut Page, judged: &Judged<'_>, io: &[Line<'_>], of_files: &[Line<'_>]) {
    let session = judged.session();
    let environment = &session.header.environment;
    page.edges(
        Span::new(Role::Strong, "stiction bonnie"),
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
    let counts = io.iter().chain(of_files).map(|line| line.runs.0.len());
    match counts.max() {
        Some(1) => page.line("1 run: nothing is known of the spread."),
        Some(runs) => page.paragraph(
            "",
            format!(
                "{runs} runs: rates are medians with the lowest and highest run beside, \
                 latencies are of all operations of all runs."
            ),
        ),
        None => {}
    }
}

/// The phases of these names that have numbers. One that an interruption cut short is
/// left out where there is a whole run of it.
fn lines<'a>(
    trials: &'a [(&'a Trial, Vec<JudgedPhase<'a>>)],
    names: [&'static str; 6],
) -> Vec<Line<'a>> {
    names
        .into_iter()
        .filter_map(|name| {
            let mut runs: Vec<JudgedPhase<'a>> = trials
                .iter()
                .flat_map(|(_, phases)| phases)
                .filter(|judged| judged.phase.name == name && judged.phase.has_numbers())
                .copied()
                .collect();
            let is_whole = |run: &JudgedPhase<'_>| run.phase.outcome == PhaseOutcome::Completed;
            if runs.iter().any(is_whole) {
                runs.retain(is_whole);
            }
            (!runs.is_empty()).then_some(Line {
                name,
                runs: Runs(runs),
            })
        })
        .collect()
}

/// A phase's name for people; what goes by bytes says what it tests.
fn phase_title(name: &str) -> &'static str {
    match name {
        "putc" => "write by bytes",
        "put_block" => "write",
        "rewrite" => "rewrite in place",
        "getc" => "read by bytes",
        "get_block" => "read",
        "seeks" => "seeks",
        "create_sequential" => "create",
        "stat_sequential" => "stat and read",
        "delete_sequential" => "delete",
        "create_random" => "create, random",
        "stat_random" => "stat, random",
        _ => "delete, random",
    }
}

fn rate_table(lines: &[Line<'_>], of_bytes: bool) -> Table {
    let mut table = Table::new(vec![
        Column::left("phase", 16),
        Column::left("what", 7),
        Column::right("rate", 11),
        Column::right("per second", 10),
        Column::right("lowest..highest", 15),
        Column::right("CPU", 7),
        Column::right("all CPU", 7),
    ]);
    for line in lines {
        let runs = &line.runs;
        let subject = runs.subject();
        let moves_bytes = of_bytes || runs.median(&metrics::BYTES).is_some_and(|b| b > 0.0);
        let rate = if moves_bytes {
            runs.median_text(&metrics::RATE)
        } else {
            String::new()
        };
        let judged_by = if of_bytes && line.name != "seeks" {
            metrics::RATE
        } else {
            metrics::OPERATION_RATE
        };
        table.row(vec![
            phase_title(line.name).into(),
            Span::new(Role::of(subject), subject.to_string()),
            rate.into(),
            runs.median_text(&metrics::OPERATION_RATE).into(),
            runs.spread(&judged_by).into(),
            runs.median_text(&metrics::CPU_PERCENT).into(),
            runs.median_text(&metrics::CPU_SYSTEM_WIDE_PERCENT).into(),
        ]);
    }
    table
}

fn latency_table(lines: &[Line<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("phase", 16),
        Column::right("ops", 7),
        Column::right("mean", 7),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("p99.9", 7),
        Column::right("max", 7),
        Column::right("sync", 7),
    ]);
    for line in lines {
        let Some(all) = whole_operations(&line.runs) else {
            continue;
        };
        let time = |ns: Option<f64>| ns.map_or_else(String::new, format_duration_ns);
        let sync = line.runs.merged(&[Direction::Sync]);
        let sync = sync.and_then(|syncs| syncs.quantile_ns(0.5));
        table.row(vec![
            phase_title(line.name).into(),
            rounded_count(all.count() as f64).into(),
            time(all.mean_ns()).into(),
            time(all.quantile_ns(0.5).map(|ns| ns as f64)).into(),
            quantile_text(&all, 0.99).into(),
            quantile_text(&all, 0.999).into(),
            time(all.max_ns().map(|ns| ns as f64)).into(),
            time(sync.map(|ns| ns as f64)).into(),
        ]);
    }
    table
}

/// Latencies of whole operations, or of single calls where an operation is one.
fn whole_operations(runs: &Runs<'_>) -> Option<Histogram> {
    let whole = runs.merged(&[Direction::Whole]);
    whole.or_else(|| runs.merged(&[Direction::Read, Direction::Write]))
}

fn legend(page: &mut Page) {
    page.blank();
    page.paragraph(
        "",
        Span::new(
            Role::Faint,
            "An operation is a chunk (by bytes: a chunk's worth of calls), a seek with what it \
             wrote back, or a file. By bytes is a test of the CPU. CPU: of the process, all CPU: \
             of the machine; 100 % is one CPU. sync: median of the syncs, which are in the rate \
             and, unless every operation syncs, not in the latencies.",
        ),
    );
}

fn write_doubts(page: &mut Page, judged: &Judged<'_>, trials: &[(&Trial, Vec<JudgedPhase<'_>>)]) {
    let session = judged.session();
    let phases: Vec<JudgedPhase<'_>> = trials
        .iter()
        .flat_map(|(trial, phases)| phases.iter().map(move |judged| (*trial, *judged)))
        .filter(|(trial, judged)| judged.is_measured() && !tells_of(trial, judged.phase))
        .map(|(_, judged)| judged)
        .collect();
    let mut sentences: Vec<String> = session_gap(session).into_iter().collect();
    sentences.extend(trial_gaps(&session.trials));
    sentences.extend(doubts_by(session, &phases, |judged| {
        phase_title(&judged.phase.name).to_owned()
    }));
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

/// Block rates and seeks; where those were left out, files made and removed.
fn answer(io: &[Line<'_>], of_files: &[Line<'_>]) -> String {
    let said = |lines: &[Line<'_>], names: &[&str], metric: &stiction_core::Metric| {
        let wanted = lines.iter().filter(|line| names.contains(&line.name));
        wanted
            .map(|line| {
                let name = phase_title(line.name);
                let runs = &line.runs;
                format!("{name} {} {}", runs.subject(), runs.median_text(metric))
            })
            .collect::<Vec<_>>()
    };
    let mut parts = said(io, &["put_block", "get_block"], &metrics::RATE);
    parts.extend(said(io, &["seeks"], &metrics::OPERATION_RATE));
    if parts.is_empty() {
        let names = ["create_sequential", "delete_sequential"];
        parts = said(of_files, &names, &metrics::OPERATION_RATE);
    }
    if parts.is_empty() {
        return "Nothing was measured.".to_owned();
    }
    parts.join("; ")
}
