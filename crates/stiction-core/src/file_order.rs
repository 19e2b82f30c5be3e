//! In which order a worker with several files turns to them.

use serde::{Deserialize, Serialize};

use crate::Skew;

/// In which order a worker turns to its files, and how long it stays with each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct FileOrder {
    /// Which file comes next.
    pub choice: FileChoice,
    /// How many operations follow on one file before another one is chosen, 1 or more.
    pub run_operations: u32,
}

impl Default for FileOrder {
    fn default() -> Self {
        Self {
            choice: FileChoice::default(),
            run_operations: 1,
        }
    }
}

/// Which file comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChoice {
    /// Each in turn, in their order (fio: `roundrobin`).
    #[default]
    InTurn,
    /// The next one when the worker has been once through the one before (fio:
    /// `sequential`).
    OneByOne,
    /// Any of them, each equally likely (fio: `random`).
    Random,
    /// Any of them, the first ones more likely (fio: `zipf`, `pareto`, `normal`).
    Skewed(Skew),
}
