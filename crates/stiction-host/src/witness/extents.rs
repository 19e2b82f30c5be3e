//! Where the blocks of files lie, and which were never written.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use stiction_core::{Extent, FileMap};

use crate::HostError;
use crate::sys::cachestat::cachestat;
use crate::sys::fiemap::{self, Before};

/// Where the file at `path` lies, by FIEMAP. What is dirty in the cache may have no place
/// yet; `settled` writes it back first.
///
/// Where the filesystem has no such map, [`FileMap::extents`] is `None`, and holes alone
/// are found, by `SEEK_HOLE`.
///
/// # Errors
/// When the file cannot be opened for reading, is no regular file, or is in more than a
/// million extents.
pub fn file_map(path: &Path, settled: bool) -> Result<FileMap, HostError> {
    map_of(path, settled).map_err(|error| HostError::refused(ASKING, path, error))
}

const ASKING: &str = "ask for the extents of";

fn map_of(path: &Path, settled: bool) -> io::Result<FileMap> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let filesystem = rustix::fs::fstatfs(&file)?;
    let size_bytes = metadata.len();
    let before = if settled {
        Before::WriteBack
    } else {
        Before::Nothing
    };
    let extents = known_extents(&file, before)?;
    let hole_bytes = match &extents {
        Some(extents) => uncovered_bytes(extents, size_bytes, |_| true),
        None => holes_bytes(&file, size_bytes)?,
    };
    Ok(FileMap {
        path: path.to_string_lossy().into_owned(),
        device: metadata.dev(),
        // A magic number has 32 bits, whatever the type that holds it.
        filesystem_magic: (filesystem.f_type as u64) & 0xffff_ffff,
        size_bytes,
        block_size_bytes: filesystem.f_bsize.unsigned_abs(),
        hole_bytes,
        extents,
    })
}

/// `None` where the filesystem has no map.
fn known_extents(file: &File, before: Before) -> io::Result<Option<Vec<Extent>>> {
    match fiemap::extents(file.as_fd(), before) {
        Ok(extents) => Ok(Some(extents)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Bytes of `files` that are holes, or allocated and never written: they read as zeros
/// without touching the device. By FIEMAP; where the filesystem has none, holes alone are
/// found, by `SEEK_HOLE`.
///
/// # Errors
/// As [`file_map`].
pub fn unwritten_bytes(files: &[PathBuf]) -> Result<u64, HostError> {
    let each = files.iter().map(|path| {
        unwritten_of_file(path).map_err(|error| HostError::refused(ASKING, path, error))
    });
    each.sum()
}

fn unwritten_of_file(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(extents) = known_extents(&file, Before::Nothing)? else {
        return holes_bytes(&file, length);
    };
    let by_extents = uncovered_bytes(&extents, length, |extent| !extent.is_unwritten());
    // What is dirty over space that was allocated and never written is still called
    // unwritten. SEEK_DATA looks into the cache as well, but takes what was only read
    // from there for data.
    if by_extents > 0 && is_dirty(&file) {
        return Ok(by_extents.min(holes_bytes(&file, length)?));
    }
    Ok(by_extents)
}

/// Whether anything of the file waits to be written back, where the kernel tells.
fn is_dirty(file: &File) -> bool {
    cachestat(file.as_fd()).is_ok_and(|pages| pages.dirty + pages.writeback > 0)
}

/// Bytes of the first `length` that no such extent covers.
fn uncovered_bytes(extents: &[Extent], length: u64, such: impl Fn(&Extent) -> bool) -> u64 {
    let covered: u64 = extents
        .iter()
        .filter(|extent| such(extent))
        .map(|extent| {
            let end = extent.file_end_bytes().min(length);
            end.saturating_sub(extent.file_offset_bytes)
        })
        .fold(0, u64::saturating_add);
    length.saturating_sub(covered)
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

    fn extent(file_offset_bytes: u64, length_bytes: u64, flags: u32) -> Extent {
        Extent {
            file_offset_bytes,
            device_offset_bytes: file_offset_bytes,
            length_bytes,
            flags,
        }
    }

    #[test]
    fn what_no_written_extent_covers_is_unwritten() {
        let unwritten =
            |extents: &[Extent]| uncovered_bytes(extents, 100, |extent| !extent.is_unwritten());
        assert_eq!(unwritten(&[]), 100);
        assert_eq!(unwritten(&[extent(0, 40, 0)]), 60);
        let preallocated = [extent(0, 40, 0), extent(40, 60, Extent::UNWRITTEN)];
        assert_eq!(unwritten(&preallocated), 60);
        assert_eq!(uncovered_bytes(&preallocated, 100, |_| true), 0);
        // Blocks allocated beyond the end of the file.
        assert_eq!(unwritten(&[extent(0, 4096, 0)]), 0);
        assert_eq!(unwritten(&[extent(0, 40, 0), extent(4096, 4096, 0)]), 60);
    }
}
