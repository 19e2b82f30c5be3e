//! Why a search cannot go on, by what the caller can do. What is wrong with a version
//! alone is no error: the search goes around it.

use std::path::PathBuf;

use stiction_host::HostError;
use stiction_journal::JournalError;
use stiction_suite::SuiteError;

use crate::RunnerError;

/// Why a search cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// git refuses: the user names another revision or repository.
    #[error("{}: git {doing}: {said}", tree.display())]
    Git {
        /// The repository.
        tree: PathBuf,
        /// The command and what it was about.
        doing: String,
        /// What git said.
        said: String,
    },
    /// There is nothing to search between the two commits: the user names others.
    #[error("{0}")]
    Ends(String),
    /// The benchmark fails where it has to work: the user looks why, and goes on.
    #[error("the benchmark fails in {version}, which the others are held against: {message}")]
    Reference {
        /// The version.
        version: String,
        /// What was said.
        message: String,
    },
    /// There is no room to build in: the user makes some.
    #[error("{}: a build failed and no space is left", path.display())]
    Full {
        /// Where.
        path: PathBuf,
    },
    /// The clones cannot be made, or a process not be started.
    #[error(transparent)]
    Host(#[from] HostError),
    /// An event cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A session cannot be begun.
    #[error(transparent)]
    Run(#[from] RunnerError),
    /// What is to be measured makes no sense.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The session ended before its time.
    #[error("{0}")]
    Session(String),
}
