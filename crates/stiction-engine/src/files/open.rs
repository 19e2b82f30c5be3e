//! Opens what a worker works on, and refuses what it must not touch.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    FallocateFlags, FileType, Mode, OFlags, StatxFlags, fstat, ftruncate, ioctl_blksszget, open,
    openat, stat, statx,
};
use rustix::io::Errno;
use stiction_core::{
    BackendKind, Caveat, CaveatCode, Create, Job, Region, Reserve, SizeMix, Sizes,
};

use super::reserve::{reserve, reserve_as_posix};
use super::sync::synced_writes;
use crate::backend::Remarks;
use crate::failure::{Fault, Operation};
use crate::task::{Ends, Task};
use crate::{EngineError, IoFailure, Target};

/// An open target and what was found out about it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) fd: OwnedFd,
    pub(crate) remarks: Remarks,
}

/// Opens the target of `file` as the job wants it.
///
/// # Errors
/// [`EngineError::Refused`], [`EngineError::Misaligned`], or
/// [`EngineError::Prepare`] with the kernel's error.
pub(super) fn open_target(
    task: &Task<'_>,
    file: u32,
    ends: &Ends,
) -> Result<OpenFile, EngineError> {
    let opening = Opening::new(task, file);
    let target = opening.target;
    opening.refuse_by_name()?;
    let (fd, direct_granted) =
        (opening.open(opening.flags())).map_err(|errno| opening.failure(Operation::Open, errno))?;
    let kind = opening.refuse_by_kind(&fd)?;
    let mut file = OpenFile {
        fd,
        remarks: Remarks {
            direct_granted,
            ..Remarks::default()
        },
    };
    match direct_granted {
        Some(true) => opening.check_alignment(&mut file, kind)?,
        Some(false) => file.remarks.caveats.push(Caveat::new(
            CaveatCode::DirectRefused,
            format!("{} cannot be opened with O_DIRECT", target.path().display()),
        )),
        None => {}
    }
    if kind == FileType::RegularFile {
        opening.size(&mut file, ends.bytes(opening.region.target))?;
    }
    Ok(file)
}

/// Opens a file once more that was made ready before.
///
/// # Errors
/// With the call that failed.
pub(super) fn open_again(task: &Task<'_>, file: u32) -> Result<OwnedFd, Fault> {
    let opening = Opening::new(task, file);
    let flags = opening.flags() - OFlags::CREATE - OFlags::TRUNC;
    let opened = opening.open(flags);
    opened
        .map(|(fd, _)| fd)
        .map_err(|errno| Fault::new(Operation::Open, errno).in_file(file))
}

/// Opens the file at `path` without following a symbolic link that has taken the
/// place of it or of its folder: where others may write to the folder above, it could
/// lead root to any file of the system.
fn open_unled(path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::ISDIR);
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = open(folder, folder_flags, Mode::empty())?;
    openat(&folder, name, flags | OFlags::NOFOLLOW, mode)
}

struct Opening<'a> {
    job: &'a Job,
    target: &'a Target,
    region: Region,
    worker: u32,
}

impl<'a> Opening<'a> {
    fn new(task: &Task<'a>, file: u32) -> Self {
        let region = task.region(file);
        Self {
            job: task.job,
            target: &task.targets[region.target as usize],
            region,
            worker: task.worker,
        }
    }

    fn path(&self) -> &Path {
        self.target.path()
    }

    fn failure(&self, operation: Operation, errno: Errno) -> IoFailure {
        Fault::new(operation, errno).of(self.worker, self.path())
    }

    fn refusal(&self, what: &'static str, advice: &'static str) -> EngineError {
        EngineError::Refused {
            path: self.path().to_owned(),
            what,
            advice,
        }
    }

    /// A pipe without a writer would be waited for by the mere opening, so the
    /// kind is looked at before; it is looked at again once the file is open.
    fn refuse_by_name(&self) -> Result<(), EngineError> {
        let Target::File(path) = self.target else {
            return Ok(());
        };
        match stat(path) {
            Ok(found) => self.check_kind(FileType::from_raw_mode(found.st_mode)),
            Err(_) => Ok(()),
        }
    }

