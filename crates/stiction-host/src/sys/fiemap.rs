//! The FIEMAP ioctl: where a file's blocks lie (`linux/fiemap.h`).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use stiction_core::Extent;

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B as libc::Ioctl;
const EXTENTS_A_CALL: usize = 512;
/// A file in more pieces than this is not looked at to its end.
const MOST_EXTENTS: usize = 1 << 20;

/// `FIEMAP_FLAG_SYNC`: write back what is dirty first.
const SYNC: u32 = 0x1;

/// What is done before the map is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing: what is dirty in the cache may have no place.
    Nothing,
    /// What is dirty is written back.
    WriteBack,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

impl From<RawExtent> for Extent {
    fn from(raw: RawExtent) -> Self {
        Self {
            file_offset_bytes: raw.logical,
            device_offset_bytes: raw.physical,
            length_bytes: raw.length,
            flags: raw.flags,
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
    extents: [RawExtent; EXTENTS_A_CALL],
}

/// Every extent of the file in the order of the file.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY where the filesystem cannot tell; and beyond a million
/// extents.
pub(crate) fn extents(file: BorrowedFd<'_>, before: Before) -> io::Result<Vec<Extent>> {
    let mut all: Vec<Extent> = Vec::new();
    let mut start = 0;
    loop {
        let batch = extents_from(file, start, before)?;
        let Some(last) = batch.last().copied() else {
            return Ok(all);
        };
        all.extend(batch);
        if all.len() > MOST_EXTENTS {
            return Err(io::Error::other("it has more than a million extents"));
        }
        let next = last.file_end_bytes();
        if last.flags & Extent::LAST != 0 || next <= start {
            return Ok(all);
        }
        start = next;
    }
}

fn extents_from(file: BorrowedFd<'_>, start: u64, before: Before) -> io::Result<Vec<Extent>> {
    let mut request = Box::new(Request {
        start,
        length: u64::MAX - start,
        flags: match before {
            Before::Nothing => 0,
            Before::WriteBack => SYNC,
        },
        mapped_extents: 0,
        extent_count: EXTENTS_A_CALL as u32,
        reserved: 0,
        extents: [RawExtent::default(); EXTENTS_A_CALL],
    });
    // SAFETY: the pointer is to a live request of the documented layout; the
    // kernel writes at most `extent_count` extents behind the header.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
    super::checked(returned)?;
    let mapped = (request.mapped_extents as usize).min(EXTENTS_A_CALL);
    let mapped = request.extents[..mapped].iter();
    Ok(mapped.copied().map(Extent::from).collect())
}
