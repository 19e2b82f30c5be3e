//! One build, and how it ended.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stiction_engine::StopFlag;
use stiction_host::{HostError, Subprocess};

/// How often a wait looks up for a stop.
const LOOK: Duration = Duration::from_millis(50);

/// Characters of a build's last words that are told.
const WORDS_MAX: usize = 400;

/// How a build ended.
pub(super) enum Built {
    /// It made what was asked for, in so many seconds.
    Whole(f64),
    /// It failed, with what it said.
    Failed(String),
    /// The user wants no more.
    Stopped,
}

/// Runs `line` with a shell in `directory`.
pub(super) fn build(
    line: &str,
    directory: &Path,
    limit: Option<Duration>,
    stop: &StopFlag,
) -> Result<Built, HostError> {
    let begun = Instant::now();
    let mut command = Command::new("sh");
    // What it says goes through one pipe, so that the end of it is the end.
    command
        .args(["-c", &format!("exec 2>&1\n{line}")])
        .current_dir(directory)
        .stdin(Stdio::null());
    let mut program = Subprocess::start(&mut command)?;
    loop {
        match program.has_ended_within(LOOK) {
            Ok(true) => break,
            Ok(false) => {}
            // It says more than is kept: that is the build's own affair.
            Err(error) => return Ok(Built::Failed(error.to_string())),
        }
        if stop.is_raised() {
            return Ok(Built::Stopped);
        }
        if let Some(limit) = limit.filter(|&limit| begun.elapsed() > limit) {
            let seconds = limit.as_secs_f64();
            return Ok(Built::Failed(format!(
                "it had not ended after {seconds} s and was killed"
            )));
        }
    }
    let ended = program.finish()?;
    if ended.status.success() {
        return Ok(Built::Whole(ended.elapsed.as_secs_f64()));
    }
    let said = String::from_utf8_lossy(&ended.output);
    let said: Vec<char> = said.trim().chars().collect();
    let last: String = said[said.len().saturating_sub(WORDS_MAX)..]
        .iter()
        .collect();
    Ok(Built::Failed(format!("{}: {last}", ended.status)))
}
