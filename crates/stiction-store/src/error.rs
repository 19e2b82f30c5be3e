//! What can go wrong with the store, by what the caller can do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};
use stiction_core::SessionId;
use stiction_journal::JournalError;

/// Why sessions could not be kept or found.
///
/// Whatever happens to the database, the journals beside it hold all that was
/// measured.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session {0}; `stiction list` shows those there are")]
    NotFound(SessionId),
    /// A journal could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What is in the file is not what was written there.
    #[error("{}: the store is damaged: {problem}; run `stiction store rebuild`, which makes it anew from the journals", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        problem: String,
    },
    /// A file that people's words are kept in does not hold what was written there.
    #[error("{}: this cannot be read: {problem}; put the file right, or move it away", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was found.
        problem: String,
    },
    /// It is a database of another program.
    #[error("{}: this is a database, but not a store of stiction; name another directory with --store", path.display())]
    NotOurs {
        /// The database.
        path: PathBuf,
    },
    /// A later version of stiction made it.
    #[error("{}: this store is of version {found}, and this stiction reads versions up to {known}; use a newer one, or run `stiction store rebuild` to make it anew for this one", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version that it states.
        found: u32,
        /// The highest version that can be read.
        known: u32,
    },
    /// Another process uses it.
    #[error("{}: another stiction is using the store; try again when it has finished", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// It may not be written to.
    #[error("{}: the store cannot be written to; make it writable, or name another directory with --store", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// The disk under it is full.
    #[error("{}: no space is left for the store (or `ulimit -f` allows no more); free some, then any command brings it up to date from the journals", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// It was not full, and still could not be written.
    #[error("{}: the store cannot be written: the limit of the file size is reached (ulimit -f), or the device failed (dmesg); with either put right, any command brings it up to date from the journals", path.display())]
    Unwritten {
        /// The database.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// SQLite refused for another reason.
    #[error("{}: cannot {doing}: {source}; if it happens again, run `stiction store rebuild`", path.display())]
    Database {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether it only says that nothing can be written: reading may go on.
    pub(crate) fn is_about_writing(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::Full { .. } | Self::Unwritten { .. } => true,
            Self::Journal(JournalError::Io { source, .. }) => matches!(
                source.kind(),
                io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
            ),
            // SQLite says so where the files beside its own cannot be made.
            Self::Database { source, .. } => {
                source.sqlite_error_code() == Some(ErrorCode::CannotOpen)
            }
            _ => false,
        }
    }

    /// The system's answer, sorted by what can be done about it.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io {
                doing,
                path,
                source,
            },
        }
    }

    /// SQLite's answer, sorted by what can be done about it.
    pub(crate) fn database(doing: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if matches!(source, rusqlite::Error::FromSqlConversionFailure(..)) {
            return Self::Damaged {
                path,
                problem: source.to_string(),
            };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                problem: source.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(_) if extended_code(&source) == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
                Self::Full { path }
            }
            Some(_) if extended_code(&source) == Some(ffi::SQLITE_IOERR_WRITE) => {
                Self::Unwritten { path }
            }
            _ => Self::Database {
                doing,
                path,
                source,
            },
        }
    }
}

/// SQLite's own code, which says which operation on which of its files failed: it
/// calls a full disk one where it writes, and not where it makes its shared memory
/// larger.
fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
