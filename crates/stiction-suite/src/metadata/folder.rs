//! A directory that is held open, and timed calls on what is in it.
//!
//! Names are looked up from the descriptor of the directory, so the price of a call is
//! that of one name and not of the path that leads there.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use stiction_core::Direction;
use stiction_engine::{Cause, IoFailure, Operation, Stopwatch};

/// A file that is going to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    /// Bytes written to it.
    pub(crate) bytes: u64,
    /// What they are, a piece at a time; not empty.
    pub(crate) piece: &'a [u8],
    /// What is synced before it is closed.
    pub(crate) sync: MadeSync,
}

/// What is synced of a file that was made, before it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MadeSync {
    /// Nothing.
    Nothing,
    /// The file.
    File,
    /// The file, then its directory.
    FileAndDirectory,
}

/// A second name for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// `link`.
    Hard,
    /// `symlink`.
    Symbolic,
}

/// Everything that a [`Folder`] records beside [`Direction::Whole`].
pub(crate) fn directions() -> &'static [Direction] {
    &[
        Direction::Create,
        Direction::Open,
        Direction::Read,
        Direction::Write,
        Direction::Sync,
        Direction::Stat,
        Direction::List,
        Direction::Unlink,
        Direction::Link,
        Direction::MakeDirectory,
        Direction::RemoveDirectory,
    ]
}

/// A directory that is held open.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
    worker: u32,
}

