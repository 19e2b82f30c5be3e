//! Blocks through a pipe: spliced between the file and it, without a copy between
//! the two, and copied between it and the buffer, or passed on into nothing.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::{Errno, read};
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice, vmsplice,
};
use stiction_core::SyncKind;

use super::{Backend, Remarks, raw};
use crate::EngineError;
use crate::failure::{Fault, Operation};
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::task::Task;

/// What an ordinary user's pipe may hold at most (fs.pipe-max-size).
const PIPE_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Splice {
    files: FileTable,
    pipe_out: OwnedFd,
    pipe_in: OwnedFd,
    pipe_bytes: usize,
    /// Where data goes that nobody wants.
    nowhere: Option<File>,
    buffers: Buffers,
    queued: Option<Request>,
    result: i32,
}

impl Splice {
    fn pipe(task: &Task<'_>) -> Result<(OwnedFd, OwnedFd, usize), Errno> {
        let (pipe_out, pipe_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let wanted = task.job.operation_bytes_max() as usize;
        let pipe_bytes = fcntl_setpipe_size(&pipe_in, wanted.clamp(4096, PIPE_BYTES_MAX))?;
        Ok((pipe_out, pipe_in, pipe_bytes))
    }

    /// Moves as much as the pipe takes, from byte `done` of the block on.
    fn part(&mut self, slot: u32, request: Request, done: usize) -> Result<usize, Errno> {
        let whole = request.length_bytes as usize;
        let end = whole.min(done + self.pipe_bytes);
        let offset = request.offset_bytes + done as u64;
        let file = request.file;
        match request.way {
            Way::Read => self.read_part(file, slot, done..end, offset),
            Way::Write => self.write_part(file, slot, done..end, offset),
            // Such jobs are refused.
            Way::Trim => Err(Errno::OPNOTSUPP),
        }
    }

    fn read_part(
        &mut self,
        file: u32,
        slot: u32,
        range: std::ops::Range<usize>,
        mut offset: u64,
    ) -> Result<usize, Errno> {
        let flags = SpliceFlags::MOVE;
        let moved = splice(
            self.files.fd(file),
            Some(&mut offset),
            &self.pipe_in,
            None,
            range.len(),
            flags,
        )?;
        let mut taken = 0;
        if let Some(nowhere) = &self.nowhere {
            while taken < moved {
                match splice(&self.pipe_out, None, nowhere, None, moved - taken, flags) {
                    Ok(bytes) => taken += bytes,
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno),
                }
            }
            return Ok(moved);
        }
        let block = &mut self.buffers.slot(slot)[range][..moved];
        while taken < moved {
            match read(&self.pipe_out, &mut block[taken..]) {
                Ok(bytes) => taken += bytes,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(moved)
    }

    fn write_part(
        &mut self,
        file: u32,
        slot: u32,
        range: std::ops::Range<usize>,
        mut offset: u64,
    ) -> Result<usize, Errno> {
        let block = [IoSliceRaw::from_slice(&self.buffers.slot(slot)[range])];
        // SAFETY: the pipe refers to pages of the buffer until they were spliced on,
        // which is before this returns or, when that fails, before the worker does
        // anything else than end; without SPLICE_F_GIFT they stay ours.
        let given = unsafe { vmsplice(&self.pipe_in, &block, SpliceFlags::empty())? };
        let mut moved = 0;
        while moved < given {
            let left = given - moved;
            let flags = SpliceFlags::MOVE;
            match splice(
                &self.pipe_out,
                None,
                self.files.fd(file),
                Some(&mut offset),
                left,
                flags,
            ) {
                Ok(bytes) => moved += bytes,
                Err(Errno::INTR) => {}
                Err(errno) => {
                    self.empty_pipe(left)?;
                    return Err(errno);
                }
            }
        }
        Ok(moved)
    }

    /// Takes out what the next block must not begin with.
    fn empty_pipe(&self, mut left: usize) -> Result<(), Errno> {
        let mut scrap = [0; 4096];
        while left > 0 {
            let most = left.min(scrap.len());
            left -= read(&self.pipe_out, &mut scrap[..most])?.max(1);
        }
        Ok(())
    }

    /// A whole block in as many parts as the pipe needs; short only at the end of the
    /// file.
    fn block(&mut self, slot: u32, request: Request, mut done: usize) -> Result<usize, Errno> {
        let (first, whole) = (done, request.length_bytes as usize);
        while done < whole {
            match self.part(slot, request, done) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(_) if done > first => break,
                Err(errno) => return Err(errno),
            }
        }
        Ok(done - first)
    }
}

/// What takes the data of a job that leaves them where they are.
fn nowhere(task: &Task<'_>) -> Result<Option<File>, EngineError> {
    if !task.job.without_copy {
        return Ok(None);
    }
    let path = Path::new("/dev/null");
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => {
            let errno = error
                .raw_os_error()
                .map_or(Errno::IO, Errno::from_raw_os_error);
            Err(Fault::new(Operation::Open, errno)
                .of(task.worker, path)
                .into())
        }
    }
}

impl Backend for Splice {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let files = FileTable::prepare(task)?;
        let (pipe_out, pipe_in, pipe_bytes) =
            Self::pipe(task).map_err(|errno| Fault::new(Operation::Pipe, errno).of_task(task))?;
        let nowhere = nowhere(task)?;
        Ok(Self {
            files,
            nowhere,
            pipe_out,
            pipe_in,
            pipe_bytes,
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
            self.result = self.transfer(0, request, 0);
        }
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.queued.take().map(|_| (0, self.result))
    }

    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32 {
        raw(self.block(slot, request, done))
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