    fn refuse_by_kind(&self, fd: &OwnedFd) -> Result<FileType, EngineError> {
        let found = fstat(fd).map_err(|errno| self.failure(Operation::Open, errno))?;
        let kind = FileType::from_raw_mode(found.st_mode);
        self.check_kind(kind)?;
        Ok(kind)
    }

    fn check_kind(&self, kind: FileType) -> Result<(), EngineError> {
        let granted = matches!(self.target, Target::Device(_));
        match kind {
            FileType::RegularFile if !granted => Ok(()),
            FileType::BlockDevice if granted || !self.writes() => Ok(()),
            FileType::BlockDevice => Err(self.refusal(
                "a block device",
                "writing to it would destroy what it holds; grant it as a scratch device",
            )),
            FileType::Directory => Err(self.refusal("a directory", "give a file in it")),
            _ => Err(self.refusal(
                "neither a regular file nor a block device",
                "give a regular file",
            )),
        }
    }

    fn writes(&self) -> bool {
        self.job.action.changes() || self.job.create != Create::Open
    }

    fn flags(&self) -> OFlags {
        let job = self.job;
        let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY;
        flags |= if self.writes() {
            OFlags::RDWR
        } else {
            OFlags::RDONLY
        };
        if matches!(self.target, Target::File(_)) {
            flags |= match job.create {
                Create::Open => OFlags::empty(),
                Create::Truncate => OFlags::CREATE | OFlags::TRUNC,
                Create::Sparse => OFlags::CREATE,
            };
        }
        if job.action.writes() {
            flags |= synced_writes(job.write_sync);
        }
        flags
    }

    /// The descriptor, and whether `O_DIRECT` was granted if it was asked for.
    fn open(&self, flags: OFlags) -> Result<(OwnedFd, Option<bool>), Errno> {
        let mode = Mode::RUSR | Mode::WUSR;
        let open_with = |flags| match self.target {
            Target::File(path) if self.writes() => open_unled(path, flags, mode),
            Target::File(path) => open(path, flags, mode),
            Target::Device(device) => open(device.reopen_path(), flags, mode),
            // There is nothing to open, and its backend does not.
            Target::Simulated(_) => Err(Errno::NODEV),
        };
        // Whether a new time of access is due need not be looked at with each read then;
        // only the owner of a file may ask for that.
        let open_with = |flags| match open_with(flags | OFlags::NOATIME) {
            Err(Errno::PERM) => open_with(flags),
            opened => opened,
        };
        if self.job.direct {
            match open_with(flags | OFlags::DIRECT) {
                Ok(fd) => Ok((fd, Some(true))),
                Err(Errno::INVAL) => open_with(flags).map(|fd| (fd, Some(false))),
                Err(errno) => Err(errno),
            }
        } else {
            open_with(flags).map(|fd| (fd, None))
        }
    }

    /// Compares the job with the multiples that `O_DIRECT` needs, where the kernel
    /// tells them: by statx since 6.1, for devices always.
    fn check_alignment(&self, file: &mut OpenFile, kind: FileType) -> Result<(), EngineError> {
        let needed_bytes = match statx(
            &file.fd,
            "",
            rustix::fs::AtFlags::EMPTY_PATH,
            StatxFlags::DIOALIGN,
        ) {
            Ok(found) if found.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => {
                found.stx_dio_offset_align
            }
            _ if kind == FileType::BlockDevice => ioctl_blksszget(&file.fd).unwrap_or(1),
            _ => return Ok(()),
        };
        if needed_bytes == 0 {
            file.remarks.caveats.push(Caveat::new(
                CaveatCode::DirectNotEffective,
                format!(
                    "O_DIRECT was granted on {}, but the filesystem says that it goes through the page cache there",
                    self.path().display()
                ),
            ));
            return Ok(());
        }
        let sizes = [
            ("the block size", self.job.block_size_bytes),
            ("the start of a region", self.region.offset_bytes),
        ];
        match sizes
            .into_iter()
            .chain(lengths(self.job))
            .find(|(_, bytes)| bytes % u64::from(needed_bytes) != 0)
        {
            None => Ok(()),
            Some((what, given_bytes)) => Err(EngineError::Misaligned {
                path: self.path().to_owned(),
                what,
                given_bytes,
                needed_bytes: needed_bytes.into(),
            }),
        }
    }

