//! Going through a tree: copying it, deleting it, and what it amounts to.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, fchmod, fstat, futimens,
    mkdirat, openat, readlinkat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use stiction_core::{Digest, Direction};
use stiction_engine::{Cause, IoFailure, Operation, Stopwatch};

use super::options::EntryOrder;

/// Everything that is recorded beside [`Direction::Whole`], a file copied or deleted.
pub(super) const DIRECTIONS: &[Direction] = &[
    Direction::Open,
    Direction::Create,
    Direction::Read,
    Direction::Write,
    Direction::List,
    Direction::Unlink,
    Direction::Link,
    Direction::MakeDirectory,
    Direction::RemoveDirectory,
];
/// Deepest nesting that is gone into, well below what our directories are removed to.
const DEPTH_MAX: usize = 200;
const BUFFER_BYTES: usize = 128 << 10;
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory that is held open, and its path for messages.
struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    fn open(path: &Path) -> Result<Self, IoFailure> {
        let handle = openat(CWD, path, FOLDER, Mode::empty())
            .map_err(|errno| failure(Operation::Open, path.to_owned(), errno))?;
        Ok(Self {
            handle,
            path: path.to_owned(),
        })
    }

    fn open_inside(&self, name: &OsStr) -> Result<Self, IoFailure> {
        let handle = openat(&self.handle, name, FOLDER, Mode::empty())
            .map_err(|errno| self.failed(Operation::Open, name, errno))?;
        Ok(Self {
            handle,
            path: self.path.join(name),
        })
    }

    fn failed(&self, operation: Operation, name: &OsStr, errno: Errno) -> IoFailure {
        failure(operation, self.path.join(name), errno)
    }

    fn entries(&self, order: EntryOrder) -> Result<Vec<Entry>, IoFailure> {
        let refused = |errno| self.failed(Operation::List, OsStr::new(""), errno);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some filesystems do not give the type with the name.
                FileType::Unknown => FileType::from_raw_mode(self.stat(&name)?.st_mode),
                known => known,
            };
            entries.push(Entry {
                name,
                kind,
                inode: entry.ino(),
            });
        }
        match order {
            EntryOrder::Directory => {}
            EntryOrder::Name => entries.sort_by(|one, other| one.name.cmp(&other.name)),
            EntryOrder::Inode => entries.sort_by_key(|entry| entry.inode),
        }
        Ok(entries)
    }

    fn stat(&self, name: &OsStr) -> Result<Stat, IoFailure> {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.failed(Operation::Stat, name, errno))
    }
}

struct Entry {
    name: OsString,
    kind: FileType,
    inode: u64,
}

fn failure(operation: Operation, path: PathBuf, errno: Errno) -> IoFailure {
    IoFailure {
        worker: 0,
        operation,
        path,
        offset_bytes: None,
        cause: Cause::Errno(errno.raw_os_error()),
    }
}

/// Copies the tree at `from` to `to`, which must not be there: directories, files and
/// symbolic links with their modes and times. Other kinds of files, and what is mounted
/// in the tree, are refused.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    order: EntryOrder,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    let source = Folder::open(from)?;
    let seen =
        fstat(&source.handle).map_err(|errno| failure(Operation::Stat, from.to_owned(), errno))?;
    mkdirat(CWD, to, Mode::RWXU)
        .map_err(|errno| failure(Operation::MakeDirectory, to.to_owned(), errno))?;
    let target = Folder::open(to)?;
    let mut copying = Copying {
        order,
        device: seen.st_dev,
        buffer: vec![0; BUFFER_BYTES],
        stopwatch,
    };
    copying.folder(&source, &target, 0)
}

struct Copying<'a, 'b> {
    order: EntryOrder,
    /// The filesystem of the source.
    device: u64,
    buffer: Vec<u8>,
    stopwatch: &'a mut Stopwatch<'b>,
}

