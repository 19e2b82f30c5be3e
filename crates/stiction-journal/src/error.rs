//! What can go wrong with journals, by what the caller can do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is a journal of that name already.
    #[error("{}: a session of this id is already stored", path.display())]
    Exists {
        /// The journal that is there.
        path: PathBuf,
    },
    /// There is no journal of that name.
    #[error("{}: there is no such journal", path.display())]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// A process is writing it.
    #[error("{}: the run that writes this journal is still going on; wait for it or interrupt it", path.display())]
    Running {
        /// The journal.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot {doing}: {source}{}", path.display(), remedy(source))]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is larger than any journal gets, so nothing is read from it or added to it.
    #[error("{}: a journal holds at most {limit_bytes} bytes, and this one would have {bytes}", path.display())]
    TooLarge {
        /// The journal.
        path: PathBuf,
        /// Its size, bytes.
        bytes: u64,
        /// The limit, bytes.
        limit_bytes: u64,
    },
    /// Not one whole line was written: the run was cut off before it began.
    #[error("{}: this journal has no whole line: the run was cut off before it began, and `stiction delete {}` removes it", path.display(), path.file_stem().unwrap_or_default().display())]
    Empty {
        /// The journal.
        path: PathBuf,
    },
    /// Its header cannot be read, so nothing is known of the rest.
    #[error("{}: this is not a journal, or its header is damaged: {problem}", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// What is wrong with the header.
        problem: String,
    },
    /// A later version of stiction wrote it.
    #[error("{}: this journal is of version {found}, and this stiction reads versions up to {known}; read it with a newer one", path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// The version that it states.
        found: u32,
        /// The highest version that can be read.
        known: u32,
    },
    /// The file is named after another session than the one it holds.
    #[error("{}: this journal holds session {holds}; name it {holds}.jsonl, or remove it if it is a copy", path.display())]
    Misnamed {
        /// The journal.
        path: PathBuf,
        /// The session in it.
        holds: stiction_core::SessionId,
    },
}

impl JournalError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

/// What the user can do about it, where that is known.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space there, or keep sessions elsewhere with --store"
        }
        io::ErrorKind::FileTooLarge => "; raise the limit on file sizes (ulimit -f)",
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "; keep sessions in a directory that you may write to, with --store"
        }
        io::ErrorKind::NotADirectory => "; name a directory to keep sessions in, with --store",
        _ => "",
    }
}
