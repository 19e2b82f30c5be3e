//! Programs of others: how they are started and waited for, and what they came to.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stiction_core::{Measurement, metrics};
use stiction_engine::StopFlag;
use stiction_host::{EndedProcess, ProcessUsage, Subprocess};

use crate::timed::Cut;

/// How often a wait looks up for a stop.
const LOOK: Duration = Duration::from_millis(50);
/// Characters of a program's own words that are told when it fails.
const WORDS_MAX: usize = 300;

/// A command of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandLine {
    /// A program and its arguments, started without a shell.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

impl CommandLine {
    /// The command, to be run in `directory` without a standard input.
    fn command(&self, directory: &Path) -> Command {
        let mut command = match self {
            Self::Words(words) => {
                let mut command = Command::new(words.first().map_or("", String::as_str));
                command.args(words.iter().skip(1));
                command
            }
            Self::Shell(line) => {
                let mut command = Command::new("sh");
                command.args(["-c", line]);
                command
            }
        };
        command.stdin(Stdio::null()).current_dir(directory);
        command
    }

    /// The program that is started, and its arguments.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.clone(),
            Self::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
        }
    }

    /// The command as one line, for the reader.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Words(words) => words.join(" "),
            Self::Shell(line) => line.clone(),
        }
    }

    /// Runs it in `directory` and waits for its end, or until `stop` is raised or
    /// `limit` is over: it is then killed with all that it started.
    pub(crate) fn run_in(
        &self,
        directory: &Path,
        stop: Option<&StopFlag>,
        limit: Option<Duration>,
    ) -> Result<EndedProcess, Cut> {
        let begun = Instant::now();
        let failed = |error: stiction_host::HostError| Cut::Failed(error.to_string());
        let mut program = Subprocess::start(&mut self.command(directory)).map_err(failed)?;
        while !program.has_ended_within(LOOK).map_err(failed)? {
            if stop.is_some_and(StopFlag::is_raised) {
                return Err(Cut::Stopped);
            }
            if let Some(limit) = limit.filter(|&limit| begun.elapsed() > limit) {
                let seconds = limit.as_secs_f64();
                return Err(Cut::Failed(format!(
                    "it had not ended after {seconds} s and was killed"
                )));
            }
        }
        program.finish().map_err(failed)
    }

    /// Runs it beside what is measured, such as a switch of a setting: only how it ends
    /// matters. With `stop` it is killed when that is raised, with `limit` after that time.
    ///
    /// # Errors
    /// In words, when it cannot be started, is stopped, or ends with another code than 0.
    pub fn carry_out(
        &self,
        directory: &Path,
        stop: Option<&StopFlag>,
        limit: Option<Duration>,
    ) -> Result<(), String> {
        match self.run_in(directory, stop, limit) {
            Ok(ended) if ended.status.success() => Ok(()),
            Ok(ended) => Err(ended_with(
                &format!("`{}`", self.text()),
                ended.status,
                &ended.talk,
            )),
            Err(Cut::Stopped) => Err(format!("`{}` was stopped", self.text())),
            Err(Cut::Failed(message)) => Err(message),
        }
    }
}

/// How a program ended, with the last of what it said.
pub(crate) fn ended_with(what: &str, status: ExitStatus, talk: &[u8]) -> String {
    let said = String::from_utf8_lossy(talk);
    let said: Vec<char> = said.trim().chars().collect();
    let last: String = said[said.len().saturating_sub(WORDS_MAX)..]
        .iter()
        .collect();
    match last.is_empty() {
        true => format!("{what} ended with {status}"),
        false => format!("{what} ended with {status}: {last}"),
    }
}

/// What a program came to, from outside.
pub(crate) fn of_process(elapsed: Duration, usage: ProcessUsage) -> Vec<Measurement> {
    let elapsed_s = elapsed.as_secs_f64();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let mut found = vec![
        Measurement::new(metrics::ELAPSED, elapsed_s, 1),
        Measurement::new(metrics::CPU_USER, seconds(usage.user_ns), 1),
        Measurement::new(metrics::CPU_SYSTEM, seconds(usage.system_ns), 1),
    ];
    if elapsed_s > 0.0 {
        let share = 100.0 * seconds(usage.cpu_ns()) / elapsed_s;
        found.push(Measurement::new(metrics::CPU_PERCENT, share, 1));
    }
    let counts = [
        (metrics::MAJOR_FAULTS, usage.faults_major),
        (metrics::MINOR_FAULTS, usage.faults_minor),
        (metrics::SWITCHES_VOLUNTARY, usage.switches_voluntary),
        (metrics::SWITCHES_INVOLUNTARY, usage.switches_involuntary),
    ];
    found.extend(counts.map(|(metric, count)| Measurement::new(metric, count as f64, 1)));
    let resident = usage.resident_bytes_max.map(|bytes| bytes as f64);
    found.extend(resident.map(|bytes| Measurement::new(metrics::RESIDENT_MAX, bytes, 1)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> CommandLine {
        CommandLine::Shell(line.to_owned())
    }

    #[test]
    fn what_fails_is_told_with_its_last_words() {
        let folder = std::env::temp_dir();
        assert_eq!(shell("true").carry_out(&folder, None, None), Ok(()));
        let error = shell("echo no such scheduler >&2; exit 5").carry_out(&folder, None, None);
        let error = error.unwrap_err();
        assert!(
            error.contains("exit status: 5: no such scheduler"),
            "{error}"
        );
    }

    #[test]
    fn a_stop_and_a_limit_end_all_that_was_started() {
        let folder = std::env::temp_dir();
        let stop = StopFlag::new();
        stop.raise();
        let long = shell("sleep 1000 & sleep 1000");
        assert!(matches!(
            long.run_in(&folder, Some(&stop), None),
            Err(Cut::Stopped)
        ));
        let limit = Some(Duration::from_millis(1));
        assert!(matches!(
            long.run_in(&folder, None, limit),
            Err(Cut::Failed(message)) if message.contains("was killed")
        ));
    }
}
