//! Ceilings that are known: limits of control groups, links.

use stiction_core::{IoLimit, LayerKind, Subject, Unit};

use super::case::{Case, Moved, Way};
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
    let (bytes, operations) = match case.way {
        Way::Read => (limit.read_bytes_per_s, limit.read_operations_per_s),
        Way::Write => (limit.write_bytes_per_s, limit.write_operations_per_s),
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
        .map(|device| match case.way {
            Way::Read => device.reads,
            Way::Write => device.writes,
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
