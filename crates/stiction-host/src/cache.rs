//! Emptying the page cache of one's own files, and making sure.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise};
use stiction_core::Residency;

use crate::HostError;
use crate::witness::{residency, residency_of_file};

/// What dropping the cache came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDrop {
    /// Residency of the files before.
    pub before: Residency,
    /// Residency of the files after: 0 bytes when it worked.
    pub after: Residency,
    /// How it was done, and why it could not be where it could not.
    pub method: String,
}

impl CacheDrop {
    /// Whether nothing of the files is left in the cache.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.after.cached_bytes == 0
    }
}

/// A page that is being looked at by somebody else at that moment stays; the second
/// try gets it.
const TRIES: usize = 2;

/// Drops `files` from the page cache by `POSIX_FADV_DONTNEED`; what stays may not be
/// written back yet, and goes after an fsync. Needs no right but to read the files.
///
/// Files that are clean are not synced: that would flush the device once for each of
/// them, some milliseconds a file.
///
/// # Errors
/// When a file cannot be opened or written back.
pub fn drop_file_cache(files: &[PathBuf]) -> Result<CacheDrop, HostError> {
    let before = residency(files)?;
    let mut after = before;
    let mut in_memory = false;
    for _ in 0..TRIES {
        for path in files {
            in_memory |= drop_one(path)
                .map_err(|error| HostError::refused("drop from the page cache", path, error))?;
        }
        after = residency(files)?;
        if after.cached_bytes == 0 || in_memory {
            break;
        }
    }
    let method = if in_memory {
        "none: the filesystem lives in memory, so its files cannot leave it"
    } else {
        "POSIX_FADV_DONTNEED on each file, after an fsync where pages stayed"
    };
    Ok(CacheDrop {
        before,
        after,
        method: method.to_owned(),
    })
}

/// Bytes of a read that fills the cache.
const FILL_BYTES: usize = 1 << 20;

/// Reads `files` whole, through the page cache, unless `is_enough` says so after a read, or
/// as much was read as there is memory: more would only push out what is there.
/// What is in the cache then is told: there may be no room for all of it.
///
/// # Errors
/// When a file cannot be read.
pub fn fill_file_cache(
    files: &[PathBuf],
    is_enough: impl Fn() -> bool,
) -> Result<Residency, HostError> {
    let machine = rustix::system::sysinfo();
    let memory_bytes = (machine.totalram as u64).saturating_mul(machine.mem_unit.into());
    read_through(files, memory_bytes, is_enough)?;
    residency(files)
}

/// Reads `most_bytes` of `files` in their order, rounded up to whole reads; how much it was.
fn read_through(
    files: &[PathBuf],
    most_bytes: u64,
    is_enough: impl Fn() -> bool,
) -> Result<u64, HostError> {
    let mut buffer = vec![0; FILL_BYTES];
    let mut read_bytes = 0;
    for path in files {
        let refused = |error| HostError::refused("read into the page cache", path, error);
        let mut file = File::open(path).map_err(refused)?;
        while read_bytes < most_bytes && !is_enough() {
            match file.read(&mut buffer).map_err(refused)? {
                0 => break,
                count => read_bytes += count as u64,
            }
        }
    }
    Ok(read_bytes)
}

/// Writes back what is dirty and drops every clean page, entry and inode of the whole
/// machine from memory (`Documentation/admin-guide/sysctl/vm.rst`, `drop_caches`).
///
/// # Errors
/// When the kernel refuses: only root may.
pub fn drop_all_caches() -> Result<(), HostError> {
    let setting = Path::new("/proc/sys/vm/drop_caches");
    rustix::fs::sync();
    std::fs::write(setting, "3")
        .map_err(|error| HostError::refused("drop the caches through", setting, error))
}

/// Drops one file; whether it lives in memory.
fn drop_one(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    if residency_of_file(path)?.cached_bytes > 0 {
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    lives_in_memory(&file)
}

/// tmpfs and ramfs (`linux/magic.h`).
fn lives_in_memory(file: &File) -> io::Result<bool> {
    const TMPFS_MAGIC: i64 = 0x0102_1994;
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    let kind = rustix::fs::fstatfs(file)?.f_type as i64;
    Ok(kind == TMPFS_MAGIC || kind == RAMFS_MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_may_stay() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        for path in &paths {
            // Holes: a hundred thousand times the memory would be read as readily.
            File::create(path).unwrap().set_len(3 << 20).unwrap();
        }
        let read = |most_bytes| read_through(&paths, most_bytes, || false).unwrap();
        assert_eq!(read(u64::MAX), 6 << 20);
        assert_eq!(read(4 << 20), 4 << 20);
        assert_eq!(read(0), 0);
        assert_eq!(read_through(&paths, 1, || true).unwrap(), 0);
    }
}
