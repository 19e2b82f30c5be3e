//! Sessions in a SQLite database.

mod figures;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use stiction_core::{Session, SessionId, Summary};

use crate::{Filter, Resolution, Store, StoreError};

/// Tells our databases from those of other programs: `STIC` in ASCII.
const APPLICATION_ID: u32 = 0x5354_4943;

/// What brings a database from each version to the next, from an empty one on.
const MIGRATIONS: &[&str] = &[
    include_str!("sqlite/schema.sql"),
    include_str!("sqlite/headers.sql"),
];

/// The version that the migrations lead to.
const NEWEST_VERSION: u32 = MIGRATIONS.len() as u32;

/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sessions in a SQLite database, which several processes may have open.
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// Held shared while the database is open, and exclusively while it is made or is
    /// replaced by another file, which SQLite's own locks do not cover.
    _lock: Option<File>,
}

impl SqliteStore {
    /// The store in the file at `path`, made for its owner alone if it is not there.
    /// Its directory is made too.
    ///
    /// # Errors
    /// When the file cannot be made or opened, is damaged, is not a store, or was made
    /// by a later version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_directory(path)?;
        let lock = lock_file(path)?;
        // SQLite does not wait while another process gives a new database its first
        // form, but fails. Whoever gets the lock alone does that. Whoever does not is
        // too late: another one does it, or has done it and keeps the store open, for
        // which nobody should wait.
        if is_empty(path) && lock.try_lock().is_ok() {
            Self::set_up(path, None)?;
        }
        // Waits while another process gives the database its form or replaces it. A
        // filesystem without locks is no reason to do without a store.
        let _ = lock.lock_shared();
        Self::set_up(path, Some(lock))
    }

    /// An empty store in memory, in the name of the one at `path`.
    pub(crate) fn in_memory(path: &Path) -> Result<Self, StoreError> {
        let opened = Connection::open_in_memory();
        let mut store = Self {
            connection: opened
                .map_err(|error| StoreError::database("make a store in memory for", path, error))?,
            path: path.to_owned(),
            _lock: None,
        };
        store.prepare()?;
        Ok(store)
    }

    /// The store at `path`, with its schema brought to this version.
    fn set_up(path: &Path, lock: Option<File>) -> Result<Self, StoreError> {
        let mut store = Self {
            connection: connect(path)?,
            path: path.to_owned(),
            _lock: lock,
        };
        store.prepare()?;
        Ok(store)
    }

    /// Replaces the store at `path`, whatever state it is in, by one that `fill` has
    /// filled: by all of it at once, or on an error not at all.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another process has the store open; those of `fill`.
    pub fn replace<T>(
        path: &Path,
        fill: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        make_directory(path)?;
        let lock = lock_file(path)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(StoreError::Busy {
                path: path.to_owned(),
            });
        }
        let new = with_ending(path, ".new");
        remove_database(&new)?;
        let filled = Self::fill_new(&new, fill).and_then(|filled| {
            swap(&new, path)?;
            Ok(filled)
        });
        if filled.is_err() {
            // The error that matters is the one before.
            let _ = remove_database(&new);
        }
        filled
    }

    fn fill_new<T>(
        new: &Path,
        fill: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut store = Self::set_up(new, None)?;
        let filled = fill(&mut store)?;
        // Everything into the one file that is then renamed.
        store
            .connection
            .pragma_update(None, "journal_mode", "delete")
            .map_err(|error| store.error("finish the new store", error))?;
        let path = store.path.clone();
        store
            .connection
            .close()
            .map_err(|(_, error)| StoreError::database("close the new store", &path, error))?;
        Ok(filled)
    }

    /// Sets the connection up and brings the schema to this version.
    fn prepare(&mut self) -> Result<(), StoreError> {
        let doing = "open the store";
        self.connection
            .busy_timeout(PATIENCE)
            .map_err(|error| self.error(doing, error))?;
        self.refuse_foreign()?;
        for (pragma, value) in [
            ("journal_mode", "wal"),
            // In this mode a power cut may cost the latest sessions here, which are
            // then read from their journals again; it cannot damage the file.
            ("synchronous", "normal"),
            ("foreign_keys", "on"),
        ] {
            self.connection
                .pragma_update(None, pragma, value)
                .map_err(|error| self.error(doing, error))?;
        }
        self.migrate()
            .map_err(|error| self.error("bring the store's schema up to date", error))
    }

    fn refuse_foreign(&self) -> Result<(), StoreError> {
        let number = |pragma: &str| -> Result<u32, StoreError> {
            self.connection
                .pragma_query_value(None, pragma, |row| row.get(0))
                .map_err(|error| self.error("open the store", error))
        };
        let path = || self.path.clone();
        let is_new = number("schema_version")? == 0;
        if !is_new && number("application_id")? != APPLICATION_ID {
            return Err(StoreError::NotOurs { path: path() });
        }
        let found = number("user_version")?;
        if found > NEWEST_VERSION {
            return Err(StoreError::Newer {
                path: path(),
                found,
                known: NEWEST_VERSION,
            });
        }
        Ok(())
    }

    fn migrate(&mut self) -> rusqlite::Result<()> {
        let version = |connection: &Connection| -> rusqlite::Result<u32> {
            connection.pragma_query_value(None, "user_version", |row| row.get(0))
        };
        if version(&self.connection)? == NEWEST_VERSION {
            return Ok(());
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        let found = version(&transaction)?;
        for migration in &MIGRATIONS[found as usize..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", NEWEST_VERSION)?;
        transaction.commit()
    }

    fn error(&self, doing: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::database(doing, &self.path, error)
    }
}

impl Store for SqliteStore {
    fn put(&mut self, sessions: &[(Session, u64)]) -> Result<(), StoreError> {
        write::put(&mut self.connection, sessions)
            .map_err(|error| self.error("keep a session in the store", error))
    }

    fn get(&self, id: &SessionId) -> Result<Session, StoreError> {
        let json = read::record(&self.connection, id)
            .map_err(|error| self.error("read a session from the store", error))?
            .ok_or_else(|| StoreError::NotFound(id.clone()))?;
        serde_json::from_str(&json).map_err(|error| StoreError::Damaged {
            path: self.path.clone(),
            problem: format!("session {id}: {error}"),
        })
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        read::list(&self.connection, filter)
            .map_err(|error| self.error("list the sessions in the store", error))
    }

    fn figures(&self, filter: &Filter) -> Result<Vec<Session>, StoreError> {
        figures::read(&self.connection, filter)
            .map_err(|error| self.error("read the figures in the store", error))
    }

    fn resolve(&self, typed: &str) -> Result<Resolution, StoreError> {
        read::resolve(&self.connection, typed)
            .map(Resolution::of)
            .map_err(|error| self.error("look a session up in the store", error))
    }

    fn journal_sizes(&self) -> Result<BTreeMap<SessionId, u64>, StoreError> {
        read::journal_sizes(&self.connection)
            .map_err(|error| self.error("list the sessions in the store", error))
    }

    fn remove(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        self.connection
            .execute("DELETE FROM sessions WHERE id = ?", [id.as_str()])
            .map(|removed| removed > 0)
            .map_err(|error| self.error("remove a session from the store", error))
    }
}

fn make_directory(path: &Path) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| StoreError::io("make the directory of the store", directory, error))
}

