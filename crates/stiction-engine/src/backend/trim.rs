//! Gives blocks back: a hole in a file, a discard on a device.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::Target;
use crate::failure::last_errno;
use crate::request::Request;
use crate::task::Task;

/// The mode of `fallocate` that punches a hole and leaves the size as it is.
pub(super) const HOLE: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// `_IO(0x12, 119)` of linux/fs.h: discard a range of a block device.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// How blocks of a target are given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trim {
    PunchHole,
    /// Only a granted device is ever discarded.
    Discard,
}

impl Trim {
    pub(crate) fn of(task: &Task<'_>, file: u32) -> Self {
        match task.target(file) {
            Some(Target::Device(_)) => Self::Discard,
            Some(Target::File(_) | Target::Simulated(_)) | None => Self::PunchHole,
        }
    }

    pub(super) fn apply(self, fd: &OwnedFd, request: &Request) -> Result<(), Errno> {
        let length = u64::from(request.length_bytes);
        if self == Self::PunchHole {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            return fallocate(fd, flags, request.offset_bytes, length);
        }
        let range = [request.offset_bytes, length];
        // SAFETY: the ioctl reads two 64-bit numbers from an array of ours that
        // outlives the call, and touches no other memory of this process.
        let result = unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
        if result == 0 {
            Ok(())
        } else {
            Err(last_errno())
        }
    }
}
