//! The timed job as a process with all that it starts.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use stiction_host::{ProcessUsage, Subprocess};

use super::part::PART;
use crate::program::ended_with;

/// A job under way.
pub(super) struct RunningJob(Subprocess);

/// What a job came to.
pub(super) struct EndedJob {
    /// From its start until it was seen to have ended.
    pub(super) elapsed: Duration,
    pub(super) usage: ProcessUsage,
    /// What it wrote to standard output.
    pub(super) output: String,
}

impl RunningJob {
    /// Starts the part of `helper` that `words` name. The job ends when its standard
    /// input does, which is ours.
    pub(super) fn start(helper: &Path, words: &[OsString]) -> Result<Self, String> {
        let mut command = Command::new(helper);
        command.arg(PART).args(words).stdin(Stdio::piped());
        let started = Subprocess::start(&mut command);
        started.map(Self).map_err(|error| error.to_string())
    }

    /// Whether it has ended, after waiting up to `patience`.
    pub(super) fn has_ended_within(&mut self, patience: Duration) -> Result<bool, String> {
        let ended = self.0.has_ended_within(patience);
        ended.map_err(|error| error.to_string())
    }

    /// What a job that has ended came to.
    pub(super) fn finish(self) -> Result<EndedJob, String> {
        let ended = self.0.finish().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            return Err(ended_with("the job", ended.status, &ended.talk));
        }
        Ok(EndedJob {
            elapsed: ended.elapsed,
            usage: ended.usage,
            output: String::from_utf8_lossy(&ended.output).into_owned(),
        })
    }
}
