//! Too little to say much: few operations, little time, a rate still moving.

use stiction_core::{Caveat, CaveatCode, Metric, format_count, format_duration_ns, metrics};

use super::case::Case;
use super::series;
use super::words::{byte_rate, percent};

/// A phase shorter than this measures its own beginning: caches of the device, the
/// first slice of a throttle, CPU time in ticks of 4 to 10 ms.
const SHORTEST_NS: u64 = 1_000_000_000;

/// Fewer operations than this leave less than ten beyond the 90th percentile.
const FEWEST_OPERATIONS: u64 = 100;

/// The last third's rate may differ from the first third's by this much.
const DRIFT_SHARE: f64 = 0.20;

/// Doubts about the size of the sample.
pub(super) fn doubts(case: &Case<'_>) -> Vec<Caveat> {
    let all = [too_few(case), too_short(case), not_steady(case)];
    all.into_iter().flatten().collect()
}

fn too_few(case: &Case<'_>) -> Option<Caveat> {
    let said = |detail| Some(Caveat::new(CaveatCode::TooFewSamples, detail));
    if case.operations < FEWEST_OPERATIONS {
        let count = case.operations;
        return said(format!(
            "{count} operations, of {FEWEST_OPERATIONS} that a p90 needs"
        ));
    }
    let quantiles: [(Metric, f64); 4] = [
        (metrics::LATENCY_P99, 0.99),
        (metrics::LATENCY_P999, 0.999),
        (metrics::LATENCY_P9999, 0.9999),
        (metrics::SYNC_LATENCY_P99, 0.99),
    ];
    quantiles.into_iter().find_map(|(metric, quantile)| {
        let n = case.phase.measurement(&metric)?.n;
        // Ten operations beyond the quantile, as in `Histogram::quantile_ns_if_enough`.
        let needed = (10.0 / (1.0 - quantile)).round();
        if n as f64 >= needed {
            return None;
        }
        let needed = format_count(needed);
        said(format!(
            "{} rests on {n} operations and needs {}",
            metric.name,
            needed.trim()
        ))
    })
}

fn too_short(case: &Case<'_>) -> Option<Caveat> {
    let elapsed = case.phase.elapsed_ns;
    (elapsed < SHORTEST_NS).then(|| {
        let detail = format!("it took {}", format_duration_ns(elapsed as f64));
        Caveat::new(CaveatCode::TooShort, detail)
    })
}

/// The rates of the first and the last third lie apart: a burst that ended, or a
/// device still warming up.
fn not_steady(case: &Case<'_>) -> Option<Caveat> {
    let windows = series::windows(case.recording?, series::WINDOW_NS);
    if windows.len() < 9 {
        return None;
    }
    let third = windows.len() / 3;
    let rate = |part: &[series::Window]| series::median(part.iter().map(series::Window::byte_rate));
    let first = rate(&windows[..third])?;
    let last = rate(&windows[windows.len() - third..])?;
    let change = last / first - 1.0;
    (change.abs() > DRIFT_SHARE).then(|| {
        let detail = format!(
            "{} in the first third and {} in the last ({}{})",
            byte_rate(first),
            byte_rate(last),
            if change > 0.0 { "+" } else { "-" },
            percent(change.abs())
        );
        Caveat::new(CaveatCode::NotSteady, detail)
    })
}
