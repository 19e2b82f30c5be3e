//! Journals and the store that is made from them, kept in step.

use std::path::{Path, PathBuf};

use stiction_core::{Session, SessionId, Summary};
use stiction_journal::{JournalDirectory, JournalError, Listing};

use crate::{Filter, Resolution, SqliteStore, Store, StoreError};

/// How many sessions are put into the store at once while it catches up.
const BATCH: usize = 64;

/// A directory of state: the journals of all sessions, and the store of them.
///
/// What the store lacks is read from the journals whenever an archive is opened,
/// so whatever a crash left undone is made up for then:
///
/// - A journal that the store does not know, or knows with another size, is read.
/// - A session of which the deletion was begun is deleted from the store.
/// - A journal that is gone without having been deleted is written again from the
///   store.
/// - A journal that a run is still writing is left alone.
pub struct Archive {
    journals: JournalDirectory,
    store: SqliteStore,
}

/// What was done to bring the store in step with the journals.
#[derive(Debug, Default)]
pub struct CatchUp {
    /// Sessions that were read from their journals.
    pub read: Vec<SessionId>,
    /// Sessions of which the deletion was finished.
    pub deleted: Vec<SessionId>,
    /// Sessions whose lost journal was written again from the store.
    pub restored: Vec<SessionId>,
    /// Sessions that are being run.
    pub running: Vec<SessionId>,
    /// Journals of which lines, or all, could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Files among the journals that are none.
    pub strangers: Vec<PathBuf>,
    /// Why nothing could be saved from a store that was replaced, when nothing could.
    pub lost_store: Option<String>,
}

/// A journal of which something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The session that its name says it holds.
    pub id: SessionId,
    /// What could not be read: names the file, and the line where only a line is lost.
    pub problem: String,
}

impl Archive {
    /// Where the journals are in a directory of state.
    #[must_use]
    pub fn journals_path(directory: &Path) -> PathBuf {
        directory.join("journals")
    }

    /// Where the store is in a directory of state.
    #[must_use]
    pub fn store_path(directory: &Path) -> PathBuf {
        directory.join("store.sqlite3")
    }

    /// The archive in `directory`, made if it is not there, its store brought in step
    /// with its journals.
    ///
    /// # Errors
    /// When the directory or the store cannot be made, opened or written to. A journal
    /// that cannot be read is no error: it is among [`CatchUp::unreadable`].
    pub fn open(directory: &Path) -> Result<(Self, CatchUp), StoreError> {
        let mut archive = Self {
            journals: JournalDirectory::create(&Self::journals_path(directory))?,
            store: SqliteStore::open(&Self::store_path(directory))?,
        };
        let report = archive.catch_up()?;
        Ok((archive, report))
    }

    /// The archive in `directory` for reading alone: as [`open`](Self::open) where that can
    /// be. Where nothing can be written, since it is on a full disk or a read-only one or
    /// is another user's, its sessions are read from their journals into memory; the
    /// reason is given then.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for what only keeps it from being written to.
    pub fn open_for_reading(
        directory: &Path,
    ) -> Result<(Self, CatchUp, Option<StoreError>), StoreError> {
        let reason = match Self::open(directory) {
            Ok((archive, report)) => return Ok((archive, report, None)),
            Err(error) if error.is_about_writing() && is_there(directory) => error,
            Err(error) => return Err(error),
        };
        let mut archive = Self {
            journals: JournalDirectory::create(&Self::journals_path(directory))?,
            store: SqliteStore::in_memory(&Self::store_path(directory))?,
        };
        let mut report = CatchUp::default();
        let listing = archive.journals.list()?;
        let all = listing.journals.into_iter().map(|entry| entry.id);
        read_into(&mut archive.store, &archive.journals, all, &mut report)?;
        report.strangers = listing.strangers;
        Ok((archive, report, Some(reason)))
    }

