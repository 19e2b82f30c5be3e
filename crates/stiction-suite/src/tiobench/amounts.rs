//! How much each thread does: the arithmetic of tiobench's driver and tiotest.

use stiction_core::Region;

const MIB: u64 = 1 << 20;

/// Bytes of each thread's file in classic mode: the driver hands tiotest
/// `floor(size / threads)` whole MiB, and never less than one.
#[must_use]
pub fn classic_file_bytes(total_bytes: u64, threads: u32) -> u64 {
    (total_bytes / MIB / u64::from(threads.max(1))).max(1) * MIB
}

/// Bytes of each thread's file in the default mode: an equal share of the total in
/// whole blocks; 0 when a share is smaller than a block.
#[must_use]
pub fn even_file_bytes(total_bytes: u64, threads: u32, block_size_bytes: u64) -> u64 {
    let block = block_size_bytes.max(1);
    total_bytes / u64::from(threads.max(1)) / block * block
}

/// Random operations of each thread: `floor(total / threads)`. The old driver handed
/// on 0 when there were more threads than operations and lost the whole session by a
/// division; here each thread does at least one.
#[must_use]
pub fn random_operations(total: u64, threads: u32) -> u64 {
    (total / u64::from(threads.max(1))).max(1)
}

/// Total size that the drivers up to 0.3.3 choose: twice the memory, but no less than
/// 200 MB and no more than 2000; 256 MB of memory where the size is not known.
#[must_use]
pub fn classic_automatic_bytes(memory_bytes: Option<u64>) -> u64 {
    let memory_mib = memory_bytes.map_or(256, |bytes| bytes / MIB);
    memory_mib.saturating_mul(2).clamp(200, 2000) * MIB
}

/// Total size that the default mode chooses when none is asked for.
///
/// 2 GiB: as the page cache is dropped and checked before each phase, a file need not
/// outgrow memory to be read from the device; it only has to keep the phases long
/// enough. Never more than half of the space that may be used, so that a run leaves
/// room for others, and never more than an eighth of the memory on a filesystem that
/// lives there. 0 when not even 1 MiB fits.
#[must_use]
pub fn default_automatic_bytes(room_bytes: u64, memory_if_it_lives_there: Option<u64>) -> u64 {
    let memory_share = memory_if_it_lives_there.map_or(u64::MAX, |bytes| bytes / 8);
    (2048 * MIB).min(room_bytes / 2).min(memory_share) / MIB * MIB
}

/// The regions of `threads` threads over files of their own: thread `i` has the whole
/// of target `i`.
#[must_use]
pub fn file_regions(threads: u32, file_bytes: u64) -> Vec<Region> {
    (0..threads)
        .map(|target| Region {
            target,
            offset_bytes: 0,
            length_bytes: file_bytes,
        })
        .collect()
}

/// The regions of `threads` threads over `devices` shared raw devices, as tiotest lays
/// them out: thread `i` works on device `i mod devices`; the regions on one device
/// follow each other with `gap_bytes` between them, and start at 0, or at the gap
/// when `gap_first`.
#[must_use]
pub fn raw_regions(
    threads: u32,
    devices: u32,
    region_bytes: u64,
    gap_bytes: u64,
    gap_first: bool,
) -> Vec<Region> {
    let devices = devices.max(1);
    let stride = region_bytes.saturating_add(gap_bytes);
    let start = if gap_first { gap_bytes } else { 0 };
    (0..threads)
        .map(|thread| Region {
            target: thread % devices,
            offset_bytes: u64::from(thread / devices)
                .saturating_mul(stride)
                .saturating_add(start),
            length_bytes: region_bytes,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command lines that the driver builds for size 2643 and its defaults:
    /// tiotest's (threads, MB a thread, operations a thread).
    #[test]
    fn shares_are_those_of_the_driver() {
        for (threads, mib, operations) in [
            (1, 2643, 4000),
            (2, 1321, 2000),
            (4, 660, 1000),
            (8, 330, 500),
        ] {
            assert_eq!(classic_file_bytes(2643 * MIB, threads), mib * MIB);
            assert_eq!(random_operations(4000, threads), operations);
        }
        assert_eq!(classic_file_bytes(3 * MIB, 8), MIB, "at least 1 MB");
        assert_eq!(random_operations(4, 8), 1, "at least one operation");
    }

    #[test]
    fn even_shares_are_whole_blocks() {
        assert_eq!(even_file_bytes(100_000, 3, 4096), 8 * 4096);
        assert_eq!(even_file_bytes(8191, 2, 4096), 0);
        assert_eq!(even_file_bytes(2 << 40, 1, 4096), 2 << 40);
    }

    #[test]
    fn automatic_sizes_are_clamped() {
        assert_eq!(classic_automatic_bytes(None), 512 * MIB);
        assert_eq!(classic_automatic_bytes(Some(64 * MIB)), 200 * MIB);
        assert_eq!(classic_automatic_bytes(Some(24 << 30)), 2000 * MIB);
        assert_eq!(default_automatic_bytes(u64::MAX, None), 2048 * MIB);
        assert_eq!(default_automatic_bytes(101 * MIB, None), 50 * MIB);
        assert_eq!(default_automatic_bytes(u64::MAX, Some(4 << 30)), 512 * MIB);
        assert_eq!(default_automatic_bytes(MIB, None), 0);
    }

    /// Two devices, four threads, 8 MB each, a gap of 2 MB: threads 0 and 2 share
    /// the first device.
    #[test]
    fn raw_regions_do_not_overlap() {
        let offsets = |gap_first| -> Vec<(u32, u64)> {
            raw_regions(4, 2, 8 * MIB, 2 * MIB, gap_first)
                .iter()
                .map(|region| (region.target, region.offset_bytes / MIB))
                .collect()
        };
        assert_eq!(offsets(false), [(0, 0), (1, 0), (0, 10), (1, 10)]);
        assert_eq!(offsets(true), [(0, 2), (1, 2), (0, 12), (1, 12)]);
    }
}
