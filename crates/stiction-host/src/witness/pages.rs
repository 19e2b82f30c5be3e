//! What memory management did, from the counters of `/proc/vmstat`.

use stiction_core::{PageEvents, PageTraffic};

use crate::Roots;

/// A reading of the counters, in pages and events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    dirtied: u64,
    written: u64,
    dirty: u64,
    writeback: u64,
    stalls: u64,
    scanned_by_kswapd: u64,
    scanned_directly: u64,
    refaulted: u64,
    swapped_in: u64,
    swapped_out: u64,
    /// In KiB, unlike the rest.
    paged_in_kib: u64,
    paged_out_kib: u64,
    reclaimed_by_kswapd: u64,
    reclaimed_directly: u64,
    activated: u64,
    restored: u64,
    written_under_throttle: u64,
    caches_dropped: u64,
    compaction_stalls: u64,
    compaction_failures: u64,
    huge_by_fault: u64,
    huge_fallbacks: u64,
    huge_collapsed: u64,
    huge_of_files: u64,
    huge_split: u64,
}

impl Pages {
    /// `None` where the file cannot be read.
    pub(crate) fn read(roots: &Roots) -> Option<Self> {
        Some(Self::parse(&roots.text("/proc/vmstat").ok()?))
    }

    /// Lines `NAME COUNT`. The names of stalls end in that of a zone; a kernel that has not
    /// all of them counts nothing there.
    fn parse(text: &str) -> Self {
        let mut pages = Self::default();
        for line in text.lines() {
            let Some((name, count)) = line.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.trim().parse::<u64>() else {
                continue;
            };
            if let Some(counter) = pages.counter(name) {
                *counter += count;
            }
        }
        pages
    }

