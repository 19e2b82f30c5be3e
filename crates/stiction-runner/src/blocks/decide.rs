//! Whether another block is worth its time: asked after each, answered from outside.

use stiction_core::{SessionHeader, Trial};

/// What is known when a block has ended and another is to begin.
#[derive(Clone, Copy, Debug)]
pub struct BlocksSoFar<'a> {
    /// Blocks that have ended.
    pub done: u32,
    /// Blocks of the plan.
    pub planned: u32,
    /// The session's header.
    pub header: &'a SessionHeader,
    /// The trials of all blocks so far.
    pub trials: &'a [Trial],
    /// How long each block took, ns.
    pub block_ns: &'a [u64],
    /// Time since the session began without the gaps in which it had been cut off, ns.
    pub elapsed_ns: u64,
}

/// Whether the next block begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It does.
    GoOn,
    /// The session ends here, for the reason given in words.
    Stop(String),
}

/// Who decides whether another block begins. A closure does.
pub trait Decide {
    /// Asked after every block but the last.
    fn decide(&mut self, so_far: &BlocksSoFar<'_>) -> Decision;
}

impl<F: FnMut(&BlocksSoFar<'_>) -> Decision> Decide for F {
    fn decide(&mut self, so_far: &BlocksSoFar<'_>) -> Decision {
        self(so_far)
    }
}

/// Runs all blocks of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryBlock;

impl Decide for EveryBlock {
    fn decide(&mut self, _so_far: &BlocksSoFar<'_>) -> Decision {
        Decision::GoOn
    }
}
