//! `pread` and `pwrite`, one operation at a time.

use std::io::{IoSlice, IoSliceMut};

use rustix::io::{ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
use stiction_core::CallFlags;

use super::raw;
use super::single::Call;
use crate::EngineError;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::task::Task;

pub(crate) struct Psync {
    flags: ReadWriteFlags,
}

impl Call for Psync {
    fn prepare(task: &Task<'_>, _files: &FileTable) -> Result<Self, EngineError> {
        Ok(Self {
            flags: call_flags(task.job.call_flags),
        })
    }

    #[inline(always)]
    fn first(&mut self, files: &FileTable, buffers: &mut Buffers, request: &Request) -> i32 {
        if self.flags.is_empty() {
            transfer(files, buffers, 0, request, 0)
        } else {
            self.flagged(files, buffers, request)
        }
    }

    fn rest(
        &mut self,
        files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        done: usize,
    ) -> i32 {
        transfer(files, buffers, 0, request, done)
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
    fn flagged(&self, files: &FileTable, buffers: &mut Buffers, request: &Request) -> i32 {
        let (offset, flags) = (request.offset_bytes, self.flags);
        let fd = files.fd(request.file);
        let block = &mut buffers.of(0, request.way)[..request.length_bytes as usize];
        raw(match request.way {
            Way::Read => preadv2(fd, &mut [IoSliceMut::new(block)], offset, flags),
            Way::Write => pwritev2(fd, &[IoSlice::new(block)], offset, flags),
            Way::Trim => files.trim(request.file).apply(fd, request).map(|()| 0),
        })
    }
}

/// One operation by one system call.
#[inline(always)]
pub(super) fn transfer(
    files: &FileTable,
    buffers: &mut Buffers,
    slot: u32,
    request: &Request,
    done: usize,
) -> i32 {
    let offset = request.offset_bytes + done as u64;
    let whole = request.length_bytes as usize;
    let fd = files.fd(request.file);
    raw(match request.way {
        Way::Read => pread(fd, &mut buffers.of(slot, Way::Read)[done..whole], offset),
        Way::Write => pwrite(fd, &buffers.of(slot, Way::Write)[done..whole], offset),
        Way::Trim => files.trim(request.file).apply(fd, request).map(|()| 0),
    })
}
