//! What memory management did, from the counters of `/proc/vmstat`.

use stiction_core::PageTraffic;

use crate::Roots;

/// A reading of the counters, in pages and events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    dirtied: u64,
    written: u64,
    dirty: u64,
    writeback: u64,
    stalls: u64,
    scanned: u64,
    refaulted: u64,
    swapped_in: u64,
    swapped_out: u64,
}

impl Pages {
    /// `None` where the file cannot be read.
    pub(super) fn read(roots: &Roots) -> Option<Self> {
        Some(Self::parse(&roots.text("/proc/vmstat").ok()?))
    }

    /// Lines `NAME COUNT`. The names of stalls end in that of a zone; a kernel that has
    /// not all of them counts nothing there.
    fn parse(text: &str) -> Self {
        let mut pages = Self::default();
        for line in text.lines() {
            let Some((name, count)) = line.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.trim().parse::<u64>() else {
                continue;
            };
            let counter = match name {
                "nr_dirtied" => &mut pages.dirtied,
                "nr_written" => &mut pages.written,
                "nr_dirty" => &mut pages.dirty,
                "nr_writeback" => &mut pages.writeback,
                "pgscan_kswapd" | "pgscan_direct" => &mut pages.scanned,
                // Before Linux 5.9 files and the rest were counted together.
                "workingset_refault_file" | "workingset_refault" => &mut pages.refaulted,
                "pswpin" => &mut pages.swapped_in,
                "pswpout" => &mut pages.swapped_out,
                name if name.starts_with("allocstall") => &mut pages.stalls,
                _ => continue,
            };
            *counter += count;
        }
        pages
    }

    /// What happened since `before`, and how things stand.
    pub(super) fn since(self, before: Self) -> PageTraffic {
        let page_bytes = rustix::param::page_size() as u64;
        let bytes = |after: u64, before: u64| after.saturating_sub(before) * page_bytes;
        PageTraffic {
            dirtied_bytes: bytes(self.dirtied, before.dirtied),
            written_back_bytes: bytes(self.written, before.written),
            dirty_after_bytes: self.dirty * page_bytes,
            writeback_after_bytes: self.writeback * page_bytes,
            reclaim_stalls: self.stalls.saturating_sub(before.stalls),
            scanned_bytes: bytes(self.scanned, before.scanned),
            refaulted_bytes: bytes(self.refaulted, before.refaulted),
            swapped_in_bytes: bytes(self.swapped_in, before.swapped_in),
            swapped_out_bytes: bytes(self.swapped_out, before.swapped_out),
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
                   workingset_refault_anon 8\npswpin 1\npswpout 2\nodd\nnr_dirty_threshold 99\n";
        let before = "nr_dirty 50\nnr_dirtied 100\nnr_written 50\nallocstall_normal 1\n";
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
            }
        );
        assert_eq!(Pages::parse("workingset_refault 5\n").refaulted, 5);
    }
}