    /// Makes the store in `directory` anew from the journals, whatever state it is in.
    ///
    /// What the old store alone still has is kept, if it can be read: lost journals are
    /// written again first, and sessions whose journal is spoilt are carried over.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another process has the store open, and when the new
    /// one cannot be written; the old one then stays.
    pub fn rebuild(directory: &Path) -> Result<CatchUp, StoreError> {
        let mut report = CatchUp::default();
        let mut carried_over = Vec::new();
        match Self::rescue(directory) {
            Ok(rescued) => (report.restored, carried_over) = rescued,
            // That error's text says to rebuild, which is being done.
            Err(StoreError::Damaged { problem, .. }) => report.lost_store = Some(problem),
            Err(error) => report.lost_store = Some(error.to_string()),
        }
        let journals = JournalDirectory::create(&Self::journals_path(directory))?;
        SqliteStore::replace(&Self::store_path(directory), |store| {
            store.put(&carried_over)?;
            let listing = journals.list()?;
            let all = listing.journals.iter().map(|entry| entry.id.clone());
            read_into(store, &journals, all, &mut report)?;
            finish_deletions(store, &journals, &listing, &mut report)?;
            report.strangers = listing.strangers;
            Ok(report)
        })
    }

    /// What the old store alone has: sessions whose lost journals are written now, and
    /// those whose journals are spoilt.
    #[expect(clippy::type_complexity, reason = "read in one place")]
    fn rescue(directory: &Path) -> Result<(Vec<SessionId>, Vec<(Session, u64)>), StoreError> {
        let (archive, report) = Self::open(directory)?;
        let sizes = archive.store.journal_sizes()?;
        let spoilt = report
            .unreadable
            .into_iter()
            .filter_map(|unreadable| Some((*sizes.get(&unreadable.id)?, unreadable.id)));
        let carried_over = spoilt
            .map(|(size, id)| Ok((archive.get(&id)?, size)))
            .collect::<Result<_, StoreError>>()?;
        Ok((report.restored, carried_over))
    }

    /// The journals.
    #[must_use]
    pub fn journals(&self) -> &JournalDirectory {
        &self.journals
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &SqliteStore {
        &self.store
    }

    /// Brings the store in step with the journals. After a run this is how its session
    /// gets into the store.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn catch_up(&mut self) -> Result<CatchUp, StoreError> {
        let mut report = CatchUp::default();
        // The journals first: what is deleted between the two readings is then seen as
        // a journal that is gone, and what is added as one that is known already.
        let listing = self.journals.list()?;
        let known = self.store.journal_sizes()?;
        for unfinished in &listing.unfinished {
            self.journals.remove_unfinished(unfinished)?;
        }
        finish_deletions(&mut self.store, &self.journals, &listing, &mut report)?;
        let unknown = listing
            .journals
            .iter()
            .filter(|entry| known.get(&entry.id) != Some(&entry.size_bytes))
            .map(|entry| entry.id.clone());
        read_into(&mut self.store, &self.journals, unknown, &mut report)?;
        let lost = known.into_keys().filter(|id| {
            let listed = |entry: &stiction_journal::Entry| entry.id.cmp(id);
            listing.journals.binary_search_by(listed).is_err()
                && listing.deleted.binary_search(id).is_err()
        });
        for id in lost {
            self.restore_journal(id, &mut report)?;
        }
        report.strangers = listing.strangers;
        Ok(report)
    }

