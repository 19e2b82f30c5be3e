//! What a session would do, printed in place of doing it.

use std::collections::BTreeMap;

use serde_json::Value;
use stiction_analysis::compare::stated_of;
use stiction_core::{ForeseenPart, Foresight, Session, Trial, TrialOutcome};
use stiction_report::json;
use stiction_runner::blocks::CONFIGURATION;
use stiction_runner::{Study, foresee};
use stiction_store::Filter;

use super::measure;
use super::{Desk, store};
use crate::arguments::Recording;
use crate::exit::Exit;
use crate::failure::Failure;

/// Sessions of the same benchmarks that are looked through for times.
const SESSIONS_MOST: u32 = 50;

/// Prints what the study would do.
///
/// # Errors
/// When it cannot be planned, or the store not be read.
pub(super) fn print(
    study: &Study<'_>,
    recording: &Recording,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let (facts, seed) = (measure::facts(recording), measure::seed(recording, desk)?);
    let study = measure::prepared(study, recording)?;
    let mut foresight = foresee(&study, measure::this_tool(), facts, seed)?;
    let archive = store::open(desk)?;
    let filter = Filter {
        workload: Some(foresight.plan.workload.clone()),
        limit: Some(SESSIONS_MOST),
        ..Filter::default()
    };
    by_experience(&mut foresight, &archive.figures(&filter)?);
    let text = if desk.console.json {
        json::plan(&foresight)
    } else {
        stiction_report::plan(&foresight, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

/// Puts in the times that the same trials took, the median of all that are kept.
fn by_experience(foresight: &mut Foresight, sessions: &[Session]) {
    let mut took: BTreeMap<(usize, String), Vec<u64>> = BTreeMap::new();
    for session in sessions {
        let numbered = session.trials.iter().enumerate();
        for (number, trial) in numbered.filter(|(_, t)| t.outcome == TrialOutcome::Completed) {
            let parts = foresight.parts.iter().enumerate();
            for (part, _) in parts.filter(|(_, part)| is_of(part, session, trial)) {
                let cell = trial.cell.clone().without(CONFIGURATION).to_string();
                let own = took.entry((part, cell)).or_default();
                own.push(session.trial_ns(number));
            }
        }
    }
    for trial in &mut foresight.trials {
        let cell = trial
            .planned
            .cell
            .clone()
            .without(CONFIGURATION)
            .to_string();
        if let Some(times) = took.get_mut(&(trial.part, cell)) {
            times.sort_unstable();
            trial.estimate.duration_ns = Some(times[times.len() / 2]);
            trial.is_by_experience = true;
        }
    }
}

/// Whether a trial was of what a part is to do.
fn is_of(part: &ForeseenPart, session: &Session, trial: &Trial) -> bool {
    let Some(plan) = &session.header.plan else {
        return false;
    };
    let stated = stated_of(plan, &trial.cell);
    let (workload, parameters) = stated.unwrap_or((plan.workload.as_str(), &plan.parameters));
    workload == part.workload && without_seeds(parameters) == without_seeds(&part.parameters)
}

/// Parameters without the seeds of jobs, which are others in each session.
fn without_seeds(parameters: &Value) -> Value {
    match parameters {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "seed");
            let fields = fields.map(|(name, value)| (name.clone(), without_seeds(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_seeds).collect()),
        other => other.clone(),
    }
}
