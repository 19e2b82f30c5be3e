//! Why a trial did not run. A skip is a result, not a failure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a [`SkipReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipCode {
    /// The target is read-only or not ours to write.
    NotWritable,
    /// Not enough free space above the reserve.
    NoSpace,
    /// A limit of the process or group forbids it.
    LimitTooLow,
    /// The kernel or filesystem lacks what the trial needs.
    NotSupported,
    /// The user lacks the right.
    NotPermitted,
    /// The target is not what the trial needs, or is in use.
    UnsafeTarget,
    /// The machine had other work to do, and the trial was to run only without.
    NotQuiet,
    /// The run was interrupted before this trial's turn.
    Interrupted,
    /// The budget of time was used up before this trial's turn.
    OutOfTime,
}

impl fmt::Display for SkipCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NotWritable => "not-writable",
            Self::NoSpace => "no-space",
            Self::LimitTooLow => "limit-too-low",
            Self::NotSupported => "not-supported",
            Self::NotPermitted => "not-permitted",
            Self::UnsafeTarget => "unsafe-target",
            Self::NotQuiet => "not-quiet",
            Self::Interrupted => "interrupted",
            Self::OutOfTime => "out-of-time",
        })
    }
}

/// Why a trial or phase did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkipReason {
    /// The kind.
    pub code: SkipCode,
    /// What was seen and what would change it.
    pub detail: String,
}

impl SkipReason {
    /// A reason.
    #[must_use]
    pub fn new(code: SkipCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }
}
