//! What a device's own bytes say it holds.
//!
//! The places and magics are those of the kernel's own headers (`linux/magic.h` and
//! each filesystem's `*_fs.h` or `*_format.h`) and, for what is not the kernel's,
//! of the programs that write them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Bytes of the front of a device in which signatures lie: the farthest is ZFS's
/// first label.
const FRONT_BYTES: u64 = 1 << 20;
/// Bytes of the end: MD 0.90 within 128 KiB, ZFS's last two labels within 768 KiB.
const BACK_BYTES: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

/// A magic at a fixed place from the front.
type Front = (&'static str, u64, &'static [u8]);

const FRONT: &[Front] = &[
    ("xfs", 0, b"XFSB"),
    ("luks", 0, b"LUKS\xba\xbe"),
    // The second header of LUKS2, which outlives a wiped first one.
    ("luks", 16 * KIB, b"SKUL\xba\xbe"),
    ("squashfs", 0, b"hsqs"),
    ("bluestore", 0, b"bluestore block device"),
    ("dm-integrity", 0, b"integrt\0"),
    ("dm-verity", 0, b"verity\0\0"),
    ("vdo", 0, b"dmvdo001"),
    ("bitlocker", 3, b"-FVE-FS-"),
    ("ntfs", 3, b"NTFS    "),
    ("exfat", 3, b"EXFAT   "),
    ("apfs", 32, b"NXSB"),
    ("vfat", 54, b"FAT12   "),
    ("vfat", 54, b"FAT16   "),
    ("vfat", 82, b"FAT32   "),
    ("stratis", 512, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("gpt", 512, b"EFI PART"),
    ("gpt", 4 * KIB, b"EFI PART"),
    ("lvm", 0, b"LABELONE"),
    ("lvm", 512, b"LABELONE"),
    ("lvm", 1024, b"LABELONE"),
    ("lvm", 1536, b"LABELONE"),
    ("hfs", KIB, b"BD"),
    ("hfsplus", KIB, b"H+"),
    ("hfsplus", KIB, b"HX"),
    ("f2fs", KIB, b"\x10\x20\xf5\xf2"),
    ("erofs", KIB, b"\xe2\xe1\xf5\xe0"),
    ("nilfs2", KIB + 6, b"\x34\x34"),
    ("md", 0, b"\xfc\x4e\x2b\xa9"),
    ("md", 4 * KIB, b"\xfc\x4e\x2b\xa9"),
    (
        "bcache",
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    (
        "bcachefs",
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("reiserfs", 8 * KIB + 52, b"ReIsErFs"),
    ("jfs", 32 * KIB, b"JFS1"),
    ("iso9660", 32 * KIB + 1, b"CD001"),
    ("udf", 32 * KIB + 1, b"BEA01"),
    ("reiserfs", 64 * KIB + 52, b"ReIsErFs"),
    ("reiserfs", 64 * KIB + 52, b"ReIsEr2Fs"),
    ("reiserfs", 64 * KIB + 52, b"ReIsEr3Fs"),
    ("reiser4", 64 * KIB, b"ReIsEr4"),
    ("btrfs", 64 * KIB + 64, b"_BHRfS_M"),
    ("gfs2", 64 * KIB, b"\x01\x16\x19\x70"),
];

/// Ends of the first page, whose size the device does not tell.
const PAGE_ENDS: [u64; 4] = [4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB];
/// Swap, and swap that holds a suspended machine's memory.
const PAGE_END_MAGICS: &[(&str, &[u8])] = &[
    ("swap", b"SWAPSPACE2"),
    ("swap", b"SWAP-SPACE"),
    ("suspend", b"S1SUSPEND\0"),
    ("suspend", b"S2SUSPEND\0"),
    ("suspend", b"ULSUSPEND\0"),
    ("suspend", b"LINHIB0001"),
];

/// The parts of a device that are looked at.
struct Ends {
    length: u64,
    front: Vec<u8>,
    back: Vec<u8>,
}

impl Ends {
    fn read(device: &File, length: u64) -> io::Result<Self> {
        let part = |offset: u64, most: u64| {
            let mut bytes = vec![0; (length - offset).min(most) as usize];
            device.read_exact_at(&mut bytes, offset)?;
            io::Result::Ok(bytes)
        };
        Ok(Self {
            length,
            front: part(0, FRONT_BYTES)?,
            back: part(length.saturating_sub(BACK_BYTES), BACK_BYTES)?,
        })
    }

    /// Whether `magic` lies at `offset`, which both ends may cover.
    fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()) == Some(magic)
    }

    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let slice = |part: &'_ [u8], start: u64| -> Option<std::ops::Range<usize>> {
            let begin = usize::try_from(offset.checked_sub(start)?).ok()?;
            let end = begin.checked_add(length)?;
            (end <= part.len()).then_some(begin..end)
        };
        if let Some(range) = slice(&self.front, 0) {
            return Some(&self.front[range]);
        }
        let range = slice(&self.back, self.length - self.back.len() as u64)?;
        Some(&self.back[range])
    }

    fn u16(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.at(offset, 2)?.try_into().ok()?))
    }

    fn u32(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.at(offset, 4)?.try_into().ok()?))
    }
}