impl Folder {
    /// Opens the directory at `path` for `worker`.
    pub(crate) fn open(path: &Path, worker: u32) -> Result<Self, IoFailure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| failure(worker, Operation::Open, path.to_owned(), errno))?;
        Ok(Self {
            handle,
            path: path.to_owned(),
            worker,
        })
    }

    fn failed(&self, operation: Operation, name: &OsStr, errno: Errno) -> IoFailure {
        failure(self.worker, operation, self.path.join(name), errno)
    }

    /// Makes the directory `name` in this one and opens it.
    pub(crate) fn make_directory(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
    ) -> Result<Self, IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::mkdirat(&self.handle, name, Mode::RWXU)
            .map_err(|errno| self.failed(Operation::MakeDirectory, name, errno))?;
        stopwatch.record(Direction::MakeDirectory, begun, 0);
        Self::open(&self.path.join(name), self.worker)
    }

    /// Removes the empty directory `name`.
    pub(crate) fn remove_directory(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
            .map_err(|errno| self.failed(Operation::RemoveDirectory, name, errno))?;
        stopwatch.record(Direction::RemoveDirectory, begun, 0);
        Ok(())
    }

    /// Makes the file `name`, which must not exist, fills it and closes it.
    pub(crate) fn create(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        made: Made<'_>,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| self.failed(Operation::Create, name, errno))?;
        let mut moment = stopwatch.record(Direction::Create, begun, 0);
        let mut left = made.bytes;
        while left > 0 {
            let length = left.min(made.piece.len() as u64);
            let written = rustix::io::write(&file, &made.piece[..length as usize])
                .map_err(|errno| self.failed(Operation::Write, name, errno))?;
            moment = stopwatch.record(Direction::Write, moment, written as u64);
            left -= written as u64;
        }
        let handles: &[&OwnedFd] = match made.sync {
            MadeSync::Nothing => &[],
            MadeSync::File => &[&file],
            MadeSync::FileAndDirectory => &[&file, &self.handle],
        };
        for handle in handles {
            rustix::fs::fsync(handle)
                .map_err(|errno| self.failed(Operation::Fsync, name, errno))?;
            moment = stopwatch.record(Direction::Sync, moment, 0);
        }
        drop(file);
        stopwatch.record(Direction::Whole, begun, made.bytes);
        Ok(())
    }

    /// Makes `name` a second name of the file at `original`.
    pub(crate) fn link(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        original: &Path,
        kind: LinkKind,
        sync: bool,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        match kind {
            LinkKind::Hard => {
                rustix::fs::linkat(CWD, original, &self.handle, name, AtFlags::empty())
            }
            LinkKind::Symbolic => rustix::fs::symlinkat(original, &self.handle, name),
        }
        .map_err(|errno| self.failed(Operation::Link, name, errno))?;
        stopwatch.record(Direction::Link, begun, 0);
        if sync {
            self.sync(stopwatch)?;
        }
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    /// Path of `name`.
    pub(crate) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// Looks up `name`.
    pub(crate) fn stat(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::statat(&self.handle, name, AtFlags::empty())
            .map_err(|errno| self.failed(Operation::Stat, name, errno))?;
        stopwatch.record(Direction::Stat, begun, 0);
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    /// Opens the file `name` and closes it.
    pub(crate) fn open_and_close(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        let file = self.opened(name, OFlags::RDONLY)?;
        stopwatch.record(Direction::Open, begun, 0);
        drop(file);
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    /// Opens the file `name`, syncs and closes it.
    pub(crate) fn open_and_sync(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        let file = self.opened(name, OFlags::RDWR)?;
        let opened = stopwatch.record(Direction::Open, begun, 0);
        rustix::fs::fsync(&file).map_err(|errno| self.failed(Operation::Fsync, name, errno))?;
        stopwatch.record(Direction::Sync, opened, 0);
        drop(file);
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    fn opened(&self, name: &OsStr, way: OFlags) -> Result<OwnedFd, IoFailure> {
        rustix::fs::openat(&self.handle, name, way | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| self.failed(Operation::Open, name, errno))
    }

    /// Gives `name` the name `to` in the same directory.
    pub(crate) fn rename(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        to: &OsStr,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::renameat(&self.handle, name, &self.handle, to)
            .map_err(|errno| self.failed(Operation::Rename, name, errno))?;
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    /// Looks up `name`, and reads all of it if it is a file with anything in it.
    pub(crate) fn look_at(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        buffer: &mut [u8],
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        let seen = rustix::fs::statat(&self.handle, name, AtFlags::empty())
            .map_err(|errno| self.failed(Operation::Stat, name, errno))?;
        let mut moment = stopwatch.record(Direction::Stat, begun, 0);
        let mut bytes = 0;
        if seen.st_size > 0 && FileType::from_raw_mode(seen.st_mode) == FileType::RegularFile {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&self.handle, name, flags, Mode::empty())
                .map_err(|errno| self.failed(Operation::Open, name, errno))?;
            moment = stopwatch.record(Direction::Open, moment, 0);
            while bytes < seen.st_size.cast_unsigned() {
                let read = rustix::io::read(&file, &mut *buffer)
                    .map_err(|errno| self.failed(Operation::Read, name, errno))?;
                moment = stopwatch.record(Direction::Read, moment, read as u64);
                if read == 0 {
                    break;
                }
                bytes += read as u64;
            }
        }
        stopwatch.record(Direction::Whole, begun, bytes);
        Ok(())
    }

    /// Removes `name`.
    pub(crate) fn unlink(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        sync: bool,
    ) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
            .map_err(|errno| self.failed(Operation::Unlink, name, errno))?;
        stopwatch.record(Direction::Unlink, begun, 0);
        if sync {
            self.sync(stopwatch)?;
        }
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    /// Names in the directory, in the order in which the filesystem gives them; one
    /// listing is one operation.
    pub(crate) fn list(
        &self,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<Vec<std::ffi::OsString>, IoFailure> {
        use std::os::unix::ffi::OsStrExt as _;
        let none = OsStr::new("");
        let begun = stopwatch.now();
        let entries = rustix::fs::Dir::read_from(&self.handle)
            .map_err(|errno| self.failed(Operation::List, none, errno))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|errno| self.failed(Operation::List, none, errno))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        stopwatch.record(Direction::List, begun, 0);
        Ok(names)
    }

    /// Makes what happened in the directory durable.
    pub(crate) fn sync(&self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::fsync(&self.handle)
            .map_err(|errno| self.failed(Operation::Fsync, OsStr::new(""), errno))?;
        stopwatch.record(Direction::Sync, begun, 0);
        Ok(())
    }

    /// Makes everything on the filesystem durable, and nothing of other filesystems.
    pub(crate) fn sync_filesystem(&self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        let begun = stopwatch.now();
        rustix::fs::syncfs(&self.handle)
            .map_err(|errno| self.failed(Operation::Fsync, OsStr::new(""), errno))?;
        stopwatch.record(Direction::Sync, begun, 0);
        Ok(())
    }
}

fn failure(worker: u32, operation: Operation, path: PathBuf, errno: Errno) -> IoFailure {
    IoFailure {
        worker,
        operation,
        path,
        offset_bytes: None,
        cause: Cause::Errno(errno.raw_os_error()),
    }
}
