//! What any place that sessions are kept in can do.

use std::collections::BTreeMap;

use stiction_core::{Session, SessionId, Summary};

use crate::{Filter, StoreError};

/// A place that sessions are kept in and found again.
///
/// `tests/contract.rs` says what each implementation must do, once for all.
pub trait Store {
    /// Keeps sessions, each with the size of the journal that it was read from:
    /// all of them, or on an error none. One that is there already is replaced.
    ///
    /// # Errors
    /// When they cannot be written.
    fn put(&mut self, sessions: &[(Session, u64)]) -> Result<(), StoreError>;

    /// The session `id`, exactly as it was put.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not here.
    fn get(&self, id: &SessionId) -> Result<Session, StoreError>;

    /// The sessions that `filter` lets through, latest first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError>;

    /// The sessions that `filter` lets through, latest first, each with what its figures
    /// take and nothing else: the header without the planned trials, and of each trial
    /// the measured phases, with the measurements that are better one way. What was
    /// recorded and witnessed, doubts and notes are left out, and metrics that are not
    /// among [`stiction_core::metrics`] have the class of rates.
    ///
    /// # Errors
    /// When they cannot be read.
    fn figures(&self, filter: &Filter) -> Result<Vec<Session>, StoreError>;

    /// Which sessions `typed` means: those whose id it is the beginning or the whole
    /// tail of; when there are none, those whose label it is.
    ///
    /// # Errors
    /// When they cannot be read.
    fn resolve(&self, typed: &str) -> Result<Resolution, StoreError>;

    /// Every session that is here, with the size that its journal had.
    ///
    /// # Errors
    /// When they cannot be read.
    fn journal_sizes(&self) -> Result<BTreeMap<SessionId, u64>, StoreError>;

    /// Forgets the session `id`; whether it was here.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&mut self, id: &SessionId) -> Result<bool, StoreError>;
}

/// What a name that a person typed means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// No session.
    None,
    /// This one.
    One(SessionId),
    /// Any of these, latest first.
    Several(Vec<SessionId>),
}

impl Resolution {
    /// The resolution to these sessions.
    #[must_use]
    pub fn of(mut ids: Vec<SessionId>) -> Self {
        match ids.len() {
            0 => Self::None,
            1 => Self::One(ids.remove(0)),
            _ => {
                ids.sort_by(|a, b| b.cmp(a));
                Self::Several(ids)
            }
        }
    }
}
