//! Operations that were recorded elsewhere and are to be done again.

use serde::{Deserialize, Serialize};

/// What one step of a trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceCall {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Gives blocks back.
    Trim,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
}

/// One step of a trace; 24 bytes, as a trace may have millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// When it is to begin, ns after the first one may.
    pub at_ns: u64,
    /// Where, bytes.
    pub offset_bytes: u64,
    /// How much; 0 for syncs.
    pub length_bytes: u32,
    /// Which file, from 0.
    pub file: u16,
    /// What.
    pub call: TraceCall,
    /// Whether `at_ns` was recorded. Otherwise it begins as soon as it may, and not
    /// before the steps above it.
    pub is_timed: bool,
}

impl TraceStep {
    /// Whether it moves or trims bytes, as syncs do not.
    #[must_use]
    pub fn is_data(&self) -> bool {
        !matches!(self.call, TraceCall::Fsync | TraceCall::Fdatasync)
    }

    /// Whether it changes what the file holds.
    #[must_use]
    pub fn changes(&self) -> bool {
        matches!(self.call, TraceCall::Write | TraceCall::Trim)
    }

    /// The first byte behind it.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes
            .saturating_add(u64::from(self.length_bytes))
    }
}

/// A trace that a part of a program plays; its files are the part's targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTrace {
    /// The file that it came from.
    pub path: String,
    /// How many steps are played.
    pub steps: u64,
    /// How many may be under way at a time; each is a thread that makes its calls itself.
    pub in_flight: u32,
    /// The steps themselves, scaled and chosen, in their order. They are not kept with a
    /// plan: a trace is as long as the file that it is in.
    #[serde(skip)]
    pub list: Vec<TraceStep>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_small() {
        assert_eq!(size_of::<TraceStep>(), 24);
    }
}
