//! Ceilings that were set: by a control group, a link, a provider.

use stiction_core::{
    Action, Caveat, CaveatCode, IoLimit, LayerKind, Recording, Subject, Unit, format_duration_ns,
};

use super::case::{Case, Moved};
use super::series::{self, Window};
use super::traffic::SERVED_SHARE;
use super::words::{byte_rate, operation_rate, percent};
use super::{Ceiling, Claim};

/// A rate within this share of a limit is the limit's. The kernel's throttle was
/// seen to hold 100 operations/s at 100.6 to 103 and 10 MB/s at 10.0 to 10.2.
const AT_LIMIT_SHARE: f64 = 0.05;
/// What the throttle lets through ahead of time: it rounds the time that has passed up
/// to whole slices of 100 ms (`tg_within_bps_limit` in block/blk-throttle.c), and a
/// writer of 1 MiB blocks at 20 MB/s was seen 0.17 s ahead after 3 s.
const AHEAD_S: f64 = 0.2;
/// A shorter phase is granted no more than one of this length: else any rate would do.
const AHEAD_SHORTEST_S: f64 = 1.0;

/// What framing leaves of a link's coded rate: SATA at 6 Gb/s carries 600 MB/s after
/// 8b/10b and drives reach 550 to 560; PCIe packets of 256 bytes carry 24 to 28 of
/// header and checks.
const FRAMING_SHARE: f64 = 0.92;
/// A rate is the link's from this share of what framing leaves on.
const AT_LINK_SHARE: f64 = 0.95;
/// Nothing moves faster than the coded rate; the rest is for rounding of the rate.
pub(super) const PAST_LINK_SHARE: f64 = 1.05;

/// Bounds of a token bucket's pattern: stretches needed, how flat they are, how much
/// slower than the median a waiting operation is, the share of all time that waiting
/// makes up, how alike the waits are, and the shortest wait looked at.
const BUCKET_WINDOWS: usize = 5;
const BUCKET_FLATNESS: f64 = 0.05;
const BUCKET_SLOWDOWN: u64 = 10;
const BUCKET_WAITING_SHARE: f64 = 0.8;
const BUCKET_WAIT_SPREAD: f64 = 0.25;
const BUCKET_SHORTEST_WAIT_NS: u64 = 10_000_000;

/// Bounds of a provider's cap: stretches needed, operations in each, how flat, how
/// near a round figure.
const ROUND_WINDOWS: usize = 10;
const ROUND_OPERATIONS: u64 = 100;
const ROUND_FLATNESS: f64 = 0.01;
const ROUND_NEARNESS: f64 = 0.003;

/// The rate is that of a control group's limit on the target's device.
pub(super) fn set_limit(case: &Case<'_>) -> Option<Claim> {
    if case.moved_share().is_some_and(|share| share < SERVED_SHARE) {
        return None;
    }
    let numbers: Vec<(u32, u32)> = case.layers().iter().map(|l| l.device_number).collect();
    let limits = case.environment.limits.io.iter();
    limits
        .filter(|limit| numbers.contains(&limit.device_number))
        .find_map(|limit| at_limit(case, limit))
}

fn at_limit(case: &Case<'_>, limit: &IoLimit) -> Option<Claim> {
    let (bytes, operations) = match case.action {
        Action::Read => (limit.read_bytes_per_s, limit.read_operations_per_s),
        Action::Write => (limit.write_bytes_per_s, limit.write_operations_per_s),
    };
    let windows = case
        .recording
        .map(|r| series::windows(r, series::WINDOW_NS));
    let windows = windows.unwrap_or_default();
    // A longer burst, of a bucket that was full, shows in the median stretch.
    let steady = |rate: fn(&Window) -> f64| series::median(windows.iter().map(rate));
    let byte_rates = [Some(case.byte_rate()), steady(Window::byte_rate)];
    // The throttle counts requests as they reach the device, where large operations
    // are split; the job counts its own.
    let operation_rates = [
        Some(case.operation_rate()),
        device_operation_rate(case),
        steady(Window::operation_rate),
    ];
    let ahead = AHEAD_S / case.elapsed_s().max(AHEAD_SHORTEST_S);
    if let Some((rate, set)) = near(bytes, &byte_rates, ahead) {
        let (seen, said) = (byte_rate(rate), byte_rate(set));
        return Some(claim(limit, Unit::BytesPerSecond, set, &seen, &said));
    }
    let (rate, set) = near(operations, &operation_rates, ahead)?;
    let (seen, said) = (operation_rate(rate), operation_rate(set));
    Some(claim(limit, Unit::OperationsPerSecond, set, &seen, &said))
}

/// The first of `rates` that is next to the limit, and the limit; `ahead` is how far
/// above it, as a share, a burst may have carried the rate.
fn near(limit: Option<u64>, rates: &[Option<f64>], ahead: f64) -> Option<(f64, f64)> {
    let limit = limit.filter(|&limit| limit > 0)? as f64;
    let above = AT_LIMIT_SHARE.max(ahead);
    let at_limit = |rate: &f64| (-AT_LIMIT_SHARE..=above).contains(&(rate / limit - 1.0));
    let rate = rates.iter().flatten().copied().find(at_limit)?;
    Some((rate, limit))
}

