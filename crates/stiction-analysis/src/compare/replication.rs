//! What counts as one repetition, and in which order repetitions were made.

/// What is made anew for each repetition: iterations inside a run, and runs inside a
/// boot where something fixed at boot differs, are averaged and raise no n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A fresh start of the benchmark.
    Run,
    /// A session, where the runs of each side follow one another inside sessions and
    /// the sessions alternate.
    Session,
    /// A start of the machine: what differs is fixed at boot.
    Boot,
    /// A machine.
    Machine,
}

impl Unit {
    /// The word for one, and for several.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Run => ("run", "runs"),
            Self::Session => ("session", "sessions"),
            Self::Boot => ("boot", "boots"),
            Self::Machine => ("machine", "machines"),
        }
    }
}

/// How the repetitions of two sides lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunOrder {
    /// Blocks of one repetition of each side, with either side first.
    Interleaved,
    /// Blocks, but with the same side first in every one of them.
    OneSideFirst,
    /// All or most of one side followed the other, or the order is not known.
    NotInterleaved,
}

/// How often, and how, each side was repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    /// What counts as one repetition.
    pub unit: Unit,
    /// Most repetitions that A has in a cell.
    pub a: u32,
    /// Most repetitions that B has in a cell.
    pub b: u32,
    /// How they lie in time, in the worst cell.
    pub order: RunOrder,
}