    fn counter(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "nr_dirtied" => &mut self.dirtied,
            "nr_written" => &mut self.written,
            "nr_dirty" => &mut self.dirty,
            "nr_writeback" => &mut self.writeback,
            "pgscan_kswapd" => &mut self.scanned_by_kswapd,
            "pgscan_direct" => &mut self.scanned_directly,
            // Before Linux 5.9 files and the rest were counted together.
            "workingset_refault_file" | "workingset_refault" => &mut self.refaulted,
            "workingset_activate_file" | "workingset_activate" => &mut self.activated,
            "workingset_restore_file" | "workingset_restore" => &mut self.restored,
            "pswpin" => &mut self.swapped_in,
            "pswpout" => &mut self.swapped_out,
            "pgpgin" => &mut self.paged_in_kib,
            "pgpgout" => &mut self.paged_out_kib,
            "pgsteal_kswapd" => &mut self.reclaimed_by_kswapd,
            "pgsteal_direct" => &mut self.reclaimed_directly,
            "nr_throttled_written" => &mut self.written_under_throttle,
            "drop_pagecache" => &mut self.caches_dropped,
            "compact_stall" => &mut self.compaction_stalls,
            "compact_fail" => &mut self.compaction_failures,
            "thp_fault_alloc" => &mut self.huge_by_fault,
            "thp_fault_fallback" => &mut self.huge_fallbacks,
            "thp_collapse_alloc" => &mut self.huge_collapsed,
            "thp_file_alloc" => &mut self.huge_of_files,
            "thp_split_page" => &mut self.huge_split,
            name if name.starts_with("allocstall") => &mut self.stalls,
            _ => return None,
        })
    }

    /// What happened since `before`, and how things stand.
    pub(crate) fn since(self, before: Self) -> PageTraffic {
        let page_bytes = rustix::param::page_size() as u64;
        let bytes = |after: u64, before: u64| after.saturating_sub(before) * page_bytes;
        PageTraffic {
            dirtied_bytes: bytes(self.dirtied, before.dirtied),
            written_back_bytes: bytes(self.written, before.written),
            dirty_after_bytes: self.dirty * page_bytes,
            writeback_after_bytes: self.writeback * page_bytes,
            reclaim_stalls: self.stalls.saturating_sub(before.stalls),
            scanned_bytes: bytes(self.scanned_by_kswapd, before.scanned_by_kswapd)
                + bytes(self.scanned_directly, before.scanned_directly),
            refaulted_bytes: bytes(self.refaulted, before.refaulted),
            swapped_in_bytes: bytes(self.swapped_in, before.swapped_in),
            swapped_out_bytes: bytes(self.swapped_out, before.swapped_out),
            more: Some(self.events_since(before, page_bytes)),
        }
    }

    fn events_since(self, before: Self, page_bytes: u64) -> PageEvents {
        let count = |after: u64, before: u64| after.saturating_sub(before);
        let bytes = |after: u64, before: u64| after.saturating_sub(before) * page_bytes;
        PageEvents {
            paged_in_bytes: count(self.paged_in_kib, before.paged_in_kib) << 10,
            paged_out_bytes: count(self.paged_out_kib, before.paged_out_kib) << 10,
            reclaimed_in_background_bytes: bytes(
                self.reclaimed_by_kswapd,
                before.reclaimed_by_kswapd,
            ),
            reclaimed_directly_bytes: bytes(self.reclaimed_directly, before.reclaimed_directly),
            scanned_directly_bytes: bytes(self.scanned_directly, before.scanned_directly),
            activated_bytes: bytes(self.activated, before.activated),
            restored_bytes: bytes(self.restored, before.restored),
            written_under_throttle_bytes: bytes(
                self.written_under_throttle,
                before.written_under_throttle,
            ),
            caches_dropped: count(self.caches_dropped, before.caches_dropped),
            compaction_stalls: count(self.compaction_stalls, before.compaction_stalls),
            compaction_failures: count(self.compaction_failures, before.compaction_failures),
            huge_pages_by_fault: count(self.huge_by_fault, before.huge_by_fault),
            huge_page_fallbacks: count(self.huge_fallbacks, before.huge_fallbacks),
            huge_pages_collapsed: count(self.huge_collapsed, before.huge_collapsed),
            huge_pages_of_files: count(self.huge_of_files, before.huge_of_files),
            huge_pages_split: count(self.huge_split, before.huge_split),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of Linux 6.18 and of 4.4, which has one counter of stalls for each zone and
    /// none of refaults of files alone.
    #[test]
    fn counters_are_found_by_name_and_added_up() {
        let now = "nr_dirty 3\nnr_writeback 1\nnr_dirtied 110\nnr_written 50\n\
                   allocstall_normal 2\nallocstall_movable 3\npgscan_kswapd 40\n\
                   pgscan_direct 2\npgscan_direct_throttle 9\nworkingset_refault_file 7\n\
                   workingset_refault_anon 8\npswpin 1\npswpout 2\n\
                   pgpgin 13\npgsteal_direct 5\ncompact_stall 1\nodd\nnr_dirty_threshold 99\n";
        let before = "nr_dirty 50\npgpgin 10\nnr_dirtied 100\nnr_written 50\nallocstall_normal 1\n";
        let seen = Pages::parse(now).since(Pages::parse(before));
        let page_bytes = rustix::param::page_size() as u64;
        assert_eq!(
            seen,
            PageTraffic {
                dirtied_bytes: 10 * page_bytes,
                written_back_bytes: 0,
                dirty_after_bytes: 3 * page_bytes,
                writeback_after_bytes: page_bytes,
                reclaim_stalls: 4,
                scanned_bytes: 42 * page_bytes,
                refaulted_bytes: 7 * page_bytes,
                swapped_in_bytes: page_bytes,
                swapped_out_bytes: 2 * page_bytes,
                more: Some(PageEvents {
                    scanned_directly_bytes: 2 * page_bytes,
                    paged_in_bytes: 3 << 10,
                    reclaimed_directly_bytes: 5 * page_bytes,
                    compaction_stalls: 1,
                    ..PageEvents::default()
                }),
            }
        );
        assert_eq!(Pages::parse("workingset_refault 5\n").refaulted, 5);
    }
}
