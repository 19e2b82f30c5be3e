//! A part of a trial with one purpose.

use serde::{Deserialize, Serialize};

use crate::omitted::is_default;
use crate::{
    Caveat, Depths, Direction, Job, Measurement, Metric, Recording, SkipReason, Witnesses,
};

/// The purpose of a [`Phase`]. Only `Measure` yields headline numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Makes the state that the measurement starts from: drops caches, mounts.
    Prepare,
    /// Writes the files that are measured later.
    LayDown,
    /// Runs the load until it is steady.
    Ramp,
    /// Is measured.
    Measure,
    /// Lets the system come to rest.
    Settle,
    /// Checks the data.
    Verify,
    /// Removes what was made.
    CleanUp,
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum PhaseOutcome {
    /// As planned.
    Completed,
    /// Before its planned end, for a reason in the caveats; its numbers stand for
    /// what was done.
    EndedEarly,
    /// It did not run.
    Skipped(SkipReason),
    /// It failed; it has no numbers.
    Failed {
        /// What happened, to which path, with the errno.
        message: String,
    },
}

/// What one worker did in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSummary {
    /// Operations completed.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// First operation's start, ns after the start barrier.
    pub first_ns: u64,
    /// End of its last operation and sync, ns after the start barrier.
    pub last_ns: u64,
    /// End of its last operation, before a sync at the end, ns after the start barrier;
    /// 0 where there was no such sync.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_last_ns: u64,
    /// CPU time, ns.
    pub cpu_ns: u64,
    /// The part of it in kernel mode, ns; sampled by tick on many kernels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpu_system_ns: u64,
    /// Times that it gave up the CPU to wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub switches_voluntary: u64,
    /// Times that the CPU was taken from it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub switches_involuntary: u64,
    /// Page faults that needed no I/O.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults_minor: u64,
    /// Page faults that needed I/O.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults_major: u64,
    /// Time in which it could have run and had no CPU, ns; `None` where the kernel does
    /// not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

/// One phase of a trial: what was asked, what was done, what the witnesses saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Stable name within the workload: `write`, `random_write`, `read`, `commit`.
    pub name: String,
    /// Purpose.
    pub kind: PhaseKind,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: PhaseOutcome,
    /// What was asked; `None` for imported phases and phases without I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Start, ns after the session began.
    pub start_ns: u64,
    /// Wall time, ns.
    pub elapsed_ns: u64,
    /// The numbers, in the order in which reports show them.
    pub measurements: Vec<Measurement>,
    /// Every operation, by direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recording>,
    /// What each worker did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerSummary>,
    /// How deep its queues really were; `None` where there was one operation at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depths: Option<Depths>,
    /// What the witnesses saw.
    #[serde(default)]
    pub witnesses: Witnesses,
    /// Doubts that arose while it ran. Doubts that follow from the witnesses are
    /// not kept here: the analysis derives them whenever the phase is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// How it was run, for the reader: flags of the ring in force, clock used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Phase {
    /// What was recorded of one direction; `None` where nothing was.
    #[must_use]
    pub fn recording(&self, direction: Direction) -> Option<&Recording> {
        self.recordings
            .iter()
            .find(|recording| recording.direction == direction)
    }

    /// The phase as if it had begun when its warm-up was over, `ramp_ns` after its
    /// start or at the next edge of an interval: recordings and wall time only, as
    /// nothing else is known by intervals.
    #[must_use]
    pub fn after_ramp(&self, ramp_ns: u64) -> Self {
        let edge_ns = self
            .recordings
            .first()
            .map_or(0, |first| first.edge_ns(ramp_ns));
        Self {
            elapsed_ns: self.elapsed_ns.saturating_sub(edge_ns),
            recordings: self
                .recordings
                .iter()
                .map(|recording| recording.after(ramp_ns))
                .collect(),
            ..self.clone()
        }
    }

    /// An empty phase that completed.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: PhaseKind) -> Self {
        Self {
            name: name.into(),
            kind,
            outcome: PhaseOutcome::Completed,
            job: None,
            start_ns: 0,
            elapsed_ns: 0,
            measurements: Vec::new(),
            recordings: Vec::new(),
            workers: Vec::new(),
            depths: None,
            witnesses: Witnesses::default(),
            caveats: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The measurement of `metric`, if the phase has it.
    #[must_use]
    pub fn measurement(&self, metric: &Metric) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|m| m.metric.name == metric.name)
    }

    /// The value of `metric`, if the phase has it.
    #[must_use]
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        self.measurement(metric).map(|m| m.value)
    }

    /// Whether the phase has numbers.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        matches!(
            self.outcome,
            PhaseOutcome::Completed | PhaseOutcome::EndedEarly
        ) && !self.measurements.is_empty()
    }
}
