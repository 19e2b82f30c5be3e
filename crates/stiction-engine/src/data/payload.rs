//! What goes into the blocks that a worker writes, and what must be in those
//! that it reads.

use stiction_core::{Action, Create, Data, DataShape, Job, Seed};

use super::check::check_bytes;
use super::findings::Findings;
use super::ledger::Ledger;
use super::random;
use super::shape::{Shaper, repeat};
use super::stamps::Stamps;
use crate::EngineError;
use crate::backend::Backend;
use crate::request::{Request, Way};
use crate::task::{Ends, Task};

/// The part that data has in one worker's operations.
pub(crate) enum Payload {
    /// None: buffers are written as they are, or what is read is not looked at.
    Idle,
    /// Each write has fresh random bytes.
    Unique {
        /// What the bytes are drawn from.
        seed: Seed,
        /// How many blocks were made.
        blocks: u64,
    },
    /// Each write has bytes that can be compressed or repeat others.
    Shaped(Shaper),
    /// Each write has a stamp.
    Stamped(Stamps),
    /// Each read must have its stamp.
    Checked(Stamps, Findings),
    /// Each write has a stamp, and each read must have the one of its block.
    Watched(Stamps, Findings),
    /// Each read must have these bytes.
    Expected(Box<[u8]>, Findings),
}

impl Payload {
    /// The payload of `task`, which draws on `seed`. Without a ledger, writes
    /// number their blocks from 1 on and reads do not check the numbers.
    ///
    /// # Errors
    /// When there is no memory for the numbers, or no room in the ledger's folder.
    pub(crate) fn new(
        task: &Task<'_>,
        seed: Seed,
        ledger: Option<&Ledger>,
    ) -> Result<Self, EngineError> {
        let job = task.job;
        if let Some(ledger) = ledger {
            tell(ledger, task);
        }
        let write = job.action.writes();
        Ok(match job.data {
            Data::Stamped if write && (job.verify || job.read_back_every.is_some()) => {
                Self::Watched(Stamps::new(task, ledger)?, Findings::new())
            }
            Data::Stamped if write => Self::Stamped(Stamps::new(task, ledger)?),
            Data::Stamped if job.verify => {
                Self::Checked(Stamps::new(task, ledger)?, Findings::new())
            }
            Data::Pattern | Data::Zeros if job.verify => {
                Self::Expected(kept(job, seed), Findings::new())
            }
            _ if !write => Self::Idle,
            Data::Unique if job.shape == DataShape::default() => Self::Unique { seed, blocks: 0 },
            Data::Unique if job.shape.refill => Self::Shaped(Shaper::new(seed, job.shape)),
            _ => Self::Idle,
        })
    }

    /// Fills the buffers of `task` before the start with what no write changes: a
    /// pattern, or data that are written again and again.
    pub(crate) fn prime(task: &Task<'_>, seed: Seed, backend: &mut impl Backend) {
        let job = task.job;
        let written = match keeps_data(job) {
            true => task.depth..task.depth + 1,
            false if job.action.writes() && !job.reads() => 0..task.depth,
            false => return,
        };
        let mut shaper = Shaper::new(seed, job.shape);
        for buffer in written {
            match job.data {
                Data::Pattern => repeat(&job.pattern, backend.buffer(buffer)),
                Data::Unique if !job.shape.refill => shaper.fill(backend.buffer(buffer)),
                Data::Zeros | Data::Unique | Data::Stamped => return,
            }
        }
    }