/// The names of everything that the device seems to hold, each once, sorted. Empty
/// for a blank one.
pub(crate) fn signatures(device: &File, length_bytes: u64) -> io::Result<Vec<&'static str>> {
    let ends = Ends::read(device, length_bytes)?;
    let mut found: Vec<&'static str> = FRONT
        .iter()
        .filter(|(_, offset, magic)| ends.has(*offset, magic))
        .map(|(name, ..)| *name)
        .collect();
    for end in PAGE_ENDS {
        let magics = PAGE_END_MAGICS.iter();
        let there = magics.filter(|(_, magic)| ends.has(end - magic.len() as u64, magic));
        found.extend(there.map(|(name, _)| *name));
    }
    found.extend(ext(&ends));
    found.extend(md_at_the_end(&ends));
    found.extend(gpt_at_the_end(&ends));
    found.extend(zfs(&ends));
    // A boot sector of FAT or NTFS, and the sector that keeps old tools away from a
    // GPT, end like a partition table too.
    if found.is_empty() {
        found.extend(partition_table(&ends));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The superblock is at 1024 (`fs/ext4/ext4.h`).
fn ext(ends: &Ends) -> Option<&'static str> {
    const SUPERBLOCK: u64 = KIB;
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    /// extents, 64bit, flex_bg
    const ONLY_EXT4: u32 = 0x40 | 0x80 | 0x200;
    if ends.u16(SUPERBLOCK + 0x38)? != 0xEF53 {
        return None;
    }
    let compatible = ends.u32(SUPERBLOCK + 0x5C)?;
    let incompatible = ends.u32(SUPERBLOCK + 0x60)?;
    Some(if incompatible & JOURNAL_DEVICE != 0 {
        "jbd"
    } else if incompatible & ONLY_EXT4 != 0 {
        "ext4"
    } else if compatible & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    })
}

/// Versions 1.0 and 0.90 (`Documentation/admin-guide/md.rst`; md(4)): the first at
/// least 8 KiB from the end on a 4 KiB boundary, the second in the last whole
/// 64 KiB but one, in the byte order of the machine that made it.
fn md_at_the_end(ends: &Ends) -> Option<&'static str> {
    const MAGIC: u32 = 0xa92b_4efc;
    let version_1_0 = ends.length.checked_sub(8 * KIB)? / (4 * KIB) * (4 * KIB);
    let version_0_90 = (ends.length / (64 * KIB)).checked_sub(1)? * 64 * KIB;
    let is_magic = |offset| {
        let magic = ends.u32(offset);
        magic == Some(MAGIC) || magic == Some(MAGIC.swap_bytes())
    };
    (is_magic(version_1_0) || is_magic(version_0_90)).then_some("md")
}

/// The second copy, in the last block.
fn gpt_at_the_end(ends: &Ends) -> Option<&'static str> {
    let in_last = |block: u64| {
        let offset = ends.length.checked_sub(block);
        offset.is_some_and(|offset| ends.has(offset, b"EFI PART"))
    };
    (in_last(512) || in_last(4 * KIB)).then_some("gpt")
}

