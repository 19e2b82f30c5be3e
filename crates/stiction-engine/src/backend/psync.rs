//! `pread` and `pwrite`, one operation at a time.

use std::io::{IoSlice, IoSliceMut};

use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
use stiction_core::{CallFlags, SyncKind};

use super::{Backend, Remarks, raw};
use crate::EngineError;
use crate::failure::Fault;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::task::Task;

pub(crate) struct Psync {
    files: FileTable,
    call_flags: ReadWriteFlags,
    buffers: Buffers,
    queued: Option<Request>,
    result: i32,
}

impl Backend for Psync {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        Ok(Self {
            files: FileTable::prepare(task)?,
            call_flags: call_flags(task.job.call_flags),
            buffers,
            queued: None,
            result: 0,
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
                transfer(&self.files, &mut self.buffers, 0, request, 0)
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
        transfer(&self.files, &mut self.buffers, slot, request, done)
    }

    fn sync(&mut self, file: u32, kind: SyncKind) -> Result<(), Fault> {
        self.files.sync(file, kind)
    }

    fn open(&mut self, task: &Task<'_>, file: u32) -> Result<(), Fault> {
        self.files.open(task, file)
    }

    fn is_open(&self, file: u32) -> bool {
        self.files.is_open(file)
    }

    fn close(&mut self, file: u32) {
        self.files.close(file);
    }

    fn remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.files.remarks)
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
        let fd = self.files.fd(request.file);
        let block = &mut self.buffers.slot(0)[..request.length_bytes as usize];
        raw(match request.way {
            Way::Read => preadv2(fd, &mut [IoSliceMut::new(block)], offset, flags),
            Way::Write => pwritev2(fd, &[IoSlice::new(block)], offset, flags),
            Way::Trim => (self.files.trim(request.file).apply(fd, request)).map(|()| 0),
        })
    }
}

/// One operation by one system call.
#[inline(always)]
pub(super) fn transfer(
    files: &FileTable,
    buffers: &mut Buffers,
    slot: u32,
    request: Request,
    done: usize,
) -> i32 {
    let offset = request.offset_bytes + done as u64;
    let whole = request.length_bytes as usize;
    let fd = files.fd(request.file);
    raw(match request.way {
        Way::Read => pread(fd, &mut buffers.slot(slot)[done..whole], offset),
        Way::Write => pwrite(fd, &buffers.slot(slot)[done..whole], offset),
        Way::Trim => files.trim(request.file).apply(fd, request).map(|()| 0),
    })
}
