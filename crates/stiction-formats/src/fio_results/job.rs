//! One job of a report of fio.

use serde_json::Value;
use stiction_core::{
    Caveat, CaveatCode, Direction, Histogram, Interval, Measurement, Metric, Phase, PhaseKind,
    PhaseOutcome, Recording, metrics,
};

use super::latency::{Latency, Pair};
use super::{Object, options_text};

const KIB: f64 = 1024.0;
const NS_PER_MS: f64 = 1e6;

/// What a job did in one direction.
struct Way<'a> {
    direction: Direction,
    object: &'a Object,
    latency: Pair<'a>,
}

/// The job that begins on that line, as a phase; `None` when it has no name, or no direction that is known.
pub(super) fn read(entry: &Object, line: usize) -> Option<Phase> {
    let name = entry.get("jobname")?.as_str()?;
    let ways = ways(entry);
    let used: Vec<&Way<'_>> = ways.iter().filter(|way| operations(way) > 0).collect();
    if ways.is_empty() {
        return None;
    }
    let mut phase = Phase::new(name, PhaseKind::Measure);
    phase.notes.push(format!("line {line}"));
    if let Some(options) = entry.get("job options").and_then(Value::as_object) {
        phase.notes.push(options_text(options));
    }
    phase.outcome = outcome(entry, !used.is_empty(), &mut phase.caveats);
    let runtime_ms = used.iter().filter_map(|way| whole(way.object, "runtime"));
    phase.elapsed_ns = runtime_ms.max().unwrap_or(0).saturating_mul(1_000_000);
    if matches!(phase.outcome, PhaseOutcome::Failed { .. }) {
        return Some(phase);
    }
    phase.recordings = used.iter().filter_map(|way| recording(way)).collect();
    let mut figures = Figures(&mut phase.measurements);
    rates(&mut figures, &used);
    latencies(&mut figures, &used, &phase.recordings, &mut phase.notes);
    syncs(&mut figures, entry);
    cpu(&mut figures, entry, phase.elapsed_ns);
    Some(phase)
}

fn ways(entry: &Object) -> Vec<Way<'_>> {
    // Where all directions are reported as one, they stand for reads.
    let names = [
        ("read", Direction::Read),
        ("write", Direction::Write),
        ("trim", Direction::Trim),
        ("mixed", Direction::Read),
    ];
    let is_each = entry.contains_key("read");
    let names = names
        .into_iter()
        .filter(|(name, _)| !is_each || *name != "mixed");
    names
        .filter_map(|(name, direction)| {
            let object = entry.get(name)?.as_object()?;
            Some(Way {
                direction,
                object,
                latency: Pair::of(object),
            })
        })
        .collect()
}

fn operations(way: &Way<'_>) -> u64 {
    whole(way.object, "total_ios").unwrap_or(0)
}

/// A whole number; fio prints some of them as fractions of nothing.
fn whole(object: &Object, key: &str) -> Option<u64> {
    let value = object.get(key)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().map(|number| number as u64))
}

fn outcome(entry: &Object, has_figures: bool, caveats: &mut Vec<Caveat>) -> PhaseOutcome {
    match whole(entry, "error") {
        Some(error) if error > 0 => {
            let message = format!("fio says error {error}");
            if has_figures {
                caveats.push(Caveat::new(CaveatCode::EndedEarly, message));
                return PhaseOutcome::EndedEarly;
            }
            PhaseOutcome::Failed { message }
        }
        _ if has_figures => PhaseOutcome::Completed,
        _ => PhaseOutcome::Failed {
            message: "the report has no operations of this job".to_owned(),
        },
    }
}

/// Measurements as they come.
struct Figures<'a>(&'a mut Vec<Measurement>);

impl Figures<'_> {
    /// A figure that is one number of the report, or a sum of several, each times `unit`.
    fn sum<'a>(
        &mut self,
        metric: Metric,
        unit: f64,
        n: u64,
        numbers: impl IntoIterator<Item = &'a Value>,
    ) {
        let numbers: Vec<&Value> = numbers.into_iter().collect();
        let values: Option<Vec<f64>> = numbers.iter().map(|number| number.as_f64()).collect();
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            let printed: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let value = values.iter().sum::<f64>() * unit;
            if value.is_finite() {
                let printed = printed.join("+");
                self.0
                    .push(Measurement::imported(metric, value, n, printed));
            }
        }
    }

    /// A figure that follows from numbers of the report.
    fn derived(&mut self, metric: Metric, value: f64, n: u64) {
        if value.is_finite() {
            self.0.push(Measurement::new(metric, value, n));
        }
    }
}

/// `key` of each direction, and what its unit is; `other` where no direction has `key`.
fn of_each<'a>(
    used: &[&Way<'a>],
    (key, unit): (&str, f64),
    (other, other_unit): (&str, f64),
) -> (Vec<&'a Value>, f64) {
    let values = |key: &str| -> Vec<&'a Value> {
        let values = used.iter().filter_map(|way| way.object.get(key));
        values.collect()
    };
    match values(key) {
        found if found.is_empty() => (values(other), other_unit),
        found => (found, unit),
    }
}

fn rates(figures: &mut Figures<'_>, used: &[&Way<'_>]) {
    let count: u64 = used.iter().map(|way| operations(way)).sum();
    let (rates, unit) = of_each(used, ("bw_bytes", 1.0), ("bw", KIB));
    figures.sum(metrics::RATE, unit, count, rates);
    let (rates, unit) = of_each(used, ("iops", 1.0), ("iops", 1.0));
    figures.sum(metrics::OPERATION_RATE, unit, count, rates);
    let longest = used
        .iter()
        .filter_map(|way| way.object.get("runtime"))
        .max_by_key(|ms| ms.as_u64());
    figures.sum(metrics::ELAPSED, 1e-3, 1, longest);
    let bytes: Vec<&Value> = used
        .iter()
        .filter_map(|way| way.object.get("io_bytes"))
        .collect();
    figures.sum(metrics::BYTES, bytes_unit(used), count, bytes);
    figures.derived(metrics::OPERATIONS, count as f64, count);
}

