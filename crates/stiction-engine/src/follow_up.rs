//! Operations that follow from others: the write of a block that was trimmed, the
//! reading back of blocks that were written.

use stiction_core::{Action, Job};

use crate::request::{Request, Way};

/// What follows from the leading operations of a job.
#[derive(Debug)]
pub(crate) enum FollowUp {
    /// A write of each block, when its trim is done.
    WriteTrimmed {
        trims_in_flight: u32,
        /// Trimmed, and to be written.
        trimmed: Vec<Request>,
    },
    /// A read of each block of a batch of writes, when all of them are done.
    ReadBack {
        batch: usize,
        /// Writes of the batch that were given out.
        begun: usize,
        writes_in_flight: u32,
        /// Those that are done.
        written: Vec<Request>,
        /// How many of them were given out to be read, once that has begun.
        read: Option<usize>,
        /// Whether no more writes follow.
        is_last: bool,
    },
}

impl FollowUp {
    /// What follows in `job` at `depth`, if anything does.
    pub(crate) fn of(job: &Job, depth: u32) -> Option<Self> {
        if job.action == Action::TrimWrite {
            return Some(Self::WriteTrimmed {
                trims_in_flight: 0,
                trimmed: Vec::with_capacity(depth as usize),
            });
        }
        job.read_back_every.map(|batch| Self::ReadBack {
            batch: batch as usize,
            begun: 0,
            writes_in_flight: 0,
            written: Vec::with_capacity(batch as usize),
            read: None,
            is_last: false,
        })
    }

    /// An operation that follows from those that are done.
    pub(crate) fn next(&mut self) -> Option<Request> {
        match self {
            Self::WriteTrimmed { trimmed, .. } => {
                let trim = trimmed.pop()?;
                let way = Way::Write;
                Some(Request { way, ..trim })
            }
            Self::ReadBack {
                written,
                read,
                begun,
                ..
            } => {
                let at = (*read)?;
                let write = written[at];
                *read = Some(at + 1);
                if at + 1 == written.len() {
                    written.clear();
                    (*read, *begun) = (None, 0);
                }
                let way = Way::Read;
                Some(Request { way, ..write })
            }
        }
    }

    /// Whether a leading operation may begin.
    pub(crate) fn may_lead(&self) -> bool {
        match self {
            Self::WriteTrimmed { .. } => true,
            Self::ReadBack { batch, begun, .. } => begun < batch,
        }
    }

    /// A leading operation was given out.
    pub(crate) fn led(&mut self) {
        match self {
            Self::WriteTrimmed {
                trims_in_flight, ..
            } => *trims_in_flight += 1,
            Self::ReadBack {
                begun,
                writes_in_flight,
                ..
            } => {
                *begun += 1;
                *writes_in_flight += 1;
            }
        }
    }

    /// There are no more leading operations.
    pub(crate) fn led_all(&mut self) {
        if let Self::ReadBack { is_last, .. } = self {
            *is_last = true;
            self.begin_reading();
        }
    }

    /// An operation ended, done or failed.
    pub(crate) fn ended(&mut self, request: Request, is_done: bool) {
        match (&mut *self, request.way) {
            (
                Self::WriteTrimmed {
                    trims_in_flight,
                    trimmed,
                },
                Way::Trim,
            ) => {
                *trims_in_flight -= 1;
                if is_done {
                    trimmed.push(request);
                }
            }
            (
                Self::ReadBack {
                    writes_in_flight,
                    written,
                    ..
                },
                Way::Write,
            ) => {
                *writes_in_flight -= 1;
                if is_done {
                    written.push(request);
                }
                self.begin_reading();
            }
            _ => {}
        }
    }

    fn begin_reading(&mut self) {
        if let Self::ReadBack {
            batch,
            begun,
            writes_in_flight: 0,
            written,
            read: read @ None,
            is_last,
        } = self
            && (*begun == *batch || *is_last)
        {
            if written.is_empty() {
                *begun = 0;
            } else {
                *read = Some(0);
            }
        }
    }

    /// Whether something will follow when operations in flight have ended.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Self::WriteTrimmed {
                trims_in_flight, ..
            } => *trims_in_flight > 0,
            Self::ReadBack {
                batch,
                begun,
                writes_in_flight,
                is_last,
                ..
            } => *writes_in_flight > 0 && (begun == batch || *is_last),
        }
    }
}
