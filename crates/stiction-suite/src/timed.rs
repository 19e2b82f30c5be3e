//! Phases that are no job of the engine: somebody else works, and we wait.

use std::sync::Arc;

use stiction_core::{Caveat, CaveatCode, Phase, PhaseKind, PhaseOutcome};
use stiction_engine::Progress;

use crate::{Context, EventsError};

/// How such a phase ended before its time.
pub(crate) enum Cut {
    /// The user wants no more.
    Stopped,
    /// It could not be done, for this reason.
    Failed(String),
}

/// Does `work` as a phase and hands it to the context's events. Where `work` sets no
/// elapsed time, the phase takes as long as `work` does.
///
/// # Errors
/// When the events could not keep the phase.
pub(crate) fn timed(
    context: &mut Context<'_>,
    name: &str,
    kind: PhaseKind,
    work: impl FnOnce(&Context<'_>, &mut Phase) -> Result<(), Cut>,
) -> Result<Phase, EventsError> {
    let progress = Arc::new(Progress::new(0));
    context.events.phase_started(name, None, progress);
    let mut phase = Phase::new(name, kind);
    phase.start_ns = context.now_ns();
    let result = work(context, &mut phase);
    if phase.elapsed_ns == 0 {
        phase.elapsed_ns = context.now_ns() - phase.start_ns;
    }
    match result {
        Ok(()) => {}
        Err(Cut::Stopped) => {
            phase.outcome = PhaseOutcome::EndedEarly;
            phase.measurements.clear();
            phase.caveats.push(Caveat::new(
                CaveatCode::Interrupted,
                format!("{name} was stopped before its end"),
            ));
        }
        Err(Cut::Failed(message)) => {
            phase.measurements.clear();
            phase.outcome = PhaseOutcome::Failed { message };
        }
    }
    context.events.phase_finished(&phase)?;
    Ok(phase)
}
