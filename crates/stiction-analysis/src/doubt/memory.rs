//! Memory that answered in the device's place.

use stiction_core::{Caveat, CaveatCode, LayerKind, Subject, TargetStack, format_bytes};

use super::Claim;
use super::case::{Case, Moved, Way};
use super::contradiction::CACHED_SHARE;
use super::traffic::{SERVED_SHARE, moved_of_asked};
use super::words::percent;

/// Share of the bytes touched that must be dirty when a phase ends to be worth a word.
const DIRTY_SHARE: f64 = 0.10;

/// What makes the target memory, if all of the targets in question are.
pub(super) fn filesystem_in_memory(case: &Case<'_>) -> Option<String> {
    let found: Option<Vec<String>> = case.stacks.iter().map(|stack| in_memory(stack)).collect();
    found?.into_iter().next()
}

fn in_memory(stack: &TargetStack) -> Option<String> {
    let filesystem = stack.filesystem.as_ref();
    if let Some(filesystem) = filesystem.filter(|filesystem| filesystem.lives_in_memory()) {
        return Some(format!("{} keeps its files in memory", filesystem.kind));
    }
    stack.layers.iter().find_map(|layer| match layer.kind {
        LayerKind::Zram => Some(format!("{} is compressed memory", layer.name)),
        LayerKind::Loop => {
            let below = in_memory(layer.backing.as_ref()?)?;
            Some(format!("{} lies on a file, and {below}", layer.name))
        }
        // brd, the kernel's RAM disk.
        _ if is_ram_disk(&layer.name) => Some(format!("{} is a RAM disk", layer.name)),
        _ => None,
    })
}

fn is_ram_disk(name: &str) -> bool {
    name.strip_prefix("ram")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Memory is the target, or the device moved less than was asked, or nothing was
/// seen of the device and the file was in memory.
pub(super) fn answered(case: &Case<'_>) -> Option<Claim> {
    if let Some(reason) = filesystem_in_memory(case) {
        return Some(Claim::new(Subject::Cache, [reason]));
    }
    match case.moved() {
        Moved::Bytes(moved) => {
            if case.moved_share()? >= SERVED_SHARE {
                return None;
            }
            let seen = std::iter::once(moved_of_asked(case, moved));
            let because = explanation(case);
            // A device that moved less than O_DIRECT asked for needs an explanation
            // before memory is named.
            if because.is_empty() && case.is_direct() {
                return None;
            }
            Some(Claim::new(Subject::Cache, seen.chain(because)))
        }
        Moved::Unseen(_) => {
            let cached = case.witnesses.residency_before?.fraction();
            let buffered_read = case.way == Way::Read && !case.is_direct();
            (buffered_read && cached >= CACHED_SHARE)
                .then(|| Claim::new(Subject::Cache, explanation(case)))
        }
    }
}

/// Where the bytes that the device did not move came from or went.
fn explanation(case: &Case<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    match case.way {
        Way::Read => {
            if let Some(before) = case.witnesses.residency_before {
                let share = before.fraction();
                if before.cached_bytes > 0 {
                    reasons.push(format!(
                        "{} of the file was in memory before",
                        percent(share)
                    ));
                }
            }
            if let Some(holes) = case.witnesses.unwritten_bytes.filter(|&holes| holes > 0) {
                let holes = format_bytes(holes);
                reasons.push(format!("{holes} of the file was never written"));
            }
            let passes = case.asked_bytes as f64 / case.touched_bytes().max(1) as f64;
            if passes >= 1.5 && !case.is_direct() {
                reasons.push(format!("the file was read {passes:.1} times over"));
            }
        }
        Way::Write => {
            let after = case.witnesses.residency_after;
            if let Some(after) = after.filter(|after| after.dirty_bytes > 0) {
                let dirty = format_bytes(after.dirty_bytes);
                reasons.push(format!(
                    "{dirty} was still to be written when the phase ended"
                ));
            }
            if !case.is_synced() && !case.is_direct() {
                reasons.push("nothing in the phase waited for the device".to_owned());
            }
        }
    }
    reasons
}

/// Part of the bytes came from memory.
pub(super) fn served_from_cache(case: &Case<'_>, claim: &Claim) -> Option<Caveat> {
    (claim.subject == Subject::Cache && case.way == Way::Read)
        .then(|| Caveat::new(CaveatCode::ServedFromCache, claim.reasons.join("; ")))
}

/// Data was still dirty at the end, or never had to leave memory.
pub(super) fn not_flushed(case: &Case<'_>) -> Option<Caveat> {
    if case.way != Way::Write || filesystem_in_memory(case).is_some() {
        return None;
    }
    let said = |detail: String| Some(Caveat::new(CaveatCode::NotFlushed, detail));
    let dirty = case.witnesses.residency_after.map_or(0, |r| r.dirty_bytes);
    if dirty as f64 >= case.touched_bytes() as f64 * DIRTY_SHARE && dirty > 0 {
        let dirty_size = format_bytes(dirty);
        let asked = format_bytes(case.asked_bytes);
        return said(format!(
            "{dirty_size} of {asked} was still in memory when the phase ended"
        ));
    }
    let waited = case.is_synced() || case.is_direct();
    match case.moved() {
        Moved::Bytes(moved) if !waited && case.moved_share()? < SERVED_SHARE => {
            said(moved_of_asked(case, moved))
        }
        _ => None,
    }
}

/// A loop device that goes through the page cache of the file under it: its own
/// counters say nothing of the disk.
pub(super) fn below_the_device(case: &Case<'_>) -> Option<Claim> {
    let buffered = case
        .layers()
        .into_iter()
        .find(|layer| layer.kind == LayerKind::Loop && layer.loop_direct_io == Some(false))?;
    // A sync passes through: it reaches the file under the loop device.
    if case.way == Way::Write && case.passes_caches_below() {
        return None;
    }
    let name = &buffered.name;
    Some(Claim::new(
        Subject::Unknown,
        [format!(
            "{name} goes through the page cache of the file under it, where memory may have answered"
        )],
    ))
}
