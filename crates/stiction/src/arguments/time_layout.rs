//! The shells' `time`.

use clap::ValueEnum;

/// Whose `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeLayout {
    /// zsh's line: user, system, CPU share, total
    Zsh,
    /// bash's three lines: real, user, sys
    Bash,
    /// The times of GNU time's line
    Gnu,
}
