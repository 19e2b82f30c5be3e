//! The writes of one test and the call that makes them durable.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use stiction_core::{Direction, WriteSync};
use stiction_engine::{Cause, IoFailure, Operation, Stopwatch, synced_writes, write_file_back};

use super::options::{SyncMethod, SyncTest};
use crate::open_file::PageBuffer;

/// Does the test once, untimed: says whether `O_DIRECT` was granted where the method
/// wants it.
pub(super) fn trial_write(test: SyncTest, path: &Path) -> Result<Option<bool>, IoFailure> {
    let once = |direct| {
        let mut target = Target::open(test, path, direct)?;
        target.write(|_| {})?;
        target.sync()
    };
    match (
        wants_direct(test.method),
        wants_direct(test.method).then(|| once(true)),
    ) {
        (true, Some(Ok(()))) => Ok(Some(true)),
        (true, _) => once(false).map(|()| Some(false)),
        (false, _) => once(false).map(|()| None),
    }
}

/// pg_test_fsync goes past the cache where the file is opened for synchronous writes.
fn wants_direct(method: SyncMethod) -> bool {
    matches!(method, SyncMethod::OpenDatasync | SyncMethod::OpenSync)
}

/// What the file is opened with, so that each of its writes is durable.
fn write_sync(method: SyncMethod) -> WriteSync {
    match method {
        SyncMethod::OpenDatasync => WriteSync::DataSync,
        SyncMethod::OpenSync => WriteSync::Sync,
        _ => WriteSync::None,
    }
}

/// Does the test until its time is up.
pub(super) fn write_and_sync(
    test: SyncTest,
    path: &Path,
    direct: bool,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    let bytes = test.write_bytes * u64::from(test.writes);
    let mut target = Target::open(test, path, direct)?;
    loop {
        let begun = stopwatch.now();
        let mut moment = begun;
        if reopens(test.method) {
            target.reopen()?;
            moment = stopwatch.record(Direction::Open, moment, 0);
        }
        target.write(|written| {
            moment = stopwatch.record(Direction::Write, moment, written);
        })?;
        if test.method == SyncMethod::SyncByAnother {
            target.reopen()?;
            moment = stopwatch.record(Direction::Open, moment, 0);
        }
        if syncs_after(test.method) {
            target.sync()?;
            moment = stopwatch.record(Direction::Sync, moment, 0);
        }
        if test.method == SyncMethod::SyncBeforeClose {
            target.reopen()?;
            stopwatch.record(Direction::Open, moment, 0);
        }
        stopwatch.record(Direction::Whole, begun, bytes);
        if stopwatch.is_over() {
            return Ok(());
        }
    }
}

/// Both methods open and close twice, so that they differ in the descriptor alone.
fn reopens(method: SyncMethod) -> bool {
    matches!(
        method,
        SyncMethod::SyncBeforeClose | SyncMethod::SyncByAnother
    )
}

/// Whether a call of its own makes the writes durable.
fn syncs_after(method: SyncMethod) -> bool {
    use SyncMethod as M;
    matches!(
        method,
        M::Fdatasync
            | M::Fsync
            | M::Syncfs
            | M::SyncFileRange
            | M::SyncBeforeClose
            | M::SyncByAnother
    )
}

/// The open file of a test, and what is written to it.
struct Target<'a> {
    test: SyncTest,
    path: &'a Path,
    handle: OwnedFd,
    buffer: PageBuffer,
}

impl<'a> Target<'a> {
    fn open(test: SyncTest, path: &'a Path, direct: bool) -> Result<Self, IoFailure> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | synced_writes(write_sync(test.method));
        flags.set(OFlags::DIRECT, direct);
        let length = usize::try_from(test.write_bytes).unwrap_or(usize::MAX);
        let mut buffer = PageBuffer::new(length);
        for (byte, number) in buffer.bytes().iter_mut().zip(0_u32..) {
            // Multiplied by a prime near 2^32 / phi: no pattern of a few bytes.
            *byte = (number.wrapping_mul(2_654_435_761) >> 24) as u8;
        }
        Ok(Self {
            test,
            path,
            handle: open(path, flags)?,
            buffer,
        })
    }

