//! Ceilings that nobody told of, seen by the shape of the rate.

use stiction_core::{Caveat, CaveatCode, Recording, Subject, Unit, format_duration_ns};

use super::case::Case;
use super::series::{self, Window};
use super::traffic::SERVED_SHARE;
use super::words::{byte_rate, operation_rate, percent};
use super::{Ceiling, Claim};

/// Stretches that a pattern has to hold for.
const BUCKET_WINDOWS: usize = 5;
/// Operations in a stretch: chance alone would make ten vary by three.
const BUCKET_OPERATIONS: f64 = 10.0;
/// How flat the rate is.
const BUCKET_FLATNESS: f64 = 0.05;
/// How much slower than the median an operation is that waited.
const BUCKET_SLOWDOWN: u64 = 10;
/// Share of all time that waiting makes up, on a crowded machine too, where each
/// operation also waits a tick for a CPU.
const BUCKET_WAITING_SHARE: f64 = 0.5;
/// How alike the waits are: the quartiles, by time, around the middle.
const BUCKET_WAIT_SPREAD: f64 = 0.25;
/// The shortest wait looked at; a drive's own stalls are mostly shorter.
const BUCKET_SHORTEST_WAIT_NS: u64 = 10_000_000;

/// Stretches that a provider's cap has to hold for.
const ROUND_WINDOWS: usize = 10;
/// Operations in each of them.
const ROUND_OPERATIONS: u64 = 100;
/// How flat the rate is.
const ROUND_FLATNESS: f64 = 0.01;
/// How near a round figure it is.
const ROUND_NEARNESS: f64 = 0.003;

/// The pattern of a token bucket: the rate is flat, yet most operations are quick and
/// most of the time goes by in waits that are all alike. A cgroup throttle of 100
/// operations/s lets 10 through in every 100 ms, to the operation, with a median of
/// 77 us and waits of up to 102 ms. Only for direct I/O: readahead and the kernel's
/// pacing of buffered writers look alike.
pub(super) fn token_bucket(case: &Case<'_>) -> Option<Claim> {
    let recording = case.recording?;
    if !case.is_direct() || case.moved_share()? < SERVED_SHARE {
        return None;
    }
    let windows = finest_windows(recording)?;
    let rate = series::flat_operation_rate(&windows, BUCKET_FLATNESS)?;
    let waits = Waits::of(recording)?;
    let reason = format!(
        "flat at {} in {} stretches of {} while half of the operations took {} and {} of the time \
         went by in waits of about {}: the pattern of a token bucket",
        operation_rate(rate),
        windows.len(),
        format_duration_ns(windows[0].length_ns as f64),
        format_duration_ns(waits.median_latency_ns as f64),
        percent(waits.share_of_time),
        format_duration_ns(waits.typical_ns as f64)
    );
    let ceiling = Ceiling {
        value: rate,
        unit: Unit::OperationsPerSecond,
        source: "the pattern of the rate".to_owned(),
    };
    Some(Claim {
        ceiling: Some(ceiling),
        ..Claim::new(Subject::Limiter, [reason])
    })
}

/// The recording in the shortest stretches that hold enough operations; `None` when
/// there are too few of them.
fn finest_windows(recording: &Recording) -> Option<Vec<Window>> {
    let lengths_ns = [1, series::WINDOW_NS];
    lengths_ns.into_iter().find_map(|length_ns| {
        let windows = series::windows(recording, length_ns);
        let typical = series::median(windows.iter().map(|window| window.operations as f64))?;
        (windows.len() >= BUCKET_WINDOWS && typical >= BUCKET_OPERATIONS).then_some(windows)
    })
}

/// The slow operations that take up nearly all the time.
struct Waits {
    median_latency_ns: u64,
    typical_ns: u64,
    share_of_time: f64,
}

impl Waits {
    fn of(recording: &Recording) -> Option<Self> {
        let total = recording.total();
        let median_latency_ns = total.quantile_ns(0.5)?;
        let shortest_ns = median_latency_ns.saturating_mul(BUCKET_SLOWDOWN);
        let times = total
            .buckets()
            .map(|(ns, count)| (ns, ns as f64 * count as f64));
        let slow: Vec<(u64, f64)> = times.filter(|&(ns, _)| ns > shortest_ns).collect();
        let waiting_ns: f64 = slow.iter().map(|&(_, time_ns)| time_ns).sum();
        // The latency below which this share of the waiting was spent.
        let quartile = |share: f64| {
            let mut spent = 0.0;
            slow.iter().find_map(|&(ns, time_ns)| {
                spent += time_ns;
                (spent >= waiting_ns * share).then_some(ns)
            })
        };
        let typical_ns = quartile(0.5)?;
        let alike = |ns: u64| (ns as f64 / typical_ns as f64 - 1.0).abs() <= BUCKET_WAIT_SPREAD;
        let share_of_time = waiting_ns / total.sum_ns() as f64;
        (share_of_time >= BUCKET_WAITING_SHARE
            && typical_ns >= BUCKET_SHORTEST_WAIT_NS
            && alike(quartile(0.25)?)
            && alike(quartile(0.75)?))
        .then_some(Self {
            median_latency_ns,
            typical_ns,
            share_of_time: share_of_time.min(1.0),
        })
    }
}

/// A rate that holds a round figure for seconds on end. It may be chance, so it is a
/// doubt and no claim.
pub(super) fn round_and_flat(case: &Case<'_>) -> Option<Caveat> {
    let windows = series::windows(case.recording?, series::WINDOW_NS);
    let enough = windows.len() >= ROUND_WINDOWS
        && windows
            .iter()
            .all(|window| window.operations >= ROUND_OPERATIONS);
    if !enough || case.moved_share()? < SERVED_SHARE {
        return None;
    }
    let rate = series::flat_operation_rate(&windows, ROUND_FLATNESS)?;
    let bytes = case.asked_bytes as f64 / case.operations as f64 * rate;
    let mib = bytes / f64::from(1 << 20);
    let round = [rate, bytes / 1e6, mib].into_iter().any(is_round);
    round.then(|| {
        let detail = format!(
            "the rate held {} ({}) within {} for {} half-seconds: so flat and so round a figure \
             is often a cap that somebody set",
            operation_rate(rate),
            byte_rate(bytes),
            percent(ROUND_FLATNESS),
            windows.len()
        );
        Caveat::new(CaveatCode::Limiter, detail)
    })
}

/// Whether `value` is next to 1, 2, 3 or 5 times a power of ten.
fn is_round(value: f64) -> bool {
    if value < 1.0 - ROUND_NEARNESS {
        return false;
    }
    let power = 10f64.powf((value * (1.0 + ROUND_NEARNESS)).log10().floor());
    [1.0, 2.0, 3.0, 5.0, 10.0]
        .iter()
        .any(|leading| (value / (leading * power) - 1.0).abs() <= ROUND_NEARNESS)
}

#[cfg(test)]
mod tests {
    use super::is_round;

    #[test]
    fn round_figures_are_one_two_three_and_five() {
        for value in [1000.0, 999.0, 1002.0, 3.0, 200.0, 0.9995, 10_000.0, 499.0] {
            assert!(is_round(value), "{value}");
        }
        for value in [0.0, 0.5, 1234.0, 4000.0, 1010.0, 95.0] {
            assert!(!is_round(value), "{value}");
        }
    }
}
