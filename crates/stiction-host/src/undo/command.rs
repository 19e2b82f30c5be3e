//! A command of the user's that is to be carried out, whatever happens.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Change, Entry, UndoJournal};
use crate::HostError;

/// Whether commands of the user's are carried out to undo what others of theirs did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserCommands {
    /// They are not: they stay in the journal.
    Leave,
    /// They are.
    CarryOut,
}

/// A command of the user's that is written down, and not carried out yet. Where the process
/// dies before it is, [`restore_with`](super::restore_with) finds it.
#[derive(Debug)]
pub struct PendingCommand(Entry);

impl PendingCommand {
    /// Writes the program `words` down, to be carried out in `directory`.
    ///
    /// # Errors
    /// When the undo journal cannot be written.
    pub fn note(
        words: Vec<String>,
        directory: &Path,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let directory = std::path::absolute(directory)
            .map_err(|error| HostError::refused("find", directory, error))?;
        undo.begin(Change::Command { words, directory }).map(Self)
    }

    /// Writes down that it was carried out.
    ///
    /// # Errors
    /// When the undo journal cannot be written.
    pub fn done(self) -> Result<(), HostError> {
        self.0.undone()
    }
}

/// Carries the program out, without a standard input.
pub(super) fn carry_out(words: &[String], directory: &Path) -> Result<(), HostError> {
    let program = words.first().map_or("", String::as_str);
    let output = Command::new(program)
        .args(words.iter().skip(1))
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| HostError::refused("start", Path::new(program), error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(HostError::Program {
        program: words.join(" "),
        said: format!("{} {}", output.status, said.trim()),
    })
}
