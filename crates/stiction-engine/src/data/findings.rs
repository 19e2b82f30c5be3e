//! What a worker found when it checked the blocks that it read.

use super::mismatch::{Mismatch, MismatchKind};
use crate::request::Request;
use crate::task::Task;

/// How many mismatches a worker describes; it counts the others.
pub const MISMATCHES_KEPT: usize = 16;

/// Blocks that were checked and may be as they are, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Of the last write that was begun.
    pub last: u64,
    /// Of an earlier write or of none, where nobody promised that a later one is there:
    /// it was not acknowledged, or not synced before a power cut.
    pub earlier: u64,
    /// Parts of several writes, where nobody promised that the later ones are there.
    pub partial: u64,
    /// Never written by us, whatever is there.
    pub unwritten: u64,
    /// Good in themselves; nobody counted the writes, so whether it is the last one is
    /// not known.
    pub uncounted: u64,
}

impl Checked {
    /// What two workers found, together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            last: self.last + other.last,
            earlier: self.earlier + other.earlier,
            partial: self.partial + other.partial,
            unwritten: self.unwritten + other.unwritten,
            uncounted: self.uncounted + other.uncounted,
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) checked: Checked,
    /// The first blocks that were not what they must be.
    mismatches: Vec<(Request, MismatchKind)>,
    /// How many there were.
    pub(crate) mismatch_count: u64,
}

impl Findings {
    pub(crate) fn new() -> Self {
        Self {
            mismatches: Vec::with_capacity(MISMATCHES_KEPT),
            ..Self::default()
        }
    }

    #[cold]
    pub(crate) fn add(&mut self, request: Request, kind: MismatchKind) {
        self.mismatch_count += 1;
        if self.mismatches.len() < MISMATCHES_KEPT {
            self.mismatches.push((request, kind));
        }
    }

    /// The first blocks that were not what they must be, of the files of `task`.
    pub(crate) fn mismatches(&self, task: &Task<'_>) -> Vec<Mismatch> {
        let told = self.mismatches.iter().map(|&(request, kind)| Mismatch {
            path: task.path(request.file).to_owned(),
            offset_bytes: request.offset_bytes,
            kind,
        });
        told.collect()
    }
}
