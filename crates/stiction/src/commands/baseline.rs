//! `stiction baseline`, and the sessions that such a name means.

use std::collections::BTreeMap;
use std::path::Path;

use stiction_core::{Session, SessionId};
use stiction_store::{Archive, Document};

use super::{Desk, operand, store};
use crate::arguments::{BaselineArguments, BaselineCommand};
use crate::exit::Exit;
use crate::failure::Failure;

/// The sessions that each name means.
type Baselines = BTreeMap<String, Vec<SessionId>>;

/// The file that keeps them, beside the journals.
fn document(directory: &Path) -> Document<Baselines> {
    Document::new(directory, "baselines.json")
}

/// Does what was asked.
pub(super) fn run(typed: &BaselineArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match &typed.command {
        BaselineCommand::Set { name, sessions } => set(name, sessions, desk),
        BaselineCommand::List => list(desk),
        BaselineCommand::Remove { name } => remove(name, desk),
    }
}

/// Names sessions; all of them are looked up before anything is kept.
fn set(name: &str, sessions: &[String], desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let mut ids: Vec<SessionId> = Vec::new();
    for typed in sessions {
        let id = operand::id(&archive, typed)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    document(desk.state.root()).change(|all| all.insert(name.to_owned(), ids.clone()))?;
    let text = if desk.console.json {
        as_json(&[(name.to_owned(), ids)].into())
    } else {
        line(name, &ids)
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

fn list(desk: &Desk<'_>) -> Result<Exit, Failure> {
    let all = document(desk.state.root()).read()?;
    let text = if desk.console.json {
        as_json(&all)
    } else if all.is_empty() {
        "No baselines are set".to_owned()
    } else {
        let lines: Vec<String> = all.iter().map(|(name, ids)| line(name, ids)).collect();
        lines.join("\n")
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

fn remove(name: &str, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let document = document(desk.state.root());
    let Some(ids) = document.change(|all| all.remove(name))? else {
        return Err(unknown(name, &document.read()?));
    };
    let text = if desk.console.json {
        as_json(&[(name.to_owned(), ids)].into())
    } else {
        format!("Removed the baseline {name}; its sessions stay")
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

/// The sessions that the baseline `name` means.
///
/// # Errors
/// When there is no such baseline, or one of its sessions is gone.
pub(super) fn sessions(
    archive: &Archive,
    directory: &Path,
    name: &str,
) -> Result<Vec<Session>, Failure> {
    let all = document(directory).read()?;
    let Some(ids) = all.get(name) else {
        return Err(unknown(name, &all));
    };
    let sessions = ids.iter().map(|id| Ok(archive.get(id)?));
    sessions.collect()
}

fn unknown(name: &str, all: &Baselines) -> Failure {
    let known: Vec<&str> = all.keys().map(String::as_str).collect();
    let advice = if known.is_empty() {
        "`stiction baseline set NAME SESSION` sets one.".to_owned()
    } else {
        format!("There are {}.", known.join(", "))
    };
    Failure::new(format!("no baseline is called `{name}`")).advise(advice)
}

fn line(name: &str, ids: &[SessionId]) -> String {
    let ids: Vec<&str> = ids.iter().map(SessionId::as_str).collect();
    format!("{name}  {}", ids.join(" "))
}

fn as_json(baselines: &Baselines) -> String {
    let baselines: Vec<_> = baselines
        .iter()
        .map(|(name, sessions)| serde_json::json!({"name": name, "sessions": sessions}))
        .collect();
    serde_json::json!({
        "schema": "stiction-baselines",
        "schema_version": 1,
        "baselines": baselines,
    })
    .to_string()
}
