//! `stiction history confirm`: how both sides of a change can be run again.

use stiction_analysis::history::{around, rerun};
use stiction_core::{Session, SessionId};
use stiction_report::{Confirmation, history_confirmation, json};

use super::Past;
use crate::arguments::ConfirmArguments;
use crate::commands::{Desk, store};
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
    let command = |session: &SessionId| past.sessions.iter().find(|s| s.header.id == *session);
    let words = |session| command(session).map(command_words).unwrap_or_default();
    let confirmation = Confirmation {
        course: &course,
        around: &around,
        rerun: &rerun,
        before: words(&around.before),
        after: words(&around.after),
    };
    let text = if desk.console.json {
        json::confirmation(&confirmation)
    } else {
        history_confirmation(&confirmation, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::CannotTell)
}

/// The words that a session was asked for by, without `stiction`, and where it worked, which
/// its command leaves out.
fn command_words(session: &Session) -> String {
    let header = &session.header;
    let recorded = header.command.iter().map(String::as_str);
    let mut words: Vec<String> = recorded
        .filter(|word| *word != "stiction")
        .map(quoted)
        .collect();
    let is = |name: &str| words.first().is_some_and(|first| first == name);
    let options: &[&str] = if is("tiobench") {
        &["--directory="]
    } else if is("tree-move") {
        &["--from=", "--to="]
    } else {
        &[""]
    };
    let paths = header.environment.targets.iter().map(|target| &target.path);
    for (place, path) in paths.enumerate() {
        let option = options[place.min(options.len() - 1)];
        words.push(quoted(&format!("{option}{path}")));
    }
    words.join(" ")
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
