//! `stiction history annotate`: notes that cut series.

use stiction_core::Annotation;
use stiction_store::Document;

use super::Past;
use crate::arguments::{AnnotateArguments, HistoryChoice, PointWord};
use crate::commands::{Desk, operand, store};
use crate::console::harmless;
use crate::exit::Exit;
use crate::failure::Failure;

/// The word for every series.
const ALL: &str = "all";

pub(super) fn run(typed: &AnnotateArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let session = operand::id(&archive, &typed.at)?;
    let everything = HistoryChoice {
        workload: None,
        filesystem: None,
        since: None,
        each: PointWord::Session,
        order: None,
        mei: None,
    };
    let past = Past::read(&everything, &archive, desk)?;
    let series = if typed.series == ALL {
        None
    } else {
        let series = past.find(&typed.series)?;
        let holds = series.points.iter().any(|p| p.sessions.contains(&session));
        if !holds {
            let message = format!("{session} has no point in series {}", series.key.id());
            let advice = format!("`stiction history {}` shows its points.", series.key.id());
            return Err(Failure::new(message).advise(advice));
        }
        Some(series.key.id())
    };
    let kept = past.sessions.iter().find(|s| s.header.id == session);
    let at = kept.map(|session| session.header.started);
    let at = at.ok_or_else(|| Failure::new(format!("{session} is not in the store")))?;
    let note = Annotation {
        series,
        session,
        at,
        kind: typed.kind.kind(),
        why: typed.why.clone().unwrap_or_default(),
    };
    let is_same = |other: &Annotation| other.series == note.series && other.session == note.session;
    let notes = Document::annotations(desk.state.root());
    let (before, after) = notes.change(|all| {
        let before = all.len();
        all.retain(|other| !is_same(other));
        let after = all.len();
        if !typed.remove {
            all.push(note.clone());
        }
        (before, after)
    })?;
    if typed.remove && before == after {
        let message = format!("there is no note at {} on {}", note.session, typed.series);
        return Err(Failure::new(message));
    }
    let of = note.series.as_deref().unwrap_or("every series");
    let text = if desk.console.json {
        serde_json::json!({
            "schema": "stiction-annotation",
            "schema_version": 1,
            "removed": typed.remove,
            "annotation": note,
        })
        .to_string()
    } else if typed.remove {
        format!("Took back the note at {} on {of}", note.session)
    } else {
        format!(
            "Noted at {} on {of}: {}, {}",
            note.session,
            note.kind.as_str(),
            note.why
        )
    };
    desk.console.data(&harmless(&text))?;
    Ok(Exit::Done)
}