impl Copying<'_, '_> {
    fn folder(&mut self, from: &Folder, to: &Folder, depth: usize) -> Result<(), IoFailure> {
        if depth > DEPTH_MAX {
            return Err(from.failed(Operation::List, OsStr::new(""), Errno::NAMETOOLONG));
        }
        let begun = self.stopwatch.now();
        let entries = from.entries(self.order)?;
        self.stopwatch.record(Direction::List, begun, 0);
        for entry in entries {
            match entry.kind {
                FileType::Directory => self.inner(from, to, &entry.name, depth)?,
                FileType::RegularFile => self.file(from, to, &entry.name)?,
                FileType::Symlink => self.link(from, to, &entry.name)?,
                // Opening a device or a pipe may do anything.
                _ => return Err(from.failed(Operation::Open, &entry.name, Errno::OPNOTSUPP)),
            }
            if self.stopwatch.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn inner(
        &mut self,
        from: &Folder,
        to: &Folder,
        name: &OsStr,
        depth: usize,
    ) -> Result<(), IoFailure> {
        let seen = from.stat(name)?;
        if seen.st_dev != self.device {
            return Err(from.failed(Operation::Open, name, Errno::XDEV));
        }
        let begun = self.stopwatch.now();
        mkdirat(&to.handle, name, Mode::RWXU)
            .map_err(|errno| to.failed(Operation::MakeDirectory, name, errno))?;
        self.stopwatch.record(Direction::MakeDirectory, begun, 0);
        let target = to.open_inside(name)?;
        self.folder(&from.open_inside(name)?, &target, depth + 1)?;
        // Last, as what is made inside changes its time.
        dress(&target.handle, &seen)
            .map_err(|errno| to.failed(Operation::MakeDirectory, name, errno))
    }

    fn file(&mut self, from: &Folder, to: &Folder, name: &OsStr) -> Result<(), IoFailure> {
        let begun = self.stopwatch.now();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let source = openat(&from.handle, name, flags, Mode::empty())
            .map_err(|errno| from.failed(Operation::Open, name, errno))?;
        let mut moment = self.stopwatch.record(Direction::Open, begun, 0);
        let seen = fstat(&source).map_err(|errno| from.failed(Operation::Stat, name, errno))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let target = openat(&to.handle, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| to.failed(Operation::Create, name, errno))?;
        moment = self.stopwatch.record(Direction::Create, moment, 0);
        let mut bytes = 0;
        loop {
            let read = rustix::io::read(&source, &mut self.buffer[..])
                .map_err(|errno| from.failed(Operation::Read, name, errno))?;
            moment = self.stopwatch.record(Direction::Read, moment, read as u64);
            if read == 0 {
                break;
            }
            let mut written = 0;
            while written < read {
                let part = rustix::io::write(&target, &self.buffer[written..read])
                    .map_err(|errno| to.failed(Operation::Write, name, errno))?;
                moment = self.stopwatch.record(Direction::Write, moment, part as u64);
                written += part;
            }
            bytes += read as u64;
            // A single file may be the longest part of a tree.
            if self.stopwatch.is_over() {
                return Ok(());
            }
        }
        dress(&target, &seen).map_err(|errno| to.failed(Operation::Create, name, errno))?;
        drop(target);
        self.stopwatch.record(Direction::Whole, begun, bytes);
        Ok(())
    }

    fn link(&mut self, from: &Folder, to: &Folder, name: &OsStr) -> Result<(), IoFailure> {
        let begun = self.stopwatch.now();
        let goal = readlinkat(&from.handle, name, Vec::new())
            .map_err(|errno| from.failed(Operation::Read, name, errno))?;
        symlinkat(goal.as_c_str(), &to.handle, name)
            .map_err(|errno| to.failed(Operation::Link, name, errno))?;
        self.stopwatch.record(Direction::Link, begun, 0);
        self.stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }
}

/// Gives what was copied the mode and the times of its original. The owner can still
/// write to it, or it could not be deleted.
fn dress(copy: &OwnedFd, original: &Stat) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(original.st_mode & 0o777);
    let is_folder = FileType::from_raw_mode(original.st_mode) == FileType::Directory;
    let needed = if is_folder { Mode::RWXU } else { Mode::RUSR };
    fchmod(copy, mode | needed)?;
    let time = |seconds: i64, nanoseconds: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds.cast_signed(),
    };
    futimens(
        copy,
        &Timestamps {
            last_access: time(original.st_atime, original.st_atime_nsec),
            last_modification: time(original.st_mtime, original.st_mtime_nsec),
        },
    )
}

/// Deletes the tree at `root`, which is one of our own.
pub(super) fn delete(
    root: &Path,
    order: EntryOrder,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    delete_inside(&Folder::open(root)?, order, stopwatch)?;
    if stopwatch.was_stopped() {
        return Ok(());
    }
    unlinkat(CWD, root, AtFlags::REMOVEDIR)
        .map_err(|errno| failure(Operation::RemoveDirectory, root.to_owned(), errno))
}

