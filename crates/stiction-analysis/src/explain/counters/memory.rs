//! Counters of memory: dirty pages, reclaim, and what of the files was cached.

use stiction_core::{PageEvents, PageTraffic, Unit, Witnesses, WritebackStall};

use super::super::counter::Group;
use super::List;

pub(super) fn add(list: &mut List, witnesses: &Witnesses) {
    if let Some(stalls) = &witnesses.writeback_stalls {
        held_back(list, stalls);
    }
    if let Some(pages) = &witnesses.pages {
        writeback(list, pages);
        reclaim(list, pages);
        if let Some(more) = &pages.more {
            reclaim_further(list, more);
        }
    }
    residency(list, witnesses);
}

/// Writers that the kernel made to wait.
fn held_back(list: &mut List, stalls: &[WritebackStall]) {
    let ours = || stalls.iter().filter(|stall| stall.is_ours);
    let (count, total_ns) = (
        ours().map(|stall| stall.count).sum(),
        ours().map(|stall| stall.total_ns).sum(),
    );
    list.count("times that writers were held back", Group::Writeback, count);
    list.time(
        "time that writers were held back",
        Group::Writeback,
        total_ns,
    );
}

fn writeback(list: &mut List, pages: &PageTraffic) {
    let group = Group::Writeback;
    list.bytes("bytes made dirty", group, pages.dirtied_bytes);
    list.bytes("bytes written back", group, pages.written_back_bytes);
    let left = [
        ("dirty when it ended", pages.dirty_after_bytes),
        ("being written when it ended", pages.writeback_after_bytes),
    ];
    for (name, bytes) in left {
        list.level(name, group, Unit::Bytes, Some(bytes as f64));
    }
}

fn reclaim(list: &mut List, pages: &PageTraffic) {
    let group = Group::Reclaim;
    list.count("stalls to free memory", group, pages.reclaim_stalls);
    list.bytes("bytes looked at to be freed", group, pages.scanned_bytes);
    list.bytes(
        "bytes read again after a drop",
        group,
        pages.refaulted_bytes,
    );
    list.bytes("bytes swapped in", group, pages.swapped_in_bytes);
    list.bytes("bytes swapped out", group, pages.swapped_out_bytes);
}

fn residency(list: &mut List, witnesses: &Witnesses) {
    let readings = [
        ("files in memory before", witnesses.residency_before),
        ("files in memory after", witnesses.residency_after),
    ];
    for (name, residency) in readings {
        let percent = residency.map(|residency| 100.0 * residency.fraction());
        list.level(name, Group::Cache, Unit::Percent, percent);
    }
}

fn reclaim_further(list: &mut List, more: &PageEvents) {
    let group = Group::Reclaim;
    let bytes = [
        (
            "bytes freed in the background",
            more.reclaimed_in_background_bytes,
        ),
        (
            "bytes freed by who needed them",
            more.reclaimed_directly_bytes,
        ),
        ("bytes that came back in use", more.restored_bytes),
        (
            "bytes written while others waited",
            more.written_under_throttle_bytes,
        ),
    ];
    for (name, bytes) in bytes {
        list.bytes(name, group, bytes);
    }
    let counts = [
        ("waits until pages lay together", more.compaction_stalls),
        ("huge pages by fault", more.huge_pages_by_fault),
        ("faults without a huge page", more.huge_page_fallbacks),
        ("huge pages of files", more.huge_pages_of_files),
    ];
    for (name, count) in counts {
        list.count(name, group, count);
    }
}
