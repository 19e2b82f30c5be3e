//! Going on with a session that was cut off: what was typed for it is understood again.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser as _;
use stiction_core::{Invocation, Seed, SessionId};
use stiction_host::{Change, Liveness, Owner, UserCommands, pending, restore_with};

use super::{Desk, clean, operand, store};
use crate::arguments::{Arguments, Command, FioCommand, Global};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Texts;

/// The session that is gone on with.
pub(crate) struct Resuming {
    /// Which one.
    pub(crate) id: SessionId,
    /// The seed that it was planned by.
    pub(crate) seed: Seed,
}

/// What was typed, as a session keeps it; nothing where it is no text, and the session
/// cannot be gone on with.
pub(super) fn invocation(desk: &Desk<'_>) -> Option<Invocation> {
    let words = desk.typed.iter();
    let words: Option<Vec<String>> = words.map(|w| w.to_str().map(str::to_owned)).collect();
    let directory = std::env::current_dir().ok()?;
    Some(Invocation {
        words: words?,
        directory: directory.to_str()?.to_owned(),
        texts: desk.texts.all(),
    })
}

/// Puts back what the session's run left behind, and goes on with it as it was asked for.
///
/// What is on a device that was handed over is what its trials left there, so the session
/// is told anew what may be destroyed: `wipe_signature`.
pub(super) fn run(
    session: &str,
    wipe_signature: Option<&String>,
    global: &Global,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let id = operand::id(&archive, session)?;
    let header = archive.journals().read(&id)?.session.header;
    drop(archive);
    let (Some(invocation), Some(plan)) = (header.invocation, header.plan) else {
        let what = format!("session {id} does not hold what it takes to go on");
        return Err(Failure::new(what).advise(
            "Those can go on that were measured into this store by this version or a later one.",
        ));
    };
    let words = invocation.words.iter().map(OsString::from);
    let typed: Vec<OsString> = words.collect();
    let parsed = Arguments::try_parse_from([OsString::from("stiction")].iter().chain(&typed));
    let mut parsed = parsed.map_err(|error| {
        let what = format!("session {id}: its words are not understood any more: {error}");
        Failure::new(what.trim_end())
    })?;
    if let Some(known) = known_signature(&mut parsed.command) {
        *known = wipe_signature.cloned();
    }
    if matches!(&parsed.command, Command::Run(typed) if typed.resume.is_some()) {
        // It would go on with itself without end.
        return Err(Failure::new(format!(
            "session {id}: its words begin no session: {}",
            invocation.words.join(" ")
        )));
    }
    put_back(&id, desk)?;
    let state = desk.state.absolute()?;
    enter(Path::new(&invocation.directory))?;
    let resuming = Resuming {
        id,
        seed: plan.seed,
    };
    super::carry_out(&parsed.command, global, desk.console, || {
        Ok(Desk {
            console: desk.console,
            state,
            typed,
            texts: Texts::of(invocation.texts),
            resuming: Some(resuming),
        })
    })
}

/// Where a command says what a device holds and may be destroyed.
fn known_signature(command: &mut Command) -> Option<&mut Option<String>> {
    match command {
        Command::Run(typed) => Some(&mut typed.machine.wipe_signature),
        Command::Ab(typed) => Some(&mut typed.machine.wipe_signature),
        Command::Tiobench(typed) => Some(&mut typed.wipe_signature),
        Command::Parallel(typed) => Some(&mut typed.wipe_signature),
        Command::Curve(typed) => Some(&mut typed.wipe_signature),
        Command::Fio(typed) => match &mut typed.command {
            FioCommand::Run(run) => Some(&mut run.wipe_signature),
            FioCommand::Lint(_) | FioCommand::Convert(_) => None,
        },
        _ => None,
    }
}

/// Undoes what a run that is gone left behind, as `stiction restore` does.
///
/// # Errors
/// When something of this session could not be undone: trials would not begin from where
/// they did.
fn put_back(id: &SessionId, desk: &Desk<'_>) -> Result<(), Failure> {
    let folder = desk.state.undo();
    let mine = |of: &SessionId| of == id;
    for journal in pending(&folder)?.pending {
        if mine(&journal.owner.session) && journal.liveness == Liveness::OtherMachine {
            let what = format!("session {id} was run on another machine, and left things there");
            return Err(Failure::new(what).advise("Go on with it there."));
        }
    }
    // What concludes its trials is its own: it is carried out after each of them anyway.
    let mut choose = |owner: &Owner, change: &Change| match mine(&owner.session) {
        false => UserCommands::Leave,
        true => {
            let text = format!("carrying out {}", clean::command(change));
            desk.console.say(&text);
            UserCommands::CarryOut
        }
    };
    for restored in restore_with(&folder, &mut choose)?.changes {
        match restored.result {
            Err(error) if mine(&restored.owner.session) => {
                let what = format!("what session {id} left behind could not be undone: {error}");
                return Err(Failure::new(what).advise("`stiction restore` tries again."));
            }
            Err(error) => desk.console.say(&format!("stiction: {error}")),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Relative paths are meant from where they were typed.
fn enter(directory: &Path) -> Result<(), Failure> {
    std::env::set_current_dir(directory).map_err(|error| {
        Failure::new(format!(
            "cannot go to {}, where the session was begun: {error}",
            directory.display()
        ))
    })
}
