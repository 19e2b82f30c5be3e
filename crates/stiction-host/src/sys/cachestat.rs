//! cachestat(2), since Linux 6.5: how much of a file is in the page cache.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// The same number on every architecture but alpha (`arch/*/kernel/syscalls/`).
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of `linux/mman.h`; length 0 means up to the end.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of `linux/mman.h`, all in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CachedPages {
    pub(crate) cached: u64,
    pub(crate) dirty: u64,
    pub(crate) writeback: u64,
    pub(crate) evicted: u64,
    pub(crate) recently_evicted: u64,
}

/// Pages of the whole file in the cache.
///
/// # Errors
/// ENOSYS before Linux 6.5; EPERM on files that one neither owns nor may write.
pub(crate) fn cachestat(file: BorrowedFd<'_>) -> io::Result<CachedPages> {
    let range = Range {
        offset: 0,
        length: 0,
    };
    let mut pages = CachedPages::default();
    // SAFETY: both pointers are to live structs of the layout that the kernel
    // documents, and the descriptor is borrowed for the length of the call.
    let returned = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut pages,
            0u32,
        )
    };
    super::checked(returned)?;
    Ok(pages)
}
