//! Doubts about the data and how it was reached: holes, compression, O_DIRECT.

use stiction_core::{Caveat, CaveatCode, Job, Residency, Subject, format_bytes};

use super::Claim;
use super::case::{Case, Moved, Way};
use super::contradiction::CACHED_SHARE;
use super::traffic::{SERVED_SHARE, moved_of_asked};
use super::words::percent;

/// The page cache must grow by this share of the bytes touched before O_DIRECT is
/// called ineffective; neighbours' pages and metadata stay below it.
const GROWTH_SHARE: f64 = 0.10;
/// And by this much, so that small files do not decide it.
const GROWTH_BYTES: u64 = 1 << 20;

/// The filesystem under the target that compresses, and how it says so.
pub(super) fn compressing_filesystem(case: &Case<'_>) -> Option<String> {
    case.stacks.iter().find_map(|stack| {
        let filesystem = stack.filesystem.as_ref()?;
        let kind = filesystem.kind.as_str();
        if matches!(kind, "zfs" | "squashfs" | "erofs") {
            return Some(format!("{kind} compresses"));
        }
        let options = filesystem.mount_options.iter();
        let options = options.chain(&filesystem.filesystem_options);
        options
            .filter(|option| option.starts_with("compress") && !option.ends_with("=no"))
            .map(|option| format!("{kind} compresses ({option})"))
            .next()
    })
}

/// Zeros that a compressing filesystem made small: whether memory or the device
/// answered cannot be told.
pub(super) fn compressed_away(case: &Case<'_>) -> Option<Claim> {
    let Moved::Bytes(moved) = case.moved() else {
        return None;
    };
    let data = case.job.and_then(Job::reducible_data)?;
    let cached =
        case.way == Way::Read && case.witnesses.residency_before?.fraction() >= CACHED_SHARE;
    if cached || case.moved_share()? >= SERVED_SHARE {
        return None;
    }
    let how = compressing_filesystem(case)?;
    let seen = moved_of_asked(case, moved);
    let because = format!("the data are {data} and {how}");
    Some(Claim::new(Subject::Unknown, [seen, because]))
}

/// Doubts about what was read, what it was made of, and whether it went past the cache.
pub(super) fn doubts(case: &Case<'_>) -> Vec<Caveat> {
    let all = [
        holes_read(case),
        compressible(case),
        direct_refused(case),
        direct_not_effective(case),
    ];
    all.into_iter().flatten().collect()
}

fn holes_read(case: &Case<'_>) -> Option<Caveat> {
    let holes = case.witnesses.unwritten_bytes?;
    if case.way != Way::Read || holes == 0 {
        return None;
    }
    let of = case
        .witnesses
        .residency_before
        .map(|residency| residency.file_bytes)
        .or_else(|| case.region_bytes())
        .filter(|&bytes| bytes > 0)
        .map_or_else(String::new, |bytes| {
            format!(" ({})", percent(holes as f64 / bytes as f64))
        });
    let detail = format!(
        "{}{of} of the file was never written; the kernel answers such reads with zeros",
        format_bytes(holes)
    );
    Some(Caveat::new(CaveatCode::HolesRead, detail))
}

fn compressible(case: &Case<'_>) -> Option<Caveat> {
    let data = case.job.and_then(Job::reducible_data)?;
    let detail = match compressing_filesystem(case) {
        Some(how) => format!("the data are {data} and {how}"),
        None => {
            format!("the data are {data}: any layer that compresses or deduplicates moves less")
        }
    };
    Some(Caveat::new(CaveatCode::Compressible, detail))
}

fn direct_refused(case: &Case<'_>) -> Option<Caveat> {
    (case.witnesses.direct_granted == Some(false)).then(|| {
        let kind = case
            .stacks
            .first()
            .and_then(|stack| stack.filesystem.as_ref())
            .map_or("the target", |filesystem| filesystem.kind.as_str());
        let detail = format!("{kind} does not grant O_DIRECT; the I/O went through the page cache");
        Caveat::new(CaveatCode::DirectRefused, detail)
    })
}

fn direct_not_effective(case: &Case<'_>) -> Option<Caveat> {
    if !case.is_direct() {
        return None;
    }
    let cached = |residency: Option<Residency>| residency.map_or(0, |r| r.cached_bytes);
    let before = cached(case.witnesses.residency_before);
    let growth = cached(case.witnesses.residency_after).saturating_sub(before);
    let touched = case.touched_bytes();
    let grew = growth > GROWTH_BYTES && growth as f64 >= touched as f64 * GROWTH_SHARE;
    let unread = case.way == Way::Read
        && before > 0
        && case.moved_share().is_some_and(|share| share < SERVED_SHARE);
    let said = |detail| Some(Caveat::new(CaveatCode::DirectNotEffective, detail));
    if grew {
        let growth = format_bytes(growth);
        let touched = format_bytes(touched);
        return said(format!(
            "the page cache grew by {growth} while {touched} were touched with O_DIRECT"
        ));
    }
    if unread {
        return said("O_DIRECT was granted and the device read less than was asked".to_owned());
    }
    None
}
