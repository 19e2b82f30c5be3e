//! One counter of one phase, as figures of different runs can be held against each other.

use stiction_core::Unit;

/// What a counter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// What the device moved, and how busy it was.
    Device,
    /// How long requests were in the device's queue, and how many at a time.
    Scheduler,
    /// Requests that were joined, and how large they became.
    Merges,
    /// Dirty pages on their way to the device.
    Writeback,
    /// Memory that had to be freed, and pages that came back.
    Reclaim,
    /// What of the files was in memory.
    Cache,
    /// The filesystem's journal or log.
    Journal,
    /// CPU time, switches and waiting for a CPU.
    Cpu,
    /// How the files lie on the device.
    Layout,
}

impl Group {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Scheduler => "scheduler",
            Self::Merges => "merges",
            Self::Writeback => "writeback",
            Self::Reclaim => "reclaim",
            Self::Cache => "cache",
            Self::Journal => "journal",
            Self::Cpu => "CPU",
            Self::Layout => "layout",
        }
    }
}

/// By what a count was divided, so that runs that did different amounts of work can be
/// held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// By each byte that the job moved: bytes over bytes.
    Byte,
    /// By each MiB that the job moved.
    Mebibyte,
    /// By nothing: the phase as a whole, where it moved no bytes.
    Run,
    /// It is a mean, a share or a level by itself.
    Itself,
}

/// One counter of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counter {
    /// What was counted, without what it was divided by; the same name and `per` is the
    /// same counter in every phase.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// Unit of the value, after the division.
    pub unit: Unit,
    /// By what it was divided.
    pub per: Per,
    /// The value, finite.
    pub value: f64,
}

impl Counter {
    /// Whether `other` is the same counter of another phase.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.per == other.per
    }
}
