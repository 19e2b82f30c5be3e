//! What each command does, a file each.

mod ab;
mod altered;
mod baseline;
mod benchmark;
mod bisect;
mod blocked;
mod bonnie;
mod bonnie_options;
mod calibrate;
mod clean;
mod compare;
mod contest;
mod curve;
mod explain;
mod fio;
mod fio_output;
mod gate;
mod history;
mod import;
mod ioping;
mod ladder;
mod layout;
mod manual;
mod meant;
mod measure;
mod metadata;
mod new;
mod operand;
mod pagecache;
mod parallel;
mod plan;
mod preparation;
mod quick;
mod recorded;
mod report;
mod resume;
mod run;
mod scratch;
mod selftest;
mod sessions;
mod sides;
mod single;
mod sizes;
mod store;
mod sync_methods;
mod time_read;
mod timed;
mod tiobench;
mod tiobench_options;
mod tree_move;
mod write_and_fsync;

use std::ffi::OsString;

use crate::arguments::{Arguments, Command, Global, StoreCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Texts;
use crate::state::StateDirectory;

pub(crate) use bisect::is_probe as is_bisect_probe;
pub(crate) use contest::part as contest_part;

use meant::Asked;
use resume::Resuming;

/// What every command works with.
pub(crate) struct Desk<'a> {
    /// Where words go.
    pub(crate) console: &'a Console,
    /// Where sessions are kept.
    pub(crate) state: StateDirectory,
    /// What was typed behind the program's name.
    pub(crate) typed: Vec<OsString>,
    /// The texts that it names.
    pub(crate) texts: Texts,
    /// The session that is gone on with, where what was typed is of an earlier time.
    pub(crate) resuming: Option<Resuming>,
}

/// Does what was asked.
///
/// # Errors
/// With a message for the person and the code to end with.
pub(crate) fn run(
    arguments: &Arguments,
    typed: &[OsString],
    console: &Console,
) -> Result<Exit, Failure> {
    let named = arguments.global.store.as_deref();
    let desk = || {
        let state = StateDirectory::find(named)?;
        if let Some(remark) = &state.remark {
            console.say(remark);
        }
        Ok::<_, Failure>(Desk {
            console,
            state,
            typed: typed.iter().skip(1).cloned().collect(),
            texts: Texts::default(),
            resuming: None,
        })
    };
    carry_out(&arguments.command, &arguments.global, console, desk)
}

/// Does what the command says, at the desk.
fn carry_out<'a>(
    command: &Command,
    global: &Global,
    console: &'a Console,
    desk: impl FnOnce() -> Result<Desk<'a>, Failure>,
) -> Result<Exit, Failure> {
    match command {
        Command::Fio(typed) => fio::run(typed, console, desk),
        Command::Run(typed) => run::run(typed, global, &desk()?),
        Command::Plan(typed) => run::plan(typed, global, &desk()?),
        Command::New(typed) => new::run(typed, console),
        Command::Schema => new::schema(console),
        Command::Ab(typed) => ab::run(typed, &desk()?),
        Command::Calibrate(typed) => calibrate::run(typed, &desk()?),
        Command::Layout(typed) => layout::run(typed, console),
        Command::List(typed) => sessions::list(typed, &desk()?),
        Command::Show(typed) => sessions::show(typed, &desk()?),
        Command::Report(typed) => sessions::report(typed, &desk()?),
        Command::Compare(typed) => compare::run(typed, &desk()?),
        Command::Explain(typed) => explain::run(typed, &desk()?),
        Command::Gate(typed) => gate::run(typed, &desk()?),
        Command::Baseline(typed) => baseline::run(typed, &desk()?),
        Command::History(typed) => history::run(typed, &desk()?),
        Command::Bisect(typed) => bisect::run(typed, &desk()?),
        Command::Import(typed) => import::run(typed, &desk()?),
        Command::Export(typed) => sessions::export(typed, &desk()?),
        Command::Delete(typed) => sessions::delete(typed, &desk()?),
        Command::Store(typed) => match typed.command {
            StoreCommand::Rebuild => store::rebuild(&desk()?),
            StoreCommand::Path => store::path(&desk()?),
        },
        Command::Clean(typed) => clean::run(typed, &desk()?),
        Command::Selftest(typed) => selftest::run(typed, console),
        Command::Man { directory } => manual::pages(directory.as_deref(), console),
        Command::Completions { shell } => manual::completions(*shell, console),
        measuring => {
            let desk = desk()?;
            match meant::meant(measuring, &desk)? {
                Asked::Meant(meant) => meant.run(&desk),
                Asked::Said(exit) => Ok(exit),
                Asked::Nothing => Err(Failure::new(
                    "this is a bug in stiction: a command does nothing",
                )),
            }
        }
    }
}
