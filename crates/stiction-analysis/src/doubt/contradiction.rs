//! Witnesses that cannot all be right. Then nobody is believed.

use stiction_core::{Subject, format_bytes};

use super::Claim;
use super::case::{Case, Moved, Way};
use super::ceiling::{self, PAST_LINK_SHARE};
use super::data::compressing_filesystem;
use super::traffic::{SERVED_SHARE, moved_of_asked};
use super::words::{byte_rate, percent};

/// A file counts as cached from this share of its pages on.
pub(super) const CACHED_SHARE: f64 = 0.90;

/// When at least this share of the bytes that cannot have come from memory is
/// unaccounted for, the counters are about something else. It leaves room for
/// random offsets that repeat: n independent draws from n blocks visit 1 - 1/e,
/// 63 %, of them.
const UNACCOUNTED_SHARE: f64 = 0.5;

/// The first contradiction, as a claim that nothing can be known.
pub(super) fn find(case: &Case<'_>) -> Option<Claim> {
    cached_yet_moved(case)
        .or_else(|| read_from_nowhere(case))
        .or_else(|| synced_yet_not_written(case))
        .or_else(|| faster_than_the_link(case))
}

fn unknown(reasons: impl IntoIterator<Item = String>) -> Option<Claim> {
    Some(Claim::new(Subject::Unknown, reasons))
}

/// All of the file was in memory, before and after, and yet the device read as
/// much as was asked: somebody else's I/O.
fn cached_yet_moved(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let before = case.witnesses.residency_before?.fraction();
    let after = case.witnesses.residency_after;
    let cached = before >= CACHED_SHARE && after.is_none_or(|r| r.fraction() >= CACHED_SHARE);
    let moved_all = case.moved_share()? >= SERVED_SHARE;
    if case.way != Way::Read || case.is_direct() || !cached || !moved_all {
        return None;
    }
    unknown([
        moved_of_asked(case, moved),
        format!(
            "{} of the file was in memory all the while: the witnesses contradict each other",
            percent(before)
        ),
    ])
}

/// Bytes that were neither in memory nor holes were read, and the device did not
/// move them.
fn read_from_nowhere(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let before = case.witnesses.residency_before;
    if case.way != Way::Read || (before.is_none() && !case.is_direct()) {
        return None;
    }
    let holes = case.witnesses.unwritten_bytes.unwrap_or(0);
    let cached = before.map_or(0, |residency| residency.cached_bytes);
    let must_move = case
        .touched_bytes()
        .saturating_sub(cached.saturating_add(holes));
    let accounted = must_move as f64 * UNACCOUNTED_SHARE;
    let matters = must_move as f64 > case.asked_bytes as f64 * (1.0 - SERVED_SHARE);
    if !matters || moved as f64 >= accounted || is_compressed(case) {
        return None;
    }
    let why = if before.is_some() {
        let bytes = format_bytes(must_move);
        format!(
            "at least {bytes} of it was neither in memory nor a hole: the witnesses contradict each other"
        )
    } else {
        "O_DIRECT was granted, and nothing tells what else answered".to_owned()
    };
    unknown([moved_of_asked(case, moved), why])
}

/// Writes were durable or went past the cache, and the device did not write them.
fn synced_yet_not_written(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let durable = case.is_direct() || case.is_synced();
    if case.way != Way::Write || !durable || is_compressed(case) {
        return None;
    }
    // Writes to one place between two syncs reach the device once.
    let must_move = if case.is_direct() {
        case.asked_bytes
    } else {
        case.touched_bytes()
    };
    if moved as f64 >= must_move as f64 * UNACCOUNTED_SHARE || in_memory(case) {
        return None;
    }
    let how = if case.is_synced() {
        "synced"
    } else {
        "O_DIRECT"
    };
    unknown([
        moved_of_asked(case, moved),
        format!(
            "the writes were {how}, so the device had to take them: the witnesses contradict each other"
        ),
    ])
}

/// The device is said to have moved more than its link can carry.
fn faster_than_the_link(case: &Case<'_>) -> Option<Claim> {
    let link = ceiling::link_of(case)?;
    let share = case.byte_rate() / link.bytes_per_s as f64;
    let moved_all = case.moved_share()? >= SERVED_SHARE;
    if share < PAST_LINK_SHARE || !moved_all {
        return None;
    }
    unknown([format!(
        "{} is {} of what the link carries ({}): the witnesses contradict each other",
        byte_rate(case.byte_rate()),
        percent(share),
        link.name
    )])
}

fn in_memory(case: &Case<'_>) -> bool {
    super::memory::filesystem_in_memory(case).is_some()
}

/// Data that compress, on a filesystem that compresses: little needs to move.
fn is_compressed(case: &Case<'_>) -> bool {
    let reducible = case.job.is_none_or(|job| job.reducible_data().is_some());
    reducible && compressing_filesystem(case).is_some()
}
