//! The timed job as a process with all that it starts.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use stiction_host::{ProcessGroup, ProcessUsage};

use super::part::{PART, failed};

/// Characters of a job's own words that are told when it fails.
const WORDS_MAX: usize = 300;

/// A job under way.
pub(super) struct RunningJob {
    group: ProcessGroup,
    /// The job ends when this is closed.
    _lifeline: Option<ChildStdin>,
    begun: Instant,
    output: PathBuf,
    talk: PathBuf,
}

/// What a job came to.
pub(super) struct EndedJob {
    /// From its start until it was seen to have ended.
    pub(super) elapsed: Duration,
    pub(super) usage: ProcessUsage,
    /// What it wrote to standard output.
    pub(super) output: String,
}

impl RunningJob {
    /// Starts the part of `helper` that `words` name. What it says goes into files in
    /// `folder`.
    pub(super) fn start(helper: &Path, words: &[OsString], folder: &Path) -> Result<Self, String> {
        let (output, talk) = (folder.join("job.out"), folder.join("job.err"));
        let create =
            |path: &Path| File::create(path).map_err(|error| failed("write", path, &error));
        let (to_output, to_talk) = (create(&output)?, create(&talk)?);
        let begun = Instant::now();
        let mut child = Command::new(helper)
            .arg(PART)
            .args(words)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(to_output)
            .stderr(to_talk)
            .spawn()
            .map_err(|error| failed("start the job by", helper, &error))?;
        let group = ProcessGroup::watch(&child).map_err(|error| error.to_string())?;
        Ok(Self {
            group,
            _lifeline: child.stdin.take(),
            begun,
            output,
            talk,
        })
    }

    /// Whether it has ended, after waiting up to `patience`.
    pub(super) fn has_ended_within(&self, patience: Duration) -> Result<bool, String> {
        let ended = self.group.has_ended_within(patience);
        ended.map_err(|error| error.to_string())
    }

    /// What a job that has ended came to.
    pub(super) fn finish(self) -> Result<EndedJob, String> {
        let elapsed = self.begun.elapsed();
        let (status, usage) = self.group.reap().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(self_told(status, &self.talk));
        }
        let output = std::fs::read_to_string(&self.output)
            .map_err(|error| failed("read", &self.output, &error))?;
        Ok(EndedJob {
            elapsed,
            usage,
            output,
        })
    }
}

/// How a job ended, with the last of what it said.
fn self_told(status: ExitStatus, talk: &Path) -> String {
    let said = std::fs::read(talk).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said: Vec<char> = said.trim().chars().collect();
    let last: String = said[said.len().saturating_sub(WORDS_MAX)..]
        .iter()
        .collect();
    match last.is_empty() {
        true => format!("the job ended with {status}"),
        false => format!("the job ended with {status}: {last}"),
    }
}