/// Before fio 3.0, `io_bytes` counted KiB; since then `io_kbytes` does.
fn bytes_unit(used: &[&Way<'_>]) -> f64 {
    if used.iter().any(|way| way.object.contains_key("io_kbytes")) {
        1.0
    } else {
        KIB
    }
}

/// Every latency of a direction, where the report has its bins: as one interval.
fn recording(way: &&Way<'_>) -> Option<Recording> {
    let latencies = way.latency.with_bins()?.histogram()?;
    let bytes = way.object.get("io_bytes")?.as_f64()? * bytes_unit(&[way]);
    let length_ns = whole(way.object, "runtime")?.saturating_mul(1_000_000);
    Some(Recording {
        direction: way.direction,
        intervals: vec![Interval {
            start_ns: 0,
            length_ns,
            bytes: bytes as u64,
            latencies,
        }],
    })
}

fn latencies(
    figures: &mut Figures<'_>,
    used: &[&Way<'_>],
    recordings: &[Recording],
    notes: &mut Vec<String>,
) {
    if let [way] = used {
        let Some(whole) = way.latency.whole() else {
            return;
        };
        whole.mean(figures_of(figures, metrics::LATENCY_MEAN));
        if let Some(of) = way.latency.with_percentiles() {
            for (metric, percent) in PERCENTILES {
                of.percentile(percent, figures_of(figures, metric));
            }
            if !way.latency.is_whole(of) && way.latency.has_submissions() {
                notes.push(
                    "percentiles count from after the submitting call, mean and maximum from before it"
                        .to_owned(),
                );
            }
        }
        whole.max(figures_of(figures, metrics::LATENCY_MAX));
        return;
    }
    if recordings.len() == used.len() {
        let mut all = Histogram::new();
        recordings.iter().for_each(|one| all.merge(&one.total()));
        for (metric, percent) in PERCENTILES {
            if let Some(ns) = all.quantile_ns(percent / 100.0) {
                figures.derived(metric, ns as f64, all.count());
            }
        }
    } else {
        notes.push(
            "percentiles of several directions cannot be put together without bins (json+)"
                .to_owned(),
        );
    }
    let wholes: Vec<&Latency<'_>> = used.iter().filter_map(|way| way.latency.whole()).collect();
    let count: u64 = wholes.iter().map(|latency| latency.count()).sum();
    let sum: f64 = wholes.iter().map(|latency| latency.sum_ns()).sum();
    if count > 0 {
        figures.derived(metrics::LATENCY_MEAN, sum / count as f64, count);
    }
    let longest = wholes.iter().filter_map(|latency| latency.max_ns());
    if let Some(ns) = longest.reduce(f64::max) {
        figures.derived(metrics::LATENCY_MAX, ns, count);
    }
}

const PERCENTILES: [(Metric, f64); 5] = [
    (metrics::LATENCY_P50, 50.0),
    (metrics::LATENCY_P90, 90.0),
    (metrics::LATENCY_P99, 99.0),
    (metrics::LATENCY_P999, 99.9),
    (metrics::LATENCY_P9999, 99.99),
];

/// Takes a number of the report as `metric`.
fn figures_of<'a, 'b>(
    figures: &'a mut Figures<'b>,
    metric: Metric,
) -> impl FnOnce(&Value, f64, u64) + use<'a, 'b> {
    move |number, unit, n| figures.sum(metric, unit, n, [number])
}

fn syncs(figures: &mut Figures<'_>, entry: &Object) {
    let object = entry.get("sync").and_then(Value::as_object);
    let pair = object.map(Pair::of);
    let Some(latency) = pair.as_ref().and_then(Pair::whole) else {
        return;
    };
    latency.mean(figures_of(figures, metrics::SYNC_LATENCY_MEAN));
    latency.percentile(50.0, figures_of(figures, metrics::SYNC_LATENCY_P50));
    latency.percentile(99.0, figures_of(figures, metrics::SYNC_LATENCY_P99));
    latency.max(figures_of(figures, metrics::SYNC_LATENCY_MAX));
}

/// fio's shares are of the time of all workers together; ours is of wall time.
fn cpu(figures: &mut Figures<'_>, entry: &Object, elapsed_ns: u64) {
    let share = |key: &str| entry.get(key).and_then(Value::as_f64);
    let workers_ms = entry.get("job_runtime").and_then(Value::as_f64);
    if let (Some(user), Some(system), Some(workers_ms)) =
        (share("usr_cpu"), share("sys_cpu"), workers_ms)
    {
        let seconds = |percent: f64| percent / 100.0 * workers_ms / 1e3;
        figures.derived(metrics::CPU_USER, seconds(user), 1);
        figures.derived(metrics::CPU_SYSTEM, seconds(system), 1);
        if elapsed_ns > 0 {
            let of_wall = workers_ms * NS_PER_MS / elapsed_ns as f64;
            figures.derived(metrics::CPU_PERCENT, (user + system) * of_wall, 1);
        }
    }
    figures.sum(metrics::MAJOR_FAULTS, 1.0, 1, entry.get("majf"));
    figures.sum(metrics::MINOR_FAULTS, 1.0, 1, entry.get("minf"));
}
