//! Too little to say much: few operations, little time, a rate still moving.

use stiction_core::Direction::{self, Sync};
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

/// By how much latencies may exceed the time there was: what a merged histogram and two
/// clock readings a phase can be off.
const LITTLE_SLACK_SHARE: f64 = 0.01;

/// An operation that takes longer than this is what a user calls hanging: the column of
/// tiobench that counts them begins here.
const STALL_NS: u64 = 2_000_000_000;

/// And it has to take so many times as long as half of them: on a device that is as slow
/// as that throughout nothing stalled.
const STALL_TIMES: u64 = 100;

/// Doubts about the size of the sample.
pub(super) fn doubts(case: &Case<'_>) -> Vec<Caveat> {
    let all = [
        too_few(case),
        too_short(case),
        long_stall(case),
        not_steady(case),
        more_than_there_is_time(case),
    ];
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

/// The slowest operation of the phase, syncs included, and when it was.
fn long_stall(case: &Case<'_>) -> Option<Caveat> {
    let recordings = case.phase.recordings.iter();
    let of_calls = recordings.filter(|one| one.direction.is_data() || one.direction == Sync);
    let slowest = of_calls.filter_map(|one| Some((one, one.slowest()?)));
    let (recording, interval) = slowest.max_by_key(|(_, one)| one.latencies.max_ns())?;
    let took = interval.latencies.max_ns()?;
    let half = recording.total().quantile_ns(0.5)?;
    if took <= STALL_NS || took / STALL_TIMES < half {
        return None;
    }
    let what = match recording.direction {
        Direction::Write => "a write",
        Direction::Trim => "a trim",
        Sync => "a sync",
        _ => "a read",
    };
    let second = |ns: u64| ns as f64 / 1e9;
    let detail = format!(
        "{what} took {}, and half of them less than {}; it ended {:.1} to {:.1} s after the \
         phase had begun",
        format_duration_ns(took as f64),
        format_duration_ns(half as f64),
        second(interval.start_ns),
        second(interval.start_ns + interval.length_ns)
    );
    Some(Caveat::new(CaveatCode::LongStall, detail))
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

/// Little's law: operations that were in flight one after another, or `depth` at a time,
/// cannot have taken longer together than there was time. A benchmark of 2002 printed
/// latencies that disagreed with its own rates by half.
fn more_than_there_is_time(case: &Case<'_>) -> Option<Caveat> {
    let job = case.job?;
    // Late operations of a set pace are charged the time they waited for their turn.
    if job.pace.is_some() || case.phase.workers.is_empty() {
        return None;
    }
    let in_flight = case.phase.workers.len() as f64 * f64::from(job.depth);
    let latencies_ns = case.recording?.total().sum_ns() as f64;
    let time_ns = case.phase.elapsed_ns as f64 * in_flight;
    (latencies_ns > time_ns * (1.0 + LITTLE_SLACK_SHARE)).then(|| {
        let detail = format!(
            "latencies add up to {}, which is more than the {} that {in_flight} in flight had",
            format_duration_ns(latencies_ns),
            format_duration_ns(time_ns)
        );
        Caveat::new(CaveatCode::Inconsistent, detail)
    })
}
