//! Where files lie on their device: maps of single files, and what they come to together.

use serde::{Deserialize, Serialize};

/// A piece of a file that lies together on the device, as the filesystem reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Where it begins in the file, bytes.
    pub file_offset_bytes: u64,
    /// Where it begins on the device, bytes; on btrfs in the space that its devices form
    /// together. Without meaning for an extent that has no place.
    pub device_offset_bytes: u64,
    /// Its length, bytes.
    pub length_bytes: u64,
    /// `FIEMAP_EXTENT_` flags, as `linux/fiemap.h` has them.
    pub flags: u32,
}

impl Extent {
    /// The last of the file.
    pub const LAST: u32 = 0x1;
    /// The place is not known: most often not chosen yet.
    pub const UNKNOWN: u32 = 0x2;
    /// The data is in the inode, or beside other data.
    pub const INLINE: u32 = 0x200;
    /// Allocated and never written: reads as zeros without touching the device.
    pub const UNWRITTEN: u32 = 0x800;

    /// Whether it has blocks of its own at a known place.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        self.flags & (Self::UNKNOWN | Self::INLINE) == 0
    }

    /// Whether it was allocated and never written.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.flags & Self::UNWRITTEN != 0
    }

    /// First byte of the file behind it.
    #[must_use]
    pub fn file_end_bytes(&self) -> u64 {
        self.file_offset_bytes.saturating_add(self.length_bytes)
    }

    /// First byte of the device behind it.
    #[must_use]
    pub fn device_end_bytes(&self) -> u64 {
        self.device_offset_bytes.saturating_add(self.length_bytes)
    }
}

/// The map of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMap {
    /// As it was named.
    pub path: String,
    /// Number of the filesystem's device, as `stat` tells it.
    pub device: u64,
    /// The filesystem's magic number (`statfs`), of which extN share one.
    pub filesystem_magic: u64,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Bytes of a block of the filesystem.
    pub block_size_bytes: u64,
    /// Bytes that are holes: nothing is allocated for them.
    pub hole_bytes: u64,
    /// Every extent in the order of the file; `None` where the filesystem has no map of
    /// extents to tell.
    pub extents: Option<Vec<Extent>>,
}

/// What the maps of some files come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Files that were looked at.
    pub files: u64,
    /// Their sizes, bytes.
    pub file_bytes: u64,
    /// Bytes at known places, blocks beyond the ends of files included.
    pub placed_bytes: u64,
    /// Runs that lie together on the device. Filesystems split what lies together for
    /// reasons of their own (ext2 every block group, ext4 every 128 MiB), so single
    /// extents are not counted.
    pub extents: u64,
    /// Of the placed bytes, those that were never written.
    pub unwritten_bytes: u64,
    /// Bytes of the files that are holes.
    pub hole_bytes: u64,
    /// Bytes without a place of their own: not allocated yet, or within inodes.
    pub unplaced_bytes: u64,
    /// Distance on the device between the end of each run and the begin of the next of
    /// the same file, either way, added up, bytes.
    pub seek_bytes: u64,
    /// How often, going along the device, a block belongs to another file than the one
    /// before it. Holes between them and blocks of other files do not count.
    pub owner_changes: u64,
    /// How often it has to be with all files apart.
    pub owner_changes_min: u64,
    /// How often it can be at most, with so many blocks of each file.
    pub owner_changes_max: u64,
}

impl Layout {
    /// What `maps` come to; `None` when one of them has no extents to tell, or there are
    /// none. Files of different filesystems lie apart in any case.
    #[must_use]
    pub fn of(maps: &[FileMap]) -> Option<Self> {
        let mut layout = Self::default();
        for map in maps {
            layout.add_file(map, map.extents.as_deref()?);
        }
        let mut devices: Vec<u64> = maps.iter().map(|map| map.device).collect();
        devices.sort_unstable();
        devices.dedup();
        for device in devices {
            let files: Vec<&FileMap> = maps.iter().filter(|map| map.device == device).collect();
            layout.add_owners(&files);
        }
        (layout.files > 0).then_some(layout)
    }

    fn add_file(&mut self, map: &FileMap, extents: &[Extent]) {
        self.files += 1;
        self.file_bytes += map.size_bytes;
        self.hole_bytes += map.hole_bytes;
        let mut before: Option<&Extent> = None;
        for extent in extents {
            if !extent.is_placed() {
                self.unplaced_bytes = self.unplaced_bytes.saturating_add(extent.length_bytes);
                continue;
            }
            self.placed_bytes = self.placed_bytes.saturating_add(extent.length_bytes);
            if extent.is_unwritten() {
                self.unwritten_bytes = self.unwritten_bytes.saturating_add(extent.length_bytes);
            }
            let jump = before.map(|before| {
                let end = before.device_end_bytes();
                extent.device_offset_bytes.abs_diff(end)
            });
            if jump != Some(0) {
                self.extents += 1;
            }
            self.seek_bytes = self.seek_bytes.saturating_add(jump.unwrap_or(0));
            before = Some(extent);
        }
    }

    /// Adds how files of one device alternate on it.
    fn add_owners(&mut self, files: &[&FileMap]) {
        let mut placed: Vec<(u64, usize)> = Vec::new();
        let mut blocks: Vec<u64> = Vec::new();
        for (owner, map) in files.iter().enumerate() {
            let extents = map.extents.iter().flatten();
            let mut bytes = 0_u64;
            for extent in extents.filter(|extent| extent.is_placed()) {
                placed.push((extent.device_offset_bytes, owner));
                bytes = bytes.saturating_add(extent.length_bytes);
            }
            if bytes > 0 {
                blocks.push(bytes.div_ceil(map.block_size_bytes.max(1)));
            }
        }
        placed.sort_unstable();
        let changes = placed.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        self.owner_changes += changes.count() as u64;
        self.owner_changes_min += (blocks.len() as u64).saturating_sub(1);
        self.owner_changes_max += most_changes(&blocks);
    }

