//! `stiction run`: commands, or configurations of a file, in blocks.

mod spec;

use stiction_analysis::Effects;
use stiction_core::{Cell, Conditions};

use super::blocked::{Blocked, Ready};
use super::recorded::Recorded;
use super::timed::{self, hook, of_each};
use super::{Desk, resume};
use crate::arguments::{Blocking, Global, RunArguments};
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs what the words or the file say, or prints an example of a file.
pub(super) fn run(typed: &RunArguments, global: &Global, desk: &Desk<'_>) -> Result<Exit, Failure> {
    if typed.example {
        desk.console.data(stiction_formats::spec::EXAMPLE)?;
        return Ok(Exit::Done);
    }
    if let Some(session) = &typed.resume {
        let wipe = typed.machine.wipe_signature.as_ref();
        return resume::run(session, wipe, global, desk);
    }
    if let Some(path) = &typed.spec {
        return match spec::read(path, typed, desk)? {
            Ok(blocked) => blocked.run(desk),
            Err(exit) => Ok(exit),
        };
    }
    let count = typed.commands.len();
    if !typed.names.is_empty() && typed.names.len() != count {
        return Err(Failure::new(format!(
            "--name is given {} times, for {count} commands",
            typed.names.len()
        )));
    }
    let all: Result<Vec<Ready>, Failure> = (0..count).map(|number| ready(typed, number)).collect();
    let mut recorded = timed::recorded(recorded("run", &typed.blocking), &typed.timing);
    for (option, texts) in [
        ("--command", &typed.commands),
        ("--prepare", &typed.prepare),
        ("--conclude", &typed.conclude),
    ] {
        for text in texts {
            recorded = recorded.value(option, Some(text));
        }
    }
    Blocked {
        all: all?,
        blocking: typed.blocking.clone(),
        recording: typed.recording.clone(),
        shown: typed.shown,
        command: recorded.words(),
        effects: Effects::default(),
        is_calibration: false,
    }
    .run(desk)
}

/// Prints what that would do.
pub(super) fn plan(
    typed: &RunArguments,
    global: &Global,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let mut typed = typed.clone();
    typed.blocking.dry_run = true;
    run(&typed, global, desk)
}

/// The `number`-th command of those that are given.
///
/// # Errors
/// When it, or what is said of it, does not read.
pub(super) fn ready(typed: &RunArguments, number: usize) -> Result<Ready, Failure> {
    let count = typed.commands.len();
    let command = timed::of_text(&typed.commands[number], typed.timing.shell)?;
    let name = typed.names.get(number).cloned();
    let of_each = |option, values| of_each(option, values, number, count);
    Ok(Ready {
        name: name.unwrap_or_else(|| letter(number)),
        at: Cell::new(),
        varied: Vec::new(),
        meant: timed::meant(command, (number, count), &typed.timing, &typed.recording)?,
        alterations: None,
        conditions: Conditions::default(),
        prepare: of_each("--prepare", &typed.prepare)?.map(|line| hook(line)),
        conclude: of_each("--conclude", &typed.conclude)?.map(|line| hook(line)),
    })
}

/// A, B, ... Z, then numbers.
pub(super) fn letter(number: usize) -> String {
    match u8::try_from(number) {
        Ok(number @ 0..26) => char::from(b'A' + number).to_string(),
        _ => (number + 1).to_string(),
    }
}

/// A command as it is recorded, with what it says of blocks.
pub(super) fn recorded(name: &str, blocking: &Blocking) -> Recorded {
    let precise = blocking.until_precise;
    Recorded::new(name)
        .value("--blocks", blocking.blocks)
        .switch("--until-precise", precise == Some(None))
        .value("--until-precise", precise.flatten())
        .switch("--looks", blocking.looks)
        .value("--budget", blocking.budget.as_ref())
        .choice("--order", Some(&blocking.order))
}
