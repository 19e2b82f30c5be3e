//! How trials, phases and sessions ended, in words.

use stiction_core::{
    Environment, Phase, PhaseOutcome, Resumption, Session, SessionId, SessionOutcome, Trial,
    TrialOutcome, format_duration_ns,
};

use crate::cell::cell_text;

/// Where the session is kept, and the `stiction` command that prints all of it.
pub(crate) fn saved(id: &SessionId, command: &str) -> String {
    let tail = id.tail();
    format!("Saved as {id}; `stiction {command} {tail}` has every figure.")
}

/// The command that goes on with a session.
#[must_use]
pub fn going_on(id: &SessionId) -> String {
    format!("stiction run --resume {}", id.tail())
}

/// Why a phase has no numbers, in one line; `None` for a phase that ran.
pub(crate) fn phase_gap(phase: &Phase) -> Option<String> {
    match &phase.outcome {
        PhaseOutcome::Completed | PhaseOutcome::EndedEarly => None,
        PhaseOutcome::Skipped(reason) => {
            Some(format!("{} skipped: {}", title(&phase.name), reason.detail))
        }
        PhaseOutcome::Failed { message } => {
            Some(format!("{} failed: {message}", title(&phase.name)))
        }
    }
}

/// Whether the outcome of the trial tells of the phase's failure already.
pub(crate) fn tells_of(trial: &Trial, phase: &Phase) -> bool {
    match (&trial.outcome, &phase.outcome) {
        (TrialOutcome::Failed { message: whole }, PhaseOutcome::Failed { message }) => {
            whole.ends_with(message)
        }
        _ => false,
    }
}

/// Why trials did not complete, a line for each reason with the first of its trials:
/// `8 threads, run 3, and 12 more: skipped: the run was interrupted`.
pub(crate) fn trial_gaps<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Vec<String> {
    let mut gaps: Vec<(String, String, usize)> = Vec::new();
    for trial in trials {
        let how = match &trial.outcome {
            TrialOutcome::Completed => continue,
            TrialOutcome::Interrupted => "interrupted".to_owned(),
            TrialOutcome::Skipped(reason) => format!("skipped: {}", reason.detail),
            TrialOutcome::Failed { message } => format!("failed: {message}"),
        };
        match gaps.iter_mut().find(|(_, other, _)| *other == how) {
            Some((_, _, more)) => *more += 1,
            None => gaps.push((trial_name(trial), how, 0)),
        }
    }
    gaps.into_iter()
        .map(|(first, how, more)| match more {
            0 => format!("{first}: {how}"),
            more => format!("{first}, and {more} more: {how}"),
        })
        .collect()
}

/// The cell and the number of the run.
pub(crate) fn trial_name(trial: &Trial) -> String {
    if trial.cell.is_empty() {
        return format!("run {}", trial.repetition + 1);
    }
    format!("{}, run {}", cell_text(&trial.cell), trial.repetition + 1)
}

/// A phase's name for people: `random_read_depth_1` is `random read depth 1`.
pub(crate) fn title(name: &str) -> String {
    name.replace('_', " ")
}

/// One word on how a session ended.
pub(crate) fn session_word(session: &Session) -> &'static str {
    match session.end.as_ref().map(|end| end.outcome) {
        Some(SessionOutcome::Completed) => "completed",
        Some(SessionOutcome::Interrupted) => "interrupted",
        Some(SessionOutcome::Failed) => "failed",
        None => "cut off",
    }
}

/// Why a session is less than was planned; `None` for one that completed.
pub(crate) fn session_gap(session: &Session) -> Option<String> {
    let why = session
        .end
        .as_ref()
        .and_then(|end| end.message.as_deref())
        .map(|message| format!(": {message}"))
        .unwrap_or_default();
    let gap = match session_word(session) {
        "completed" => return None,
        "cut off" => "The run was cut off; what had finished is shown.".to_owned(),
        word => format!("The run was {word}; what had finished is shown{why}."),
    };
    Some(match session.can_go_on() {
        true => format!("{gap} `{}` goes on with it.", going_on(&session.header.id)),
        false => gap,
    })
}

/// Where the session was cut off and went on later, a line for each.
pub(crate) fn resumed(session: &Session) -> Vec<String> {
    let first = std::iter::once(&session.header.environment);
    let all = &session.resumptions;
    let before = first.chain(all.iter().map(|one| &one.environment));
    all.iter()
        .zip(before)
        .map(|(one, then)| went_on(one, then))
        .collect()
}

/// How a session went on, on the machine as it was before.
fn went_on(one: &Resumption, then: &Environment) -> String {
    let now = &one.environment;
    let boot = |of: &Environment| of.kernel.as_ref().and_then(|kernel| kernel.boot.clone());
    let place = match (boot(then), boot(now)) {
        (Some(then), Some(now)) if then != now => ", in another boot",
        _ => "",
    };
    let by = match then.tool == now.tool {
        true => String::new(),
        false => format!(", by {} {}", now.tool.name, now.tool.version),
    };
    let trials = |count: u32| match count {
        1 => "1 trial".to_owned(),
        _ => format!("{count} trials"),
    };
    let again = match one.run_again {
        0 => String::new(),
        count => format!(", {} began anew", trials(count)),
    };
    format!(
        "{} UTC, {} later{place}{by}: {} stood{again}",
        one.at.strftime("%Y-%m-%d %H:%M:%S"),
        format_duration_ns(one.gap_ns as f64).trim(),
        trials(one.trials_before),
    )
}