    /// Writes the journal of a session that only the store still has.
    fn restore_journal(&mut self, id: SessionId, report: &mut CatchUp) -> Result<(), StoreError> {
        let session = match self.store.get(&id) {
            Ok(session) => session,
            // Another process has deleted it since.
            Err(StoreError::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        match self.journals.save(session) {
            Ok(_) => {
                read_into(
                    &mut self.store,
                    &self.journals,
                    [id.clone()],
                    &mut CatchUp::default(),
                )?;
                report.restored.push(id);
                Ok(())
            }
            // A run of another process has begun, and ended, since the listing.
            Err(JournalError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps a session that was measured elsewhere or read from a table: in a journal
    /// of its own, and from there in the store.
    ///
    /// # Errors
    /// [`JournalError::Exists`] inside [`StoreError::Journal`] when its id is taken.
    pub fn add(&mut self, session: Session) -> Result<(), StoreError> {
        let id = session.header.id.clone();
        self.journals.save(session)?;
        read_into(
            &mut self.store,
            &self.journals,
            [id],
            &mut CatchUp::default(),
        )
    }

    /// The session `id`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not here.
    pub fn get(&self, id: &SessionId) -> Result<Session, StoreError> {
        self.store.get(id)
    }

    /// The sessions that `filter` lets through, latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        self.store.list(filter)
    }

    /// The same sessions with their figures alone: as [`Store::figures`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn figures(&self, filter: &Filter) -> Result<Vec<Session>, StoreError> {
        self.store.figures(filter)
    }

    /// Which sessions `typed` means: as [`Store::resolve`], and when there is none, those
    /// whose journal has such a name and cannot be read, so that they can be deleted.
    ///
    /// # Errors
    /// When the store or the directory of journals cannot be read.
    pub fn resolve(&self, typed: &str) -> Result<Resolution, StoreError> {
        let known = self.store.resolve(typed)?;
        if known != Resolution::None {
            return Ok(known);
        }
        let journals = self.journals.list()?.journals;
        let ids = journals.into_iter().map(|entry| entry.id);
        Ok(Resolution::of(
            ids.filter(|id| id.answers_to(typed)).collect(),
        ))
    }

    /// Deletes the session `id`, its journal and all that the store has of it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such session, and
    /// [`JournalError::Running`] inside [`StoreError::Journal`] while it is being run.
    pub fn delete(&mut self, id: &SessionId) -> Result<(), StoreError> {
        match self.journals.mark_deleted(id) {
            Err(JournalError::Missing { .. }) => Err(StoreError::NotFound(id.clone())),
            Err(error) => Err(error.into()),
            Ok(()) => {
                self.store.remove(id)?;
                Ok(self.journals.finish_deletion(id)?)
            }
        }
    }
}

/// Whether there is an archive at all.
fn is_there(directory: &Path) -> bool {
    Archive::journals_path(directory).is_dir()
}

/// Finishes what [`Archive::delete`] began, unless the session has come back since.
fn finish_deletions(
    store: &mut impl Store,
    journals: &JournalDirectory,
    listing: &Listing,
    report: &mut CatchUp,
) -> Result<(), StoreError> {
    for id in &listing.deleted {
        let is_back = listing.journals.iter().any(|entry| entry.id == *id);
        if !is_back {
            store.remove(id)?;
            report.deleted.push(id.clone());
        }
        journals.finish_deletion(id)?;
    }
    Ok(())
}

/// Reads journals into the store, except those that are being written.
fn read_into(
    store: &mut impl Store,
    journals: &JournalDirectory,
    ids: impl IntoIterator<Item = SessionId>,
    report: &mut CatchUp,
) -> Result<(), StoreError> {
    let mut batch = Vec::new();
    for id in ids {
        match read_one(journals, &id, report) {
            None => {}
            Some(read) => {
                batch.push(read);
                report.read.push(id);
            }
        }
        if batch.len() == BATCH {
            store.put(&batch)?;
            batch.clear();
        }
    }
    store.put(&batch)
}

/// The session of one journal and the journal's size, unless there is none to be had.
fn read_one(
    journals: &JournalDirectory,
    id: &SessionId,
    report: &mut CatchUp,
) -> Option<(Session, u64)> {
    let read = match journals.is_running(id) {
        Ok(true) => {
            report.running.push(id.clone());
            return None;
        }
        Ok(false) => journals.read(id),
        Err(error) => Err(error),
    };
    let path = journals.journal_path(id);
    match read {
        Ok(read) => {
            report
                .unreadable
                .extend(read.problems.iter().map(|problem| Unreadable {
                    id: id.clone(),
                    problem: format!("{}: {problem}", path.display()),
                }));
            Some((read.session, read.size_bytes))
        }
        // Another process has deleted it since the directory was read.
        Err(_) if !path.exists() => None,
        Err(error) => {
            report.unreadable.push(Unreadable {
                id: id.clone(),
                problem: error.to_string(),
            });
            None
        }
    }
}
