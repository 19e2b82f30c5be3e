//! What the program does when it is started as a process of a job or of a load.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Signal, getpgid, getpid, kill_process_group};

use super::append;
use super::build;
use super::loads::ring;
use crate::SuiteError;

/// The first argument by which a program is asked to be a part of contest.
pub const PART: &str = "contest-part";

/// What a part came to, or what it could not do to which path.
pub(super) type PartResult<T> = Result<T, String>;

/// Words for what a part could not do.
pub(super) fn failed(action: &str, path: &Path, error: &dyn fmt::Display) -> String {
    format!("cannot {action} {}: {error}", path.display())
}

/// Does what a process of a job or load does. `words` are the arguments after [`PART`].
/// The checksum of what a job made is written to `output`.
///
/// # Errors
/// [`SuiteError::Part`] with what could not be done.
pub fn run_part(words: &[OsString], output: &mut dyn io::Write) -> Result<(), SuiteError> {
    part(words, output).map_err(SuiteError::Part)
}

fn part(words: &[OsString], output: &mut dyn io::Write) -> PartResult<()> {
    let texts: Vec<&str> = words
        .iter()
        .map(|word| word.to_str().unwrap_or(""))
        .collect();
    match texts[..] {
        ["build", _, size, slots] => {
            end_with_parent();
            let sum = build::build(Path::new(&words[1]), json(size)?, number(slots)?)?;
            writeln!(output, "checksum {sum:016x}")
                .map_err(|error| format!("cannot tell the checksum: {error}"))
        }
        ["read", _, size] => {
            end_with_parent();
            let sum = build::read_all(Path::new(&words[1]), json(size)?)?;
            writeln!(output, "checksum {sum:016x}")
                .map_err(|error| format!("cannot tell the checksum: {error}"))
        }
        ["append", _, appends, bytes] => {
            end_with_parent();
            append::run(
                Path::new(&words[1]),
                number(appends)?,
                number(bytes)?,
                output,
            )
        }
        ["run", ..] => {
            end_with_parent();
            run_command(&words[1..])
        }
        ["unit", _, size, unit, step] => build::unit(
            Path::new(&words[1]),
            json(size)?,
            number(unit)?,
            number(step)?,
        ),
        ["link"] => ring::link(),
        _ => Err(format!("{PART} is for stiction's own use")),
    }
}

/// Runs a command of others and waits for it. Where it is not there, or does not end
/// well, that is said.
fn run_command(words: &[OsString]) -> PartResult<()> {
    let [program, arguments @ ..] = words else {
        return Err("no command was given".to_owned());
    };
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| failed("run", Path::new(program), &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", program.display()))
    }
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> PartResult<T> {
    serde_json::from_str(text).map_err(|error| format!("{text}: {error}"))
}

fn number<T: std::str::FromStr>(text: &str) -> PartResult<T> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

/// Standard input is a pipe whose other end the parent holds: once that is closed, and
/// the kernel closes it however the parent ends, the whole process group ends.
fn end_with_parent() {
    let watching = std::thread::Builder::new().spawn(|| {
        let mut nothing = [0; 1];
        while matches!(io::stdin().read(&mut nothing), Ok(read) if read > 0) {}
        let own = getpid();
        if getpgid(None) == Ok(own) {
            // It cannot fail for a group of ours.
            let _ = kill_process_group(own, Signal::KILL);
        }
    });
    // Without a thread to spare, the parent still kills the group when it ends by itself.
    drop(watching);
}
