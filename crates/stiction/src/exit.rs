//! Exit codes: one table, documented in the manual, tested end to end.

use std::process::ExitCode;

/// How the program ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or no regression.
    Done = 0,
    /// A regression, or a trial that failed only in the candidate.
    Regression = 1,
    /// Wrong usage, a wrong specification, or an error of the tool or machine.
    Error = 2,
    /// The evidence does not suffice.
    CannotTell = 3,
    /// The sides cannot be compared, or nothing ran.
    NothingToJudge = 4,
    /// Of `bisect probe` alone: `git bisect run` goes around the commit.
    BisectSkip = 125,
    /// Interrupted; what had finished is kept.
    Interrupted = 130,
    /// Of `bisect probe` alone: `git bisect run` ends the search.
    BisectAbort = 255,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The table as the manual and `--help` print it.
pub(crate) const TABLE: &str = "\
Exit status:
  0    done, or no regression
  1    a regression, or a trial that failed only in the candidate
  2    wrong usage, or an error: the message says what to do
  3    cannot tell: the evidence does not suffice
  4    not comparable, or nothing ran
  130  interrupted; what had finished is kept";
