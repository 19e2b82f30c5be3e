//! What can go wrong between stiction and the machine.

use std::io;
use std::path::{Path, PathBuf};

use stiction_core::{SkipCode, SkipReason};

/// Why the host could not be observed or changed, by what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The kernel refused: the message names the path, the errno and a way out.
    #[error("cannot {action} {}: {error}{}", path.display(), advice(error))]
    Refused {
        /// What was tried, as it follows `cannot`: `create a directory in`.
        action: &'static str,
        /// To which path.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        error: io::Error,
    },
    /// The path is not something that can be measured.
    #[error("{} cannot be measured: {reason}", path.display())]
    NotATarget {
        /// Which path.
        path: PathBuf,
        /// What it is instead, and what to give.
        reason: String,
    },
    /// Something is left alone because it may not be ours.
    #[error("{} is left alone: {reason}", path.display())]
    NotOurs {
        /// Which path.
        path: PathBuf,
        /// Why it may not be ours.
        reason: String,
    },
    /// An undo journal has a line that cannot be read.
    #[error("undo journal {} line {line}: {problem}", path.display())]
    BadJournal {
        /// Which journal.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Settings of the machine could not all be put back; they stay in the undo journal.
    #[error("{} is not as it was: {reason}; `stiction restore` tries again", path.display())]
    NotPutBack {
        /// The folder of the settings.
        path: PathBuf,
        /// Which, what they were and what they are.
        reason: String,
    },
    /// A program that was needed failed.
    #[error("{program} failed: {said}")]
    Program {
        /// The program with its arguments.
        program: String,
        /// The end of what it said, or its status.
        said: String,
    },
    /// This machine lacks what was asked for.
    #[error("{what} cannot be had here: {reason}")]
    Unavailable {
        /// What was asked for.
        what: &'static str,
        /// Why not.
        reason: String,
    },
}

impl HostError {
    /// A refusal by the kernel to `action` at `path`.
    pub(crate) fn refused(action: &'static str, path: &Path, error: impl Into<io::Error>) -> Self {
        Self::Refused {
            action,
            path: path.to_owned(),
            error: error.into(),
        }
    }

    /// Why a trial that ran into it did not run, where it is the machine that cannot do
    /// it or the user who may not; `None` where something went wrong.
    #[must_use]
    pub fn skip_reason(&self) -> Option<SkipReason> {
        let code = match (self, self.errno()) {
            (Self::Unavailable { .. }, _) => SkipCode::NotSupported,
            (_, Some(libc::EINVAL | libc::ENODEV | libc::EOPNOTSUPP)) => SkipCode::NotSupported,
            (_, Some(libc::EPERM | libc::EACCES)) => SkipCode::NotPermitted,
            (_, Some(libc::ENOSPC | libc::EDQUOT)) => SkipCode::NoSpace,
            _ => return None,
        };
        Some(SkipReason::new(code, self.to_string()))
    }

    /// The errno, where the kernel gave one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Refused { error, .. } => error.raw_os_error(),
            _ => None,
        }
    }
}

/// What to do about a refusal, to follow the errno's own text.
fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EROFS) => "; it is mounted read-only: choose another directory",
        Some(libc::EACCES | libc::EPERM) => {
            "; choose a path that you may write to, or run as its owner"
        }
        Some(libc::ENOSPC) => "; free some space there, or choose another directory",
        Some(libc::EDQUOT) => {
            "; your quota there is used up: free some space, or choose another directory"
        }
        Some(libc::ENOENT) => "; check the path",
        Some(libc::ENOTDIR) => "; give a directory",
        Some(libc::EMFILE | libc::ENFILE) => "; raise the limit on open files (ulimit -n)",
        Some(libc::EIO) => "; the device or filesystem reports an error: see the kernel log",
        _ => "",
    }
}
