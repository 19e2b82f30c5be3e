//! The report of tree-move: copies, deletions and syncs apart, and their sums.

use stiction_core::{Phase, Session, Trial, TrialOutcome, Unit, metrics};

use super::rows::{begin, end, measured_phases, median, text_of, word};
use super::times::{TimeLayout, Times, time_text};
use crate::cell::cell_text;
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Column, Role, Span, Style, Table};

/// Each phase of each run, and what a run took until the last file was deleted and
/// until all was durable.
#[must_use]
pub fn tree_move(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction tree-move", style);
    if let Some(trial) = session
        .trials
        .first()
        .filter(|trial| !trial.cell.is_empty())
    {
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
        let heading = format!("Run {}", trial.repetition + 1);
        page.line(Span::new(Role::Strong, heading));
        page.table(0, &table(&phases));
        if let (Some(moved), Some(durable)) = (moved(trial), durable(trial)) {
            page.paragraph("", sentence(moved, durable));
        }
    }
    let phases = measured_phases(judged);
    let answer = answer(session);
    end(page, judged, &phases, answer)
}

fn table(phases: &[JudgedPhase<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 14),
        Column::left("what", 7),
        Column::right("took", 8),
        Column::right("files", 9),
        Column::right("rate", 10),
        Column::right("p50", 8),
        Column::right("p99", 8),
        Column::right("user", 7),
        Column::right("system", 7),
    ]);
    for judged in phases {
        let phase = judged.phase;
        let mut cells = vec![title(&phase.name).into(), word(judged)];
        if phase.has_numbers() {
            let is_sync = phase.name.starts_with("sync");
            let moves = phase.name.starts_with("copy");
            let only = |text: String, shown: bool| if shown { text } else { String::new() };
            cells.extend(
                [
                    text_of(phase, &metrics::ELAPSED),
                    only(text_of(phase, &metrics::OPERATION_RATE), !is_sync),
                    only(text_of(phase, &metrics::RATE), moves),
                    only(text_of(phase, &metrics::LATENCY_P50), !is_sync),
                    only(text_of(phase, &metrics::LATENCY_P99), !is_sync),
                    text_of(phase, &metrics::CPU_USER),
                    text_of(phase, &metrics::CPU_SYSTEM),
                ]
                .map(Span::from),
            );
        }
        table.row(cells);
    }
    table
}

/// The sum over some phases of a trial; `None` when one of them has no numbers.
fn sum(trial: &Trial, wanted: impl Fn(&Phase) -> bool) -> Option<Times> {
    if trial.outcome != TrialOutcome::Completed {
        return None;
    }
    let mut all: Option<Times> = None;
    for phase in trial.phases.iter().filter(|phase| wanted(phase)) {
        let one = Times::of_phase(phase)?;
        all = Some(all.map_or(one, |sum| Times {
            elapsed_s: sum.elapsed_s + one.elapsed_s,
            user_s: sum.user_s + one.user_s,
            system_s: sum.system_s + one.system_s,
        }));
    }
    all
}

/// Copies and deletions.
fn moved(trial: &Trial) -> Option<Times> {
    let moves = ["copy_", "delete_"];
    sum(trial, |phase| {
        moves.iter().any(|name| phase.name.starts_with(name))
    })
}

/// Copies, deletions and syncs.
fn durable(trial: &Trial) -> Option<Times> {
    let all = ["copy_", "delete_", "sync"];
    sum(trial, |phase| {
        all.iter().any(|name| phase.name.starts_with(name))
    })
}

fn sentence(moved: Times, durable: Times) -> String {
    let seconds = |value| measured(Unit::Seconds, value);
    format!(
        "Moved after {}, durable after {}; user {}, system {}.",
        seconds(moved.elapsed_s),
        seconds(durable.elapsed_s),
        seconds(durable.user_s),
        seconds(durable.system_s)
    )
}

/// The medians over the runs.
fn answer(session: &Session) -> Option<String> {
    let of = |times: fn(&Trial) -> Option<Times>| {
        let all = session.trials.iter().filter_map(times);
        median(all.map(|times| times.elapsed_s).collect())
    };
    let (moved_s, durable_s) = (of(moved)?, of(durable)?);
    let runs = session.trials.iter().filter_map(moved).count();
    let median = if runs > 1 {
        format!(", median of {runs}")
    } else {
        String::new()
    };
    Some(format!(
        "moved {}, durable {}{median}; every file came back as it was",
        measured(Unit::Seconds, moved_s),
        measured(Unit::Seconds, durable_s)
    ))
}

/// What the shell said of `testo`: copies and deletions of each run, and no sync; in
/// that shell's layout.
#[must_use]
pub fn tree_move_times(session: &Session, layout: TimeLayout) -> String {
    let times: Vec<Times> = session.trials.iter().filter_map(moved).collect();
    times
        .into_iter()
        .map(|times| time_text(layout, times))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Cell, Measurement, PhaseKind};

    fn phase(name: &str, values: [f64; 3]) -> Phase {
        let mut phase = Phase::new(name, PhaseKind::Measure);
        let [elapsed, user, system] = values;
        phase.measurements = vec![
            Measurement::new(metrics::ELAPSED, elapsed, 1),
            Measurement::new(metrics::CPU_USER, user, 1),
            Measurement::new(metrics::CPU_SYSTEM, system, 1),
        ];
        phase
    }

    /// The stock kernel of April 2002: real 10m42.697s, 1m16 of it on the CPU.
    #[test]
    fn the_sync_is_in_the_second_sum_alone() {
        let mut trial = Trial::new(Cell::new(), 0);
        trial.phases = vec![
            phase("lay_down", [9.0, 9.0, 9.0]),
            phase("copy_out", [400.0, 1.0, 40.0]),
            phase("delete_out", [20.0, 0.5, 5.0]),
            phase("copy_back", [202.697, 1.0, 25.0]),
            phase("delete_back", [20.0, 0.5, 3.0]),
            phase("sync", [30.0, 0.0, 1.0]),
        ];
        let moved = moved(&trial).unwrap();
        assert_eq!(
            time_text(TimeLayout::Bash, moved),
            "\nreal\t10m42.697s\nuser\t0m3.000s\nsys\t1m13.000s\n"
        );
        assert!((durable(&trial).unwrap().elapsed_s - 672.697).abs() < 1e-9);
        trial.outcome = TrialOutcome::Interrupted;
        assert_eq!(super::moved(&trial), None);
    }
}