fn claim(limit: &IoLimit, unit: Unit, value: f64, seen: &str, said: &str) -> Claim {
    let source = limit.source.clone();
    let reason = format!("{seen}, and the limit is {said} ({source})");
    Claim {
        ceiling: Some(Ceiling {
            value,
            unit,
            source,
        }),
        ..Claim::new(Subject::Limiter, [reason])
    }
}

/// Requests per second that the devices completed in the direction of the job.
fn device_operation_rate(case: &Case<'_>) -> Option<f64> {
    let Moved::Bytes(_) = case.moved() else {
        return None;
    };
    let devices = case.witnesses.devices.iter();
    let requests: u64 = devices
        .map(|device| match case.action {
            Action::Read => device.reads,
            Action::Write => device.writes,
        })
        .fold(0, u64::saturating_add);
    Some(requests as f64 / case.elapsed_s())
}

/// The link that all bytes have to pass.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) bytes_per_s: u64,
}

/// The links of the disks under the target, taken together; `None` unless all of
/// them are known.
pub(super) fn link_of(case: &Case<'_>) -> Option<Link> {
    let layers = case.layers();
    let disks: Vec<_> = layers
        .iter()
        .filter(|l| l.kind == LayerKind::Disk)
        .collect();
    let rates: Option<Vec<u64>> = disks.iter().map(|disk| disk.link_bytes_per_s).collect();
    let bytes_per_s = rates?.into_iter().fold(0, u64::saturating_add);
    let names: Vec<&str> = disks
        .iter()
        .filter_map(|disk| disk.link.as_deref())
        .collect();
    (bytes_per_s > 0).then(|| Link {
        name: names.join(" and "),
        bytes_per_s,
    })
}

/// The rate is all that the link can carry.
pub(super) fn link(case: &Case<'_>) -> Option<Claim> {
    let link = link_of(case)?;
    let carries = link.bytes_per_s as f64 * FRAMING_SHARE;
    let share = case.byte_rate() / carries;
    if share < AT_LINK_SHARE || case.moved_share()? < SERVED_SHARE {
        return None;
    }
    let reason = format!(
        "{} is {} of what the link ({}, {}) carries after framing",
        byte_rate(case.byte_rate()),
        percent(share.min(1.0)),
        link.name,
        byte_rate(link.bytes_per_s as f64)
    );
    let mut claim = Claim::new(Subject::Limiter, [reason]);
    claim.ceiling = Some(Ceiling {
        value: carries,
        unit: Unit::BytesPerSecond,
        source: link.name,
    });
    Some(claim)
}

/// The pattern of a token bucket: the rate is flat over seconds, yet most operations
/// are quick and nearly all time goes by in a few waits that are all alike. Only
/// for direct I/O: readahead and the kernel's pacing of buffered writers look alike.
pub(super) fn token_bucket(case: &Case<'_>) -> Option<Claim> {
    let recording = case.recording?;
    if !case.is_direct() || case.moved_share()? < SERVED_SHARE {
        return None;
    }
    let windows = series::windows(recording, series::WINDOW_NS);
    if windows.len() < BUCKET_WINDOWS {
        return None;
    }
    let rate = series::flat_operation_rate(&windows, BUCKET_FLATNESS)?;
    let waits = Waits::of(recording)?;
    let reason = format!(
        "flat at {} over {} half-seconds while half of the operations took {} and {} of the time \
         went by in waits of about {}: the pattern of a token bucket",
        operation_rate(rate),
        windows.len(),
        format_duration_ns(waits.median_latency_ns as f64),
        percent(waits.share_of_time),
        format_duration_ns(waits.typical_ns as f64)
    );
    let mut claim = Claim::new(Subject::Limiter, [reason]);
    claim.ceiling = Some(Ceiling {
        value: rate,
        unit: Unit::OperationsPerSecond,
        source: "the pattern of the rate".to_owned(),
    });
    Some(claim)
}

/// The few slow operations that take up nearly all the time.
struct Waits {
    median_latency_ns: u64,
    typical_ns: u64,
    share_of_time: f64,
}

impl Waits {
    fn of(recording: &Recording) -> Option<Self> {
        let total = recording.total();
        let median_latency_ns = total.quantile_ns(0.5)?;
        let slow: Vec<(u64, u64)> = total
            .buckets()
            .filter(|&(latency_ns, _)| {
                latency_ns > median_latency_ns.saturating_mul(BUCKET_SLOWDOWN)
            })
            .collect();
        let count: u64 = slow.iter().map(|&(_, count)| count).sum();
        let time: f64 = slow
            .iter()
            .map(|&(ns, count)| ns as f64 * count as f64)
            .sum();
        let all_time: f64 = total
            .buckets()
            .map(|(ns, count)| ns as f64 * count as f64)
            .sum();
        let quartile = |share: f64| {
            let rank = ((count as f64 * share).ceil() as u64).max(1);
            let mut seen = 0;
            slow.iter().find_map(|&(ns, here)| {
                seen += here;
                (seen >= rank).then_some(ns)
            })
        };
        let typical_ns = quartile(0.5)?;
        let alike = |ns: u64| (ns as f64 / typical_ns as f64 - 1.0).abs() <= BUCKET_WAIT_SPREAD;
        let share_of_time = time / all_time;
        (share_of_time >= BUCKET_WAITING_SHARE
            && typical_ns >= BUCKET_SHORTEST_WAIT_NS
            && alike(quartile(0.25)?)
            && alike(quartile(0.75)?))
        .then_some(Self {
            median_latency_ns,
            typical_ns,
            share_of_time,
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
