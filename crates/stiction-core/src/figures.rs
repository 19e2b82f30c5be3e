//! From what was recorded to the figures of operations. Pure arithmetic.
//!
//! These are worked out from the recordings alone, so they can be worked out again
//! later for another part of them.

use crate::{Direction, Histogram, Measurement, Metric, Phase, metrics};

const NS_PER_S: f64 = 1e9;

/// A stretch in which every worker was active, and what moved in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllActive {
    /// Start, ns after the job's.
    pub start_ns: u64,
    /// End, ns after the job's start.
    pub end_ns: u64,
    /// Bytes moved by operations that completed in between.
    pub bytes: u64,
}

/// What [`figures_of_operations`] gives.
const OF_OPERATIONS: [Metric; 19] = [
    metrics::RATE,
    metrics::OPERATION_RATE,
    metrics::RATE_ALL_ACTIVE,
    metrics::ELAPSED,
    metrics::BYTES,
    metrics::OPERATIONS,
    metrics::LATENCY_MEAN,
    metrics::LATENCY_P50,
    metrics::LATENCY_P90,
    metrics::LATENCY_P99,
    metrics::LATENCY_P999,
    metrics::LATENCY_P9999,
    metrics::LATENCY_MAX,
    metrics::LATENCY_OVER_2S,
    metrics::LATENCY_OVER_10S,
    metrics::SYNC_LATENCY_MEAN,
    metrics::SYNC_LATENCY_P50,
    metrics::SYNC_LATENCY_P99,
    metrics::SYNC_LATENCY_MAX,
];

/// Whether `metric` is worked out from recordings alone, so that it can be worked out
/// again for a part of them.
#[must_use]
pub fn is_of_operations(metric: &Metric) -> bool {
    OF_OPERATIONS.contains(metric)
}

/// Rates and latencies of all that the phase recorded, in the order in which reports
/// show them. Figures that cannot be had are left out.
#[must_use]
pub fn figures_of_operations(phase: &Phase, all_active: Option<AllActive>) -> Vec<Measurement> {
    let mut found = Vec::new();
    rates(phase, all_active, &mut found);
    if let Some(latencies) = latencies_of_operations(phase) {
        latency(&latencies, &mut found);
    }
    if let Some(syncs) = total_of(phase, |direction| direction == Direction::Sync) {
        sync_latency(&syncs, &mut found);
    }
    found
}

/// The part of `stretch` that is left in a phase of which only some intervals are, to
/// the edges of intervals; `None` when none is.
#[must_use]
pub fn all_active_within(phase: &Phase, stretch: AllActive) -> Option<AllActive> {
    let recordings = phase.recordings.iter();
    let data = recordings.filter(|recording| recording.direction.is_data());
    let inside = data
        .flat_map(|recording| &recording.intervals)
        .filter(|one| {
            one.start_ns >= stretch.start_ns && one.start_ns + one.length_ns <= stretch.end_ns
        });
    inside.fold(None, |whole: Option<AllActive>, one| {
        let end_ns = one.start_ns + one.length_ns;
        Some(AllActive {
            start_ns: whole.map_or(one.start_ns, |whole| whole.start_ns.min(one.start_ns)),
            end_ns: whole.map_or(end_ns, |whole| whole.end_ns.max(end_ns)),
            bytes: whole.map_or(0, |whole| whole.bytes) + one.bytes,
        })
    })
}

/// Latencies of the phase's own operations: whole ones where they take several calls,
/// commits where it commits, else all that it read, wrote and trimmed; `None` when there
/// were none.
#[must_use]
pub fn latencies_of_operations(phase: &Phase) -> Option<Histogram> {
    let of = |wanted| total_of(phase, |direction| direction == wanted);
    let whole = of(Direction::Whole).or_else(|| of(Direction::Commit));
    whole.or_else(|| total_of(phase, Direction::is_data))
}

/// All operations of some directions; `None` when there were none.
fn total_of(phase: &Phase, wanted: impl Fn(Direction) -> bool) -> Option<Histogram> {
    let mut total = Histogram::new();
    let recordings = phase.recordings.iter();
    recordings
        .filter(|recording| wanted(recording.direction))
        .for_each(|recording| total.merge(&recording.total()));
    (total.count() > 0).then_some(total)
}

