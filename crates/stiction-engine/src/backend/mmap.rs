//! Loads and stores in a shared mapping of the file.
//!
//! A read copies a block out of the mapping, or touches its first byte alone; a write
//! copies one into it. With
//! `O_SYNC` or `O_DSYNC` asked for, each write is followed by an `msync` of its
//! block, as the flags mean nothing to stores.
#![allow(unsafe_code)]

mod guard;

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap as map_file, msync, munmap,
};
use stiction_core::{Access, MapAdvice, SyncKind, WriteSync};

use super::psync::sync_file;
use super::{BUS_ERROR, Backend, Remarks};
use crate::EngineError;
use crate::failure::{Fault, Operation};
use crate::files::{OpenFile, open_target};
use crate::memory::{Buffers, page_bytes};
use crate::request::{Request, Way};
use crate::task::Task;

pub(crate) struct Mmap {
    mapping: Mapping,
    fd: OwnedFd,
    sync_each: bool,
    without_copy: bool,
    buffers: Buffers,
    queued: Option<Request>,
    result: i32,
    remarks: Remarks,
}

impl Backend for Mmap {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let OpenFile { fd, remarks } = open_target(task.job, task.targets, task.worker)?;
        let mapping = Mapping::new(&fd, task).map_err(|errno| {
            Fault::new(Operation::Map, errno)
                .at(task.first_byte)
                .of(task.worker, task.path())
        })?;
        Ok(Self {
            mapping,
            fd,
            sync_each: task.job.write_sync != WriteSync::None,
            without_copy: task.job.without_copy,
            buffers,
            queued: None,
            result: 0,
            remarks,
        })
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline(always)]
    fn queue(&mut self, _slot: u32, request: Request) {
        self.queued = Some(request);
    }

    #[inline(always)]
    fn commit(&mut self, _wait_for: u32) -> Result<(), Errno> {
        if let Some(request) = self.queued {
            self.result = self.transfer(0, request, 0);
        }
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.queued.take().map(|_| (0, self.result))
    }

    #[inline(always)]
    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32 {
        let block = &mut self.buffers.slot(slot)[done..request.length_bytes as usize];
        let offset_bytes = request.offset_bytes + done as u64;
        let place = self.mapping.at(offset_bytes, block.len());
        // SAFETY: `at` checks that the block lies in the mapping, and the buffer is
        // other memory. Should another process change the file meanwhile, the
        // bytes copied are any mixture, which for bytes is harmless. A page that
        // cannot be had raises SIGBUS, which the guard turns into a result.
        unsafe {
            match request.way {
                Way::Read if self.without_copy => {
                    std::hint::black_box(place.read_volatile());
                }
                Way::Read => block
                    .as_mut_ptr()
                    .copy_from_nonoverlapping(place, block.len()),
                Way::Write => place.copy_from_nonoverlapping(block.as_ptr(), block.len()),
                // Such jobs are refused.
                Way::Trim => return -libc::EOPNOTSUPP,
            }
        }
        let synced = if self.sync_each && request.way == Way::Write {
            self.mapping.sync(offset_bytes, block.len())
        } else {
            Ok(())
        };
        match synced {
            _ if self.mapping.guard.was_hit() => BUS_ERROR,
            Ok(()) => block.len() as i32,
            Err(errno) => -errno.raw_os_error(),
        }
    }

    /// `fdatasync` as an `msync` of the mapping, which waits for the data alone;
    /// `fsync` as itself, which writes back what is dirty in mappings too.
    fn sync(&mut self, kind: SyncKind) -> Result<(), Fault> {
        match kind {
            SyncKind::Fsync => sync_file(&self.fd, kind),
            SyncKind::Fdatasync => self
                .mapping
                .sync_all()
                .map_err(|errno| Fault::new(Operation::Msync, errno)),
        }
    }

    fn remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.remarks)
    }
}

/// The region of one worker in memory.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// Offset in the file of the first mapped byte: a whole number of pages.
    first_byte: u64,
    guard: guard::Guard,
}

impl Mapping {
    fn new(fd: &OwnedFd, task: &Task<'_>) -> Result<Self, Errno> {
        let first_byte = task.first_byte - task.first_byte % page_bytes() as u64;
        let end = task.first_byte + task.region_bytes();
        let length = usize::try_from(end - first_byte).map_err(|_| Errno::NOMEM)?;
        let protection = if task.job.action.writes() {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        };
        // SAFETY: a new mapping at an address of the kernel's choice touches no
        // memory that exists.
        let start = unsafe {
            map_file(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                fd,
                first_byte,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        let mapping = Self {
            start,
            length,
            first_byte,
            guard: guard::Guard::new(start.as_ptr() as usize, length),
        };
        let advice = match (task.job.map_advice, task.job.access) {
            (MapAdvice::None, _) => Advice::Normal,
            (MapAdvice::Sequential, _) | (MapAdvice::ByAccess, Access::Sequential) => {
                Advice::Sequential
            }
            (MapAdvice::Random, _)
            | (MapAdvice::ByAccess, Access::RandomPermutation | Access::RandomIndependent) => {
                Advice::Random
            }
        };
        // SAFETY: the range is the mapping; these advices change no content.
        unsafe { madvise(start.as_ptr().cast(), length, advice)? };
        Ok(mapping)
    }

    /// Where `length` bytes at `offset_bytes` of the file are in memory.
    #[inline(always)]
    fn at(&self, offset_bytes: u64, length: usize) -> *mut u8 {
        let offset = (offset_bytes - self.first_byte) as usize;
        assert!(offset + length <= self.length, "block outside the mapping");
        self.start.as_ptr().wrapping_add(offset)
    }

    fn sync(&self, offset_bytes: u64, length: usize) -> Result<(), Errno> {
        let page = page_bytes();
        let place = self.at(offset_bytes, length);
        let before = place as usize % page;
        // SAFETY: the range is the pages that hold the block, all in the mapping.
        unsafe {
            msync(
                place.wrapping_sub(before).cast(),
                before + length,
                MsyncFlags::SYNC,
            )
        }
    }

    fn sync_all(&self) -> Result<(), Errno> {
        // SAFETY: the range is the mapping.
        unsafe { msync(self.start.as_ptr().cast(), self.length, MsyncFlags::SYNC) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this value's own mapping and no pointer into it
        // outlives the value. Unmapping what was mapped does not fail.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}
