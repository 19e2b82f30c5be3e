//! What else changed where a level changed.

use stiction_core::{Session, SessionId};

use super::series::Series;
use crate::compare::{Difference, difference};

/// The two sides of a place in a series, and how their machines differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    /// The last session before it.
    pub before: SessionId,
    /// What that session is called.
    pub label_before: Option<String>,
    /// The first session after it.
    pub after: SessionId,
    /// What that session is called.
    pub label_after: Option<String>,
    /// Facts that are known of both and differ; all of them are told, and none of them has
    /// to be the cause.
    pub differs: Vec<Difference>,
}

/// What lies around the point `at` of `series`, of which `sessions` holds the sessions.
/// `None` for the first point.
#[must_use]
pub fn around(series: &Series, at: usize, sessions: &[Session]) -> Option<Around> {
    let before = series.points.get(at.checked_sub(1)?)?.sessions.last()?;
    let after = series.points.get(at)?.session();
    let find = |id: &SessionId| sessions.iter().find(|session| session.header.id == *id);
    let (of_before, of_after) = (&find(before)?.header, &find(after)?.header);
    let found = difference(&of_before.environment, &of_after.environment, None);
    Some(Around {
        before: before.clone(),
        label_before: of_before.label.clone(),
        after: after.clone(),
        label_after: of_after.label.clone(),
        differs: found.differs,
    })
}
