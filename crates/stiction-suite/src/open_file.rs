//! A file that a routine holds open, and calls on it whose failures name it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use stiction_core::{Direction, SyncKind};
use stiction_engine::{Cause, IoFailure, Moment, Operation, Stopwatch};

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Reading what is there.
    Read,
    /// Reading and writing what is there.
    Update,
    /// Writing it anew; it is made, or emptied if it exists.
    Create,
}

/// A file that is held open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    handle: OwnedFd,
    path: PathBuf,
    worker: u32,
}

impl OpenFile {
    /// Opens the file at `path` for `worker`, with `O_DIRECT` if `direct`.
    pub(crate) fn open(
        path: &Path,
        worker: u32,
        used: Use,
        direct: bool,
    ) -> Result<Self, IoFailure> {
        let mut flags = OFlags::CLOEXEC
            | match used {
                Use::Read => OFlags::RDONLY,
                Use::Update => OFlags::RDWR,
                Use::Create => OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC,
            };
        flags.set(OFlags::DIRECT, direct);
        let handle = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR);
        let path = path.to_owned();
        match handle {
            Ok(handle) => Ok(Self {
                handle,
                path,
                worker,
            }),
            Err(errno) => Err(IoFailure {
                worker,
                operation: Operation::Open,
                path,
                offset_bytes: None,
                cause: Cause::Errno(errno.raw_os_error()),
            }),
        }
    }

    fn failed(
        &self,
        operation: Operation,
        offset_bytes: Option<u64>,
        cause: impl Into<Cause>,
    ) -> IoFailure {
        IoFailure {
            worker: self.worker,
            operation,
            path: self.path.clone(),
            offset_bytes,
            cause: cause.into(),
        }
    }

    /// Reads at `offset_bytes` until the buffer is full or the file has ended; returns
    /// how many bytes there were.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset_bytes: u64) -> Result<usize, IoFailure> {
        let mut got = 0;
        while got < buffer.len() {
            let at = offset_bytes + got as u64;
            match rustix::io::pread(&self.handle, &mut buffer[got..], at) {
                Ok(0) => break,
                Ok(read) => got += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Operation::Read, Some(at), errno)),
            }
        }
        Ok(got)
    }

    /// Writes all of `data` at `offset_bytes`.
    pub(crate) fn write_at(&self, data: &[u8], offset_bytes: u64) -> Result<(), IoFailure> {
        let mut put = 0;
        while put < data.len() {
            let at = offset_bytes + put as u64;
            match rustix::io::pwrite(&self.handle, &data[put..], at) {
                Ok(0) => {
                    let cause = Cause::Short {
                        got: put as u64,
                        wanted: data.len() as u64,
                    };
                    return Err(self.failed(Operation::Write, Some(at), cause));
                }
                Ok(written) => put += written,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(Operation::Write, Some(at), errno)),
            }
        }
        Ok(())
    }

    /// Makes what was written durable.
    pub(crate) fn flush(&self, kind: SyncKind) -> Result<(), IoFailure> {
        let (result, operation) = match kind {
            SyncKind::Fsync => (rustix::fs::fsync(&self.handle), Operation::Fsync),
            SyncKind::Fdatasync => (rustix::fs::fdatasync(&self.handle), Operation::Fdatasync),
        };
        result.map_err(|errno| self.failed(operation, None, errno))
    }

    /// Gives the blocks of a range back; the file stays as long as it is.
    pub(crate) fn punch(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), IoFailure> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.handle, flags, offset_bytes, length_bytes)
            .map_err(|errno| self.failed(Operation::Trim, Some(offset_bytes), errno))
    }

    /// The failure of a read that found less than was to be there.
    pub(crate) fn too_short(&self, offset_bytes: u64, got: usize, wanted: usize) -> IoFailure {
        let cause = Cause::Short {
            got: got as u64,
            wanted: wanted as u64,
        };
        self.failed(Operation::Read, Some(offset_bytes), cause)
    }

    /// Makes what was written durable, and records it.
    pub(crate) fn sync(&self, stopwatch: &mut Stopwatch<'_>) -> Result<Moment, IoFailure> {
        let begun = stopwatch.now();
        self.flush(SyncKind::Fsync)?;
        Ok(stopwatch.record(Direction::Sync, begun, 0))
    }
}

/// Memory that begins on a page, as `O_DIRECT` wants it.
#[derive(Debug)]
pub(crate) struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl PageBuffer {
    /// `length` zeros.
    pub(crate) fn new(length: usize) -> Self {
        const PAGE: usize = 4096;
        let memory = vec![0u8; length + PAGE];
        let start = memory.as_ptr().addr().next_multiple_of(PAGE) - memory.as_ptr().addr();
        Self {
            memory,
            start,
            length,
        }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_buffer_begins_on_a_page() {
        for length in [1, 512, 8192] {
            let mut buffer = PageBuffer::new(length);
            assert_eq!(buffer.bytes().as_ptr().addr() % 4096, 0);
            assert_eq!(buffer.bytes().len(), length);
        }
    }
}
