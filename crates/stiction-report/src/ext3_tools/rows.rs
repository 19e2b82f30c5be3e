//! What the reports share: the head, a row for each phase, a row for each worker, the
//! doubts.

use std::collections::BTreeSet;

use stiction_core::{Metric, Phase, PhaseOutcome, Session, TrialOutcome, WorkerSummary, metrics};

use super::times::Times;
use crate::doubts::doubts;
use crate::figure::{figure, measured, significant};
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{saved, session_gap, tells_of, trial_gaps};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::machine_line;
use crate::stack::{stack_line, without_home};

/// Bytes of a GiB.
pub(super) const GIB: f64 = 1_073_741_824.0;

/// A page with the head that all of them have.
pub(crate) fn begin(session: &Session, title: &str, style: Style) -> Page {
    let mut page = Page::new(style);
    let environment = &session.header.environment;
    page.edges(
        Span::new(Role::Strong, title),
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
    page
}

/// CPU seconds that moving a GiB took: the inverse of the rate of one busy CPU.
pub(super) fn cpu_s_per_gib(phase: &Phase, efficiency: &Metric) -> Option<f64> {
    let efficiency = phase.value(efficiency).filter(|&value| value > 0.0)?;
    Some(GIB / efficiency)
}

/// The same as text.
pub(super) fn cpu_text(phase: &Phase, efficiency: &Metric) -> String {
    cpu_s_per_gib(phase, efficiency).map_or_else(String::new, |value| significant(value, 3))
}

/// A metric of the phase as text, empty where it is not there.
pub(crate) fn text_of(phase: &Phase, metric: &Metric) -> String {
    phase.measurement(metric).map_or_else(String::new, figure)
}

/// The word for what a phase is about, or how it ended without numbers.
pub(crate) fn word(judged: &JudgedPhase<'_>) -> Span {
    match &judged.phase.outcome {
        PhaseOutcome::Skipped(_) => Span::new(Role::Bad, "skipped"),
        _ if !judged.phase.has_numbers() => Span::new(Role::Bad, "failed"),
        _ => {
            let subject = judged.finding.subject;
            Span::new(Role::of(subject), subject.to_string())
        }
    }
}

/// Columns of a table: head, width, and what stands in it.
type Columns = [(&'static str, usize, fn(&Phase) -> String); 5];

const READ_COLUMNS: Columns = [
    ("rate", 11, |phase| text_of(phase, &metrics::RATE)),
    ("ops", 9, |phase| text_of(phase, &metrics::OPERATION_RATE)),
    ("p50", 8, |phase| text_of(phase, &metrics::LATENCY_P50)),
    ("p99", 8, |phase| text_of(phase, &metrics::LATENCY_P99)),
    ("max", 8, |phase| text_of(phase, &metrics::LATENCY_MAX)),
];

const WRITE_COLUMNS: Columns = [
    ("rate", 11, |phase| text_of(phase, &metrics::RATE)),
    ("written", 8, |phase| match is_synced(phase) {
        true => text_of(phase, &metrics::UNTIL_WRITTEN),
        false => text_of(phase, &metrics::ELAPSED),
    }),
    ("durable", 8, |phase| match is_synced(phase) {
        true => text_of(phase, &metrics::ELAPSED),
        // Nothing is known of it.
        false => String::new(),
    }),
    ("p99", 8, |phase| text_of(phase, &metrics::LATENCY_P99)),
    ("max", 8, |phase| text_of(phase, &metrics::LATENCY_MAX)),
];

/// Whether the phase ends with what it wrote being durable.
pub(super) fn is_synced(phase: &Phase) -> bool {
    phase.value(&metrics::UNTIL_WRITTEN).is_some()
}

/// Whether the phase writes.
pub(super) fn writes(phase: &Phase) -> bool {
    phase.job.as_ref().is_some_and(|job| job.action.writes())
}

/// A row for each measured phase, called as given.
pub(super) fn phase_table(rows: &[(String, JudgedPhase<'_>)]) -> Table {
    let columns = if rows.iter().any(|(_, judged)| writes(judged.phase)) {
        WRITE_COLUMNS
    } else {
        READ_COLUMNS
    };
    let mut heads = vec![Column::left("", 18), Column::left("what", 7)];
    heads.extend(columns.map(|(head, widest, _)| Column::right(head, widest)));
    heads.push(Column::right("s/GiB", 6));
    heads.push(Column::right("all", 6));
    let mut table = Table::new(heads);
    for (name, judged) in rows {
        let phase = judged.phase;
        let mut cells = vec![name.as_str().into(), word(judged)];
        if phase.has_numbers() {
            cells.extend(columns.map(|(_, _, text)| Span::from(text(phase))));
            cells.push(cpu_text(phase, &metrics::CPU_EFFICIENCY).into());
            cells.push(cpu_text(phase, &metrics::CPU_SYSTEM_WIDE_EFFICIENCY).into());
        }
        table.row(cells);
    }
    table
}

/// What the columns on the CPU say that `table` has.
pub(super) fn cpu_legend(table: &Table) -> String {
    let all = if table.shows("all") {
        "; all: of the whole machine, the kernel's own threads and other programs included"
    } else {
        ""
    };
    format!("s/GiB: CPU seconds for a GiB, of the workers{all}.")
}

/// A row for each worker, called as given.
pub(super) fn worker_table(workers: &[WorkerSummary], name: impl Fn(usize) -> String) -> Table {
    let mut table = Table::new(vec![
        Column::left("worker", 24),
        Column::right("rate", 11),
        Column::right("an operation", 12),
        Column::right("user", 8),
        Column::right("system", 8),
        Column::right("CPU", 6),
        Column::right("ended", 8),
    ]);
    for (number, worker) in workers.iter().enumerate() {
        let times = Times::of_worker(worker);
        let active_ns = worker.last_ns.saturating_sub(worker.first_ns) as f64;
        let per = |of: f64| (active_ns > 0.0).then(|| of / active_ns);
        let seconds = |value| measured(stiction_core::Unit::Seconds, value);
        let rate = per(worker.bytes as f64 * 1e9);
        let share = per(worker.cpu_ns as f64 * 100.0);
        let each = (worker.operations > 0).then(|| active_ns / worker.operations as f64);
        table.row(vec![
            name(number).into(),
            rate.map_or_else(String::new, |rate| {
                measured(stiction_core::Unit::BytesPerSecond, rate)
            })
            .into(),
            each.map_or_else(String::new, |ns| {
                measured(stiction_core::Unit::Nanoseconds, ns)
            })
            .into(),
            seconds(times.user_s).into(),
            seconds(times.system_s).into(),
            share
                .map_or_else(String::new, |share| format!("{share:.0} %"))
                .into(),
            seconds(times.elapsed_s).into(),
        ]);
    }
    table
}

/// The measured phases of all trials but those whose failure the trial tells of.
pub(crate) fn measured_phases<'a>(judged: &'a Judged<'_>) -> Vec<JudgedPhase<'a>> {
    judged
        .trials()
        .flat_map(|(trial, phases)| {
            let phases = phases.into_iter();
            phases.filter(move |judged| judged.is_measured() && !tells_of(trial, judged.phase))
        })
        .collect()
}

/// The doubts, and the answer in the last line.
pub(crate) fn end(
    mut page: Page,
    judged: &Judged<'_>,
    rows: &[JudgedPhase<'_>],
    answer: Option<String>,
) -> String {
    let session = judged.session();
    let mut sentences: Vec<String> = session_gap(session).into_iter().collect();
    sentences.extend(trial_gaps(&session.trials));
    sentences.extend(doubts(session, rows));
    // What one rung or run lacks, all runs of it lack.
    let mut said = BTreeSet::new();
    sentences.retain(|sentence| said.insert(sentence.clone()));
    page.blank();
    for sentence in sentences {
        page.paragraph("- ", Span::new(Role::Doubt, sentence));
    }
    page.line(saved(&session.header.id, "show"));
    let answer = answer.unwrap_or_else(|| nothing(session));
    page.paragraph("", Span::new(Role::Strong, answer));
    page.finish()
}

fn nothing(session: &Session) -> String {
    let why = session
        .trials
        .iter()
        .find_map(|trial| match &trial.outcome {
            TrialOutcome::Skipped(reason) => Some(format!(": {}", reason.detail)),
            TrialOutcome::Failed { message } => Some(format!(": {message}")),
            TrialOutcome::Interrupted => Some(": interrupted".to_owned()),
            TrialOutcome::Completed => None,
        });
    format!("Nothing was measured{}", why.unwrap_or_default())
}

/// The median of some values; the mean of the middle two of an even number.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    Some(if values.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(values[values.len() / 2 - 1], upper)
    })
}
