//! The report of ladder: what each way from the disk to the program gives, costs and
//! loses.

use stiction_core::{Metric, PhaseOutcome, Session, Subject, Unit, metrics};

use super::rows::{begin, cpu_legend, cpu_s_per_gib, end, measured_phases, median};
use crate::cell::cell_text;
use crate::figure::{measured, significant};
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Style, Table};

/// The rung that memory answers; what it gives is no disk's.
const IN_MEMORY: &str = "cached";

/// A rung with its runs.
struct Rung<'a> {
    name: &'a str,
    runs: Vec<JudgedPhase<'a>>,
}

impl Rung<'_> {
    fn median(&self, of: impl Fn(&JudgedPhase<'_>) -> Option<f64>) -> Option<f64> {
        let with_numbers = self.runs.iter().filter(|run| run.phase.has_numbers());
        median(with_numbers.filter_map(of).collect())
    }

    fn value(&self, metric: &Metric) -> Option<f64> {
        self.median(|run| run.phase.value(metric))
    }

    fn text(&self, metric: &Metric) -> Span {
        self.value(metric)
            .map_or_else(String::new, |value| measured(metric.unit, value))
            .into()
    }

    /// The word of all runs; `unknown` where they disagree.
    fn word(&self) -> Span {
        let mut with_numbers = self.runs.iter().filter(|run| run.phase.has_numbers());
        let Some(first) = with_numbers.next() else {
            let skipped =
                |run: &JudgedPhase<'_>| matches!(run.phase.outcome, PhaseOutcome::Skipped(_));
            let word = if self.runs.iter().all(skipped) {
                "skipped"
            } else {
                "failed"
            };
            return Span::new(Role::Bad, word);
        };
        let subject = first.finding.subject;
        let subject = if with_numbers.all(|run| run.finding.subject == subject) {
            subject
        } else {
            Subject::Unknown
        };
        Span::new(Role::of(subject), subject.to_string())
    }
}

/// Each rung with its rate, latencies, CPU and what it loses against the best of those
/// that go to the disk; medians over the runs.
#[must_use]
pub fn ladder(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction ladder", style);
    head(&mut page, session);
    let phases = measured_phases(judged);
    let rungs = rungs(session, &phases);
    let best = best(&rungs);
    if !rungs.is_empty() {
        page.blank();
        let table = table(&rungs, best);
        page.table(0, &table);
        page.blank();
        page.paragraph(
            "",
            Span::new(
                Role::Faint,
                format!(
                    "loss: against the best rung that goes to the disk, at the same block size \
                     and offsets; what is cached goes to none. {}",
                    cpu_legend(&table)
                ),
            ),
        );
    }
    let answer = answer(&rungs, best);
    end(page, judged, &phases, answer)
}

fn head(page: &mut Page, session: &Session) {
    if let Some(trial) = session.trials.first() {
        let runs = session.trials.len();
        let plural = if runs == 1 { "run" } else { "runs" };
        page.line(format!("{}; {runs} {plural}", cell_text(&trial.cell)));
    }
}

/// The rungs in the order of the plan, or as they ran.
fn rungs<'a>(session: &'a Session, phases: &[JudgedPhase<'a>]) -> Vec<Rung<'a>> {
    let planned = session.header.plan.as_ref();
    let planned = planned.and_then(|plan| plan.parameters["rungs"].as_array());
    let place = |name: &str| {
        let mut names = planned.into_iter().flatten();
        names.position(|rung| rung.as_str() == Some(name))
    };
    let mut rungs: Vec<Rung<'a>> = Vec::new();
    for judged in phases {
        match rungs.iter_mut().find(|rung| rung.name == judged.phase.name) {
            Some(rung) => rung.runs.push(*judged),
            None => rungs.push(Rung {
                name: &judged.phase.name,
                runs: vec![*judged],
            }),
        }
    }
    rungs.sort_by_key(|rung| place(rung.name));
    rungs
}

/// The highest rate of a rung that goes to the disk.
fn best(rungs: &[Rung<'_>]) -> Option<f64> {
    let to_disk = rungs.iter().filter(|rung| rung.name != IN_MEMORY);
    to_disk
        .filter_map(|rung| rung.value(&metrics::RATE))
        .reduce(f64::max)
}

/// What a rung loses, in percent of the best.
fn loss_percent(rung: &Rung<'_>, best: Option<f64>) -> Option<f64> {
    let best = best.filter(|&best| best > 0.0 && rung.name != IN_MEMORY)?;
    Some(100.0 * (1.0 - rung.value(&metrics::RATE)? / best))
}

fn table(rungs: &[Rung<'_>], best: Option<f64>) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 15),
        Column::left("what", 7),
        Column::right("rate", 10),
        Column::right("loss", 6),
        Column::right("ops", 8),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("s/GiB", 6),
        Column::right("all", 6),
    ]);
    let cpu = |rung: &Rung<'_>, metric: &Metric| {
        rung.median(|run| cpu_s_per_gib(run.phase, metric))
            .map_or_else(String::new, |value| significant(value, 3))
    };
    for rung in rungs {
        let loss = loss_percent(rung, best);
        table.row(vec![
            title(rung.name).into(),
            rung.word(),
            rung.text(&metrics::RATE),
            loss.map_or_else(String::new, |loss| format!("{loss:.0} %"))
                .into(),
            rung.text(&metrics::OPERATION_RATE),
            rung.text(&metrics::LATENCY_P50),
            rung.text(&metrics::LATENCY_P99),
            cpu(rung, &metrics::CPU_EFFICIENCY).into(),
            cpu(rung, &metrics::CPU_SYSTEM_WIDE_EFFICIENCY).into(),
        ]);
    }
    table
}

/// The best rung, and what the page cache loses against it.
fn answer(rungs: &[Rung<'_>], best: Option<f64>) -> Option<String> {
    let best = best?;
    let first = rungs
        .iter()
        .find(|rung| rung.name != IN_MEMORY && rung.value(&metrics::RATE) == Some(best))?;
    let mut text = format!(
        "{}: {}",
        title(first.name),
        measured(Unit::BytesPerSecond, best)
    );
    let through_cache = rungs.iter().find(|rung| rung.name == "uncached");
    if let Some(loss) = through_cache.and_then(|rung| loss_percent(rung, Some(best))) {
        text.push_str(&format!("; the page cache loses {loss:.0} % of it"));
    }
    Some(text)
}
