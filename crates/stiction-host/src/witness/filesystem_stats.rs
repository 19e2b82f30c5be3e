//! What ext4, XFS and btrfs count of themselves in `/sys/fs`.

use std::collections::BTreeMap;

use stiction_core::{BtrfsCounters, Ext4Counters, XfsCounters};

use crate::Roots;

/// A reading of `/sys/fs/ext4/DEVICE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ext4Reading {
    written_kib: u64,
    delayed_blocks: u64,
}

impl Ext4Reading {
    pub(super) fn read(roots: &Roots, device: &str) -> Option<Self> {
        let number = |name: &str| roots.number_if_any(format!("/sys/fs/ext4/{device}/{name}"));
        Some(Self {
            written_kib: number("session_write_kbytes")?,
            delayed_blocks: number("delayed_allocation_blocks")?,
        })
    }

    /// `None` when the count ran backwards: it was mounted anew.
    pub(super) fn since(self, before: Self, device: &str) -> Option<Ext4Counters> {
        Some(Ext4Counters {
            device: device.to_owned(),
            written_bytes: self.written_kib.checked_sub(before.written_kib)? << 10,
            delayed_blocks_after: self.delayed_blocks,
        })
    }
}

/// A reading of `/sys/fs/xfs/DEVICE/stats/stats`: lines of a name and its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct XfsReading {
    lines: BTreeMap<String, Vec<u64>>,
}

impl XfsReading {
    pub(super) fn read(roots: &Roots, device: &str) -> Option<Self> {
        let text = roots
            .text(format!("/sys/fs/xfs/{device}/stats/stats"))
            .ok()?;
        Some(Self::parse(&text)).filter(|reading| reading.lines.contains_key("log"))
    }

    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let name = words.next()?.to_owned();
            let numbers = words.map_while(|word| word.parse().ok()).collect();
            Some((name, numbers))
        };
        Self {
            lines: text.lines().filter_map(line).collect(),
        }
    }

    fn number(&self, line: &str, index: usize) -> u64 {
        let number = self.lines.get(line).and_then(|line| line.get(index));
        number.copied().unwrap_or(0)
    }

    /// The numbers stand in the order of `fs/xfs/xfs_stats.h`. Those of most lines have 32
    /// bits and start again at 0; the bytes of `xpc` have 64.
    pub(super) fn since(&self, before: &Self, device: &str) -> XfsCounters {
        let count = |line: &str, index: usize| {
            let (after, before) = (self.number(line, index), before.number(line, index));
            u64::from((after as u32).wrapping_sub(before as u32))
        };
        let bytes = |index: usize| {
            self.number("xpc", index)
                .saturating_sub(before.number("xpc", index))
        };
        XfsCounters {
            device: device.to_owned(),
            extents_allocated: count("extent_alloc", 0),
            blocks_allocated: count("extent_alloc", 1),
            extents_freed: count("extent_alloc", 2),
            transactions_sync: count("trans", 0),
            transactions_async: count("trans", 1),
            log_writes: count("log", 0),
            log_bytes: count("log", 1) * 512,
            log_buffer_waits: count("log", 2),
            log_forces: count("log", 3),
            log_force_sleeps: count("log", 4),
            log_space_waits: count("push_ail", 1),
            ail_pushes: count("push_ail", 2),
            ail_pinned: count("push_ail", 5),
            converted_bytes: bytes(0),
            write_call_bytes: bytes(1),
            read_call_bytes: bytes(2),
        }
    }
}

/// A reading of `/sys/fs/btrfs/UUID/commit_stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BtrfsReading {
    commits: u64,
    total_ms: u64,
    max_ms: u64,
}

impl BtrfsReading {
    /// Of the filesystem that `device` is a part of.
    pub(super) fn read(roots: &Roots, device: &str) -> Option<Self> {
        let id = roots
            .names("/sys/fs/btrfs")
            .into_iter()
            .find(|id| roots.has(format!("/sys/fs/btrfs/{id}/devices/{device}")))?;
        Self::parse(
            &roots
                .text(format!("/sys/fs/btrfs/{id}/commit_stats"))
                .ok()?,
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            let (_, number) = lines.find(|(name, _)| *name == wanted)?;
            number.trim().parse().ok()
        };
        Some(Self {
            commits: number("commits")?,
            total_ms: number("total_commit_ms")?,
            max_ms: number("max_commit_ms")?,
        })
    }

    /// `None` when the count ran backwards: it was mounted anew.
    pub(super) fn since(self, before: Self, device: &str) -> Option<BtrfsCounters> {
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        Some(BtrfsCounters {
            device: device.to_owned(),
            commits: self.commits.checked_sub(before.commits)?,
            commit_ns: ns(self.total_ms.checked_sub(before.total_ms)?),
            commit_ns_max_since_mount: ns(self.max_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 printed it for a new filesystem on which 1000 writes of 4 KiB and an
    /// fsync(2) had been made: 4 096 000 bytes in 1000 calls and in one extent.
    const XFS: &str = "extent_alloc 1 1008 1 8\nabt 0 0 0 0\nblk_map 0 1004 1 5 1 1008 0\n\
        trans 0 10 0\nlog 1 6 0 1 1\npush_ail 10 0 3 0 0 0 0 0 0 0\nxstrat 1 0\nrw 1000 0\n\
        xpc 4128768 4096000 0\ndefer_relog 0\ndebug 0\n";

    #[test]
    fn numbers_of_xfs_stand_in_their_order() {
        let reading = XfsReading::parse(XFS);
        let seen = reading.since(&XfsReading::default(), "loop1");
        assert_eq!((seen.extents_allocated, seen.blocks_allocated), (1, 1008));
        assert_eq!((seen.log_writes, seen.log_bytes), (1, 6 * 512));
        assert_eq!((seen.log_forces, seen.log_force_sleeps), (1, 1));
        assert_eq!((seen.transactions_sync, seen.transactions_async), (0, 10));
        assert_eq!((seen.ail_pushes, seen.log_space_waits), (3, 0));
        assert_eq!(
            (seen.write_call_bytes, seen.converted_bytes),
            (4_096_000, 4_128_768)
        );
        assert_eq!(reading.since(&reading, "loop1").write_call_bytes, 0);
    }

    #[test]
    fn counters_of_32_bits_that_start_again_go_on() {
        let before = XfsReading::parse("log 4294967290 0 0 0 0\n");
        let after = XfsReading::parse("log 4 0 0 0 0\n");
        assert_eq!(after.since(&before, "sda").log_writes, 10);
    }

    #[test]
    fn commits_of_btrfs() {
        let text = "commits 3\ncur_commit_ms 0\nlast_commit_ms 7\nmax_commit_ms 20\n\
                    total_commit_ms 35\n";
        let after = BtrfsReading::parse(text).unwrap();
        let before = BtrfsReading::parse("commits 1\nmax_commit_ms 5\ntotal_commit_ms 5").unwrap();
        let seen = after.since(before, "sdb").unwrap();
        assert_eq!((seen.commits, seen.commit_ns), (2, 30_000_000));
        assert_eq!(seen.commit_ns_max_since_mount, 20_000_000);
        assert_eq!(before.since(after, "sdb"), None);
        assert_eq!(BtrfsReading::parse("commits 3\n"), None);
    }
}
