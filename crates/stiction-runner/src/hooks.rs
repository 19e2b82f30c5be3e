//! What the user has carried out around the trials of a configuration.

use std::path::Path;
use std::time::Duration;

use stiction_core::{Phase, PhaseKind, PhaseOutcome};
use stiction_engine::StopFlag;
use stiction_suite::CommandLine;

/// Where commands around trials are carried out.
pub(crate) const HERE: &str = ".";

/// A command around a trial.
#[derive(Clone, Copy)]
pub(crate) enum Hook {
    /// Before it.
    Prepare,
    /// After it.
    Conclude,
}

impl Hook {
    fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare_command",
            Self::Conclude => "conclude_command",
        }
    }

    fn kind(self) -> PhaseKind {
        match self {
            Self::Prepare => PhaseKind::Prepare,
            Self::Conclude => PhaseKind::CleanUp,
        }
    }

    /// Carries the command out, and says as a phase what came of it. What puts things
    /// back is not stopped.
    pub(crate) fn carry_out(
        self,
        command: &CommandLine,
        limit: Option<Duration>,
        stop: &StopFlag,
        now_ns: impl Fn() -> u64,
    ) -> Phase {
        let mut phase = Phase::new(self.name(), self.kind());
        phase.start_ns = now_ns();
        let stop = match self {
            Self::Prepare => Some(stop),
            Self::Conclude => None,
        };
        let done = command.carry_out(Path::new(HERE), stop, limit);
        phase.elapsed_ns = now_ns().saturating_sub(phase.start_ns);
        if let Err(message) = done {
            phase.outcome = PhaseOutcome::Failed { message };
        }
        phase
    }
}

/// Why a hook's phase keeps its trial from counting, if it does.
pub(crate) fn failure(phase: &Phase) -> Option<String> {
    match &phase.outcome {
        PhaseOutcome::Failed { message } => {
            Some(format!("{}: {message}", phase.name.replace('_', " ")))
        }
        _ => None,
    }
}