/// Whether no process has given the database its first form yet.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options
}

fn lock_file(path: &Path) -> Result<File, StoreError> {
    let path = with_ending(path, ".lock");
    private_file()
        .open(&path)
        .map_err(|error| StoreError::io("open the lock of the store", &path, error))
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // SQLite would make the file readable by all.
    private_file()
        .open(path)
        .map_err(|error| StoreError::io("open the store", path, error))?;
    Connection::open(path).map_err(|error| StoreError::database("open the store", path, error))
}

/// Puts the finished database `new` in the place of the one at `path`, which nobody has open.
fn swap(new: &Path, path: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::io("put the new store in its place", path, error);
    File::open(new)
        .and_then(|file| file.sync_all())
        .map_err(io)?;
    // Left beside the new file, the log of the old one would be played into it.
    // Should the process die here, the old file lacks its latest sessions, which
    // are then read from their journals again.
    for ending in ["-wal", "-shm"] {
        remove(&with_ending(path, ending))?;
    }
    fs::rename(new, path).map_err(io)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| StoreError::io("sync the directory of the store", directory, error))
}

fn remove_database(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        remove(&with_ending(path, ending))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove a file of the store", path, error))
        }
        _ => Ok(()),
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_another_process_keeps_to_itself_is_busy() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.sqlite3");
        let mut store = SqliteStore::open(&path).unwrap();
        store.connection.busy_timeout(Duration::ZERO).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let session = testkit::sessions::sample(1);
        let refused = store.put(&[(session.clone(), 1)]);
        assert!(matches!(refused, Err(StoreError::Busy { path: of }) if of == path));
        assert!(
            store.list(&Filter::default()).unwrap().is_empty(),
            "reading does not wait"
        );
        other.execute_batch("COMMIT").unwrap();
        store.put(&[(session, 1)]).unwrap();
    }
}
