//! Backends that do one operation at a time, in a call that returns when it is done.

use rustix::io::Errno;
use stiction_core::SyncKind;

use super::Backend;
use crate::EngineError;
use crate::failure::Fault;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::Request;
use crate::slots::OneSlot;
use crate::task::Task;

/// What does an operation.
pub(crate) trait Call: Sized {
    /// Makes ready what the call needs beside the worker's files.
    ///
    /// # Errors
    /// When it cannot be had.
    fn prepare(task: &Task<'_>, files: &FileTable) -> Result<Self, EngineError>;

    /// Does an operation; the result is as in [`Backend::reap`].
    ///
    /// By reference, so that each field is read as it was just written: a copy of the
    /// whole would have to wait until all of it has reached the cache.
    #[inline(always)]
    fn first(&mut self, files: &FileTable, buffers: &mut Buffers, request: &Request) -> i32 {
        self.rest(files, buffers, request, 0)
    }

    /// Does what is left of an operation from its byte `done` on, as
    /// [`Backend::transfer`].
    fn rest(
        &mut self,
        files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        done: usize,
    ) -> i32;

    /// As [`Backend::sync`].
    ///
    /// # Errors
    /// With the call that failed.
    fn sync(&mut self, files: &FileTable, file: u32, kind: SyncKind) -> Result<(), Fault> {
        files.sync(file, kind)
    }

    /// Makes ready for a file that was opened.
    ///
    /// # Errors
    /// With the call that failed.
    fn opened(&mut self, task: &Task<'_>, files: &FileTable, file: u32) -> Result<(), Fault> {
        let _nothing_is_kept_of_it = (task, files, file);
        Ok(())
    }

    /// Lets go of a file that is about to be closed.
    fn closing(&mut self, file: u32) {
        let _nothing_is_kept_of_it = file;
    }
}

/// A call on a worker's files, with the one buffer it needs.
pub(crate) struct Single<C> {
    /// What it refers to of the files goes before they are closed.
    call: C,
    files: FileTable,
    buffers: Buffers,
    queued: Option<Request>,
    result: i32,
}

impl<C: Call> Backend for Single<C> {
    type Slots = OneSlot;

    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let files = FileTable::prepare(task)?;
        Ok(Self {
            call: C::prepare(task, &files)?,
            files,
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
        if let Some(request) = &self.queued {
            self.result = self.call.first(&self.files, &mut self.buffers, request);
        }
        Ok(())
    }

    #[inline(always)]
    fn is_immediate(&self) -> bool {
        true
    }

    #[inline(always)]
    fn perform(&mut self, request: &Request) -> Result<i32, Errno> {
        Ok((self.call).first(&self.files, &mut self.buffers, request))
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.queued.take().map(|_| (0, self.result))
    }

    fn transfer(&mut self, _slot: u32, request: Request, done: usize) -> i32 {
        (self.call).rest(&self.files, &mut self.buffers, &request, done)
    }

    fn files(&mut self) -> Option<&mut FileTable> {
        Some(&mut self.files)
    }

    fn sync(&mut self, file: u32, kind: SyncKind) -> Result<(), Fault> {
        self.call.sync(&self.files, file, kind)
    }

    fn open(&mut self, task: &Task<'_>, file: u32) -> Result<(), Fault> {
        self.files.open(task, file)?;
        self.call.opened(task, &self.files, file)
    }

    fn close(&mut self, file: u32) {
        self.call.closing(file);
        self.files.close(file);
    }
}
