//! `pread` and `pwrite`, one operation at a time.

use std::os::fd::OwnedFd;

use rustix::fs::{fdatasync, fsync};
use std::io::{IoSlice, IoSliceMut};

use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
use stiction_core::{CallFlags, SyncKind};

use super::trim::Trim;
use super::{Backend, Remarks, raw};
use crate::EngineError;
use crate::failure::{Fault, Operation};
use crate::files::{OpenFile, open_target};
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::task::Task;

pub(crate) struct Psync {
    fd: OwnedFd,
    trim: Trim,
    call_flags: ReadWriteFlags,
    buffers: Buffers,
    queued: Option<Request>,
    result: i32,
    remarks: Remarks,
}

impl Backend for Psync {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let OpenFile { fd, remarks } = open_target(task.job, task.targets, task.worker)?;
        Ok(Self {
            fd,
            trim: Trim::of(task),
            call_flags: call_flags(task.job.call_flags),
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
            self.result = if self.call_flags.is_empty() {
                transfer(&self.fd, &mut self.buffers, self.trim, 0, request, 0)
            } else {
                self.flagged(request)
            };
        }
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.queued.take().map(|_| (0, self.result))
    }

    #[inline(always)]
    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32 {
        transfer(&self.fd, &mut self.buffers, self.trim, slot, request, done)
    }

    fn sync(&mut self, kind: SyncKind) -> Result<(), Fault> {
        sync_file(&self.fd, kind)
    }

    fn remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.remarks)
    }
}

/// `RWF_DONTCACHE` of linux/fs.h.
const DONTCACHE: u32 = 0x80;

/// The flags in the kernel's form.
pub(super) fn call_flags(flags: CallFlags) -> ReadWriteFlags {
    let mut bits = ReadWriteFlags::empty();
    bits.set(ReadWriteFlags::NOWAIT, flags.nowait);
    bits.set(ReadWriteFlags::HIPRI, flags.hipri);
    bits.set(ReadWriteFlags::from_bits_retain(DONTCACHE), flags.dontcache);
    bits
}

impl Psync {
    /// One operation by one system call with flags.
    #[inline(never)]
    fn flagged(&mut self, request: Request) -> i32 {
        let (offset, flags) = (request.offset_bytes, self.call_flags);
        let block = &mut self.buffers.slot(0)[..request.length_bytes as usize];
        raw(match request.way {
            Way::Read => preadv2(&self.fd, &mut [IoSliceMut::new(block)], offset, flags),
            Way::Write => pwritev2(&self.fd, &[IoSlice::new(block)], offset, flags),
            Way::Trim => self.trim.apply(&self.fd, request).map(|()| 0),
        })
    }
}

/// What is left of a read or write by one system call.
pub(super) fn transfer_rest(
    fd: &OwnedFd,
    buffers: &mut Buffers,
    slot: u32,
    request: Request,
    done: usize,
) -> i32 {
    transfer(fd, buffers, Trim::PunchHole, slot, request, done)
}

/// One operation by one system call.
#[inline(always)]
pub(super) fn transfer(
    fd: &OwnedFd,
    buffers: &mut Buffers,
    trim: Trim,
    slot: u32,
    request: Request,
    done: usize,
) -> i32 {
    let offset = request.offset_bytes + done as u64;
    let whole = request.length_bytes as usize;
    raw(match request.way {
        Way::Read => pread(fd, &mut buffers.slot(slot)[done..whole], offset),
        Way::Write => pwrite(fd, &buffers.slot(slot)[done..whole], offset),
        Way::Trim => trim.apply(fd, request).map(|()| 0),
    })
}

/// `fsync` or `fdatasync`.
pub(super) fn sync_file(fd: &OwnedFd, kind: SyncKind) -> Result<(), Fault> {
    let (operation, result) = match kind {
        SyncKind::Fsync => (Operation::Fsync, fsync(fd)),
        SyncKind::Fdatasync => (Operation::Fdatasync, fdatasync(fd)),
    };
    result.map_err(|errno| Fault::new(operation, errno))
}