    /// Mean length of a run, bytes; `None` when nothing has a place.
    #[must_use]
    pub fn run_bytes_mean(&self) -> Option<f64> {
        (self.extents > 0).then(|| self.placed_bytes as f64 / self.extents as f64)
    }

    /// How far the files are intermingled: 0 when each lies apart from the others, 1 when
    /// as many neighbouring blocks as can be belong to different files. `None` for fewer
    /// than two files with more than a block.
    #[must_use]
    pub fn interleave_ratio(&self) -> Option<f64> {
        let most = self.owner_changes_max.checked_sub(self.owner_changes_min)?;
        let changes = self.owner_changes.saturating_sub(self.owner_changes_min);
        (most > 0).then(|| (changes as f64 / most as f64).min(1.0))
    }

    /// Bytes that a head passes over for each byte that it reads, each file in order.
    #[must_use]
    pub fn seek_bytes_per_byte(&self) -> Option<f64> {
        (self.placed_bytes > 0).then(|| self.seek_bytes as f64 / self.placed_bytes as f64)
    }
}

/// Most changes of the owner in a row of blocks, so many of each owner: between all of
/// them, unless one owner has more blocks than the others have gaps for.
fn most_changes(blocks: &[u64]) -> u64 {
    let all = blocks.iter().copied().fold(0, u64::saturating_add);
    let largest = blocks.iter().copied().max().unwrap_or(0);
    let others = all - largest;
    all.saturating_sub(1).min(others.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 4096;

    /// A file whose blocks are at these places of the device.
    fn at(device: u64, places: &[u64]) -> FileMap {
        let extents = places.iter().enumerate().map(|(number, place)| Extent {
            file_offset_bytes: number as u64 * BLOCK,
            device_offset_bytes: place * BLOCK,
            length_bytes: BLOCK,
            flags: 0,
        });
        FileMap {
            path: String::new(),
            device,
            filesystem_magic: 0xef53,
            size_bytes: places.len() as u64 * BLOCK,
            block_size_bytes: BLOCK,
            hole_bytes: 0,
            extents: Some(extents.collect()),
        }
    }

    fn of(files: &[&[u64]]) -> Layout {
        let maps: Vec<FileMap> = files.iter().map(|places| at(1, places)).collect();
        Layout::of(&maps).unwrap()
    }

    #[test]
    fn files_apart_are_0_and_block_by_block_1() {
        let apart = of(&[&[0, 1, 2, 3], &[100, 101, 102, 103]]);
        assert_eq!(apart.extents, 2);
        assert_eq!(apart.interleave_ratio(), Some(0.0));
        assert_eq!(apart.run_bytes_mean(), Some(16384.0));
        assert_eq!(apart.seek_bytes, 0);
        let woven = of(&[&[0, 2, 4, 6], &[1, 3, 5, 7]]);
        assert_eq!(woven.extents, 8);
        assert_eq!(woven.interleave_ratio(), Some(1.0));
        assert_eq!(woven.run_bytes_mean(), Some(4096.0));
        // Three gaps of a block in each file of four.
        assert_eq!(woven.seek_bytes_per_byte(), Some(0.75));
    }

    /// A B B B A A: changes 2 of 5, at least 1: a quarter of the way.
    #[test]
    fn in_between_is_in_between() {
        let some = of(&[&[0, 4, 5], &[1, 2, 3]]);
        assert_eq!(
            (
                some.owner_changes,
                some.owner_changes_min,
                some.owner_changes_max
            ),
            (2, 1, 5)
        );
        assert_eq!(some.interleave_ratio(), Some(0.25));
        assert_eq!(some.extents, 3);
        assert_eq!(some.seek_bytes, 3 * BLOCK);
    }

    /// One block of one file in the midst of another's four is all that can be.
    #[test]
    fn a_file_of_few_blocks_can_be_wholly_within_another() {
        assert_eq!(most_changes(&[4, 1]), 2);
        assert_eq!(most_changes(&[2, 2]), 3);
        assert_eq!(most_changes(&[3, 1, 1]), 4);
        assert_eq!(of(&[&[0, 1, 3, 4], &[2]]).interleave_ratio(), Some(1.0));
        assert_eq!(of(&[&[0, 1, 2]]).interleave_ratio(), None);
    }

    #[test]
    fn files_on_two_devices_are_apart() {
        let maps = [at(1, &[0, 2]), at(2, &[1, 3])];
        let layout = Layout::of(&maps).unwrap();
        assert_eq!(layout.interleave_ratio(), None);
    }

    #[test]
    fn what_has_no_place_is_neither_run_nor_seek() {
        let mut map = at(1, &[0, 1, 9]);
        map.extents.as_mut().unwrap()[1].flags = Extent::UNKNOWN;
        map.extents.as_mut().unwrap()[2].flags = Extent::UNWRITTEN;
        let layout = Layout::of(&[map.clone()]).unwrap();
        assert_eq!(layout.unplaced_bytes, BLOCK);
        assert_eq!(layout.unwritten_bytes, BLOCK);
        assert_eq!((layout.extents, layout.seek_bytes), (2, 8 * BLOCK));
        map.extents = None;
        assert_eq!(Layout::of(&[map]), None);
        assert_eq!(Layout::of(&[]), None);
    }
}
