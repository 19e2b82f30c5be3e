//! The directory that stiction makes for itself inside the user's, and removes.

mod leftovers;
mod marker;
pub(crate) mod removal;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};

pub use leftovers::{Leftover, Leftovers, leftovers};

use crate::undo::{Change, Entry, Owner, UndoJournal, hold_lock};
use crate::{HostError, random};
use marker::Marker;

/// Beginning of the names of our directories.
const PREFIX: &str = ".stiction-";

/// A directory of our own. It and everything in it is removed by [`close`](Self::close),
/// or on drop; or, after a `kill -9`, by [`restore`](crate::undo::restore) or
/// through [`leftovers()`].
#[derive(Debug)]
pub struct OwnDirectory {
    path: PathBuf,
    made: Option<Made>,
}

/// What it takes to remove the directory, wherever it has been moved in between.
#[derive(Debug)]
struct Made {
    parent: OwnedFd,
    name: OsString,
    nonce: String,
    entry: Entry,
    /// Held locked for as long as we live.
    _marker: File,
}

impl OwnDirectory {
    /// Makes `.stiction-SESSION-RANDOM` in `parent`, readable by its owner alone.
    ///
    /// # Errors
    /// When `parent` is not a directory that we may write to, or is full, or the
    /// undo journal cannot be written; nothing is left behind then.
    pub fn create(parent: &Path, undo: &UndoJournal) -> Result<Self, HostError> {
        let refused = |error: std::io::Error| {
            HostError::refused("make a directory for the test files in", parent, error)
        };
        let absolute = std::path::absolute(parent).map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent_fd = rustix::fs::open(&absolute, flags, Mode::empty())
            .map_err(|error| refused(error.into()))?;
        let nonce = random::text(20).map_err(refused)?;
        let name = OsString::from(format!("{PREFIX}{}-{}", undo.session(), &nonce[..8]));
        let path = absolute.join(&name);
        let owner = Owner::this_process(undo.session()).map_err(refused)?;

        let entry = undo.begin(Change::OwnDirectory {
            path: path.clone(),
            nonce: nonce.clone(),
        })?;
        match make(&parent_fd, &name, &Marker::new(owner, nonce.clone())) {
            Ok(marker) => Ok(Self {
                path,
                made: Some(Made {
                    parent: parent_fd,
                    name,
                    nonce,
                    entry,
                    _marker: marker,
                }),
            }),
            Err(error) => {
                entry.undone()?;
                Err(refused(error))
            }
        }
    }

    /// Where it is, absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory and everything in it.
    ///
    /// # Errors
    /// When something in it cannot be removed. It then stays in the undo journal,
    /// and a later restore tries again.
    pub fn close(mut self) -> Result<(), HostError> {
        self.remove()
    }

    fn remove(&mut self) -> Result<(), HostError> {
        let Some(made) = self.made.take() else {
            return Ok(());
        };
        removal::remove(made.parent.as_fd(), &made.name, &made.nonce, &self.path)?;
        made.entry.undone()
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // A failure here is not lost: the entry stays open in the undo journal.
        let _ = self.remove();
    }
}

/// Makes the directory with its marker, or nothing.
fn make(parent: &OwnedFd, name: &OsString, marker: &Marker) -> std::io::Result<File> {
    mkdirat(parent, name, Mode::from_raw_mode(0o700))?;
    let marked = (|| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(parent, name, flags, Mode::empty())?;
        let made = marker.write(&directory).and_then(|file| {
            hold_lock(&file)?;
            // So that the marker is there even after a power cut.
            rustix::fs::fsync(&directory)?;
            Ok(file)
        });
        if made.is_err() {
            // It may not have come to be.
            let _ = unlinkat(&directory, marker::NAME, AtFlags::empty());
        }
        made
    })();
    if marked.is_err() {
        // The first error is the one to tell; the directory was made just above.
        let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    marked
}
