//! Reserves the blocks of a file before they are written.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Reserves `length_bytes` from `offset_bytes` on; false where the filesystem cannot.
///
/// # Errors
/// With what the kernel says otherwise.
pub(super) fn reserve(
    fd: &OwnedFd,
    flags: FallocateFlags,
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<bool, Errno> {
    match fallocate(fd, flags, offset_bytes, length_bytes) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// The same by the C library, which writes to each block where the filesystem cannot.
///
/// # Errors
/// With what it says.
pub(super) fn reserve_as_posix(
    fd: &OwnedFd,
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<(), Errno> {
    // Regions end below the largest offset there is.
    let (offset, length) = (offset_bytes.cast_signed(), length_bytes.cast_signed());
    // SAFETY: the call takes a descriptor that is open and numbers, and no memory.
    match unsafe { libc::posix_fallocate(fd.as_raw_fd(), offset, length) } {
        0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno)),
    }
}
