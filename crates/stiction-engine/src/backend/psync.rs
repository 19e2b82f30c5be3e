//! `pread` and `pwrite`, one operation at a time.

use std::os::fd::OwnedFd;

use rustix::fs::{fdatasync, fsync};
use rustix::io::{Errno, pread, pwrite};
use stiction_core::{Action, SyncKind};

use super::{Backend, Remarks, raw};
use crate::EngineError;
use crate::failure::{Fault, Operation};
use crate::files::{OpenFile, open_target};
use crate::memory::Buffers;
use crate::task::Task;

pub(crate) struct Psync {
    fd: OwnedFd,
    action: Action,
    buffers: Buffers,
    queued: Option<u64>,
    result: i32,
    remarks: Remarks,
}

impl Backend for Psync {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let OpenFile { fd, remarks } = open_target(task.job, task.targets, task.worker)?;
        Ok(Self {
            fd,
            action: task.job.action,
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
    fn queue(&mut self, _slot: u32, offset_bytes: u64) {
        self.queued = Some(offset_bytes);
    }

    #[inline(always)]
    fn commit(&mut self, _wait_for: u32) -> Result<(), Errno> {
        if let Some(offset_bytes) = self.queued {
            self.result = self.transfer(0, offset_bytes, 0);
        }
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.queued.take().map(|_| (0, self.result))
    }

    #[inline(always)]
    fn transfer(&mut self, slot: u32, offset_bytes: u64, done: usize) -> i32 {
        let block = &mut self.buffers.slot(slot)[done..];
        let offset = offset_bytes + done as u64;
        raw(match self.action {
            Action::Read => pread(&self.fd, block, offset),
            Action::Write => pwrite(&self.fd, block, offset),
        })
    }

    fn sync(&mut self, kind: SyncKind) -> Result<(), Fault> {
        sync_file(&self.fd, kind)
    }

    fn remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.remarks)
    }
}

/// `fsync` or `fdatasync`.
pub(super) fn sync_file(fd: &OwnedFd, kind: SyncKind) -> Result<(), Fault> {
    let (operation, result) = match kind {
        SyncKind::Fsync => (Operation::Fsync, fsync(fd)),
        SyncKind::Fdatasync => (Operation::Fdatasync, fdatasync(fd)),
    };
    result.map_err(|errno| Fault::new(operation, errno))
}
