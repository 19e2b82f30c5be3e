//! Listing, showing, exporting and deleting sessions.

use std::borrow::Cow;
use std::path::Path;

use stiction_analysis::cut::Cut;
use stiction_core::{Session, export_session};
use stiction_report::{Judged, Listed, is_fio_run, json};
use stiction_store::Filter;

use super::{Desk, fio_output, operand, report, store};
use crate::arguments::{
    DeleteArguments, ExportArguments, ListArguments, ReportArguments, ShowArguments,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Sessions whose headline figures are looked up for a list; beyond that a list is
/// too long to be read that closely.
const HEADLINES: usize = 50;

/// Lists the sessions kept, latest first.
pub(super) fn list(typed: &ListArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let filter = Filter {
        label: typed.label.clone(),
        workload: typed.workload.clone(),
        kernel: typed.kernel.clone(),
        filesystem: typed.filesystem.clone(),
        since: typed.since,
        limit: typed.limit,
        ..Filter::default()
    };
    let mut listed = Vec::new();
    for (place, summary) in archive.list(&filter)?.into_iter().enumerate() {
        let session = (place < HEADLINES).then(|| archive.get(&summary.id));
        let session = session.transpose()?;
        let known = session.as_ref();
        listed.push(Listed {
            headline: known.and_then(|session| Judged::examine(session).headline()),
            can_go_on: known.is_some_and(Session::can_go_on),
            summary,
        });
    }
    let text = if desk.console.json {
        json::list(&listed)
    } else {
        stiction_report::list(&listed, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

/// Shows every figure of a session.
pub(super) fn show(typed: &ShowArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let session = operand::session_or_file(&archive, &typed.session)?;
    let as_json = desk.console.json;
    let part = part(&session, typed)?;
    let judged = || Judged::examine_part(&session, &part);
    let text = match (typed.layout, typed.format) {
        (Some(_), _) if as_json => return Err(text_and_json("--layout")),
        (_, Some(_)) if as_json => return Err(text_and_json("--format")),
        (Some(layout), _) => report::classic(&part, layout)?,
        (None, Some(format)) => fio_output::text(&part, format)?,
        (None, None) if as_json => json::session(&judged()),
        (None, None) if !typed.full && is_fio_run(&part) => {
            stiction_report::fio_run(&judged(), desk.console.style())
        }
        (None, None) => stiction_report::show(&judged(), desk.console.style()),
    };
    put(typed.output.as_deref(), &text, desk)
}

/// Prints a session's report as the command that made it does, or in a classic layout.
pub(super) fn report(typed: &ReportArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let session = operand::session_or_file(&archive, &typed.session)?;
    let text = match typed.layout {
        Some(_) if desk.console.json => return Err(text_and_json("--layout")),
        Some(layout) => report::classic(&session, layout)?,
        None if desk.console.json => json::session(&Judged::examine(&session)),
        None => report::own(&session, desk.console.style()),
    };
    put(typed.output.as_deref(), &text, desk)
}

fn put(path: Option<&Path>, text: &str, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match path {
        Some(path) => output::write(path, text)?,
        None => desk.console.data(text)?,
    }
    Ok(Exit::Done)
}

/// The session with the figures of the part that was asked for.
fn part<'a>(session: &'a Session, typed: &ShowArguments) -> Result<Cow<'a, Session>, Failure> {
    if typed.ramp.is_none() && typed.to.is_none() {
        return Ok(Cow::Borrowed(session));
    }
    let cut = Cut {
        from_ns: typed.ramp.unwrap_or(0),
        to_ns: typed.to,
    };
    if cut.to_ns.is_some_and(|to_ns| to_ns <= cut.from_ns) {
        return Err(Failure::new(
            "--to is not after --ramp: nothing would be left",
        ));
    }
    Ok(Cow::Owned(cut.of(session)))
}

fn text_and_json(option: &str) -> Failure {
    Failure::new(format!(
        "{option} has a form of its own and --json another: choose one"
    ))
}

/// Writes a session out, lossless, or its logs.
pub(super) fn export(typed: &ExportArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let session = operand::session(&archive, &typed.session)?;
    match &typed.logs {
        Some(prefix) => fio_output::write_logs(&session, prefix, typed.window, desk.console)?,
        None => desk.console.data(&export_session(&session))?,
    }
    Ok(Exit::Done)
}

/// Deletes sessions; all names are looked up before the first is deleted.
pub(super) fn delete(typed: &DeleteArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut archive = store::open(desk)?;
    let mut ids = Vec::new();
    for name in &typed.sessions {
        let id = operand::id(&archive, name)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in &ids {
        archive.delete(id)?;
    }
    let text = if desk.console.json {
        serde_json::json!({"schema": "stiction-delete", "schema_version": 1, "deleted": ids})
            .to_string()
    } else {
        let names: Vec<&str> = ids.iter().map(stiction_core::SessionId::as_str).collect();
        format!("Deleted {}", names.join(" "))
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}
