//! `stiction history confirm`: how both sides of a change can be run again, and running
//! them.

use stiction_analysis::history::{Rerun, around, rerun};
use stiction_core::{Cell, Conditions, Session, SessionId};
use stiction_report::{Confirmation, history_confirmation, json};
use stiction_suite::CommandLine;

use super::Past;
use crate::arguments::{Blocking, Command, ConfirmArguments, ShownArguments};
use crate::commands::benchmark::{self, Named};
use crate::commands::blocked::{Blocked, Ready};
use crate::commands::timed::hook;
use crate::commands::{Desk, ab, run as runs, store};
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(typed: &ConfirmArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let past = Past::read(&typed.choice, &archive, desk)?;
    let course = past.judge(past.find(&typed.series)?);
    let id = course.series.key.id();
    // Without a change there may be a newest point that is not as expected.
    let newest = course.series.points.len().saturating_sub(1);
    let at = match (course.changes.last(), &course.flag) {
        (Some(change), _) => change.at,
        (None, Some(_)) => newest,
        (None, None) => {
            let message = format!("series {id} has no change to confirm");
            return Err(Failure::new(message).advise(format!("`stiction history {id}` shows it.")));
        }
    };
    let around = around(&course.series, at, &past.sessions)
        .ok_or_else(|| Failure::new(format!("there is nothing before the change of {id}")))?;
    let rerun = rerun(&around.differs);
    let words = |session: &SessionId| {
        let session = past.sessions.iter().find(|s| s.header.id == *session);
        session.map(command_words).unwrap_or_default()
    };
    let (before, after) = (words(&around.before), words(&around.after));
    if typed.run {
        if can_run(typed, &rerun) {
            let sides = [("before", &before[..]), ("after", &after[..])];
            return run_again(sides, typed, &past, desk);
        }
        desk.console.say(
            "stiction: not run: both sides cannot be had without settings; --a-prepare and \
             --b-prepare may set them",
        );
    }
    let confirmation = Confirmation {
        course: &course,
        around: &around,
        rerun: &rerun,
        before: shell(&before),
        after: shell(&after),
    };
    let text = if desk.console.json {
        json::confirmation(&confirmation)
    } else {
        history_confirmation(&confirmation, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::CannotTell)
}

/// Whether both sides can be had here: in two directories, or by the commands given.
fn can_run(typed: &ConfirmArguments, rerun: &Rerun) -> bool {
    let is_set = typed.a_prepare.is_some() || typed.b_prepare.is_some();
    is_set || matches!(rerun, Rerun::Here(settings) if settings.is_empty())
}

/// Runs both sides in blocks and compares them.
fn run_again(
    sides: [(&'static str, &[String]); 2],
    typed: &ConfirmArguments,
    past: &Past,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let hooks = [
        (&typed.a_prepare, &typed.a_conclude),
        (&typed.b_prepare, &typed.b_conclude),
    ];
    let mut all = Vec::new();
    for ((name, words), (prepare, conclude)) in sides.into_iter().zip(hooks) {
        let own = match ready(name, words, desk)? {
            Ok(ready) => ready,
            Err(exit) => return Ok(exit),
        };
        all.push(Ready {
            name: name.to_owned(),
            at: Cell::new(),
            varied: Vec::new(),
            meant: own.meant,
            alterations: None,
            conditions: Conditions::default(),
            // What makes the side comes before what its own runs take.
            prepare: chained(prepare.as_deref().map(hook), " && ", own.prepare),
            conclude: chained(own.conclude, "; ", conclude.as_deref().map(hook)),
        });
    }
    let blocking = Blocking {
        blocks: typed.blocks,
        budget: typed.budget.clone(),
        ..Blocking::default()
    };
    let blocked = Blocked {
        recording: all[0].meant.recording.clone(),
        command: ab::command(runs::recorded("ab", &blocking).words(), &all),
        all,
        blocking,
        shown: ShownArguments::default(),
        effects: past.effects,
        is_calibration: false,
    };
    blocked.run(desk)
}

/// What a session's words mean: a benchmark, or one command that was timed; or the code
/// to end with, where what is wrong with a file has been said.
fn ready(
    name: &'static str,
    words: &[String],
    desk: &Desk<'_>,
) -> Result<Result<Ready, Exit>, Failure> {
    let named = Named { words, whose: name };
    let parsed = benchmark::parsed(&named).map_err(|error| benchmark::misread(&named, &error))?;
    match parsed.command {
        Command::Run(typed) if typed.commands.len() == 1 => runs::ready(&typed, 0).map(Ok),
        command => Ok(benchmark::of(&command, &named, desk)?.map(|meant| Ready {
            name: name.to_owned(),
            at: Cell::new(),
            varied: Vec::new(),
            meant,
            alterations: None,
            conditions: Conditions::default(),
            prepare: None,
            conclude: None,
        })),
    }
}

/// Two commands around trials as one, where there are two; all of them are a shell's.
fn chained(
    first: Option<CommandLine>,
    between: &str,
    second: Option<CommandLine>,
) -> Option<CommandLine> {
    match (first, second) {
        (Some(CommandLine::Shell(first)), Some(CommandLine::Shell(second))) => {
            Some(CommandLine::Shell(format!("{first}{between}{second}")))
        }
        (first, second) => first.or(second),
    }
}

/// The words that a session was asked for by, without `stiction`, and where it worked, which
/// its command leaves out.
fn command_words(session: &Session) -> Vec<String> {
    let header = &session.header;
    let recorded = header.command.iter().filter(|word| *word != "stiction");
    let mut words: Vec<String> = recorded.cloned().collect();
    let options: &[&str] = match words.first().map_or("", String::as_str) {
        "tiobench" | "run" => &["--directory="],
        "fio" => &["--dir="],
        "tree-move" => &["--from=", "--to="],
        _ => &[""],
    };
    let paths = header.environment.targets.iter().map(|target| &target.path);
    for (place, path) in paths.enumerate() {
        let option = options[place.min(options.len() - 1)];
        words.push(format!("{option}{path}"));
    }
    words
}

/// Words as a shell takes them.
fn shell(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
