//! What speaks against a set of phases, gathered into sentences, worst first.

use std::collections::BTreeSet;

use stiction_core::{Caveat, CaveatCode, Session, Subject};

use crate::judged::JudgedPhase;
use crate::outcome::phase_gap;
use crate::quick::row_name;

/// More phases than this are counted instead of named.
const NAMED: usize = 3;

/// Doubts of one kind, over the phases that share it.
struct Doubt {
    key: Key,
    /// Empty for doubts about a whole trial or session.
    phases: Vec<String>,
    /// As seen in the first of the phases.
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Subject(Subject),
    Code(CaveatCode),
}

/// Sentences such as `sequential read (cache): the device read 0 B of 1 GiB asked.`;
/// the word in parentheses is the subject or the code of the caveat.
///
/// Phases without numbers come first, then what the numbers are about where that is
/// not the disk, then the caveats of phases, trials and session.
pub(crate) fn doubts(session: &Session, phases: &[JudgedPhase<'_>]) -> Vec<String> {
    doubts_by(session, phases, row_name)
}

/// The same for a report whose rows are called by `name`.
pub(crate) fn doubts_by(
    session: &Session,
    phases: &[JudgedPhase<'_>],
    name: impl Fn(&JudgedPhase<'_>) -> String,
) -> Vec<String> {
    let mut sentences: Vec<String> = phases
        .iter()
        .filter_map(|judged| phase_gap(judged.phase))
        .collect();
    let mut doubts: Vec<Doubt> = Vec::new();
    for judged in phases.iter().filter(|judged| judged.phase.has_numbers()) {
        let name = Some(name(judged));
        let subject = judged.finding.subject;
        if let (true, Some(reason)) = (subject != Subject::Disk, judged.finding.reasons.first()) {
            add(&mut doubts, name.clone(), Key::Subject(subject), reason);
        }
        for caveat in &judged.finding.caveats {
            if !said_by(subject, caveat.code) {
                add(
                    &mut doubts,
                    name.clone(),
                    Key::Code(caveat.code),
                    &caveat.detail,
                );
            }
        }
    }
    // Those of a job file are many of one code; its own report has each.
    let whole = whole_caveats(session).filter(|caveat| caveat.code != CaveatCode::JobFile);
    for Caveat { code, detail } in whole {
        add(&mut doubts, None, Key::Code(*code), detail);
    }
    doubts.sort_by_key(|doubt| rank(doubt.key));
    let names: BTreeSet<String> = phases.iter().map(name).collect();
    sentences.extend(doubts.iter().map(|doubt| sentence(doubt, names.len())));
    sentences
}

/// Caveats about whole trials and the whole session.
pub(crate) fn whole_caveats(session: &Session) -> impl Iterator<Item = &Caveat> {
    let of_trials = session.trials.iter().flat_map(|trial| &trial.caveats);
    session.header.caveats.iter().chain(of_trials)
}

fn add(doubts: &mut Vec<Doubt>, phase: Option<String>, key: Key, detail: &str) {
    match doubts.iter_mut().find(|doubt| doubt.key == key) {
        Some(doubt) => {
            doubt
                .phases
                .extend(phase.filter(|name| !doubt.phases.contains(name)));
        }
        None => doubts.push(Doubt {
            key,
            phases: phase.into_iter().collect(),
            detail: detail.to_owned(),
        }),
    }
}

fn sentence(doubt: &Doubt, all: usize) -> String {
    let detail = doubt.detail.trim_end_matches('.');
    let which = match doubt.phases.len() {
        0 => return format!("{detail}."),
        count if count == all && all > 1 => "all phases".to_owned(),
        count if count > NAMED => format!("{count} of {all} phases"),
        _ => doubt.phases.join(", "),
    };
    match doubt.key {
        Key::Subject(subject) => format!("{which} ({subject}): {detail}."),
        Key::Code(code) => format!("{which} ({code}): {detail}."),
    }
}

/// Whether the subject word says the same as the caveat.
pub(crate) fn said_by(subject: Subject, code: CaveatCode) -> bool {
    matches!(
        (subject, code),
        (Subject::Cache, CaveatCode::ServedFromCache)
            | (Subject::Limiter, CaveatCode::Limiter)
            | (Subject::Cpu, CaveatCode::ClientBound)
    )
}

/// Wrong data before numbers that are about something else, these before the
/// other caveats in their documented order.
fn rank(key: Key) -> usize {
    match key {
        Key::Code(CaveatCode::DataMismatch) => 0,
        Key::Subject(_) => 1,
        Key::Code(code) => {
            let place = CaveatCode::ALL.iter().position(|&known| known == code);
            2 + place.unwrap_or(CaveatCode::ALL.len())
        }
    }
}
