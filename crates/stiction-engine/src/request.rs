//! One operation that is to be done, and where the next one comes from.

use crate::failure::Operation;
use crate::offsets::Offsets;
use crate::task::Task;
use crate::turnover::Turnover;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
    Trim,
}

impl Way {
    /// How many there are; a way is an index below it.
    pub(crate) const COUNT: usize = 3;

    /// Its name where it fails.
    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::Read => Operation::Read,
            Self::Write => Operation::Write,
            Self::Trim => Operation::Trim,
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    /// Which of the worker's files.
    pub(crate) file: u32,
    pub(crate) way: Way,
}

impl Request {
    /// What stands in a slot that holds none.
    pub(crate) const NONE: Self = Self {
        offset_bytes: 0,
        length_bytes: 0,
        file: 0,
        way: Way::Read,
    };

    /// The kernel's result when all of it was done at once.
    #[inline(always)]
    pub(crate) fn whole_result(self) -> i32 {
        match self.way {
            Way::Read | Way::Write => self.length_bytes as i32,
            Way::Trim => 0,
        }
    }
}

/// What is told of operations as they end.
pub(crate) trait Completions {
    /// An operation ended, done or failed.
    #[inline(always)]
    fn ended(&mut self, request: Request, is_done: bool) {
        let _nothing_follows = (request, is_done);
    }
}

/// A source of operations.
pub(crate) trait Requests: Completions {
    /// The next operation; `None` when there are no more, or none before one that is
    /// in flight has ended: see [`waits`](Self::waits).
    fn next(&mut self) -> Option<Request>;

    /// Whether there will be more when operations in flight have ended.
    #[inline(always)]
    fn waits(&self) -> bool {
        false
    }

    /// Which files are to be closed and opened; `None` where all stay open.
    #[inline(always)]
    fn turnover(&mut self) -> Option<&mut Turnover> {
        None
    }

    /// The files that were written to, or may have been.
    fn written(&self) -> Vec<u32> {
        vec![0]
    }
}

/// Operations of one size and one way on one file: what most jobs are made of.
#[derive(Debug)]
pub(crate) struct Plain<O> {
    offsets: O,
    first_byte: u64,
    block_bytes: u32,
    way: Way,
}

impl<O> Plain<O> {
    pub(crate) fn new(task: &Task<'_>, way: Way, offsets: O) -> Self {
        Self {
            offsets,
            first_byte: task.first_byte(0),
            block_bytes: task.block_bytes,
            way,
        }
    }
}

impl<O> Completions for Plain<O> {}

impl<O: Offsets> Requests for Plain<O> {
    #[inline(always)]
    fn next(&mut self) -> Option<Request> {
        Some(Request {
            offset_bytes: self.first_byte + self.offsets.next() * u64::from(self.block_bytes),
            length_bytes: self.block_bytes,
            file: 0,
            way: self.way,
        })
    }
}
