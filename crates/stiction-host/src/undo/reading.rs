//! Journals of processes that are gone: what is pending, and undoing it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Change, Line, Liveness, Owner, SUFFIX, Undone, UserCommands};
use crate::HostError;

/// A change takes some hundred bytes; what is longer than this is no journal.
const MOST_BYTES: u64 = 64 << 20;

/// A journal with changes that are not undone.
#[derive(Debug)]
pub struct Pending {
    /// The journal.
    pub path: PathBuf,
    /// Who made the changes.
    pub owner: Owner,
    /// Whether the owner will undo them itself.
    pub liveness: Liveness,
    /// The changes, in the order in which they were made.
    pub changes: Vec<Change>,
    /// Holds the lock on the journal of a dead owner, so that two restores do not
    /// undo the same change.
    lock: File,
}

/// One change that [`restore`] took in hand.
#[derive(Debug)]
pub struct Restored {
    /// Who had made it.
    pub owner: Owner,
    /// The change.
    pub change: Change,
    /// What came of it.
    pub result: Result<Undone, HostError>,
}

/// The journals in a folder.
#[derive(Debug, Default)]
pub struct Journals {
    /// Those with their owners and changes.
    pub pending: Vec<Pending>,
    /// Those that cannot be read; they are left as they are.
    pub unreadable: Vec<HostError>,
}

/// What [`restore`] did.
#[derive(Debug, Default)]
pub struct Restoration {
    /// The changes it took in hand, in that order.
    pub changes: Vec<Restored>,
    /// Journals that could not be read or removed.
    pub problems: Vec<HostError>,
}

/// The journals in `folder`, with what is left to undo in each. None when there is
/// no such folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn pending(folder: &Path) -> Result<Journals, HostError> {
    let mut journals = Journals::default();
    for path in paths(folder)? {
        match read(&path) {
            Ok(pending) => journals.pending.extend(pending),
            Err(error) => journals.unreadable.push(error),
        }
    }
    Ok(journals)
}

/// Undoes, newest first, every change in `folder` whose owner is dead, and removes
/// the journals that have nothing left to undo. A change that cannot be undone
/// stays in its journal.
///
/// # Errors
/// When the folder cannot be read.
pub fn restore(folder: &Path) -> Result<Restoration, HostError> {
    restore_with(folder, &mut |_, _| UserCommands::Leave)
}

/// As [`restore`], and carries out those commands of the user's that `choose` says, which
/// it is asked for each.
///
/// # Errors
/// As [`restore`].
pub fn restore_with(
    folder: &Path,
    choose: &mut dyn FnMut(&Owner, &Change) -> UserCommands,
) -> Result<Restoration, HostError> {
    let journals = pending(folder)?;
    let mut restoration = Restoration {
        changes: Vec::new(),
        problems: journals.unreadable,
    };
    for journal in journals.pending {
        if journal.liveness != Liveness::Dead {
            continue;
        }
        let mut complete = true;
        for change in journal.changes.iter().rev() {
            let commands = match change {
                Change::Command { .. } => choose(&journal.owner, change),
                _ => UserCommands::Leave,
            };
            let result = change.undo(journal.owner.is_of_this_boot(), commands);
            complete &= matches!(result, Ok(Undone::Removed | Undone::WasGone));
            restoration.changes.push(Restored {
                owner: journal.owner.clone(),
                change: change.clone(),
                result,
            });
        }
        if complete && let Err(error) = std::fs::remove_file(&journal.path) {
            let error = HostError::refused("remove", &journal.path, error);
            restoration.problems.push(error);
        }
        drop(journal.lock);
    }
    Ok(restoration)
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>, HostError> {
    let refused = |error| HostError::refused("read", folder, error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(refused)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(refused)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == SUFFIX)
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// `None` when the journal went away while it was looked at.
fn read(path: &Path) -> Result<Option<Pending>, HostError> {
    let refused = |error| HostError::refused("read", path, error);
    // A pipe under the name of a journal is not waited for.
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(refused)?,
    };
    let metadata = file.metadata().map_err(refused)?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(HostError::NotOurs {
            path: path.to_owned(),
            reason: "it is no undo journal: not a regular file, or far too long".to_owned(),
        });
    }
    let mut text = String::new();
    (&file)
        .take(MOST_BYTES)
        .read_to_string(&mut text)
        .map_err(refused)?;
    let (owner, changes) = parse(path, &text)?;
    let liveness = owner.liveness(&file).map_err(refused)?;
    Ok(Some(Pending {
        path: path.to_owned(),
        owner,
        liveness,
        changes,
        lock: file,
    }))
}

/// The owner and the changes that are not undone. A last line without its end is
/// one whose change had not been made yet.
fn parse(path: &Path, text: &str) -> Result<(Owner, Vec<Change>), HostError> {
    let bad = |line: usize, problem: String| HostError::BadJournal {
        path: path.to_owned(),
        line,
        problem,
    };
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut owner = None;
    let mut open = BTreeMap::new();
    for (number, line) in (1..).zip(whole.lines()) {
        match serde_json::from_str(line).map_err(|error| bad(number, error.to_string()))? {
            Line::Owner(one) => owner = Some(one),
            Line::Begin(change, what) => {
                open.insert(change, what);
            }
            Line::Undone(change) => {
                open.remove(&change);
            }
        }
    }
    let owner = owner.ok_or_else(|| bad(1, "no owner is named".to_owned()))?;
    Ok((owner, open.into_values().collect()))
}
