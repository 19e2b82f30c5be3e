//! The report of pagecache: what a read of what is in memory is made of.

use stiction_core::{Phase, Unit, metrics};

use super::rows::{begin, end, measured_phases, median, word};
use crate::cell::cell_text;
use crate::figure::{measured, significant};
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Column, Role, Span, Style, Table};

/// Each way with its operations, CPU time and waits; the copy as the difference of
/// reads and peeks; and whether the tester slept.
#[must_use]
pub fn pagecache(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction pagecache", style);
    if let Some(trial) = session.trials.first() {
        page.line(cell_text(&trial.cell));
    }
    let phases = measured_phases(judged);
    if !phases.is_empty() {
        page.blank();
        page.table(0, &table(&phases));
        page.blank();
        page.paragraph(
            "",
            Span::new(
                Role::Faint,
                "read: the block is copied; peek: the same calls, 64 bytes of each block; splice: \
                 its pages are passed on, two calls and no copy; touch: a byte of each page of a \
                 mapping, no call; empty loop: the measuring itself. an operation: CPU time. \
                 waits: times a second that a worker gave up its CPU.",
            ),
        );
    }
    let alone: Vec<&Phase> = phases.iter().map(|judged| judged.phase).collect();
    let mut answers = Vec::new();
    for order in ["sequential", "random"] {
        if let Some((line, short)) = copy(order, &alone) {
            page.paragraph("", line);
            answers.push(short);
        }
    }
    let answer = (!answers.is_empty())
        .then(|| format!("A copy takes {}", answers.join(", ")))
        .or_else(|| first_rate(&phases));
    end(page, judged, &phases, answer)
}

/// CPU time of an operation, ns.
fn cpu_ns(phase: &Phase) -> Option<f64> {
    let operations = phase.value(&metrics::OPERATIONS).filter(|&n| n > 0.0)?;
    let cpu_ns: u64 = phase.workers.iter().map(|worker| worker.cpu_ns).sum();
    Some(cpu_ns as f64 / operations)
}

/// The median over the runs of a phase.
fn cpu_ns_of(name: &str, phases: &[&Phase]) -> Option<f64> {
    let of = phases.iter().filter(|phase| phase.name == name);
    median(of.filter_map(|phase| cpu_ns(phase)).collect())
}

fn table(phases: &[JudgedPhase<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 18),
        Column::left("what", 7),
        Column::right("ops", 9),
        Column::right("rate", 10),
        Column::right("an operation", 12),
        Column::right("CPU a worker", 12),
        Column::right("waits", 8),
    ]);
    for judged in phases {
        let phase = judged.phase;
        let mut cells = vec![title(&phase.name).into(), word(judged)];
        if phase.has_numbers() {
            let elapsed_s = phase.elapsed_ns as f64 / 1e9;
            let workers = phase.workers.len().max(1) as f64;
            let text = |unit, value: Option<f64>| -> Span {
                value
                    .map_or_else(String::new, |value| measured(unit, value))
                    .into()
            };
            // Peeks and touches move next to nothing, and an empty loop nothing at all.
            let is_moved = ["read", "splice"]
                .iter()
                .any(|way| phase.name.ends_with(way));
            let rate = phase.value(&metrics::RATE).filter(|_| is_moved);
            let waits = phase.value(&metrics::SWITCHES_VOLUNTARY);
            let share = phase.value(&metrics::CPU_PERCENT);
            cells.extend([
                text(
                    Unit::OperationsPerSecond,
                    phase.value(&metrics::OPERATION_RATE),
                ),
                text(Unit::BytesPerSecond, rate),
                text(Unit::Nanoseconds, cpu_ns(phase)),
                share
                    .map_or_else(String::new, |share| format!("{:.0} %", share / workers))
                    .into(),
                text(
                    Unit::OperationsPerSecond,
                    waits.map(|waits| waits / elapsed_s),
                ),
            ]);
        }
        table.row(cells);
    }
    table
}

/// What the copy of a block takes in that order: a line, and the same in short.
fn copy(order: &str, phases: &[&Phase]) -> Option<(String, String)> {
    let of = |way: &str| cpu_ns_of(&format!("{order}_{way}"), phases);
    let (read, peek) = (of("read")?, of("peek")?);
    let block = phases
        .iter()
        .find(|phase| phase.name == format!("{order}_read"))?;
    let block_bytes = block.job.as_ref()?.block_size_bytes;
    let ns = |value| measured(Unit::Nanoseconds, value);
    let copy = read - peek;
    if copy <= 0.0 {
        let line = format!(
            "In {order} order a read took no more CPU time ({}) than a peek ({}): the copy is \
             below what can be told.",
            ns(read),
            ns(peek)
        );
        return Some((line, format!("too little to tell ({order})")));
    }
    let mut line = format!(
        "In {order} order the copy takes {} of {} ({} %), {}",
        ns(copy),
        ns(read),
        significant(100.0 * copy / read, 2),
        measured(Unit::BytesPerSecond, block_bytes as f64 / copy * 1e9)
    );
    for way in ["splice", "touch"] {
        if let Some(other) = of(way) {
            line.push_str(&format!("; a {way} {}", ns(other)));
        }
    }
    line.push('.');
    // Two of these are the answer, on one line: what the share is of, the line above says.
    let short = format!("{} ({order}, {:.0} %)", ns(copy), 100.0 * copy / read);
    Some((line, short))
}

fn first_rate(phases: &[JudgedPhase<'_>]) -> Option<String> {
    let judged = phases.iter().find(|judged| judged.phase.has_numbers())?;
    let rate = judged.phase.value(&metrics::RATE)?;
    Some(format!(
        "{}: {} {}",
        title(&judged.phase.name),
        judged.finding.subject,
        measured(Unit::BytesPerSecond, rate)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Job, Measurement, PhaseKind, WorkerSummary};

    fn phase(name: &str, operations: u64, cpu_ns: u64) -> Phase {
        let mut phase = Phase::new(name, PhaseKind::Measure);
        phase.job = Some(Job::default());
        phase.measurements = vec![Measurement::new(
            metrics::OPERATIONS,
            operations as f64,
            operations,
        )];
        phase.workers = vec![WorkerSummary {
            operations,
            cpu_ns,
            ..WorkerSummary::default()
        }];
        phase
    }

    /// 500 ns a read and 300 ns a peek leave 200 ns for 4 KiB: 20.48 GB/s.
    #[test]
    fn the_copy_is_what_a_peek_leaves_out() {
        let phases = [
            phase("random_read", 1000, 500_000),
            phase("random_peek", 2000, 600_000),
            phase("random_touch", 1000, 10_000),
        ];
        let phases: Vec<&Phase> = phases.iter().collect();
        let (line, short) = copy("random", &phases).unwrap();
        assert_eq!(
            line,
            "In random order the copy takes 200 ns of 500 ns (40 %), 19.1 GiB/s; a touch 10 ns."
        );
        assert_eq!(short, "200 ns (random, 40 %)");
        assert!(copy("sequential", &phases).is_none());
    }
}
