//! What can go wrong, by what the caller can do about it.

use std::error::Error;
use std::fmt;

use stiction_core::SkipReason;

/// Why a plan could not be made or a trial could not be carried to its end.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// An option cannot be met as it stands: the user changes it.
    #[error("{option}: {problem}")]
    Option {
        /// The option by its long name, without dashes.
        option: &'static str,
        /// What is wrong with it and what would do.
        problem: String,
    },
    /// Nothing can run here for the reasons given: the user changes the place or the amount.
    #[error("{}", .0.detail)]
    Refused(SkipReason),
    /// The plan's parameters cannot be read: it is damaged, or of another version.
    #[error("the plan's parameters cannot be read: {0}")]
    Plan(#[from] serde_json::Error),
    /// A process that was started as a part of a benchmark could not do its part.
    #[error("{0}")]
    Part(String),
    /// The finished phase could not be kept: the run must end.
    #[error("cannot keep the result: {0}")]
    Events(#[from] EventsError),
}

impl SuiteError {
    pub(crate) fn option(option: &'static str, problem: impl Into<String>) -> Self {
        Self::Option {
            option,
            problem: problem.into(),
        }
    }
}

/// A listener could not do its part, such as a journal on a full disk.
#[derive(Debug)]
pub struct EventsError(pub Box<dyn Error + Send + Sync>);

impl fmt::Display for EventsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for EventsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// The first of the refusals that applies.
pub(crate) fn refuse(refusals: &[(bool, &'static str, &str)]) -> Result<(), SuiteError> {
    match refusals.iter().find(|(applies, ..)| *applies) {
        Some(&(_, option, problem)) => Err(SuiteError::option(option, problem)),
        None => Ok(()),
    }
}
