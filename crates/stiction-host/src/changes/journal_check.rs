//! Where the journal of a filesystem really is, from its superblock.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Where a journal was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundJournal {
    /// In the filesystem, so large where the superblock tells.
    Internal {
        /// How large, bytes.
        bytes: Option<u64>,
    },
    /// On a device of its own.
    External,
    /// There is none.
    None,
}

/// Looks at the first 2 KiB of `device`; `None` when no filesystem that may have a
/// journal is there.
///
/// # Errors
/// When the device cannot be read.
pub(super) fn journal_of(device: &Path) -> io::Result<Option<FoundJournal>> {
    let mut start = [0; 2048];
    File::open(device)?.read_exact_at(&mut start, 0)?;
    Ok(of_ext(&start[1024..]).or_else(|| of_xfs(&start)))
}

/// `struct ext4_super_block` (`fs/ext4/ext4.h`; ext2 and ext3 have the same): little
/// endian, 1 KiB behind the start of the device.
fn of_ext(superblock: &[u8]) -> Option<FoundJournal> {
    const MAGIC: u16 = 0xef53;
    /// `EXT4_FEATURE_COMPAT_HAS_JOURNAL`.
    const HAS_JOURNAL: u32 = 0x4;
    let u16_at = |at: usize| {
        Some(u16::from_le_bytes(
            superblock.get(at..at + 2)?.try_into().ok()?,
        ))
    };
    let u32_at = |at: usize| {
        Some(u32::from_le_bytes(
            superblock.get(at..at + 4)?.try_into().ok()?,
        ))
    };
    if u16_at(0x38)? != MAGIC {
        return None;
    }
    if u32_at(0x5c)? & HAS_JOURNAL == 0 {
        return Some(FoundJournal::None);
    }
    // `s_journal_inum`, which an external one leaves at 0.
    if u32_at(0xe0)? == 0 {
        return Some(FoundJournal::External);
    }
    // `s_jnl_backup_type`: 1 where `s_jnl_blocks` has the size of the journal's inode,
    // its lower half last.
    let is_backed_up = superblock.get(0xfd) == Some(&1);
    let bytes = u64::from(u32_at(0x148)?) << 32 | u64::from(u32_at(0x14c)?);
    Some(FoundJournal::Internal {
        bytes: is_backed_up.then_some(bytes),
    })
}

/// `struct xfs_dsb` (`fs/xfs/libxfs/xfs_format.h`): big endian, at the start.
fn of_xfs(superblock: &[u8]) -> Option<FoundJournal> {
    let u32_at = |at: usize| {
        Some(u32::from_be_bytes(
            superblock.get(at..at + 4)?.try_into().ok()?,
        ))
    };
    if superblock.get(..4)? != b"XFSB" {
        return None;
    }
    // `sb_logstart`, which is 0 where the log is external.
    let log_start = u64::from(u32_at(48)?) << 32 | u64::from(u32_at(52)?);
    if log_start == 0 {
        return Some(FoundJournal::External);
    }
    // `sb_blocksize` and `sb_logblocks`.
    let bytes = u64::from(u32_at(4)?) * u64::from(u32_at(96)?);
    Some(FoundJournal::Internal { bytes: Some(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(journal_inode: u32, has_journal: bool) -> Vec<u8> {
        let mut block = vec![0; 1024];
        block[0x38..0x3a].copy_from_slice(&0xef53_u16.to_le_bytes());
        block[0x5c] = if has_journal { 4 } else { 0 };
        block[0xe0..0xe4].copy_from_slice(&journal_inode.to_le_bytes());
        block[0xfd] = 1;
        block[0x14c..0x150].copy_from_slice(&(8_u32 << 20).to_le_bytes());
        block
    }

    #[test]
    fn an_ext_superblock_tells() {
        let internal = FoundJournal::Internal {
            bytes: Some(8 << 20),
        };
        assert_eq!(of_ext(&ext(8, true)), Some(internal));
        assert_eq!(of_ext(&ext(0, true)), Some(FoundJournal::External));
        assert_eq!(of_ext(&ext(8, false)), Some(FoundJournal::None));
        assert_eq!(of_ext(&[0; 1024]), None);
    }

    #[test]
    fn an_xfs_superblock_tells() {
        let mut block = vec![0; 512];
        block[..4].copy_from_slice(b"XFSB");
        block[4..8].copy_from_slice(&4096_u32.to_be_bytes());
        block[96..100].copy_from_slice(&16384_u32.to_be_bytes());
        assert_eq!(of_xfs(&block), Some(FoundJournal::External));
        block[55] = 6;
        let internal = FoundJournal::Internal {
            bytes: Some(64 << 20),
        };
        assert_eq!(of_xfs(&block), Some(internal));
        assert_eq!(of_xfs(b"ext"), None);
    }
}
