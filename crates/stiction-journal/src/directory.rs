//! The directory that holds the journals of all sessions.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stiction_core::{Session, SessionId};

use crate::write::write_whole;
use crate::{JournalError, ReadJournal, read_journal};

/// What follows the id in the name of a journal.
const JOURNAL: &str = ".jsonl";
/// What follows the id while a finished session is being written.
const UNFINISHED: &str = ".jsonl.new";
/// What follows the id of a session that is being deleted.
const DELETED: &str = ".jsonl.deleted";

/// A journal as its directory shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The session that its name says it holds.
    pub id: SessionId,
    /// Its size, bytes.
    pub size_bytes: u64,
}

/// What a directory of journals holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Journals, by id and so by time.
    pub journals: Vec<Entry>,
    /// Sessions of which the deletion was begun and not finished.
    pub deleted: Vec<SessionId>,
    /// Journals of finished sessions that were being written by whole.
    pub unfinished: Vec<PathBuf>,
    /// Everything else that is there.
    pub strangers: Vec<PathBuf>,
}

/// The directory that holds the journals of all sessions, one file each.
///
/// A session is deleted in two steps, [`mark_deleted`](Self::mark_deleted) and
/// [`finish_deletion`](Self::finish_deletion), between which whoever keeps more of
/// it forgets it. The first is one `rename` and decides: before it the session is
/// there, after it the session is gone, whatever crashes in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalDirectory {
    path: PathBuf,
}

impl JournalDirectory {
    /// The directory at `path`, made for its owner alone if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| JournalError::io("make the directory of journals", path, error))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the journal of `id` is, or would be.
    #[must_use]
    pub fn journal_path(&self, id: &SessionId) -> PathBuf {
        self.named(id, JOURNAL)
    }

    fn named(&self, id: &SessionId, ending: &str) -> PathBuf {
        self.path.join(format!("{id}{ending}"))
    }

    /// Makes the empty journal of `id`, locked as one that a run is writing.
    pub(crate) fn create_file(&self, id: &SessionId) -> Result<(File, PathBuf), JournalError> {
        let path = self.journal_path(id);
        let file = create_new(&path)?;
        Ok((file, path))
    }

