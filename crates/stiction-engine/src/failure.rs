//! One operation that failed: what, where, and what the kernel said.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use stiction_core::{Rate, format_duration_ns};

use crate::task::Task;

/// What was being done when an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Opening the file.
    Open,
    /// Setting the file's size.
    Resize,
    /// Reserving the blocks of a file that is about to be mapped for writing.
    Allocate,
    /// Mapping the file into memory.
    Map,
    /// Making a pipe.
    Pipe,
    /// Reading a block.
    Read,
    /// Writing a block.
    Write,
    /// Punching a hole into a file, or discarding blocks of a device.
    Trim,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `msync`.
    Msync,
    /// `sync_file_range`.
    WriteBack,
    /// Handing operations to a queue of the kernel, or waiting for them.
    Submit,
    /// Making a file.
    Create,
    /// Asking what a file is.
    Stat,
    /// Reading a directory.
    List,
    /// Removing a file.
    Unlink,
    /// Giving a file another name.
    Rename,
    /// Making a hard or symbolic link.
    Link,
    /// Making a directory.
    MakeDirectory,
    /// Removing a directory.
    RemoveDirectory,
}

impl Operation {
    /// The verb for messages: `open`, `write`, `fsync`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Resize => "resize",
            Self::Allocate => "allocate",
            Self::Map => "map",
            Self::Pipe => "pipe",
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Msync => "msync",
            Self::WriteBack => "sync_file_range",
            Self::Submit => "submit",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Unlink => "unlink",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::MakeDirectory => "mkdir",
            Self::RemoveDirectory => "rmdir",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The kernel's error number.
    Errno(i32),
    /// Fewer bytes were moved than asked, and asking for the rest moved none:
    /// the end of the file, for a read.
    Short {
        /// Bytes moved.
        got: u64,
        /// Bytes asked for.
        wanted: u64,
    },
    /// A mapped page could not be had (`SIGBUS`): the file was cut shorter, the
    /// filesystem is full, or the device failed.
    BusError,
    /// It took longer than the job allows.
    TooLong {
        /// How long it took, ns.
        latency_ns: u64,
        /// How long it may take, ns.
        most_ns: u64,
    },
    /// Less was done in some time than the job demands.
    TooLittle {
        /// What each second must see.
        least: Rate,
        /// Operations or bytes that were done in that time.
        amount: u64,
        /// That time, ns.
        window_ns: u64,
    },
}

impl From<Errno> for Cause {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno.raw_os_error())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Errno(errno) => io::Error::from_raw_os_error(errno).fmt(f),
            Self::Short { got, wanted } => {
                write!(f, "only {got} of {wanted} bytes were moved")
            }
            Self::BusError => f.write_str(
                "the page could not be had (SIGBUS): file cut shorter, filesystem full or device failed",
            ),
            Self::TooLong {
                latency_ns,
                most_ns,
            } => write!(
                f,
                "it took {}, and the job allows {}",
                format_duration_ns(latency_ns as f64),
                format_duration_ns(most_ns as f64)
            ),
            Self::TooLittle {
                least,
                amount,
                window_ns,
            } => {
                let (unit, per_s) = match least {
                    Rate::OperationsPerS(per_s) => ("operations", per_s),
                    Rate::BytesPerS(per_s) => ("bytes", per_s),
                };
                let window = format_duration_ns(window_ns as f64);
                write!(
                    f,
                    "{amount} {unit} in {window}, and the job demands {per_s} a second"
                )
            }
        }
    }
}

/// An operation that failed.
///
/// Its text names the operation, the path, the offset, the kernel's words, and
/// for the common causes what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoFailure {
    /// Which worker, from 0.
    pub worker: u32,
    /// What was being done.
    pub operation: Operation,
    /// To which file or device.
    pub path: PathBuf,
    /// At which offset of it, bytes; `None` where the operation has none.
    pub offset_bytes: Option<u64>,
    /// Why it failed.
    pub cause: Cause,
}

