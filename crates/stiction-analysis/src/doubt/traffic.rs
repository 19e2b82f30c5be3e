//! What the devices moved, held against what was asked.

use stiction_core::{Caveat, CaveatCode, Subject, format_bytes};

use super::Claim;
use super::case::{Case, Moved};
use super::words::percent;

/// Below this share of the bytes asked, something other than the device answered
/// the rest. Direct I/O agrees with the counters to a thousandth and buffered I/O
/// only adds to them (readahead, journals), so a tenth is generous.
pub(super) const SERVED_SHARE: f64 = 0.90;

/// Above this share of the bytes asked (and the allowances below), the device
/// moved more than the job explains.
const MORE_SHARE: f64 = 1.10;

/// What a filesystem moves on its own account in any phase: journal, bitmaps,
/// inode tables that are filled lazily after mkfs.
const METADATA_ALLOWANCE_BYTES: u64 = 4 << 20;

/// What one sync may add. ext4 and xfs write three to eight blocks of journal; btrfs
/// writes its log tree and superblock, some nodes of 16 KiB twice over.
const SYNC_ALLOWANCE_BYTES: u64 = 64 << 10;

/// Traffic against the job's direction below this share of the bytes asked is
/// metadata; at or above it something else used the device.
const OTHER_SHARE: f64 = 0.10;

/// The device moved what was asked and no rule before found another bound.
pub(super) fn device_answered(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    if case.moved_share()? < SERVED_SHARE {
        return None;
    }
    let hypervisor = case.environment.virtualisation.hypervisor.as_ref();
    let below = hypervisor.map(|name| {
        let devices = case.devices();
        format!(
            "this is a virtual machine ({name}): a cache of the host below {devices} cannot be seen"
        )
    });
    let reasons = std::iter::once(moved_of_asked(case, moved)).chain(below);
    Some(Claim::new(Subject::Disk, reasons))
}

/// Why nothing can be said about what the device did.
pub(super) fn not_seen(case: &Case<'_>) -> Vec<String> {
    match case.moved() {
        Moved::Unseen(why) => vec![why],
        Moved::Bytes(moved) => vec![format!(
            "{}, and no witness tells what answered the rest",
            moved_of_asked(case, moved)
        )],
    }
}

/// `vda read 0 B of 1 GiB asked (0 %)`
pub(super) fn moved_of_asked(case: &Case<'_>, moved: u64) -> String {
    format!(
        "{} {} {} of {} ({})",
        case.devices(),
        case.verb(),
        format_bytes(moved),
        asked_text(case),
        percent(moved as f64 / case.asked_together_bytes() as f64)
    )
}

/// `1 GiB asked`, or `3 GiB asked by 2 jobs together`
fn asked_text(case: &Case<'_>) -> String {
    let asked = format_bytes(case.asked_together_bytes());
    match case.witnesses.beside {
        Some(beside) if case.beside_bytes > 0 => {
            format!("{asked} asked by {} jobs together", beside.jobs + 1)
        }
        _ => format!("{asked} asked"),
    }
}

/// Several jobs ran between the readings, and the devices did not move what they asked
/// together: whose bytes came from elsewhere is not known, unless it must be this job's.
pub(super) fn not_told_apart(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let beside = case.witnesses.beside?;
    let missing = case.asked_together_bytes().saturating_sub(moved);
    let own = case.asked_bytes as f64;
    let may_be_whole = missing as f64 <= own * (1.0 - SERVED_SHARE);
    let cannot_be_whole = (moved as f64) < own * SERVED_SHARE;
    if case.beside_bytes == 0 || may_be_whole || cannot_be_whole {
        return None;
    }
    let jobs = beside.jobs + 1;
    Some(Claim::new(
        Subject::Unknown,
        [
            moved_of_asked(case, moved),
            format!("{jobs} jobs ran at the same time, and it is not known whose bytes those were"),
        ],
    ))
}

/// Traffic that the job does not explain.
pub(super) fn doubts(case: &Case<'_>) -> Vec<Caveat> {
    let more = moved_more(case);
    let otherwise = moved_otherwise(case);
    more.into_iter().chain(otherwise).collect()
}

fn moved_more(case: &Case<'_>) -> Option<Caveat> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let syncs = case.syncs.saturating_mul(SYNC_ALLOWANCE_BYTES);
    let explained = case.asked_together_bytes() as f64 * MORE_SHARE
        + METADATA_ALLOWANCE_BYTES as f64
        + syncs as f64;
    (moved as f64 > explained).then(|| {
        let cause = match case.stacks.iter().any(|stack| is_mirrored(stack)) {
            true => "copies on several devices, readahead, metadata or other work",
            false => "readahead, metadata or other work on the device",
        };
        let seen = moved_of_asked(case, moved);
        Caveat::new(CaveatCode::DeviceMovedMore, format!("{seen}: {cause}"))
    })
}

/// A btrfs over several devices keeps copies unless told otherwise.
fn is_mirrored(stack: &stiction_core::TargetStack) -> bool {
    let btrfs = stack
        .filesystem
        .as_ref()
        .is_some_and(|fs| fs.kind == "btrfs");
    btrfs && stack.layers.len() > 1
}

fn moved_otherwise(case: &Case<'_>) -> Option<Caveat> {
    let Moved::Bytes(moved) = case.moved_otherwise() else {
        return None;
    };
    let share = moved as f64 / case.asked_together_bytes() as f64;
    (share >= OTHER_SHARE && moved > METADATA_ALLOWANCE_BYTES).then(|| {
        let other = match case.verb() {
            "read" => "wrote",
            _ => "read",
        };
        let devices = case.devices();
        let moved = format_bytes(moved);
        let share = percent(share);
        let beyond = match case.asked_otherwise_bytes {
            0 => "in a direction that the job does not use",
            _ => "beyond what was asked in that direction",
        };
        Caveat::new(
            CaveatCode::OtherIo,
            format!("{devices} {other} {moved} meanwhile, {share} of the bytes asked, {beyond}"),
        )
    })
}