/// Four labels of 256 KiB, two at each end, each with a ring of uberblocks in its
/// second half whose slots are at least 1 KiB (`uberblock_impl.h`).
fn zfs(ends: &Ends) -> Option<&'static str> {
    const LABEL: u64 = 256 * KIB;
    const MAGIC: u32 = 0x00ba_b10c;
    let whole = ends.length / LABEL * LABEL;
    let labels = [
        0,
        LABEL,
        whole.saturating_sub(2 * LABEL),
        whole.saturating_sub(LABEL),
    ];
    let mut slots = labels
        .iter()
        .flat_map(|label| (128..256).map(move |slot| label + slot * KIB));
    let is_magic = |offset: u64| {
        let (low, high) = (ends.u32(offset), ends.u32(offset + 4));
        (low == Some(MAGIC) && high == Some(0))
            || (low == Some(0) && high == Some(MAGIC.swap_bytes()))
    };
    slots.any(is_magic).then_some("zfs")
}

/// A table of four entries, at least one of them with a type, each marked active or
/// not.
fn partition_table(ends: &Ends) -> Option<&'static str> {
    if !ends.has(510, b"\x55\xaa") {
        return None;
    }
    let entries = ends.at(446, 64)?;
    let are_marked = entries.chunks(16).all(|entry| matches!(entry[0], 0 | 0x80));
    let is_any = entries.chunks(16).any(|entry| entry[4] != 0);
    (are_marked && is_any).then_some("mbr")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 16 << 20;

    fn device(writes: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(LENGTH).unwrap();
        for (offset, bytes) in writes {
            file.write_all_at(bytes, *offset).unwrap();
        }
        file
    }

    fn found(writes: &[(u64, &[u8])]) -> Vec<&'static str> {
        signatures(&device(writes), LENGTH).unwrap()
    }

    #[test]
    fn a_blank_device_has_none() {
        assert!(found(&[]).is_empty());
        assert!(signatures(&device(&[]), 0).unwrap().is_empty());
        assert!(signatures(&device(&[]), 512).unwrap().is_empty());
    }

    #[test]
    fn every_magic_is_found_where_it_lies() {
        for (name, offset, magic) in FRONT {
            assert_eq!(found(&[(*offset, magic)]), [*name], "{name} at {offset}");
            let beside = found(&[(offset + 1, magic)]);
            assert!(!beside.contains(name), "{name} beside {offset}");
        }
    }

    /// Places computed by hand for a device of 16 MiB.
    #[test]
    fn what_lies_at_the_end_is_found() {
        let md = 0xa92b_4efc_u32;
        assert_eq!(found(&[(LENGTH - 8192, &md.to_le_bytes())]), ["md"]);
        assert_eq!(found(&[(LENGTH - 65536, &md.to_be_bytes())]), ["md"]);
        assert_eq!(found(&[(LENGTH - 512, b"EFI PART")]), ["gpt"]);
        let uberblock = 0x00ba_b10c_u64;
        let last_label = LENGTH - (256 << 10) + (128 << 10);
        assert_eq!(found(&[(128 << 10, &uberblock.to_le_bytes())]), ["zfs"]);
        assert_eq!(
            found(&[(last_label + 1024, &uberblock.to_be_bytes())]),
            ["zfs"]
        );
    }

    #[test]
    fn a_partition_table_counts_where_nothing_else_explains_it() {
        let mut sector = [0u8; 512];
        sector[510..].copy_from_slice(b"\x55\xaa");
        assert!(found(&[(0, &sector)]).is_empty(), "no entry has a type");
        sector[446 + 4] = 0x83;
        assert_eq!(found(&[(0, &sector)]), ["mbr"]);
        assert_eq!(found(&[(0, &sector), (512, b"EFI PART")]), ["gpt"]);
        sector[446] = 0x7f;
        assert!(found(&[(0, &sector)]).is_empty(), "boot code, not a table");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_an_answer(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..5000),
        ) {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(&bytes, 0).unwrap();
            let found = signatures(&file, bytes.len() as u64).unwrap();
            proptest::prop_assert!(found.is_sorted());
        }
    }

    #[test]
    fn several_are_all_named() {
        let swap = (4096 - 10, &b"SWAPSPACE2"[..]);
        assert_eq!(found(&[(0, b"LUKS\xba\xbe"), swap]), ["luks", "swap"]);
    }
}
