//! What a person knows about a change in a series.

use serde::{Deserialize, Serialize};

use crate::SessionId;

/// What kind of change it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationKind {
    /// It is known and stays.
    Accepted,
    /// Something that was broken works again.
    Fix,
    /// The machine was changed: a disk, memory, its place.
    Machine,
}

impl AnnotationKind {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Fix => "fix",
            Self::Machine => "machine",
        }
    }
}

/// A note that cuts a series: what lies before and after is judged apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The id of the series that it is about; every series of the store when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The first session after the change.
    pub session: SessionId,
    /// When that session began, which counts should it be deleted.
    pub at: jiff::Timestamp,
    /// What kind of change.
    pub kind: AnnotationKind,
    /// Why, in the person's words.
    pub why: String,
}
