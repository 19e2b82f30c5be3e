//! Page-aligned memory outside the heap, for I/O buffers and counters.
//!
//! Pages become real only when they are touched, so generous sizes cost nothing:
//! thousands of workers have a histogram each and use a few pages of it.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::EngineError;
use crate::request::Way;

/// The size of a page, bytes: what buffers are aligned to and rounded up to.
#[must_use]
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Memory that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory {
    /// How much was asked for, bytes.
    pub(crate) bytes: u64,
    /// What the kernel said.
    pub(crate) errno: Errno,
}

impl NoMemory {
    /// The error for those who wanted it for `what`.
    pub(crate) fn of(self, what: &'static str, advice: &'static str) -> EngineError {
        EngineError::Memory {
            what,
            needed_bytes: self.bytes,
            cause: self.errno.to_string(),
            advice,
        }
    }
}

/// A mapping: private and anonymous, or of a file and shared.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, as a heap allocation would.
unsafe impl Send for Pages {}
// SAFETY: shared access is to plain bytes that nobody changes, or to atomics.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `length` zeroed bytes, 1 or more, in whole pages.
    ///
    /// # Errors
    /// When the address space or the limits do not allow it.
    pub(crate) fn new(length: usize) -> Result<Self, NoMemory> {
        let refused = |errno| NoMemory {
            bytes: length as u64,
            errno,
        };
        let length = length
            .checked_next_multiple_of(page_bytes())
            .ok_or(refused(Errno::NOMEM))?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice
        // touches no memory that exists.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let start = start.map_err(refused)?;
        let start = NonNull::new(start.cast()).ok_or(refused(Errno::NOMEM))?;
        Ok(Self { start, length })
    }

    /// The first `length` bytes of `file`, 1 or more, shared with it: what is stored
    /// here is in the file, even if this process is killed in the next moment.
    ///
    /// The file must be as long. If somebody cuts it shorter, touching what is gone
    /// ends the process.
    ///
    /// # Errors
    /// When the file cannot be mapped, or the address space does not allow it.
    pub(crate) fn shared(file: &File, length: usize) -> Result<Self, NoMemory> {
        Self::shared_at(file, length, 0)
    }

    /// As [`shared`](Self::shared), from byte `offset` of what a descriptor stands for.
    ///
    /// # Errors
    /// As [`shared`](Self::shared).
    pub(crate) fn shared_at(
        descriptor: &impl AsFd,
        length: usize,
        offset: u64,
    ) -> Result<Self, NoMemory> {
        let refused = |errno| NoMemory {
            bytes: length as u64,
            errno,
        };
        let length = length
            .checked_next_multiple_of(page_bytes())
            .ok_or(refused(Errno::NOMEM))?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory
        // that exists. Its bytes are used as plain numbers, of which any value is valid
        // should another process store some.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                descriptor,
                offset,
            )
            .map_err(refused)?
        };
        let start = NonNull::new(start.cast()).ok_or(refused(Errno::NOMEM))?;
        Ok(Self { start, length })
    }

    /// The first byte's address, page-aligned and valid while `self` lives.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `length` bytes, initialised to zero by the kernel,
        // and lives as long as `self`; `&mut self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// The same bytes as numbers that threads may share.
    pub(crate) fn atomics(&self) -> &[AtomicU32] {
        // SAFETY: as in `bytes_mut`; a page is aligned for u32, every bit pattern is
        // an AtomicU32, and this view is the only one that such pages are used by.
        unsafe { slice::from_raw_parts(self.start.as_ptr().cast(), self.length / 4) }
    }

    /// The first `WORDS` 64-bit words, the next `WORDS`, and the bytes after them.
    ///
    /// # Panics
    /// When the mapping is shorter than twice `WORDS`.
    pub(crate) fn split_mut<const WORDS: usize>(
        &mut self,
    ) -> (&mut [u64; WORDS], &mut [u64; WORDS], &mut [u8]) {
        let head = 2 * WORDS * size_of::<u64>();
        assert!(head <= self.length, "pages too short for two arrays");
        let start = self.start.as_ptr();
        // SAFETY: the three ranges lie in the mapping, by the assertion, and do not
        // overlap; a page is aligned for u64 and every bit pattern is a u64;
        // `&mut self` makes the access exclusive.
        unsafe {
            (
                &mut *start.cast::<[u64; WORDS]>(),
                &mut *start.add(head / 2).cast::<[u64; WORDS]>(),
                slice::from_raw_parts_mut(start.add(head), self.length - head),
            )
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the range is this value's own mapping and no reference into it
        // outlives the value. Unmapping what was mapped does not fail.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

/// The I/O buffers of one worker: one for each operation in flight, each on
/// pages of its own.
#[derive(Debug)]
pub(crate) struct Buffers {
    pages: Pages,
    stride: usize,
    block_bytes: usize,
    /// Where each buffer begins in its pages.
    offset_bytes: usize,
    /// The buffer that all writes are from, if it is none of the slots'.
    kept: Option<u32>,
}

impl Buffers {
    /// `slots` buffers of `block_bytes` bytes, all zero and present in memory.
    ///
    /// # Errors
    /// When there is not that much memory to be had.
    pub(crate) fn new(
        slots: usize,
        block_bytes: usize,
        offset_bytes: u32,
    ) -> Result<Self, NoMemory> {
        let offset_bytes = offset_bytes as usize;
        let stride = Self::stride(offset_bytes + block_bytes);
        let mut pages = Pages::new(stride.saturating_mul(slots))?;
        // Written once here, so that no page fault falls into the measured time.
        pages
            .bytes_mut()
            .iter_mut()
            .step_by(page_bytes())
            .for_each(|byte| *byte = std::hint::black_box(0));
        Ok(Self {
            pages,
            stride,
            block_bytes,
            offset_bytes,
            kept: None,
        })
    }

    /// As [`new`](Self::new), with one more buffer, number `slots`, from which all
    /// writes are: for data that stay the same while reads fill the others.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn with_kept(
        slots: usize,
        block_bytes: usize,
        offset_bytes: u32,
    ) -> Result<Self, NoMemory> {
        Ok(Self {
            kept: Some(slots as u32),
            ..Self::new(slots + 1, block_bytes, offset_bytes)?
        })
    }

    /// Bytes from one buffer to the next.
    fn stride(block_bytes: usize) -> usize {
        block_bytes.next_multiple_of(page_bytes())
    }

    /// Address of the buffer of `slot`, for the kernel.
    pub(crate) fn pointer(&self, slot: u32) -> *mut u8 {
        let offset = slot as usize * self.stride;
        assert!(offset < self.pages.length, "no such slot");
        self.pages.as_ptr().wrapping_add(offset + self.offset_bytes)
    }

    /// The buffer of `slot`. The caller has no operation in flight on it.
    pub(crate) fn slot(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: `pointer` checks that the slot exists, and a slot has
        // `block_bytes` initialised bytes; `&mut self` makes the access exclusive
        // among our own. The kernel writes to a slot only while an operation on
        // it is in flight, which the caller rules out.
        unsafe { slice::from_raw_parts_mut(self.pointer(slot), self.block_bytes) }
    }

    /// The buffer that an operation of `slot` reads into or writes from.
    #[inline(always)]
    pub(crate) fn of(&mut self, slot: u32, way: Way) -> &mut [u8] {
        self.slot(self.number_of(slot, way))
    }

    /// Its number.
    #[inline(always)]
    pub(crate) fn number_of(&self, slot: u32, way: Way) -> u32 {
        match self.kept {
            Some(kept) if way == Way::Write => kept,
            _ => slot,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        (self.pages.length / self.stride) as u32
    }

    /// Bytes in one block.
    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zeroed_aligned_and_whole() {
        let mut pages = Pages::new(1).unwrap();
        assert_eq!(pages.bytes_mut().len(), page_bytes());
        assert_eq!(pages.as_ptr() as usize % page_bytes(), 0);
        assert!(pages.bytes_mut().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn splitting_gives_disjoint_parts() {
        let mut pages = Pages::new(3 * page_bytes()).unwrap();
        let (first, second, rest) = pages.split_mut::<512>();
        first[511] = 1;
        second[0] = 2;
        rest[0] = 3;
        assert_eq!(rest.len(), 3 * page_bytes() - 8192);
        assert_eq!((first[511], second[0], rest[0]), (1, 2, 3));
        assert_eq!(pages.bytes_mut()[8192], 3);
    }

    #[test]
    fn each_slot_begins_a_page() {
        let mut buffers = Buffers::new(3, 100, 0).unwrap();
        buffers.slot(1).fill(9);
        assert_eq!(buffers.slot(1).len(), 100);
        assert!(buffers.slot(0).iter().all(|&byte| byte == 0));
        assert!(buffers.slot(2).iter().all(|&byte| byte == 0));
        for slot in 0..3 {
            assert_eq!(buffers.pointer(slot) as usize % page_bytes(), 0);
        }
    }

    #[test]
    fn kept_data_are_apart_from_what_is_read() {
        let mut buffers = Buffers::with_kept(2, 100, 0).unwrap();
        buffers.slot(2).fill(7);
        for slot in 0..2 {
            buffers.of(slot, Way::Read).fill(1);
            assert_eq!(buffers.of(slot, Way::Write), [7; 100]);
        }
        assert_eq!(buffers.count(), 3);
    }

    #[test]
    fn buffers_begin_where_they_are_to() {
        let mut buffers = Buffers::new(2, page_bytes(), 24).unwrap();
        for slot in 0..2 {
            assert_eq!(buffers.pointer(slot) as usize % page_bytes(), 24);
            assert_eq!(buffers.slot(slot).len(), page_bytes());
        }
        buffers.slot(0).fill(7);
        assert!(buffers.slot(1).iter().all(|&byte| byte == 0));
    }
}
