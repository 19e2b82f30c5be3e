//! The report of parallel: each disk beside the others, and who had to wait for whom.

use stiction_core::{Phase, Unit, metrics};

use super::files::file_name;
use super::rows::{begin, cpu_legend, end, measured_phases, median, phase_table, worker_table};
use crate::cell::cell_text;
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Role, Span, Style};

/// Rates of all together and of each target, how far apart they ended, and the rate
/// while all of them still ran.
#[must_use]
pub fn parallel(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction parallel", style);
    if let Some(trial) = session.trials.first() {
        page.line(cell_text(&trial.cell));
    }
    let rows: Vec<(String, JudgedPhase<'_>)> = judged
        .trials()
        .flat_map(|(trial, phases)| {
            let run = trial.repetition + 1;
            let measured = phases.into_iter().filter(JudgedPhase::is_measured);
            measured.map(move |judged| (format!("{} {run}", judged.phase.name), judged))
        })
        .collect();
    if !rows.is_empty() {
        page.blank();
        let table = phase_table(&rows);
        page.table(0, &table);
        page.blank();
        page.paragraph("", Span::new(Role::Faint, cpu_legend(&table)));
    }
    for (name, judged) in &rows {
        let phase = judged.phase;
        if !phase.has_numbers() || phase.workers.is_empty() {
            continue;
        }
        page.blank();
        page.line(Span::new(Role::Strong, title(name)));
        let table = worker_table(&phase.workers, |number| file_name(session, number));
        page.table(0, &table);
        page.paragraph("", apart(phase));
    }
    let phases = measured_phases(judged);
    let answers: Vec<String> = ["write", "read"]
        .iter()
        .filter_map(|name| answer(name, &phases))
        .collect();
    let answer = (!answers.is_empty()).then(|| answers.join("; "));
    end(page, judged, &phases, answer)
}

/// How far apart the workers ended, ns.
fn finish_spread_ns(phase: &Phase) -> u64 {
    let ends = || phase.workers.iter().map(|worker| worker.last_ns);
    let (first, last) = (ends().min(), ends().max());
    last.unwrap_or(0) - first.unwrap_or(0)
}

fn apart(phase: &Phase) -> String {
    let spread_ns = finish_spread_ns(phase);
    let elapsed_ns = phase.elapsed_ns.max(1);
    let rate = |rate| measured(Unit::BytesPerSecond, rate);
    let together = phase.value(&metrics::RATE_ALL_ACTIVE).map_or_else(
        || "they never all ran for a whole interval".to_owned(),
        |all| format!("{} while all of them ran", rate(all)),
    );
    format!(
        "The first ended {} before the last, {:.1} % of the time; {together}, {} to the end.",
        measured(Unit::Nanoseconds, spread_ns as f64),
        100.0 * spread_ns as f64 / elapsed_ns as f64,
        rate(phase.value(&metrics::RATE).unwrap_or(0.0)),
    )
}

/// The median over the runs of a phase, and its worst spread.
fn answer(name: &str, phases: &[JudgedPhase<'_>]) -> Option<String> {
    let of: Vec<&JudgedPhase<'_>> = phases
        .iter()
        .filter(|judged| judged.phase.name == name && judged.phase.has_numbers())
        .collect();
    let rate = median(
        of.iter()
            .filter_map(|judged| judged.phase.value(&metrics::RATE))
            .collect(),
    )?;
    let subject = of.first()?.finding.subject;
    let word = if of.iter().all(|judged| judged.finding.subject == subject) {
        subject.to_string()
    } else {
        "unknown".to_owned()
    };
    let share = |judged: &&JudgedPhase<'_>| {
        100.0 * finish_spread_ns(judged.phase) as f64 / judged.phase.elapsed_ns.max(1) as f64
    };
    let worst = of.iter().map(share).fold(0.0, f64::max);
    Some(format!(
        "{name}: {word} {} in all, ends up to {worst:.1} % apart",
        measured(Unit::BytesPerSecond, rate)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{PhaseKind, WorkerSummary};

    #[test]
    fn ends_apart_are_told_with_their_share() {
        let mut phase = Phase::new("read", PhaseKind::Measure);
        phase.elapsed_ns = 4_000_000_000;
        phase.workers = [3_000_000_000, 4_000_000_000]
            .map(|last_ns| WorkerSummary {
                last_ns,
                ..WorkerSummary::default()
            })
            .to_vec();
        let text = apart(&phase);
        assert!(text.starts_with("The first ended 1.00 s before the last, 25.0 % of the time;"));
    }
}
