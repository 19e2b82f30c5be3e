//! The reports of sync-methods: what a durable write costs by each call.

mod classic;

use stiction_core::{Phase, Unit, metrics};

use crate::ext3_tools::rows::{begin, end, measured_phases, text_of, word};
use crate::figure::measured;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::title;
use crate::page::{Column, Role, Span, Style, Table};

pub use classic::pg_test_fsync;

/// Each test with its rate and its waits, in the order in which they ran.
#[must_use]
pub fn sync_methods(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction sync-methods", style);
    let phases = measured_phases(judged);
    if !phases.is_empty() {
        page.blank();
        page.table(0, &table(&phases));
        page.blank();
        page.paragraph("", Span::new(Role::Faint, LEGEND));
    }
    let numbers = phases.iter().map(|judged| judged.phase);
    let answer = answer(&numbers.collect::<Vec<_>>());
    end(page, judged, &phases, answer)
}

const LEGEND: &str = "writes: of one operation, each after the one before, always the first \
                      blocks of the file; a rate, p50 and p99 are of the writes and what makes \
                      them durable together, sync p50 of that call alone. not: it makes \
                      nothing durable; sync_file_range writes neither metadata nor the \
                      device's own cache.";

/// The call and the writes of a phase: `fsync.2x8k` is `fsync` and `2 x 8 KiB`.
fn parts(name: &str) -> Option<(&str, u64, u64)> {
    let (method, writes) = name.rsplit_once('.')?;
    let (count, kib) = writes.strip_suffix('k')?.split_once('x')?;
    Some((method, count.parse().ok()?, kib.parse().ok()?))
}

fn table(phases: &[JudgedPhase<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("writes", 10),
        Column::left("durable by", 20),
        Column::left("what", 7),
        Column::right("ops", 10),
        Column::right("p50", 8),
        Column::right("p99", 8),
        Column::right("max", 8),
        Column::right("sync p50", 8),
    ]);
    for judged in phases {
        let phase = judged.phase;
        let (writes, method) = match parts(&phase.name) {
            Some((method, count, kib)) => (format!("{count} x {kib} KiB"), named(method)),
            None => (String::new(), title(&phase.name)),
        };
        let mut cells = vec![writes.into(), method.into(), word(judged)];
        if phase.has_numbers() {
            let figures = [
                &metrics::OPERATION_RATE,
                &metrics::LATENCY_P50,
                &metrics::LATENCY_P99,
                &metrics::LATENCY_MAX,
                &metrics::SYNC_LATENCY_P50,
            ];
            cells.extend(figures.map(|metric| Span::from(text_of(phase, metric))));
        }
        table.row(cells);
    }
    table
}

/// Calls after which a write may still be lost.
const NOT_DURABLE: [&str; 2] = ["unsynced", "sync_file_range"];

/// The call, marked where it makes nothing durable.
fn named(method: &str) -> String {
    if NOT_DURABLE.contains(&method) {
        format!("not: {method}")
    } else {
        method.to_owned()
    }
}

/// The fastest call for one write of 8 KiB, and fdatasync, which most programs use.
fn answer(phases: &[&Phase]) -> Option<String> {
    let one = phases.iter().filter_map(|phase| {
        let (method, count, kib) = parts(&phase.name)?;
        let is_durable = !NOT_DURABLE.contains(&method) && method != "write_close_fsync";
        let rate = phase.value(&metrics::OPERATION_RATE)?;
        (is_durable && (count, kib) == (1, 8)).then_some((method, rate))
    });
    let one: Vec<(&str, f64)> = one.collect();
    let (fastest, rate) = *one.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let per_s = |rate| measured(Unit::OperationsPerSecond, rate);
    let fdatasync = one.iter().find(|(method, _)| *method == "fdatasync");
    let beside = fdatasync
        .filter(|_| fastest != "fdatasync")
        .map_or_else(String::new, |(_, rate)| {
            format!("; fdatasync {}", per_s(*rate))
        });
    Some(format!(
        "durable writes of 8 KiB: {fastest} {}{beside}",
        per_s(rate)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Measurement, PhaseKind};

    #[test]
    fn names_of_phases_say_the_call_and_the_writes() {
        assert_eq!(parts("open_sync.16x1k"), Some(("open_sync", 16, 1)));
        assert_eq!(parts("lay_down"), None);
    }

    #[test]
    fn the_answer_is_the_fastest_call_that_makes_durable() {
        let phase = |name: &str, rate: f64| {
            let mut phase = Phase::new(name, PhaseKind::Measure);
            phase.measurements = vec![Measurement::new(metrics::OPERATION_RATE, rate, 1)];
            phase
        };
        let phases = [
            phase("fdatasync.1x8k", 100.0),
            phase("open_datasync.1x8k", 200.0),
            phase("fsync.2x8k", 300.0),
            phase("unsynced.1x8k", 600_000.0),
            phase("sync_file_range.1x8k", 500_000.0),
        ];
        let phases: Vec<&Phase> = phases.iter().collect();
        assert_eq!(
            answer(&phases).unwrap(),
            "durable writes of 8 KiB: open_datasync 200/s; fdatasync 100/s"
        );
        assert_eq!(answer(&phases[3..]), None);
    }
}