fn delete_inside(
    folder: &Folder,
    order: EntryOrder,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    let begun = stopwatch.now();
    let entries = folder.entries(order)?;
    stopwatch.record(Direction::List, begun, 0);
    for entry in entries {
        let name = &entry.name;
        if entry.kind == FileType::Directory {
            delete_inside(&folder.open_inside(name)?, order, stopwatch)?;
            if stopwatch.is_over() {
                return Ok(());
            }
            let begun = stopwatch.now();
            unlinkat(&folder.handle, name, AtFlags::REMOVEDIR)
                .map_err(|errno| folder.failed(Operation::RemoveDirectory, name, errno))?;
            stopwatch.record(Direction::RemoveDirectory, begun, 0);
        } else {
            let begun = stopwatch.now();
            unlinkat(&folder.handle, name, AtFlags::empty())
                .map_err(|errno| folder.failed(Operation::Unlink, name, errno))?;
            stopwatch.record(Direction::Unlink, begun, 0);
            stopwatch.record(Direction::Whole, begun, 0);
        }
        if stopwatch.is_over() {
            return Ok(());
        }
    }
    Ok(())
}

/// What a tree amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Regular files, by their paths.
    pub(crate) files: Vec<PathBuf>,
    /// Bytes of all of them.
    pub(crate) bytes: u64,
    /// Whatever is in it, directories and links included.
    pub(crate) entries: u64,
}

/// Counts the tree at `root`; nothing in it is opened but directories.
pub(crate) fn amount(root: &Path) -> Result<Amount, IoFailure> {
    let mut amount = Amount {
        files: Vec::new(),
        bytes: 0,
        entries: 0,
    };
    count(&Folder::open(root)?, 0, &mut amount)?;
    Ok(amount)
}

fn count(folder: &Folder, depth: usize, amount: &mut Amount) -> Result<(), IoFailure> {
    if depth > DEPTH_MAX {
        return Err(folder.failed(Operation::List, OsStr::new(""), Errno::NAMETOOLONG));
    }
    for entry in folder.entries(EntryOrder::Directory)? {
        amount.entries += 1;
        match entry.kind {
            FileType::Directory => count(&folder.open_inside(&entry.name)?, depth + 1, amount)?,
            FileType::RegularFile => {
                amount.bytes += folder.stat(&entry.name)?.st_size.cast_unsigned();
                amount.files.push(folder.path.join(&entry.name));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A digest of all paths, kinds, sizes, goals of links and contents of the tree at
/// `root`, whatever the order in which the filesystem gives them.
pub(super) fn checksum(root: &Path) -> Result<Digest, IoFailure> {
    let mut lines = Vec::new();
    sum(&Folder::open(root)?, Path::new(""), &mut lines)?;
    lines.sort_unstable();
    Ok(Digest::of(&lines.concat()))
}

fn sum(folder: &Folder, inside: &Path, lines: &mut Vec<Vec<u8>>) -> Result<(), IoFailure> {
    for entry in folder.entries(EntryOrder::Directory)? {
        let path = inside.join(&entry.name);
        let content = match entry.kind {
            FileType::Directory => {
                sum(&folder.open_inside(&entry.name)?, &path, lines)?;
                Vec::new()
            }
            FileType::Symlink => readlinkat(&folder.handle, &entry.name, Vec::new())
                .map_err(|errno| folder.failed(Operation::Read, &entry.name, errno))?
                .into_bytes(),
            _ => content(folder, &entry.name)?.as_str().into(),
        };
        let mut line = path.as_os_str().as_bytes().to_vec();
        line.extend([0, u8::from(entry.kind == FileType::Directory), 0]);
        line.extend((content.len() as u64).to_le_bytes());
        line.extend(content);
        lines.push(line);
    }
    Ok(())
}

/// The digest of the digests of a file's pieces.
fn content(folder: &Folder, name: &OsStr) -> Result<Digest, IoFailure> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&folder.handle, name, flags, Mode::empty())
        .map_err(|errno| folder.failed(Operation::Open, name, errno))?;
    // From the disk where the pages are clean, so that what was stored is what counts.
    let _only_advice = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    let mut pieces = Vec::new();
    let mut piece = vec![0; BUFFER_BYTES];
    loop {
        let mut filled = 0;
        while filled < piece.len() {
            match rustix::io::read(&file, &mut piece[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(errno) => return Err(folder.failed(Operation::Read, name, errno)),
            }
        }
        pieces.extend((filled as u64).to_le_bytes());
        pieces.extend(Digest::of(&piece[..filled]).as_str().as_bytes());
        if filled < piece.len() {
            return Ok(Digest::of(&pieces));
        }
    }
}
