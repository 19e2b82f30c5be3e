//! The report of a command that was timed: each figure over its runs.

use stiction_core::{Better, Metric, Phase};

use crate::ext3_tools::rows::{begin, end, measured_phases};
use crate::figure::{label, measured};
use crate::judged::{Judged, JudgedPhase};
use crate::page::{Column, Role, Span, Style, Table};
use crate::runs::Runs;

/// Each figure: its median over the runs, and how far they lie apart.
#[must_use]
pub fn command(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction run", style);
    if let Some(text) = command_text(judged) {
        page.paragraph("", text);
    }
    let phases = measured_phases(judged);
    let runs: Vec<JudgedPhase<'_>> = phases
        .iter()
        .filter(|judged| judged.phase.has_numbers())
        .copied()
        .collect();
    let runs = Runs(runs);
    if !runs.0.is_empty() {
        page.blank();
        page.table(0, &table(&runs));
        page.blank();
        page.paragraph("", Span::new(Role::Faint, legend(runs.0.len())));
    }
    let answer = answer(&runs);
    end(page, judged, &phases, answer)
}

/// What was run, from the plan.
fn command_text(judged: &Judged<'_>) -> Option<String> {
    let plan = judged.session().header.plan.as_ref()?;
    let command = plan.parameters.get("command")?;
    if let Some(line) = command.get("shell") {
        return line.as_str().map(str::to_owned);
    }
    let words = command.get("words")?.as_array()?;
    let words: Vec<&str> = words.iter().filter_map(serde_json::Value::as_str).collect();
    Some(words.join(" "))
}

fn legend(runs: usize) -> String {
    match runs {
        1 => "1 run.".to_owned(),
        _ => format!("Median of {runs} runs, and how far the lowest and highest lie from it."),
    }
}

/// The metrics of all runs, in the order of the first.
fn metrics_of<'a>(runs: &Runs<'a>) -> Vec<&'a Metric> {
    let first: Option<&Phase> = runs.0.first().map(|run| run.phase);
    let measurements = first.into_iter().flat_map(|phase| &phase.measurements);
    measurements
        .map(|measurement| &measurement.metric)
        .collect()
}

fn table(runs: &Runs<'_>) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 40),
        Column::right("median", 14),
        Column::right("runs", 22),
    ]);
    for metric in metrics_of(runs) {
        table.row(vec![
            label(metric).into(),
            runs.median_text(metric).into(),
            runs.spread(metric).into(),
        ]);
    }
    table
}

/// The first figure that has a better side.
fn answer(runs: &Runs<'_>) -> Option<String> {
    let metrics = metrics_of(runs).into_iter();
    let metric = metrics
        .into_iter()
        .find(|metric| metric.better != Better::Neither)?;
    let median = runs.median(metric)?;
    Some(format!(
        "{} {}",
        label(metric),
        measured(metric.unit, median)
    ))
}
