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

use super::raw;
use super::single::Call;
use crate::EngineError;
use crate::failure::{Fault, Operation, errno_of};
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::task::Task;

/// What an ordinary user's pipe may hold at most (fs.pipe-max-size).
const PIPE_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Splice {
    pipe_out: OwnedFd,
    pipe_in: OwnedFd,
    pipe_bytes: usize,
    /// Where data goes that nobody wants.
    nowhere: Option<File>,
}

impl Splice {
    fn pipe(task: &Task<'_>) -> Result<(OwnedFd, OwnedFd, usize), Errno> {
        let (pipe_out, pipe_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let wanted = task.job.operation_bytes_max() as usize;
        let pipe_bytes = fcntl_setpipe_size(&pipe_in, wanted.clamp(4096, PIPE_BYTES_MAX))?;
        Ok((pipe_out, pipe_in, pipe_bytes))
    }

    /// Moves as much as the pipe takes, from byte `done` of the block on.
    fn part(
        &self,
        files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        done: usize,
    ) -> Result<usize, Errno> {
        let whole = request.length_bytes as usize;
        let end = whole.min(done + self.pipe_bytes);
        let offset = request.offset_bytes + done as u64;
        let fd = files.fd(request.file);
        let block = &mut buffers.of(0, request.way)[done..end];
        match request.way {
            Way::Read => self.read_part(fd, block, offset),
            Way::Write => self.write_part(fd, block, offset),
            // Such jobs are refused.
            Way::Trim => Err(Errno::OPNOTSUPP),
        }
    }

    fn read_part(&self, fd: &OwnedFd, block: &mut [u8], mut offset: u64) -> Result<usize, Errno> {
        let flags = SpliceFlags::MOVE;
        let moved = splice(
            fd,
            Some(&mut offset),
            &self.pipe_in,
            None,
            block.len(),
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
        while taken < moved {
            match read(&self.pipe_out, &mut block[taken..moved]) {
                Ok(bytes) => taken += bytes,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(moved)
    }

    fn write_part(&self, fd: &OwnedFd, block: &[u8], mut offset: u64) -> Result<usize, Errno> {
        let block = [IoSliceRaw::from_slice(block)];
        // SAFETY: the pipe refers to pages of the buffer until they were spliced on,
        // which is before this returns or, when that fails, before the worker does
        // anything else than end; without SPLICE_F_GIFT they stay ours.
        let given = unsafe { vmsplice(&self.pipe_in, &block, SpliceFlags::empty())? };
        let mut moved = 0;
        while moved < given {
            let left = given - moved;
            let flags = SpliceFlags::MOVE;
            match splice(&self.pipe_out, None, fd, Some(&mut offset), left, flags) {
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
    fn block(
        &self,
        files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        mut done: usize,
    ) -> Result<usize, Errno> {
        let (first, whole) = (done, request.length_bytes as usize);
        while done < whole {
            match self.part(files, buffers, request, done) {
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
        Err(error) => Err(Fault::new(Operation::Open, errno_of(&error))
            .of(task.worker, path)
            .into()),
    }
}

impl Call for Splice {
    fn prepare(task: &Task<'_>, _files: &FileTable) -> Result<Self, EngineError> {
        let (pipe_out, pipe_in, pipe_bytes) =
            Self::pipe(task).map_err(|errno| Fault::new(Operation::Pipe, errno).of_task(task))?;
        Ok(Self {
            nowhere: nowhere(task)?,
            pipe_out,
            pipe_in,
            pipe_bytes,
        })
    }

    fn rest(
        &mut self,
        files: &FileTable,
        buffers: &mut Buffers,
        request: &Request,
        done: usize,
    ) -> i32 {
        raw(self.block(files, buffers, request, done))
    }
}
