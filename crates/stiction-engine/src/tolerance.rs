//! Operations that failed and after which the worker went on, counted by kind.

use std::fmt;

use stiction_core::Tolerance;

use crate::failure::{Cause, Fault, Operation};
use crate::request::Way;

/// Kinds of failures that a worker keeps apart; further kinds are counted together.
const KINDS_MAX: usize = 16;

/// Operations that failed in one way, and after which their workers went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerated {
    /// What was being done.
    pub operation: Operation,
    /// Why it failed, the first time; of [`Cause::Short`], the figures are the first
    /// one's.
    pub cause: Cause,
    /// At which offset it failed the first time, bytes.
    pub first_offset_bytes: Option<u64>,
    /// How often.
    pub count: u64,
    /// Whether the job called it expected: then nothing is wrong.
    pub expected: bool,
}

impl Tolerated {
    /// Whether it is of the same kind as `other`: short transfers are all alike.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same_cause = match (self.cause, other.cause) {
            (Cause::Short { .. }, Cause::Short { .. }) => true,
            (one, other) => one == other,
        };
        same_cause && self.operation == other.operation && self.expected == other.expected
    }
}

impl fmt::Display for Tolerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operation,
            cause,
            count,
            ..
        } = self;
        write!(f, "{count} times {operation} failed: {cause}")?;
        match self.first_offset_bytes {
            Some(offset_bytes) => write!(f, " (first at offset {offset_bytes})"),
            None => Ok(()),
        }
    }
}

/// What a worker tolerates, and what it has tolerated.
#[derive(Debug)]
pub(crate) struct Leniency<'a> {
    tolerance: &'a Tolerance,
    kinds: Vec<Tolerated>,
    /// Failures that were not expected.
    unexpected: u64,
}

impl<'a> Leniency<'a> {
    pub(crate) fn new(tolerance: &'a Tolerance) -> Self {
        Self {
            tolerance,
            kinds: Vec::with_capacity(KINDS_MAX),
            unexpected: 0,
        }
    }

    /// Counts a failure, if the worker goes on after it; false when it does not.
    #[cold]
    pub(crate) fn goes_on_after(&mut self, way: Way, fault: Fault) -> bool {
        let Tolerance {
            reads,
            writes,
            expected_of_reads,
            expected_of_writes,
            failures_max,
        } = self.tolerance;
        let (goes_on, expected) = match way {
            Way::Read => (*reads, expected_of_reads),
            Way::Write | Way::Trim => (*writes, expected_of_writes),
        };
        let is_expected = matches!(fault.cause, Cause::Errno(errno) if expected.contains(&errno));
        let is_within = failures_max.is_none_or(|most| self.unexpected < most);
        if !(is_expected || goes_on && is_within) {
            return false;
        }
        self.unexpected += u64::from(!is_expected);
        self.count(Tolerated {
            operation: fault.operation,
            cause: fault.cause,
            first_offset_bytes: fault.offset_bytes,
            count: 1,
            expected: is_expected,
        });
        true
    }

    fn count(&mut self, one: Tolerated) {
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.is_like(&one)) {
            kind.count += 1;
        } else if self.kinds.len() < KINDS_MAX {
            self.kinds.push(one);
        } else if let Some(last) = self.kinds.last_mut() {
            // More kinds than any device is known to have: they are not lost.
            last.count += 1;
        }
    }

    pub(crate) fn into_kinds(self) -> Vec<Tolerated> {
        self.kinds
    }
}

/// The kinds of several workers together.
pub(crate) fn merged<'a>(kinds: impl Iterator<Item = &'a Tolerated>) -> Vec<Tolerated> {
    let mut all: Vec<Tolerated> = Vec::new();
    for one in kinds {
        match all.iter_mut().find(|kind| kind.is_like(one)) {
            Some(kind) => kind.count += one.count,
            None => all.push(*one),
        }
    }
    all
}
