//! The undo journal: every change to the machine is written down before it is made.
//!
//! A journal is a file of one process in a folder of the caller's choice. The
//! process holds it locked as long as it lives. A journal with nothing left to
//! undo is removed; one that outlives its process is undone by [`restore`].

mod change;
mod command;
mod owner;
mod path_text;
mod reading;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stiction_core::SessionId;

pub use change::{Change, Undone};
pub use command::{PendingCommand, UserCommands};
pub(crate) use owner::hold_lock;
pub use owner::{Liveness, Owner};
pub use reading::{Journals, Pending, Restoration, Restored, pending, restore, restore_with};

use crate::{HostError, random};

/// End of the names of journals.
const SUFFIX: &str = "undo";

/// A line of a journal. The first is the owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Owner(Owner),
    /// A change that is about to be made.
    Begin(u64, Change),
    /// The change of that number is undone, or was never made.
    Undone(u64),
}

/// The journal of this process. Clones are the same journal.
#[derive(Clone, Debug)]
pub struct UndoJournal(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    session: SessionId,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    next: u64,
    open: BTreeMap<u64, Change>,
    watcher: Option<fn()>,
}

impl State {
    /// One line, on disk when this returns.
    fn write(&mut self, line: &Line) -> std::io::Result<()> {
        if let Some(watcher) = self.watcher {
            watcher();
        }
        write_line(&mut self.file, line)?;
        if let Some(watcher) = self.watcher {
            watcher();
        }
        Ok(())
    }
}

/// A change that is written down and not yet undone.
#[derive(Debug)]
pub(crate) struct Entry {
    journal: UndoJournal,
    number: u64,
}

impl UndoJournal {
    /// Starts the journal of this process for `session` in `folder`, which is made
    /// if it is not there.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn open(folder: &Path, session: &SessionId) -> Result<Self, HostError> {
        let refused = |error| HostError::refused("keep an undo journal in", folder, error);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(refused)?;
        let name = format!("{session}-{}", random::text(8).map_err(refused)?);
        let path = folder.join(&name).with_extension(SUFFIX);
        // Under its final name from the moment it is locked and complete only: a
        // restore at the same time must not take it for a dead one.
        let unfinished = folder.join(name).with_extension("new");
        let mut file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)
            .map_err(refused)?;
        let begun = hold_lock(&file)
            .and_then(|()| Owner::this_process(session))
            .and_then(|owner| write_line(&mut file, &Line::Owner(owner)))
            .and_then(|()| std::fs::rename(&unfinished, &path));
        if let Err(error) = begun {
            // The first error is the one to tell; an empty file at worst is left.
            let _ = std::fs::remove_file(&unfinished);
            return Err(refused(error));
        }
        let state = Mutex::new(State {
            file,
            next: 1,
            open: BTreeMap::new(),
            watcher: None,
        });
        Ok(Self(Arc::new(Inner {
            path,
            session: session.clone(),
            state,
        })))
    }

    /// The session whose changes these are.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Has `watcher` called right before and right after each line is written: a test of
    /// what a kill there leaves behind ends the process in it.
    pub fn watch_writes(&self, watcher: fn()) {
        self.state().watcher = Some(watcher);
    }

    /// Changes that are not undone yet.
    #[must_use]
    pub fn open_changes(&self) -> Vec<Change> {
        self.state().open.values().cloned().collect()
    }

    /// Writes down a change that is about to be made; on disk when this returns.
    pub(crate) fn begin(&self, change: Change) -> Result<Entry, HostError> {
        let mut state = self.state();
        let number = state.next;
        let line = Line::Begin(number, change.clone());
        state
            .write(&line)
            .map_err(|error| HostError::refused("write the undo journal", &self.0.path, error))?;
        state.next += 1;
        state.open.insert(number, change);
        Ok(Entry {
            journal: self.clone(),
            number,
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is consistent between its lines, so a panic elsewhere while it
        // was locked does not spoil it.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Writes down that the change is undone, or was not made.
    pub(crate) fn undone(self) -> Result<(), HostError> {
        let mut state = self.journal.state();
        let written = state.write(&Line::Undone(self.number));
        // Undone it is, whether that could be written or not: at worst a later
        // restore finds it gone already.
        state.open.remove(&self.number);
        written.map_err(|error| {
            HostError::refused("write the undo journal", &self.journal.0.path, error)
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.open.is_empty() {
            // A journal that stays behind has nothing pending: `restore` removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// One write of one whole line, then to disk.
fn write_line(file: &mut File, line: &Line) -> std::io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.sync_data()
}
