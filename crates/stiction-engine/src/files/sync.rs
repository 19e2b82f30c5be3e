//! Makes durable what was written to a file, or sends it on its way.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{OFlags, fdatasync, fsync};
use stiction_core::{SyncKind, WriteSync, WritebackEvery};

use crate::failure::{Cause, Fault, Operation, last_errno};

/// `fsync` or `fdatasync`.
pub(super) fn sync_file(fd: &OwnedFd, kind: SyncKind) -> Result<(), Fault> {
    let (operation, result) = match kind {
        SyncKind::Fsync => (Operation::Fsync, fsync(fd)),
        SyncKind::Fdatasync => (Operation::Fdatasync, fdatasync(fd)),
    };
    result.map_err(|errno| Fault::new(operation, errno))
}

/// The flags to open a file with, so that each write is as durable as `write_sync` asks.
///
/// `OFlags::DSYNC` is of no use: where rustix calls the kernel itself it has the bits of
/// `O_SYNC` (1.1.6), so that a wish for the data alone would sync the times of the file, too.
/// And since `O_SYNC` holds the bit of `O_DSYNC`, to unset the one unsets the other.
#[must_use]
pub fn synced_writes(write_sync: WriteSync) -> OFlags {
    let bits = match write_sync {
        WriteSync::None => 0,
        WriteSync::DataSync => libc::O_DSYNC,
        WriteSync::Sync => libc::O_SYNC,
    };
    OFlags::from_bits_retain(bits.cast_unsigned())
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

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::fs::{fcntl_getfl, open};

    #[test]
    fn the_kernel_has_the_flags_that_were_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let in_force = |write_sync| {
            let flags = OFlags::RDWR | synced_writes(write_sync);
            let fd = open(file.path(), flags, rustix::fs::Mode::empty()).unwrap();
            fcntl_getfl(fd).unwrap().bits().cast_signed() & libc::O_SYNC
        };
        assert_eq!(in_force(WriteSync::None), 0);
        assert_eq!(in_force(WriteSync::DataSync), libc::O_DSYNC);
        assert_eq!(in_force(WriteSync::Sync), libc::O_SYNC);
    }
}
