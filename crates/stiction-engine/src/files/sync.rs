//! Makes durable what was written to a file, or sends it on its way.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{fdatasync, fsync};
use stiction_core::{SyncKind, WritebackEvery};

use crate::failure::{Cause, Fault, Operation, last_errno};

/// `fsync` or `fdatasync`.
pub(super) fn sync_file(fd: &OwnedFd, kind: SyncKind) -> Result<(), Fault> {
    let (operation, result) = match kind {
        SyncKind::Fsync => (Operation::Fsync, fsync(fd)),
        SyncKind::Fdatasync => (Operation::Fdatasync, fdatasync(fd)),
    };
    result.map_err(|errno| Fault::new(operation, errno))
}

/// Writes back what is dirty of a file and waits for it, by `sync_file_range` with all its
/// steps. That makes nothing durable: neither metadata nor the device's own cache is
/// written.
///
/// # Errors
/// As `sync_file_range(2)` has them.
pub fn write_file_back(fd: &OwnedFd) -> Result<(), Cause> {
    let all = WritebackEvery {
        writes: 1,
        wait_before: true,
        start: true,
        wait_after: true,
    };
    write_back(fd, all).map_err(|fault| fault.cause)
}

/// `sync_file_range` over the whole file, which costs as much as over what is dirty.
pub(super) fn write_back(fd: &OwnedFd, every: WritebackEvery) -> Result<(), Fault> {
    let steps = [
        (every.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE),
        (every.start, libc::SYNC_FILE_RANGE_WRITE),
        (every.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER),
    ];
    let wanted = steps.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let flags = wanted.fold(0, |flags, (_, step)| flags | step);
    // SAFETY: the call takes a descriptor that is open and numbers, and no memory.
    let result = unsafe { libc::sync_file_range(fd.as_raw_fd(), 0, 0, flags) };
    if result == 0 {
        return Ok(());
    }
    Err(Fault::new(Operation::WriteBack, last_errno()))
}
