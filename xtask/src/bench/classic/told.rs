//! Running programs, and what they say.

use std::process::{Command, Stdio};

/// What a program prints.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ended = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start {name}: {error}; install it"))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(format!(
            "{name} ended with {}: {}",
            ended.status,
            said.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// Runs a program whose words are of no interest.
pub(super) fn run(name: &str, words: &[&str]) -> Result<(), String> {
    output(Command::new(name).args(words)).map(drop)
}
