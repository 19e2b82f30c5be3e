//! How much of some files is in the page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use stiction_core::Residency;

use crate::HostError;
use crate::sys::{block, cachestat, mincore};

/// mincore(2) looks at every page, whether it is cached or not: beyond this a file
/// takes seconds, and the witness would disturb what it watches.
const MOST_BYTES_BY_MINCORE: u64 = 256 << 30;

/// Residency of all `files` together. Block devices count as files.
///
/// By cachestat(2); before Linux 6.5 by mincore(2), which does not tell what is
/// dirty.
///
/// # Errors
/// When a file cannot be opened for reading, is not ours to ask about, or is beyond
/// 256 GiB before Linux 6.5.
pub fn residency(files: &[PathBuf]) -> Result<Residency, HostError> {
    let mut total = Residency::default();
    for path in files {
        let one = of_file(path).map_err(|error| {
            HostError::refused("ask for the page cache residency of", path, error)
        })?;
        total.cached_bytes += one.cached_bytes;
        total.dirty_bytes += one.dirty_bytes;
        total.file_bytes += one.file_bytes;
    }
    Ok(total)
}

/// Residency of one file.
///
/// # Errors
/// The kernel's, as for [`residency`].
pub(crate) fn of_file(path: &Path) -> io::Result<Residency> {
    let file = File::open(path)?;
    let file_bytes = length_bytes(&file)?;
    let page_bytes = rustix::param::page_size() as u64;
    // The last page is cached whole; the file ends inside it.
    let bytes = |pages: u64| pages.saturating_mul(page_bytes).min(file_bytes);
    match cachestat::cachestat(file.as_fd()) {
        Ok(pages) => Ok(Residency {
            cached_bytes: bytes(pages.cached),
            dirty_bytes: bytes(pages.dirty + pages.writeback),
            file_bytes,
        }),
        // EPERM is also what seccomp filters give for calls that they do not know.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            if file_bytes > MOST_BYTES_BY_MINCORE {
                let reason = "this kernel has no cachestat(2), and mincore(2) takes too long";
                return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
            }
            let pages = mincore::resident_pages(file.as_fd(), file_bytes, page_bytes)?;
            Ok(Residency {
                cached_bytes: bytes(pages),
                dirty_bytes: 0,
                file_bytes,
            })
        }
        Err(error) => Err(error),
    }
}

/// Length of a file or block device.
fn length_bytes(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if metadata.file_type().is_block_device() {
        block::length_bytes(file)
    } else {
        Ok(metadata.len())
    }
}