    fn reopen(&mut self) -> Result<(), IoFailure> {
        self.handle = open(self.path, OFlags::RDWR | OFlags::CLOEXEC)?;
        Ok(())
    }

    /// Writes the blocks from the begin of the file, and tells `after` each how many
    /// bytes that were.
    fn write(&mut self, mut after: impl FnMut(u64)) -> Result<(), IoFailure> {
        let flags = match self.test.method {
            SyncMethod::RwfDsync => ReadWriteFlags::DSYNC,
            SyncMethod::RwfSync => ReadWriteFlags::SYNC,
            _ => ReadWriteFlags::empty(),
        };
        for number in 0..u64::from(self.test.writes) {
            let offset = number * self.test.write_bytes;
            let bytes = self.buffer.bytes();
            let written = if flags.is_empty() {
                rustix::io::pwrite(&self.handle, bytes, offset)
            } else {
                rustix::io::pwritev2(&self.handle, &[IoSlice::new(bytes)], offset, flags)
            };
            let written = written
                .map_err(|errno| failure(self.path, Operation::Write, Some(offset), errno))?;
            if written < bytes.len() {
                return Err(IoFailure {
                    cause: Cause::Short {
                        got: written as u64,
                        wanted: self.test.write_bytes,
                    },
                    ..failure(self.path, Operation::Write, Some(offset), Errno::IO)
                });
            }
            after(written as u64);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), IoFailure> {
        let (operation, result) = match self.test.method {
            SyncMethod::Fdatasync => (Operation::Fdatasync, rustix::fs::fdatasync(&self.handle)),
            SyncMethod::SyncFileRange => {
                return write_file_back(&self.handle).map_err(|cause| IoFailure {
                    cause,
                    ..failure(self.path, Operation::WriteBack, None, Errno::IO)
                });
            }
            SyncMethod::Syncfs => (Operation::Fsync, rustix::fs::syncfs(&self.handle)),
            method if syncs_after(method) => (Operation::Fsync, rustix::fs::fsync(&self.handle)),
            _ => return Ok(()),
        };
        result.map_err(|errno| failure(self.path, operation, None, errno))
    }
}

fn open(path: &Path, flags: OFlags) -> Result<OwnedFd, IoFailure> {
    rustix::fs::openat(CWD, path, flags, Mode::empty())
        .map_err(|errno| failure(path, Operation::Open, None, errno))
}

fn failure(
    path: &Path,
    operation: Operation,
    offset_bytes: Option<u64>,
    errno: Errno,
) -> IoFailure {
    IoFailure {
        worker: 0,
        operation,
        path: path.to_owned(),
        offset_bytes,
        cause: Cause::Errno(errno.raw_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of `O_SYNC` and `O_DSYNC` with which the kernel has the file open.
    fn in_force(method: SyncMethod) -> i32 {
        let folder = testkit::scratch_folder();
        let path = folder.path().join("f");
        std::fs::write(&path, [0; 8192]).unwrap();
        let test = SyncTest {
            method,
            writes: 1,
            write_bytes: 8192,
        };
        let target = Target::open(test, &path, false).unwrap();
        let flags = rustix::fs::fcntl_getfl(&target.handle).unwrap();
        flags.bits().cast_signed() & libc::O_SYNC
    }

    #[test]
    fn a_file_is_open_as_its_method_says() {
        assert_eq!(in_force(SyncMethod::OpenDatasync), libc::O_DSYNC);
        assert_eq!(in_force(SyncMethod::OpenSync), libc::O_SYNC);
        for method in [
            SyncMethod::Unsynced,
            SyncMethod::Fdatasync,
            SyncMethod::RwfDsync,
        ] {
            assert_eq!(in_force(method), 0);
        }
    }
}