    /// Opens the journal of `id` for adding to it, locked as one that a run is writing.
    pub(crate) fn open_file(&self, id: &SessionId) -> Result<(File, PathBuf), JournalError> {
        let path = self.journal_path(id);
        let opened = OpenOptions::new().read(true).append(true).open(&path);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => JournalError::Missing { path: path.clone() },
            _ => JournalError::io("open the journal", &path, error),
        })?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(JournalError::Running { path }),
            // A filesystem without locks is no reason not to measure.
            Ok(()) | Err(TryLockError::Error(_)) => Ok((file, path)),
        }
    }

    /// Returns when files that were made, renamed or removed here are on the device as such.
    ///
    /// # Errors
    /// When the device cannot be asked.
    pub fn sync(&self) -> Result<(), JournalError> {
        File::open(&self.path)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| JournalError::io("sync the directory of journals", &self.path, error))
    }

    /// Keeps a session that is finished, or was read from elsewhere: all of it or
    /// nothing, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`JournalError::Exists`] when the session's id is taken.
    pub fn save(&self, session: Session) -> Result<PathBuf, JournalError> {
        let path = self.journal_path(&session.header.id);
        if path.exists() {
            return Err(JournalError::Exists { path });
        }
        let unfinished = self.named(&session.header.id, UNFINISHED);
        self.remove_unfinished(&unfinished)?;
        let file = create_new(&unfinished)?;
        let saved = write_whole(file, &unfinished, session)
            .and_then(|()| publish(&unfinished, &path))
            .and_then(|()| self.sync());
        if let Err(error) = saved {
            // The error that matters is the one before.
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        Ok(path)
    }

    /// Reads the journal of `id`.
    ///
    /// # Errors
    /// As [`read_journal`]; [`JournalError::Misnamed`] when the file holds another session.
    pub fn read(&self, id: &SessionId) -> Result<ReadJournal, JournalError> {
        let path = self.journal_path(id);
        let read = read_journal(&path)?;
        if read.session.header.id != *id {
            return Err(JournalError::Misnamed {
                path,
                holds: read.session.header.id,
            });
        }
        Ok(read)
    }

    /// Whether a process is writing the journal of `id`.
    ///
    /// Where the filesystem has no locks nothing is ever being written.
    ///
    /// # Errors
    /// When the journal cannot be opened.
    pub fn is_running(&self, id: &SessionId) -> Result<bool, JournalError> {
        let path = self.journal_path(id);
        let file = File::open(&path)
            .map_err(|error| JournalError::io("open the journal", &path, error))?;
        Ok(is_locked(&file))
    }

    /// What is here.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn list(&self) -> Result<Listing, JournalError> {
        let io = |error| JournalError::io("read the directory of journals", &self.path, error);
        let mut listing = Listing::default();
        for entry in fs::read_dir(&self.path).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            let with = |ending: &str| -> Option<SessionId> {
                name.to_str()?.strip_suffix(ending)?.parse().ok()
            };
            if let Some(id) = with(JOURNAL) {
                match entry.metadata() {
                    // A pipe would be waited for, a device read without end.
                    Ok(metadata) if !metadata.is_file() => listing.strangers.push(entry.path()),
                    Ok(metadata) => listing.journals.push(Entry {
                        id,
                        size_bytes: metadata.len(),
                    }),
                    // Deleted by another process since the directory was read.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(io(error)),
                }
            } else if let Some(id) = with(DELETED) {
                listing.deleted.push(id);
            } else if with(UNFINISHED).is_some() {
                listing.unfinished.push(entry.path());
            } else {
                listing.strangers.push(entry.path());
            }
        }
        listing.journals.sort_by(|a, b| a.id.cmp(&b.id));
        listing.deleted.sort();
        Ok(listing)
    }

    /// Deletes the session `id` as far as its journal goes. What is kept of it
    /// elsewhere is to be forgotten next, and then [`finish_deletion`](Self::finish_deletion)
    /// called.
    ///
    /// # Errors
    /// [`JournalError::Missing`] when there is no such journal,
    /// [`JournalError::Running`] while a process is writing it.
    pub fn mark_deleted(&self, id: &SessionId) -> Result<(), JournalError> {
        let path = self.journal_path(id);
        let gone = |error: io::Error| {
            if error.kind() == io::ErrorKind::NotFound {
                JournalError::Missing { path: path.clone() }
            } else {
                JournalError::io("delete the journal", &path, error)
            }
        };
        let file = File::open(&path).map_err(gone)?;
        if is_locked(&file) {
            return Err(JournalError::Running { path });
        }
        fs::rename(&path, self.named(id, DELETED)).map_err(gone)?;
        self.sync()
    }

    /// Removes what [`mark_deleted`](Self::mark_deleted) left of the session `id`.
    ///
    /// # Errors
    /// When it cannot be removed; that it is gone already is none.
    pub fn finish_deletion(&self, id: &SessionId) -> Result<(), JournalError> {
        remove(&self.named(id, DELETED))
    }

    /// Removes a journal that was being written by whole when its process died;
    /// leaves one that is still being written.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_unfinished(&self, unfinished: &Path) -> Result<(), JournalError> {
        match File::open(unfinished) {
            Ok(file) if is_locked(&file) => Ok(()),
            _ => remove(unfinished),
        }
    }
}

/// Makes the file for its owner alone and locks it.
fn create_new(path: &Path) -> Result<File, JournalError> {
    let file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                JournalError::Exists {
                    path: path.to_owned(),
                }
            } else {
                JournalError::io("make the journal", path, error)
            }
        })?;
    // A filesystem without locks is no reason not to measure; a run is then not
    // told from one that was cut off.
    let _ = file.lock();
    Ok(file)
}

/// Gives a whole journal its name, unless that name is taken.
fn publish(unfinished: &Path, path: &Path) -> Result<(), JournalError> {
    let error = match fs::hard_link(unfinished, path) {
        Ok(()) => return remove(unfinished),
        Err(error) => error,
    };
    match error.kind() {
        io::ErrorKind::AlreadyExists => Err(JournalError::Exists {
            path: path.to_owned(),
        }),
        // A filesystem without links. That the name was free was seen just before.
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
            fs::rename(unfinished, path)
                .map_err(|error| JournalError::io("name the journal", path, error))
        }
        _ => Err(JournalError::io("name the journal", path, error)),
    }
}

fn remove(path: &Path) -> Result<(), JournalError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::io("remove the journal", path, error))
        }
        _ => Ok(()),
    }
}

/// Whether another open file holds the writer's lock.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
