//! How phases ended, in words.

use stiction_core::{Phase, PhaseOutcome};

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

/// A phase's name for people: `random_read_depth_1` is `random read depth 1`.
pub(crate) fn title(name: &str) -> String {
    name.replace('_', " ")
}
