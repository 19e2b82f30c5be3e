//! Reports of contest: a job beside each load, and what of the load was left.

mod classic;
mod modern;
mod plot;

pub use classic::{contest_0_5, contest_0_34, contest_0_34_summary, contest_0_61};
pub use modern::contest;

use stiction_core::{Phase, Session, Trial, TrialOutcome, metrics};

/// Whether a session is one of contest's, run here or read in.
#[must_use]
pub fn is_contest(session: &Session) -> bool {
    session.trials.iter().any(|trial| job(trial).is_some())
}

/// The timed job of a trial that has its numbers.
fn job(trial: &Trial) -> Option<&Phase> {
    let completed = trial.outcome == TrialOutcome::Completed;
    trial.cell.get("load").filter(|_| completed)?;
    let phase = trial.phase("job")?;
    phase.value(&metrics::ELAPSED).map(|_| phase)
}

/// Loads in the order in which contest 0.61 printed them.
const ORDER: [&str; 13] = [
    "no_load",
    "cacherun",
    "process_load",
    "ctar_load",
    "xtar_load",
    "io_halfmem",
    "io_fullmem",
    "io_load",
    "io_other",
    "read_load",
    "list_load",
    "mem_load",
    "dbench_load",
];

/// The loads of some trials in that order, unknown ones last.
fn loads<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for trial in trials {
        let load = trial.cell.get("load").map(ToString::to_string);
        found.extend(load.filter(|load| !found.contains(load)));
    }
    let place = |load: &String| ORDER.iter().position(|known| known == load);
    found.sort_by_key(|load| place(load).unwrap_or(ORDER.len()));
    found
}

/// Whether a trial is of that load.
fn is_of(trial: &Trial, load: &str) -> bool {
    trial
        .cell
        .get("load")
        .is_some_and(|level| level.to_string() == load)
}