/// Operations of a phase and their bytes. Where operations take several calls, whole
/// ones count and not their calls; else reads, writes and trims, and syncs and commits
/// are not counted again.
#[must_use]
pub fn operations_and_bytes(phase: &Phase) -> (u64, u64) {
    let is_whole = |direction| direction == Direction::Whole;
    let mut recordings = phase.recordings.iter();
    let has_whole = recordings.any(|recording| is_whole(recording.direction));
    phase
        .recordings
        .iter()
        .filter(|recording| {
            let direction = recording.direction;
            if has_whole {
                is_whole(direction)
            } else {
                direction.is_data()
            }
        })
        .fold((0, 0), |(operations, bytes), recording| {
            (
                operations + recording.operations(),
                bytes + recording.bytes(),
            )
        })
}

/// Whether the phase is one of moving bytes, so that to move none is a failure: operations
/// on names alone, such as making empty files, have no rate of bytes.
#[must_use]
pub fn moves_bytes(phase: &Phase) -> bool {
    let (operations, bytes) = operations_and_bytes(phase);
    let mut recordings = phase.recordings.iter();
    let has_data = recordings.any(|one| one.direction.is_data() && one.operations() > 0);
    bytes > 0 || operations == 0 || has_data
}

fn rates(phase: &Phase, all_active: Option<AllActive>, found: &mut Vec<Measurement>) {
    let (operations, bytes) = operations_and_bytes(phase);
    if phase.elapsed_ns > 0 {
        let elapsed_s = phase.elapsed_ns as f64 / NS_PER_S;
        let has_rate = moves_bytes(phase);
        if has_rate {
            found.push(Measurement::new(
                metrics::RATE,
                bytes as f64 / elapsed_s,
                operations,
            ));
        }
        found.push(Measurement::new(
            metrics::OPERATION_RATE,
            operations as f64 / elapsed_s,
            operations,
        ));
        let all_active = all_active.filter(|_| has_rate);
        if let Some(rate) = all_active.and_then(all_active_rate) {
            found.push(Measurement::new(metrics::RATE_ALL_ACTIVE, rate, operations));
        }
        found.push(Measurement::new(metrics::ELAPSED, elapsed_s, 1));
    }
    found.push(Measurement::new(metrics::BYTES, bytes as f64, operations));
    found.push(Measurement::new(
        metrics::OPERATIONS,
        operations as f64,
        operations,
    ));
}

/// `None` of a stretch in which nothing was moved: it was too short to say anything, which
/// a rate of 0 would make a failure of.
fn all_active_rate(stretch: AllActive) -> Option<f64> {
    let length_ns = stretch.end_ns.checked_sub(stretch.start_ns)?;
    (length_ns > 0 && stretch.bytes > 0).then(|| stretch.bytes as f64 * NS_PER_S / length_ns as f64)
}

fn latency(latencies: &Histogram, found: &mut Vec<Measurement>) {
    let n = latencies.count();
    let mut push = |metric: Metric, value: Option<f64>| {
        found.extend(value.map(|value| Measurement::new(metric, value, n)));
    };
    push(metrics::LATENCY_MEAN, latencies.mean_ns());
    for (metric, quantile) in [
        (metrics::LATENCY_P50, 0.5),
        (metrics::LATENCY_P90, 0.9),
        (metrics::LATENCY_P99, 0.99),
        (metrics::LATENCY_P999, 0.999),
        (metrics::LATENCY_P9999, 0.9999),
    ] {
        push(
            metric,
            latencies
                .quantile_ns_if_enough(quantile)
                .map(|ns| ns as f64),
        );
    }
    push(metrics::LATENCY_MAX, latencies.max_ns().map(|ns| ns as f64));
    let percent = |count: u64| Some(100.0 * count as f64 / n as f64);
    push(metrics::LATENCY_OVER_2S, percent(latencies.over_2_s()));
    push(metrics::LATENCY_OVER_10S, percent(latencies.over_10_s()));
}

fn sync_latency(syncs: &Histogram, found: &mut Vec<Measurement>) {
    for (metric, value) in [
        (metrics::SYNC_LATENCY_MEAN, syncs.mean_ns()),
        (
            metrics::SYNC_LATENCY_P50,
            syncs.quantile_ns_if_enough(0.5).map(|ns| ns as f64),
        ),
        (
            metrics::SYNC_LATENCY_P99,
            syncs.quantile_ns_if_enough(0.99).map(|ns| ns as f64),
        ),
        (
            metrics::SYNC_LATENCY_MAX,
            syncs.max_ns().map(|ns| ns as f64),
        ),
    ] {
        found.extend(value.map(|value| Measurement::new(metric, value, syncs.count())));
    }
}
