//! The FIEMAP ioctl: where a file's blocks lie (`linux/fiemap.h`).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B as libc::Ioctl;
const EXTENTS_A_CALL: usize = 512;
/// A file in more pieces than this is not looked at to its end.
const MOST_EXTENTS: usize = 1 << 20;

/// The last extent of the file.
const LAST: u32 = 0x1;
/// The place is not known yet, or not at all.
pub(crate) const UNKNOWN: u32 = 0x2;
/// Allocated, never written: reads as zeros without touching the device.
pub(crate) const UNWRITTEN: u32 = 0x800;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Offset in the file, bytes.
    pub(crate) logical: u64,
    /// Offset on the device (on btrfs: in its logical space), bytes.
    pub(crate) physical: u64,
    /// Length, bytes.
    pub(crate) length: u64,
    reserved64: [u64; 2],
    /// Flags of this module.
    pub(crate) flags: u32,
    reserved: [u32; 3],
}

impl Extent {
    #[cfg(test)]
    pub(crate) fn new(logical: u64, physical: u64, length: u64, flags: u32) -> Self {
        Self {
            logical,
            physical,
            length,
            flags,
            ..Self::default()
        }
    }
}

/// `struct fiemap`, with room for the extents behind it.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_A_CALL],
}

/// Every extent of the file in the order of the file, as the filesystem holds it
/// now: what is dirty in the cache may not have a place yet.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY where the filesystem cannot tell; and beyond a million
/// extents.
pub(crate) fn extents(file: BorrowedFd<'_>) -> io::Result<Vec<Extent>> {
    let mut all: Vec<Extent> = Vec::new();
    let mut start = 0;
    loop {
        let batch = extents_from(file, start)?;
        let Some(last) = batch.last().copied() else {
            return Ok(all);
        };
        all.extend(batch);
        if all.len() > MOST_EXTENTS {
            return Err(io::Error::other("it has more than a million extents"));
        }
        let next = last.logical.saturating_add(last.length);
        if last.flags & LAST != 0 || next <= start {
            return Ok(all);
        }
        start = next;
    }
}

fn extents_from(file: BorrowedFd<'_>, start: u64) -> io::Result<Vec<Extent>> {
    let mut request = Box::new(Request {
        start,
        length: u64::MAX - start,
        flags: 0,
        mapped_extents: 0,
        extent_count: EXTENTS_A_CALL as u32,
        reserved: 0,
        extents: [Extent::default(); EXTENTS_A_CALL],
    });
    // SAFETY: the pointer is to a live request of the documented layout; the
    // kernel writes at most `extent_count` extents behind the header.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
    super::checked(returned)?;
    let mapped = (request.mapped_extents as usize).min(EXTENTS_A_CALL);
    Ok(request.extents[..mapped].to_vec())
}
