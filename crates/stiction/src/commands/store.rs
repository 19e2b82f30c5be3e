//! Opening the archive of sessions, and looking after it.

use stiction_store::{Archive, CatchUp};

use super::Desk;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Opens the archive and says what could not be read of it.
pub(super) fn open(desk: &Desk<'_>) -> Result<Archive, Failure> {
    let (archive, report) = Archive::open(desk.state.root())?;
    say_problems(desk.console, &report);
    Ok(archive)
}

/// Opens the archive for reading alone, which can be done where nothing can be written.
pub(super) fn open_for_reading(desk: &Desk<'_>) -> Result<Archive, Failure> {
    let (archive, report, reason) = Archive::open_for_reading(desk.state.root())?;
    if let Some(reason) = reason {
        desk.console.say(&format!("stiction: {reason}"));
        desk.console
            .say("          Sessions are read from their journals meanwhile.");
    }
    say_problems(desk.console, &report);
    Ok(archive)
}

/// Says what is wrong with the journals, a line each.
fn say_problems(console: &Console, report: &CatchUp) {
    for unreadable in &report.unreadable {
        console.say(&format!("stiction: {}", unreadable.problem));
    }
    for id in &report.running {
        console.say(&format!(
            "stiction: session {id} is still being run, and not shown"
        ));
    }
    for id in &report.restored {
        console.say(&format!(
            "stiction: the lost journal of {id} was written again from the store"
        ));
    }
}

/// Makes the database anew from the journals.
pub(super) fn rebuild(desk: &Desk<'_>) -> Result<Exit, Failure> {
    let report = Archive::rebuild(desk.state.root())?;
    say_problems(desk.console, &report);
    if let Some(reason) = &report.lost_store {
        desk.console.say(&format!(
            "stiction: nothing could be saved from the old database: {reason}"
        ));
    }
    for path in &report.strangers {
        desk.console.say(&format!(
            "stiction: {} is not a journal; it was left alone",
            path.display()
        ));
    }
    let sessions = report.read.len();
    let answer = if desk.console.json {
        serde_json::json!({
            "schema": "stiction-rebuild",
            "schema_version": 1,
            "store": desk.state.root().to_string_lossy(),
            "sessions_count": sessions,
            "unreadable": report.unreadable.iter().map(|u| u.problem.as_str()).collect::<Vec<_>>(),
        })
        .to_string()
    } else {
        let plural = if sessions == 1 { "" } else { "s" };
        format!(
            "{sessions} session{plural} in {}, {} unreadable",
            Archive::store_path(desk.state.root()).display(),
            report.unreadable.len()
        )
    };
    desk.console.data(&answer)?;
    Ok(Exit::Done)
}

/// Prints where sessions are kept.
pub(super) fn path(desk: &Desk<'_>) -> Result<Exit, Failure> {
    let root = desk.state.root().to_string_lossy();
    let answer = if desk.console.json {
        serde_json::json!({"schema": "stiction-path", "schema_version": 1, "store": root})
            .to_string()
    } else {
        root.into_owned()
    };
    desk.console.data(&answer)?;
    Ok(Exit::Done)
}
