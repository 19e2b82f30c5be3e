//! What is going to be done: every default explicit, every trial listed.

use serde::{Deserialize, Serialize};

use crate::{Cell, Digest, Preparation, Seed};

/// One trial to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Where it stands in the matrix.
    pub cell: Cell,
    /// Which repetition of the cell, from 0.
    pub repetition: u32,
    /// The block it belongs to, from 0; `None` where trials are in no blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
}

impl PlannedTrial {
    /// A trial that belongs to no block.
    #[must_use]
    pub fn new(cell: Cell, repetition: u32) -> Self {
        Self {
            cell,
            repetition,
            block: None,
        }
    }
}

/// A complete plan. It replays by itself: nothing in it depends on a default
/// that a later version could change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the workload: `quick`, `tiobench`.
    pub workload: String,
    /// All parameters of the workload, defaults filled in.
    pub parameters: serde_json::Value,
    /// Seed of every random choice.
    pub seed: Seed,
    /// What is done before trials.
    #[serde(default, skip_serializing_if = "Preparation::is_nothing")]
    pub preparation: Preparation,
    /// The trials, in the order in which they run.
    pub trials: Vec<PlannedTrial>,
}

impl Plan {
    /// Digest of the plan's canonical JSON: equal plans have equal digests.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let text = serde_json::to_vec(self).expect("a plan is plain data");
        Digest::of(&text)
    }
}
