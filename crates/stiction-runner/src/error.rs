//! Why a session did not begin, by what the caller can do.

use stiction_core::SessionId;
use stiction_host::HostError;
use stiction_journal::JournalError;
use stiction_suite::SuiteError;

/// Why a session did not begin. Nothing was measured and nothing is left behind.
///
/// What goes wrong later is part of the session.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A place to measure cannot be measured: the user names another.
    #[error(transparent)]
    Target(HostError),
    /// The workload's options cannot be met: the user changes them.
    #[error(transparent)]
    Plan(#[from] SuiteError),
    /// Results could not be kept: the user makes room for them, or names another place.
    #[error("{0}; nothing was run, since its results could not be kept")]
    Journal(#[from] JournalError),
    /// A session that was cut off cannot go on as it was: the user puts right what differs,
    /// or begins another.
    #[error("session {id} cannot go on: {problem}")]
    Resume {
        /// The session.
        id: SessionId,
        /// What stands in the way.
        problem: String,
    },
    /// Changes to the machine could not be written down before they are made.
    #[error("{0}; nothing was run, since it could not be undone after a crash")]
    Undo(HostError),
}
