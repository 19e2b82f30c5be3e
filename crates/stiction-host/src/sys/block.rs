//! ioctls of block devices (`linux/fs.h`).

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

/// `_IOR(0x12, 114, size_t)`.
#[cfg(target_pointer_width = "64")]
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272 as libc::Ioctl;
#[cfg(target_pointer_width = "32")]
const BLKGETSIZE64: libc::Ioctl = 0x8004_1272 as libc::Ioctl;

/// Length of a block device, bytes.
pub(crate) fn length_bytes(device: impl AsFd) -> io::Result<u64> {
    let mut length: u64 = 0;
    // SAFETY: the kernel writes one u64 through the pointer, whatever the width of
    // size_t in the request's number.
    let returned =
        unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKGETSIZE64, &raw mut length) };
    super::checked(returned)?;
    Ok(length)
}

/// `struct fstrim_range` of `linux/fs.h`, all in bytes.
#[repr(C)]
struct TrimRange {
    start: u64,
    length: u64,
    shortest: u64,
}

/// `_IOWR('X', 121, struct fstrim_range)`: a number that reads and writes is the same on
/// every architecture.
const FITRIM: libc::Ioctl = 0xc018_5879_u32 as libc::Ioctl;

/// Gives all free blocks of the filesystem that `folder` is on back to its device; how
/// many bytes these were.
pub(crate) fn trim_free_blocks(folder: impl AsFd) -> io::Result<u64> {
    let mut range = TrimRange {
        start: 0,
        length: u64::MAX,
        shortest: 0,
    };
    // SAFETY: the kernel reads and writes one struct of the layout that it documents.
    let returned = unsafe { libc::ioctl(folder.as_fd().as_raw_fd(), FITRIM, &raw mut range) };
    super::checked(returned)?;
    Ok(range.length)
}
