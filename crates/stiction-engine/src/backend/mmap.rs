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

use super::BUS_ERROR;
use super::single::Call;
use crate::EngineError;
use crate::failure::{Fault, Operation};
use crate::files::FileTable;
use crate::memory::{Buffers, page_bytes};
use crate::request::{Request, Way};
use crate::task::Task;

pub(crate) struct Mmap {
    /// By file; `None` for one that is closed.
    mappings: Box<[Option<Mapping>]>,
    guard: guard::Guard,
    /// The file whose mapping is guarded.
    guarded: u32,
    sync_each: bool,
    without_copy: bool,
}

/// Stands for no file.
const NONE: u32 = u32::MAX;

impl Mmap {
    /// The mapping of an open file, guarded.
    #[inline(always)]
    fn mapping(&mut self, file: u32) -> &Mapping {
        let mapping = self.mappings[file as usize].as_ref();
        let mapping = mapping.expect("operations are on files that are open");
        if self.guarded != file {
            self.guarded = file;
            self.guard
                .watch(mapping.start.as_ptr() as usize, mapping.length);
        }
        mapping
    }
}

/// The mapping of `file`, which is open.
fn map(files: &FileTable, task: &Task<'_>, file: u32) -> Result<Mapping, Fault> {
    Mapping::new(files.fd(file), task, file).map_err(|errno| {
        let fault = Fault::new(Operation::Map, errno).in_file(file);
        fault.at(task.first_byte(file))
    })
}

impl Call for Mmap {
    fn prepare(task: &Task<'_>, files: &FileTable) -> Result<Self, EngineError> {
        let map = |file| match files.is_open(file) {
            true => map(files, task, file).map(Some),
            false => Ok(None),
        };
        let mappings = (0..task.files()).map(map).collect::<Result<_, _>>();
        let mappings = mappings.map_err(|fault: Fault| fault.of_task(task))?;
        Ok(Self {
            mappings,
            guard: guard::Guard::new(),
            guarded: NONE,
            sync_each: task.job.write_sync != WriteSync::None,
            without_copy: task.job.without_copy,
        })
    }

    #[inline(always)]
    fn rest(
        &mut self,
        _files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        done: usize,
    ) -> i32 {
        let offset_bytes = request.offset_bytes + done as u64;
        let length = request.length_bytes as usize - done;
        let place = self.mapping(request.file).at(offset_bytes, length);
        let block = &mut buffers.of(0, request.way)[done..done + length];
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
            self.mapping(request.file).sync(offset_bytes, length)
        } else {
            Ok(())
        };
        match synced {
            _ if self.guard.was_hit() => BUS_ERROR,
            Ok(()) => length as i32,
            Err(errno) => -errno.raw_os_error(),
        }
    }

    /// `fdatasync` as an `msync` of the mapping, which waits for the data alone;
    /// `fsync` as itself, which writes back what is dirty in mappings too.
    fn sync(&mut self, files: &FileTable, file: u32, kind: SyncKind) -> Result<(), Fault> {
        match kind {
            SyncKind::Fsync => files.sync(file, kind),
            SyncKind::Fdatasync => (self.mapping(file).sync_all())
                .map_err(|errno| Fault::new(Operation::Msync, errno).in_file(file)),
        }
    }

    fn opened(&mut self, task: &Task<'_>, files: &FileTable, file: u32) -> Result<(), Fault> {
        self.mappings[file as usize] = Some(map(files, task, file)?);
        Ok(())
    }

    fn closing(&mut self, file: u32) {
        if self.guarded == file {
            self.guarded = NONE;
            self.guard.watch(0, 0);
        }
        self.mappings[file as usize] = None;
    }
}

/// One file of a worker in memory.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// Offset in the file of the first mapped byte: a whole number of pages.
    first_byte: u64,
}

impl Mapping {
    fn new(fd: &OwnedFd, task: &Task<'_>, file: u32) -> Result<Self, Errno> {
        let start = task.first_byte(file);
        let first_byte = start - start % page_bytes() as u64;
        let end = start + task.region_bytes(file);
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