    /// Gives a regular file the size that the job wants it to have from the start.
    ///
    /// All regions in it end by `end_bytes`.
    fn size(&self, file: &mut OpenFile, end_bytes: u64) -> Result<(), EngineError> {
        if self.job.create == Create::Sparse {
            ftruncate(&file.fd, end_bytes)
                .map_err(|errno| self.failure(Operation::Resize, errno))?;
        }
        let mapped = self.job.backend == BackendKind::Mmap && self.job.action.writes();
        match self.job.reserve {
            Reserve::KeepSize => self.reserve(file, FallocateFlags::KEEP_SIZE).map(|_| ()),
            Reserve::Native => self.reserve(file, FallocateFlags::empty()).map(|_| ()),
            Reserve::Posix => {
                let (offset_bytes, length_bytes) = self.extent();
                reserve_as_posix(&file.fd, offset_bytes, length_bytes)
                    .map_err(|errno| self.failure(Operation::Allocate, errno).into())
            }
            Reserve::Truncate => self.lengthen(file, end_bytes),
            // A store to a mapped page that has no block cannot return an error.
            Reserve::None if mapped && self.job.create != Create::Sparse => {
                self.map_whole(file, end_bytes)
            }
            Reserve::None => Ok(()),
        }
    }

    /// A file that can be mapped as long as it is needed, with blocks if possible.
    fn map_whole(&self, file: &mut OpenFile, end_bytes: u64) -> Result<(), EngineError> {
        if self.reserve(file, FallocateFlags::empty())? {
            return Ok(());
        }
        self.lengthen(file, end_bytes)
    }

    /// First byte and length of what is reserved.
    fn extent(&self) -> (u64, u64) {
        let block_bytes = self.job.block_size_bytes;
        let length_bytes = self.region.blocks(block_bytes) * block_bytes;
        (self.region.offset_bytes, length_bytes)
    }

    /// Reserves the blocks of the region; false where the filesystem cannot, which is
    /// noted.
    fn reserve(&self, file: &mut OpenFile, flags: FallocateFlags) -> Result<bool, EngineError> {
        let (offset_bytes, length_bytes) = self.extent();
        let is_reserved = reserve(&file.fd, flags, offset_bytes, length_bytes)
            .map_err(|errno| self.failure(Operation::Allocate, errno))?;
        if !is_reserved {
            let note = "the filesystem cannot reserve blocks, the file begins as a hole";
            file.remarks.notes.push(note.to_owned());
        }
        Ok(is_reserved)
    }

    /// Makes the file as long as it is needed, if it is shorter.
    fn lengthen(&self, file: &OpenFile, end_bytes: u64) -> Result<(), EngineError> {
        let resize = || {
            if (fstat(&file.fd)?.st_size as u64) < end_bytes {
                ftruncate(&file.fd, end_bytes)?;
            }
            Ok(())
        };
        resize().map_err(|errno| self.failure(Operation::Resize, errno).into())
    }
}

/// What the lengths of operations are sums and multiples of, with words for messages.
fn lengths(job: &Job) -> Vec<(&'static str, u64)> {
    let stride = job
        .stride
        .map(|stride| ("what a stride leaves out", stride.skip_bytes));
    let Some(Sizes { read, write, trim }) = &job.sizes else {
        return stride.into_iter().collect();
    };
    let used = [
        (job.action.reads(), read),
        (job.action.writes(), write),
        (job.action.trims(), trim),
    ];
    let mixes = used
        .into_iter()
        .filter_map(|(is_used, mix)| is_used.then_some(mix));
    let of_mix = |mix: &SizeMix| match mix {
        SizeMix::One(bytes) => vec![("a block size", *bytes)],
        SizeMix::Range {
            min_bytes,
            step_bytes,
            ..
        } => vec![
            ("the least block size", *min_bytes),
            ("the step between block sizes", *step_bytes),
        ],
        SizeMix::Split(shares) => shares
            .iter()
            .map(|share| ("a block size", share.bytes))
            .collect(),
    };
    mixes.flat_map(of_mix).chain(stride).collect()
}
