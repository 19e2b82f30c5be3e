//! Which session a typed name means.

use std::ffi::OsStr;
use std::path::Path;

use stiction_core::{Session, SessionId};
use stiction_store::{Archive, Filter, Resolution};

use super::import;
use crate::failure::Failure;

/// The word for the newest session.
const LATEST: &str = "latest";

/// The id that `typed` means: an id, a beginning of one, its tail, a label, or
/// `latest`.
///
/// # Errors
/// When there is none, or there are several.
pub(super) fn id(archive: &Archive, typed: &str) -> Result<SessionId, Failure> {
    match archive.resolve(typed)? {
        Resolution::One(id) => Ok(id),
        Resolution::None if typed == LATEST => latest(archive),
        Resolution::None => Err(Failure::new(format!("no session answers to `{typed}`"))
            .advise("`stiction list` shows the sessions kept.")),
        Resolution::Several(ids) => Err(ambiguous(typed, &ids)),
    }
}

/// The session that `typed` means.
///
/// # Errors
/// As [`id`].
pub(super) fn session(archive: &Archive, typed: &str) -> Result<Session, Failure> {
    Ok(archive.get(&id(archive, typed)?)?)
}

/// The session that `operand` means, or else the tables of a file of that name.
///
/// # Errors
/// When it is neither, or is a file without a table.
pub(super) fn session_or_file(archive: &Archive, operand: &OsStr) -> Result<Session, Failure> {
    let stored = operand.to_str().map(|name| session(archive, name));
    let path = Path::new(operand);
    match stored {
        Some(Ok(session)) => Ok(session),
        _ if path.is_file() => import::read_session(path),
        Some(Err(failure)) if !is_path(operand) => Err(failure),
        _ => Err(Failure::new(format!(
            "{} is neither a session nor a file",
            path.display()
        ))),
    }
}

/// Whether an operand can only be meant as the path of a file, so that what is wrong
/// with the file is to be told.
pub(super) fn is_path(operand: &OsStr) -> bool {
    let start = operand.as_encoded_bytes().first();
    matches!(start, Some(b'/' | b'.')) || Path::new(operand).exists()
}

fn latest(archive: &Archive) -> Result<SessionId, Failure> {
    let newest = archive.list(&Filter {
        limit: Some(1),
        ..Filter::default()
    })?;
    match newest.into_iter().next() {
        Some(summary) => Ok(summary.id),
        None => Err(Failure::new("no sessions are kept yet")
            .advise("`stiction quick` measures the current directory.")),
    }
}

/// Names a few of the sessions that were meant.
fn ambiguous(typed: &str, ids: &[SessionId]) -> Failure {
    const SHOWN: usize = 8;
    let shown: Vec<&str> = ids.iter().take(SHOWN).map(SessionId::as_str).collect();
    let more = match ids.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Failure::new(format!("`{typed}` means {} sessions", ids.len())).advise(format!(
        "Say which, by more of its id: {}{more}",
        shown.join(" ")
    ))
}
