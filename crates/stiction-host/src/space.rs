//! Free space, and the reserve that is never touched.

use std::path::Path;

use stiction_core::{SkipCode, SkipReason, format_bytes};

use crate::HostError;

/// Space on a filesystem, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Size of the filesystem.
    pub size_bytes: u64,
    /// Free to this user: without the blocks reserved for root.
    pub available_bytes: u64,
    /// Free at all, the blocks reserved for root included.
    pub free_bytes: u64,
    /// Files and folders that can still be made; `None` where the filesystem does
    /// not count them.
    pub free_inodes: Option<u64>,
}

/// How full a filesystem may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    most_full_percent: u8,
}

impl Default for Reserve {
    /// [`Reserve::FULL_PERCENT_MAX`].
    fn default() -> Self {
        Self {
            most_full_percent: Self::FULL_PERCENT_MAX,
        }
    }
}

impl Reserve {
    /// How full a filesystem may become unless the user allows more, percent: beyond
    /// it most filesystems get slow, and the user's other programs fail.
    pub const FULL_PERCENT_MAX: u8 = 95;

    /// No reserve: to the last byte, because the user said so.
    pub const NONE: Self = Self {
        most_full_percent: 100,
    };

    /// Bytes that may still be written where there is `space`.
    #[must_use]
    pub fn usable_bytes(self, space: Space) -> u64 {
        let keep_percent = 100 - u64::from(self.most_full_percent);
        // As df(1) counts: full is what is used against what is used or available.
        let used = space.size_bytes.saturating_sub(space.free_bytes);
        let countable = used.saturating_add(space.available_bytes);
        let kept = u128::from(countable) * u128::from(keep_percent) / 100;
        space.available_bytes.saturating_sub(kept as u64)
    }
}

/// Space at `path`. Quotas are not in it: no call tells them for every filesystem,
/// and where one applies a write ends with EDQUOT.
///
/// # Errors
/// When the kernel refuses.
pub fn space(path: &Path) -> Result<Space, HostError> {
    let told = rustix::fs::statvfs(path)
        .map_err(|error| HostError::refused("read the free space of", path, error))?;
    let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
    Ok(Space {
        size_bytes: bytes(told.f_blocks),
        available_bytes: bytes(told.f_bavail),
        free_bytes: bytes(told.f_bfree),
        // btrfs counts none.
        free_inodes: (told.f_files > 0).then_some(told.f_favail),
    })
}

/// Whether `wanted_bytes` more may be written at `path`.
///
/// # Errors
/// When they do not fit above the reserve, or the space cannot be read.
pub fn admit_bytes(path: &Path, wanted_bytes: u64, reserve: Reserve) -> Result<(), SkipReason> {
    let space =
        space(path).map_err(|error| SkipReason::new(SkipCode::NotSupported, error.to_string()))?;
    let usable = reserve.usable_bytes(space);
    // Some FUSE and pseudo filesystems give no figures at all: there only the
    // write itself can tell.
    if wanted_bytes <= usable || space.size_bytes == 0 {
        return Ok(());
    }
    let full = reserve.most_full_percent;
    Err(SkipReason::new(
        SkipCode::NoSpace,
        format!(
            "{} are wanted in {}, and {} may be written before it is {full} % full: \
             use smaller files, or free some space",
            format_bytes(wanted_bytes),
            path.display(),
            format_bytes(usable),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn space_of(size: u64, available: u64, free: u64) -> Space {
        Space {
            size_bytes: size,
            available_bytes: available,
            free_bytes: free,
            free_inodes: None,
        }
    }

    #[test]
    fn a_filesystem_is_never_filled_beyond_95_percent() {
        let reserve = Reserve::default();
        let usable = |size, available, free| reserve.usable_bytes(space_of(size, available, free));
        assert_eq!(usable(100 * GIB, 100 * GIB, 100 * GIB), 95 * GIB);
        assert_eq!(usable(100 * GIB, 5 * GIB, 5 * GIB), 0);
        assert_eq!(usable(100 * GIB, 6 * GIB, 6 * GIB), GIB);
        // 5 % are root's: 95 GiB count, and 5 % of those are 4.75 GiB.
        assert_eq!(
            usable(100 * GIB, 95 * GIB, 100 * GIB),
            95 * GIB - 95 * GIB / 20
        );
        assert_eq!(usable(0, 0, 0), 0);
        let all = space_of(u64::MAX, u64::MAX, u64::MAX);
        assert!(reserve.usable_bytes(all) < u64::MAX);
        assert_eq!(Reserve::NONE.usable_bytes(space_of(GIB, 7, 7)), 7);
    }

    #[test]
    fn more_than_there_is_is_refused_with_the_figures() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(admit_bytes(folder.path(), 0, Reserve::default()), Ok(()));
        let reason = admit_bytes(folder.path(), u64::MAX, Reserve::default()).unwrap_err();
        assert_eq!(reason.code, SkipCode::NoSpace);
        assert!(
            reason.detail.contains("16.0 EiB") && reason.detail.contains("95 %"),
            "{}",
            reason.detail
        );
    }
}
