//! The reports of ioping: single requests and their statistics.

mod classic;

use stiction_core::{Direction, Phase, Recording, Unit, metrics};

use crate::ext3_tools::rows::{begin, end, measured_phases, text_of, word};
use crate::figure::measured;
use crate::judged::Judged;
use crate::page::{Column, Role, Span, Style, Table};

pub use classic::ioping_text;

/// The statistics of each run, and what they are about.
#[must_use]
pub fn ioping(judged: &Judged<'_>, style: Style) -> String {
    let mut page = begin(judged.session(), "stiction ioping", style);
    let phases = measured_phases(judged);
    let mut table = Table::new(vec![
        Column::left("what", 7),
        Column::right("requests", 9),
        Column::right("min", 8),
        Column::right("mean", 8),
        Column::right("p50", 8),
        Column::right("p90", 8),
        Column::right("p99", 8),
        Column::right("max", 8),
        Column::right("mdev", 8),
    ]);
    for judged in &phases {
        let phase = judged.phase;
        let mut cells = vec![word(judged)];
        if let Some(statistics) = Statistics::of(phase).filter(|_| phase.has_numbers()) {
            let ns = |value| measured(Unit::Nanoseconds, value);
            cells.extend([
                text_of(phase, &metrics::OPERATIONS).into(),
                ns(statistics.min_ns).into(),
                ns(statistics.mean_ns).into(),
                text_of(phase, &metrics::LATENCY_P50).into(),
                text_of(phase, &metrics::LATENCY_P90).into(),
                text_of(phase, &metrics::LATENCY_P99).into(),
                ns(statistics.max_ns).into(),
                ns(statistics.mdev_ns).into(),
            ]);
        }
        table.row(cells);
    }
    if !table.is_empty() {
        page.blank();
        page.table(0, &table);
        page.blank();
        page.paragraph("", Span::new(Role::Faint, LEGEND));
    }
    let statistics = phases.iter().find_map(|judged| {
        let statistics = Statistics::of(judged.phase)?;
        Some((judged.finding.subject, statistics))
    });
    let answer = statistics.map(|(subject, statistics)| {
        let ns = |value| measured(Unit::Nanoseconds, value);
        format!(
            "a request: {subject} {} mean, {} to {}",
            ns(statistics.mean_ns),
            ns(statistics.min_ns),
            ns(statistics.max_ns)
        )
    });
    end(page, judged, &phases, answer)
}

const LEGEND: &str = "One request at a time; the first, for warm-up, is in no figure. mdev: the \
                      standard deviation.";

/// What ioping says of its requests, warm-up left out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Statistics {
    count: u64,
    sum_ns: u64,
    min_ns: f64,
    mean_ns: f64,
    max_ns: f64,
    /// Square root of the mean square less the squared mean. Of requests that have an
    /// interval each it is exact, else as fine as the histogram.
    mdev_ns: f64,
}

impl Statistics {
    fn of(phase: &Phase) -> Option<Self> {
        let ramp_ns = phase.job.as_ref().map_or(0, |job| job.ramp_ns);
        let recording = requests(phase)?.after(ramp_ns);
        let total = recording.total();
        let mean_ns = total.mean_ns()?;
        let deviation = |value: f64| (value - mean_ns) * (value - mean_ns);
        let squares: f64 = recording
            .intervals
            .iter()
            .map(|interval| match interval.latencies.count() {
                1 => deviation(interval.latencies.sum_ns() as f64),
                _ => {
                    let buckets = interval.latencies.buckets();
                    buckets
                        .map(|(ns, count)| count as f64 * deviation(ns as f64))
                        .sum()
                }
            })
            .sum();
        Some(Self {
            count: total.count(),
            sum_ns: total.sum_ns(),
            min_ns: total.min_ns()? as f64,
            mean_ns,
            max_ns: total.max_ns()? as f64,
            mdev_ns: (squares / total.count() as f64).sqrt(),
        })
    }
}

/// The recording of the requests.
fn requests(phase: &Phase) -> Option<&Recording> {
    let reads = phase.recording(Direction::Read);
    reads.or_else(|| phase.recording(Direction::Write))
}
