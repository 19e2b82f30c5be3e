//! Where the blocks of files lie, and which were never written.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use crate::HostError;
use crate::sys::cachestat::cachestat;
use crate::sys::fiemap::{self, Extent, UNKNOWN, UNWRITTEN};

/// The layout of some files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Runs of blocks that lie together on the device; `None` where the filesystem
    /// cannot tell.
    pub extents: Option<u64>,
    /// Bytes of the files that are holes, or allocated and never written: they read
    /// as zeros without touching the device.
    pub unwritten_bytes: u64,
}

/// The layout of all `files` together, by FIEMAP; where the filesystem has none,
/// holes alone are found, by `SEEK_HOLE`.
///
/// # Errors
/// When a file cannot be opened for reading, or the filesystem has neither.
pub fn layout(files: &[PathBuf]) -> Result<Layout, HostError> {
    let mut total = Layout {
        extents: Some(0),
        unwritten_bytes: 0,
    };
    for path in files {
        let one = of_file(path)
            .map_err(|error| HostError::refused("ask for the extents of", path, error))?;
        total.extents = total.extents.zip(one.extents).map(|(sum, more)| sum + more);
        total.unwritten_bytes += one.unwritten_bytes;
    }
    Ok(total)
}

fn of_file(path: &Path) -> io::Result<Layout> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    match fiemap::extents(file.as_fd()) {
        Ok(extents) => {
            let by_extents = unwritten_bytes(&extents, length);
            Ok(Layout {
                extents: Some(runs(&extents)),
                // What is dirty over space that was allocated and never written is
                // still called unwritten. SEEK_DATA looks into the cache as well,
                // but takes what was only read from there for data.
                unwritten_bytes: if by_extents > 0 && is_dirty(&file) {
                    by_extents.min(holes_bytes(&file, length)?)
                } else {
                    by_extents
                },
            })
        }
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)) => {
            Ok(Layout {
                extents: None,
                unwritten_bytes: holes_bytes(&file, length)?,
            })
        }
        Err(error) => Err(error),
    }
}

/// Whether anything of the file waits to be written back, where the kernel tells.
fn is_dirty(file: &File) -> bool {
    cachestat(file.as_fd()).is_ok_and(|pages| pages.dirty + pages.writeback > 0)
}

/// Runs of extents, each of which begins where the one before ends on the device.
/// Filesystems split what lies together for reasons of their own (ext2 every block
/// group, ext4 every 128 MiB), so single extents are not counted.
fn runs(extents: &[Extent]) -> u64 {
    let placed: Vec<&Extent> = extents
        .iter()
        .filter(|extent| extent.flags & UNKNOWN == 0)
        .collect();
    let breaks = placed
        .windows(2)
        .filter(|pair| pair[0].physical.wrapping_add(pair[0].length) != pair[1].physical)
        .count();
    (breaks + usize::from(!placed.is_empty())) as u64
}

/// Bytes of the first `length` that no written extent covers.
fn unwritten_bytes(extents: &[Extent], length: u64) -> u64 {
    let written: u64 = extents
        .iter()
        .filter(|extent| extent.flags & UNWRITTEN == 0)
        .map(|extent| {
            let end = extent.logical.saturating_add(extent.length).min(length);
            end.saturating_sub(extent.logical)
        })
        .fold(0, u64::saturating_add);
    length.saturating_sub(written)
}

/// Bytes of the first `length` that `SEEK_DATA` passes over.
fn holes_bytes(file: &File, length: u64) -> io::Result<u64> {
    let mut holes = 0;
    let mut at = 0;
    while at < length {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => length,
            other => other?.min(length),
        };
        holes += data - at;
        if data == length {
            break;
        }
        at = rustix::fs::seek(file, SeekFrom::Hole(data))?;
    }
    Ok(holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, physical: u64, length: u64, flags: u32) -> Extent {
        Extent::new(logical, physical, length, flags)
    }

    #[test]
    fn extents_that_touch_on_the_device_are_one_run() {
        assert_eq!(runs(&[]), 0);
        assert_eq!(runs(&[extent(0, 100, 10, 0), extent(10, 110, 10, 0)]), 1);
        assert_eq!(runs(&[extent(0, 100, 10, 0), extent(10, 111, 10, 0)]), 2);
        assert_eq!(runs(&[extent(0, 0, 10, UNKNOWN)]), 0);
    }

    #[test]
    fn what_no_written_extent_covers_is_unwritten() {
        assert_eq!(unwritten_bytes(&[], 100), 100);
        assert_eq!(unwritten_bytes(&[extent(0, 0, 40, 0)], 100), 60);
        let preallocated = [extent(0, 0, 40, 0), extent(40, 40, 60, UNWRITTEN)];
        assert_eq!(unwritten_bytes(&preallocated, 100), 60);
        // Blocks allocated beyond the end of the file.
        assert_eq!(unwritten_bytes(&[extent(0, 0, 4096, 0)], 100), 0);
        assert_eq!(
            unwritten_bytes(&[extent(0, 0, 40, 0), extent(4096, 0, 4096, 0)], 100),
            60
        );
    }
}