    /// Whether it has nothing to do between operations.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    /// Makes what is written next in the buffer of its slot.
    #[inline(always)]
    pub(crate) fn before<'b>(
        &mut self,
        slot: u32,
        request: Request,
        buffer: impl FnOnce() -> &'b mut [u8],
    ) {
        match self {
            Self::Idle | Self::Checked(..) | Self::Expected(..) => {}
            Self::Watched(stamps, _) if request.way == Way::Read => stamps.read(slot, request),
            Self::Stamped(stamps) if request.way == Way::Trim => stamps.trim(request),
            _ if request.way != Way::Write => {}
            Self::Unique { seed, blocks } => {
                let block = &mut buffer()[..request.length_bytes as usize];
                random::fill(seed.stream(*blocks).0, block);
                *blocks += 1;
            }
            Self::Shaped(shaper) => shaper.fill(&mut buffer()[..request.length_bytes as usize]),
            Self::Stamped(stamps) | Self::Watched(stamps, _) => {
                stamps.write(slot, request, buffer());
            }
        }
    }

    /// Looks at a block that was written or read.
    #[inline(always)]
    pub(crate) fn after<'b>(
        &mut self,
        slot: u32,
        request: Request,
        buffer: impl FnOnce() -> &'b mut [u8],
    ) {
        match self {
            Self::Idle | Self::Unique { .. } | Self::Shaped(_) => {}
            Self::Checked(stamps, findings) => stamps.check(None, request, buffer(), findings),
            Self::Watched(stamps, findings) if request.way == Way::Read => {
                stamps.check(Some(slot), request, buffer(), findings);
            }
            Self::Expected(bytes, findings) => {
                let length = request.length_bytes as usize;
                match check_bytes(&buffer()[..length], &bytes[..length]) {
                    Ok(()) => findings.checked.uncounted += 1,
                    Err(kind) => findings.add(request, kind),
                }
            }
            Self::Stamped(_) | Self::Watched(..) if request.way != Way::Write => {}
            Self::Stamped(stamps) | Self::Watched(stamps, _) => stamps.written(slot),
        }
    }

    /// What was written to `file` is durable: all that was acknowledged.
    pub(crate) fn synced(&mut self, file: u32) {
        if let Self::Stamped(stamps) | Self::Watched(stamps, _) = self {
            stamps.synced(file);
        }
    }

    /// What was found by checking.
    pub(crate) fn into_findings(self) -> Findings {
        match self {
            Self::Checked(_, findings)
            | Self::Watched(_, findings)
            | Self::Expected(_, findings) => findings,
            _ => Findings::default(),
        }
    }
}

/// Tells the ledger what `task` takes away: what it cuts off when it opens its file,
/// and what it overwrites with other data or trims.
fn tell(ledger: &Ledger, task: &Task<'_>) {
    let job = task.job;
    let ends = Ends::of(job);
    for (file, region) in (0..).zip(task.regions) {
        let path = task.path(file);
        let first_lost = match job.create {
            Create::Open => u64::MAX,
            Create::Truncate => 0,
            Create::Sparse => ends.bytes(region.target),
        };
        ledger.forget(path, first_lost..u64::MAX);
        if job.action.trims() && job.data != Data::Stamped
            || job.action == Action::Trim
            || job.action.writes() && job.data != Data::Stamped
        {
            let end = region.offset_bytes.saturating_add(region.length_bytes);
            ledger.forget(path, region.offset_bytes..end);
        }
    }
}

/// What all blocks of `job` have in them.
fn kept(job: &Job, seed: Seed) -> Box<[u8]> {
    let mut bytes = vec![0; job.operation_bytes_max() as usize];
    match job.data {
        Data::Pattern => repeat(&job.pattern, &mut bytes),
        Data::Unique => Shaper::new(seed, job.shape).fill(&mut bytes),
        Data::Zeros | Data::Stamped => {}
    }
    bytes.into()
}

/// Whether the writes of `job` are all from one buffer, because they have the same
/// bytes each time and reads fill the others.
pub(crate) fn keeps_data(job: &Job) -> bool {
    let reads_too = job.action.writes() && job.reads();
    reads_too
        && match job.data {
            Data::Zeros | Data::Pattern => true,
            Data::Unique => !job.shape.refill,
            Data::Stamped => false,
        }
}