impl IoFailure {
    /// The kernel's error number, where there was one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self.cause {
            Cause::Errno(errno) => Some(errno),
            Cause::Short { .. }
            | Cause::BusError
            | Cause::TooLong { .. }
            | Cause::TooLittle { .. } => None,
        }
    }

    /// What the user can do about it, where that is known.
    fn advice(&self) -> Option<&'static str> {
        Some(match Errno::from_raw_os_error(self.errno()?) {
            Errno::NOSPC | Errno::DQUOT => "free some space or ask for a smaller size",
            Errno::FBIG => "raise the file size limit (ulimit -f) or ask for a smaller size",
            Errno::MFILE => "raise the limit of open files (ulimit -n) or ask for fewer of them",
            Errno::NFILE => "the system's limit of open files (fs.file-max) is reached",
            Errno::ROFS => "choose a directory on a filesystem that is mounted writable",
            Errno::ACCESS | Errno::PERM => "choose a target that you may use, or run as its owner",
            Errno::INVAL if matches!(self.operation, Operation::Read | Operation::Write) => {
                "with O_DIRECT, sizes and offsets must be multiples of the logical block, \
                 512 or 4096 bytes"
            }
            Errno::OPNOTSUPP if self.operation == Operation::Trim => {
                "this filesystem or device cannot trim; choose another target or leave trims"
            }
            Errno::OPNOTSUPP => {
                "this filesystem or device does not know a flag of the call, or has no queues to poll"
            }
            Errno::IO => "the device or filesystem reports an error; see the kernel's log",
            _ => return None,
        })
    }
}

impl fmt::Display for IoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.operation, self.path.display())?;
        if let Some(offset_bytes) = self.offset_bytes {
            write!(f, " at offset {offset_bytes}")?;
        }
        write!(f, ": {}", self.cause)?;
        if self.operation == Operation::Read && matches!(self.cause, Cause::Short { .. }) {
            f.write_str(", the file ends there")?;
        }
        if let Some(advice) = self.advice() {
            write!(f, "; {advice}")?;
        }
        Ok(())
    }
}

impl std::error::Error for IoFailure {}

/// The number of an error of the system; `EIO` for one that has none.
pub(crate) fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The number of the error of the last call of the C library.
pub(crate) fn last_errno() -> Errno {
    errno_of(&io::Error::last_os_error())
}

/// What failed, before it is known to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) operation: Operation,
    /// Which of the worker's files.
    pub(crate) file: u32,
    pub(crate) offset_bytes: Option<u64>,
    pub(crate) cause: Cause,
}

impl Fault {
    pub(crate) fn new(operation: Operation, cause: impl Into<Cause>) -> Self {
        Self {
            operation,
            file: 0,
            offset_bytes: None,
            cause: cause.into(),
        }
    }

    /// Whether a write found no room.
    pub(crate) fn is_full(self) -> bool {
        let full = [Errno::NOSPC, Errno::DQUOT].map(Cause::from);
        self.operation == Operation::Write && full.contains(&self.cause)
    }

    pub(crate) fn in_file(self, file: u32) -> Self {
        Self { file, ..self }
    }

    pub(crate) fn at(self, offset_bytes: u64) -> Self {
        Self {
            offset_bytes: Some(offset_bytes),
            ..self
        }
    }

    /// The failure of the worker of `task`.
    pub(crate) fn of_task(self, task: &Task<'_>) -> IoFailure {
        self.of(task.worker, task.path(self.file))
    }

    /// The failure of `worker` with the target `path`.
    pub(crate) fn of(self, worker: u32, path: &Path) -> IoFailure {
        IoFailure {
            worker,
            operation: self.operation,
            path: path.to_owned(),
            offset_bytes: self.offset_bytes,
            cause: self.cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_operation_path_offset_and_errno() {
        let failure = IoFailure {
            worker: 0,
            operation: Operation::Write,
            path: "/mnt/a b/file".into(),
            offset_bytes: Some(4096),
            cause: Errno::NOSPC.into(),
        };
        assert_eq!(
            failure.to_string(),
            "write of /mnt/a b/file at offset 4096: No space left on device (os error 28); \
             free some space or ask for a smaller size"
        );
        assert_eq!(failure.errno(), Some(28));
    }

    #[test]
    fn a_short_read_says_how_much_there_was() {
        let failure = IoFailure {
            worker: 3,
            operation: Operation::Read,
            path: "f".into(),
            offset_bytes: Some(8192),
            cause: Cause::Short {
                got: 100,
                wanted: 4096,
            },
        };
        assert_eq!(
            failure.to_string(),
            "read of f at offset 8192: only 100 of 4096 bytes were moved, the file ends there"
        );
        assert_eq!(failure.errno(), None);
    }
}
