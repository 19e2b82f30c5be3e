//! The report of metadata: what each call on a file costs, and what files cost until they
//! are durable.

use stiction_core::{Phase, Session, Trial, TrialOutcome, Unit, metrics};

use crate::cell::cell_text;
use crate::ext3_tools::rows::{begin, end, measured_phases, median, text_of, word};
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Column, Role, Span, Style, Table};

/// Each phase of each run with its rate and its waits.
#[must_use]
pub fn metadata(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction metadata", style);
    if let Some(trial) = session.trials.first() {
        page.line(cell_text(&trial.cell));
    }
    for (trial, phases) in judged.trials() {
        let phases: Vec<JudgedPhase<'_>> = phases
            .into_iter()
            .filter(JudgedPhase::is_measured)
            .collect();
        if phases.is_empty() {
            continue;
        }
        page.blank();
        if session.trials.len() > 1 {
            let heading = format!("Run {}", trial.repetition + 1);
            page.line(Span::new(Role::Strong, heading));
        }
        page.table(0, &table(&phases));
    }
    let phases = measured_phases(judged);
    if !phases.is_empty() {
        page.blank();
        page.paragraph("", Span::new(Role::Faint, LEGEND));
    }
    end(page, judged, &phases, answer(session))
}

const LEGEND: &str = "done: files, directories or names; a listing is of a whole directory. \
                      What was made before is in memory, so that looking at it reads nothing.";

fn table(phases: &[JudgedPhase<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 18),
        Column::left("what", 7),
        Column::right("done", 8),
        Column::right("ops", 9),
        Column::right("p50", 8),
        Column::right("p99", 8),
        Column::right("p99.9", 8),
        Column::right("max", 8),
    ]);
    for judged in phases {
        let phase = judged.phase;
        let mut cells = vec![title(&phase.name).into(), word(judged)];
        if phase.has_numbers() {
            let figures = [
                &metrics::OPERATIONS,
                &metrics::OPERATION_RATE,
                &metrics::LATENCY_P50,
                &metrics::LATENCY_P99,
                &metrics::LATENCY_P999,
                &metrics::LATENCY_MAX,
            ];
            cells.extend(figures.map(|metric| Span::from(text_of(phase, metric))));
        }
        table.row(cells);
    }
    table
}

/// Files a second until all were made, and until they were durable where they were synced
/// after it: over the time of `create` and of the syncs together, as fs_mark counts.
fn made_per_s(trial: &Trial) -> Option<f64> {
    if trial.outcome != TrialOutcome::Completed {
        return None;
    }
    let phase = |name: &str| trial.phases.iter().find(|phase| phase.name == name);
    let files = phase("create")?.value(&metrics::OPERATIONS)?;
    let elapsed_s: f64 = ["create", "sync_filesystem", "sync_files"]
        .iter()
        .filter_map(|name| phase(name))
        .filter_map(|phase| phase.value(&metrics::ELAPSED))
        .sum();
    (elapsed_s > 0.0).then(|| files / elapsed_s)
}

fn answer(session: &Session) -> Option<String> {
    let trials = session.trials.iter();
    let made = median(trials.clone().filter_map(made_per_s).collect())?;
    let of = |name: &str| {
        let phases = trials.clone().flat_map(|trial: &Trial| &trial.phases);
        let rates = phases
            .filter(|phase: &&Phase| phase.name == name)
            .filter_map(|phase| phase.value(&metrics::OPERATION_RATE));
        median(rates.collect())
    };
    let per_s = |rate| measured(Unit::OperationsPerSecond, rate);
    let synced = trials.clone().flat_map(|trial| &trial.phases);
    let synced = synced
        .filter(|phase| phase.name.starts_with("sync_"))
        .count()
        > 0;
    let mut text = format!(
        "files made{} {}",
        if synced { " and synced" } else { "" },
        per_s(made)
    );
    for name in ["stat", "rename", "unlink"] {
        if let Some(rate) = of(name) {
            text.push_str(&format!("; {name} {}", per_s(rate)));
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Cell, Measurement, PhaseKind};

    /// 100 files in 2 s, synced in another 3 s: 20 a second.
    #[test]
    fn files_count_until_they_are_synced() {
        let phase = |name: &str, operations: f64, elapsed_s: f64| {
            let mut phase = Phase::new(name, PhaseKind::Measure);
            phase.measurements = vec![
                Measurement::new(metrics::OPERATIONS, operations, 1),
                Measurement::new(metrics::ELAPSED, elapsed_s, 1),
            ];
            phase
        };
        let mut trial = Trial::new(Cell::new(), 0);
        trial.phases = vec![
            phase("create", 100.0, 2.0),
            phase("sync_filesystem", 1.0, 1.0),
            phase("sync_files", 100.0, 2.0),
            phase("stat", 100.0, 9.0),
        ];
        assert_eq!(made_per_s(&trial), Some(20.0));
        trial.outcome = TrialOutcome::Interrupted;
        assert_eq!(made_per_s(&trial), None);
    }
}
