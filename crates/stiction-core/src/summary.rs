//! What a list of sessions shows of each.

use serde::{Deserialize, Serialize};

use crate::{Provenance, Session, SessionId, SessionOutcome, Tool, TrialOutcome};

/// How the trials of a session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCounts {
    /// Ran as planned.
    pub completed: u64,
    /// Were interrupted by the user.
    pub interrupted: u64,
    /// Did not run, for a stated reason.
    pub skipped: u64,
    /// Failed.
    pub failed: u64,
}

impl TrialCounts {
    /// All of them.
    #[must_use]
    pub fn total(self) -> u64 {
        self.completed + self.interrupted + self.skipped + self.failed
    }
}

/// A session in a few words: what it takes to find it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the session.
    pub id: SessionId,
    /// When it began; for an imported session, when it was imported.
    pub started: jiff::Timestamp,
    /// When it ended; `None` when it was cut off.
    pub ended: Option<jiff::Timestamp>,
    /// How it ended; `None` when it was cut off.
    pub outcome: Option<SessionOutcome>,
    /// What the user calls it.
    pub label: Option<String>,
    /// What ran: the workload of the plan, or the layout of the imported table.
    pub workload: String,
    /// Where its numbers are from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The tool that measured.
    pub tool: Tool,
    /// Release of the kernel, where it is known.
    pub kernel_release: Option<String>,
    /// The targets' paths.
    pub targets: Vec<String>,
    /// The filesystems of the targets, each once, in the targets' order.
    pub filesystems: Vec<String>,
    /// How its trials ended.
    pub trials: TrialCounts,
}

impl From<&Session> for Summary {
    fn from(session: &Session) -> Self {
        let header = &session.header;
        let environment = &header.environment;
        Self {
            id: header.id.clone(),
            started: header.started,
            ended: session.end.as_ref().map(|end| end.at),
            outcome: session.end.as_ref().map(|end| end.outcome),
            label: header.label.clone(),
            workload: workload(session),
            provenance: header.provenance.clone(),
            tool: environment.tool.clone(),
            kernel_release: environment
                .kernel
                .as_ref()
                .map(|kernel| kernel.release.clone()),
            targets: environment
                .targets
                .iter()
                .map(|target| target.path.clone())
                .collect(),
            filesystems: filesystems(session),
            trials: counts(session),
        }
    }
}

fn workload(session: &Session) -> String {
    match (&session.header.plan, &session.header.provenance) {
        (Some(plan), _) => plan.workload.clone(),
        (None, Provenance::Imported { layout, .. }) => layout.clone(),
        (None, Provenance::Measured) => "unknown".to_owned(),
    }
}

fn filesystems(session: &Session) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for target in &session.header.environment.targets {
        if let Some(filesystem) = &target.filesystem
            && !kinds.contains(&filesystem.kind)
        {
            kinds.push(filesystem.kind.clone());
        }
    }
    kinds
}

fn counts(session: &Session) -> TrialCounts {
    let mut counts = TrialCounts::default();
    for trial in &session.trials {
        *match trial.outcome {
            TrialOutcome::Completed => &mut counts.completed,
            TrialOutcome::Interrupted => &mut counts.interrupted,
            TrialOutcome::Skipped(_) => &mut counts.skipped,
            TrialOutcome::Failed { .. } => &mut counts.failed,
        } += 1;
    }
    counts
}
