//! What a session is run with besides its workload.

use std::path::PathBuf;

use stiction_core::{Invocation, Seed, Tool, WitnessLevel};
use stiction_host::FactOptions;
use stiction_journal::JournalDirectory;

/// What a session is run with besides its workload and its places. Time and chance
/// are here too: the runner asks the system for neither.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Where the session's journal goes.
    pub journals: JournalDirectory,
    /// Where changes to the machine are written down before they are made.
    pub undo_directory: PathBuf,
    /// What is kept of facts that identify the machine.
    pub facts: FactOptions,
    /// This program.
    pub tool: Tool,
    /// What the user calls the session.
    pub label: Option<String>,
    /// The command, with paths outside the target left out.
    pub command: Vec<String>,
    /// What was typed, if the session may be gone on with after it was cut off.
    pub invocation: Option<Invocation>,
    /// Seed of every random choice of the plan.
    pub seed: Seed,
    /// How much stands beside each phase.
    pub witness: WitnessLevel,
    /// The time now.
    pub started: jiff::Timestamp,
    /// The zone that the machine's clock is read in, as its cron does.
    pub zone: jiff::tz::TimeZone,
    /// A number that no other session has, most likely. The session's id is made of it
    /// and the time; it is not the seed, since two sessions may share a seed.
    pub id_random: u64,
}
