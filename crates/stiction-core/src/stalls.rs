//! How long writers were made to wait because too much was dirty.

use serde::{Deserialize, Serialize};

/// The waits of the tasks of one name in `balance_dirty_pages`, where the kernel holds
/// back who dirties pages faster than they are written back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritebackStall {
    /// Name of the tasks.
    pub task: String,
    /// Whether they are of our process, or of what it started.
    pub is_ours: bool,
    /// How often they were made to wait.
    pub count: u64,
    /// All waits added up, ns; known to a tick of the kernel.
    pub total_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
}
