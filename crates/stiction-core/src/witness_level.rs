//! How much is watched, and what the watching takes.

use serde::{Deserialize, Serialize};

/// How much stands beside each phase.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum WitnessLevel {
    /// Nothing but the CPU time of our own process, which is in its figures.
    None,
    /// Counters that are read before and after.
    #[default]
    Light,
    /// Each request on the devices, a profile of the CPUs and the waits of writers as well,
    /// recorded while the phase runs.
    Full,
}

impl WitnessLevel {
    /// Every level, least first.
    pub const ALL: [Self; 3] = [Self::None, Self::Light, Self::Full];

    /// As it is called in options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Light => "light",
            Self::Full => "full",
        }
    }

    /// Whether it is the usual one, which is not written down.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// What one witness took of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessCost {
    /// Which: `counters`, `files`, `block tracepoints`, `profile`.
    pub witness: String,
    /// Time of its readings before and after the phase, while nothing was measured, ns.
    pub beside_ns: u64,
    /// CPU time of its threads while the phase ran, ns. What the kernel does to record an
    /// event is in the time of the one who caused it, and not in here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub during_cpu_ns: u64,
    /// Records that it read while the phase ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
