//! `pread` and `pwrite`, one operation at a time.

use std::os::fd::OwnedFd;

use rustix::fs::{fdatasync, fsync};
use rustix::io::{Errno, pread, pwrite};
use stiction_core::SyncKind;

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
        transfer(&self.fd, &mut self.buffers, self.trim, slot, request, done)
    }

    fn sync(&mut self, kind: SyncKind) -> Result<(), Fault> {
        sync_file(&self.fd, kind)
    }

    fn remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.remarks)
    }
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
