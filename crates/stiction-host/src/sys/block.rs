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
