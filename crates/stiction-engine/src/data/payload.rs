//! What goes into the blocks that a worker writes, and what must be in those
//! that it reads.

use std::path::PathBuf;
use std::sync::Arc;

use stiction_core::{Action, Data, DataShape, Job, Seed};

use super::check::check;
use super::ledger::{Generations, Ledger, Place};
use super::mismatch::{MISMATCHES_KEPT, Mismatch};
use super::random;
use super::shape::{Shaper, repeat};
use super::stamp::Stamp;
use crate::backend::Backend;
use crate::memory::NoMemory;
use crate::request::{Request, Way};
use crate::task::Task;

/// The part that data has in one worker's operations.
pub(crate) enum Payload {
    /// None: buffers are written as they are, or what is read is not looked at.
    Idle,
    /// Each write has the same bytes, where a read may have left others.
    Kept(Box<[u8]>),
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
    Checked(Stamps, Mismatches),
}

impl Payload {
    /// The payload of `task`, which draws on `seed`. Without a ledger, writes
    /// number their blocks from 1 on and reads do not check the numbers.
    ///
    /// # Errors
    /// When there is no memory for the numbers.
    pub(crate) fn new(
        task: &Task<'_>,
        seed: Seed,
        ledger: Option<&Ledger>,
    ) -> Result<Self, NoMemory> {
        let job = task.job;
        let write = job.action.writes();
        let read = job.action.reads();
        Ok(match job.data {
            Data::Stamped if write => Self::Stamped(Stamps::new(task, ledger)?),
            Data::Stamped if job.verify => {
                Self::Checked(Stamps::new(task, ledger)?, Mismatches::new(task))
            }
            _ if !write => Self::Idle,
            Data::Unique if job.shape == DataShape::default() => Self::Unique { seed, blocks: 0 },
            Data::Unique if job.shape.refill => Self::Shaped(Shaper::new(seed, job.shape)),
            _ if read => Self::Kept(kept(job, seed)),
            _ => Self::Idle,
        })
    }

    /// Fills the buffers of `task` before the start with what no write changes: a
    /// pattern, or data that are written again and again.
    pub(crate) fn prime(task: &Task<'_>, seed: Seed, backend: &mut impl Backend) {
        let job = task.job;
        let mut shaper = Shaper::new(seed, job.shape);
        for slot in 0..task.depth {
            match (job.action, job.data) {
                (Action::Write, Data::Pattern) => repeat(&job.pattern, backend.buffer(slot)),
                (Action::Write, Data::Unique) if !job.shape.refill => {
                    shaper.fill(backend.buffer(slot));
                }
                _ => return,
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
            Self::Idle | Self::Checked(..) => {}
            _ if request.way != Way::Write => {}
            Self::Kept(bytes) => {
                let length = request.length_bytes as usize;
                buffer()[..length].copy_from_slice(&bytes[..length]);
            }
            Self::Unique { seed, blocks } => {
                let block = &mut buffer()[..request.length_bytes as usize];
                random::fill(seed.stream(*blocks).0, block);
                *blocks += 1;
            }
            Self::Shaped(shaper) => shaper.fill(&mut buffer()[..request.length_bytes as usize]),
            Self::Stamped(stamps) => stamps.write(slot, request.offset_bytes, buffer()),
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
            Self::Idle | Self::Kept(_) | Self::Unique { .. } | Self::Shaped(_) => {}
            Self::Stamped(_) if request.way != Way::Write => {}
            Self::Stamped(stamps) => stamps.written(slot, request.offset_bytes),
            Self::Checked(stamps, mismatches) => {
                let wanted = stamps.wanted(request.offset_bytes);
                if let Err(kind) = check(buffer(), &wanted) {
                    mismatches.add(request.offset_bytes, kind);
                }
            }
        }
    }

    /// What was found: the first mismatches, and how many there were.
    pub(crate) fn into_mismatches(self) -> (Vec<Mismatch>, u64) {
        match self {
            Self::Checked(_, mismatches) => (mismatches.kept, mismatches.count),
            _ => (Vec::new(), 0),
        }
    }
}

/// What is written again and again into buffers that are read into as well.
fn kept(job: &Job, seed: Seed) -> Box<[u8]> {
    let mut bytes = vec![0; job.operation_bytes_max() as usize];
    match job.data {
        Data::Pattern => repeat(&job.pattern, &mut bytes),
        Data::Unique => Shaper::new(seed, job.shape).fill(&mut bytes),
        Data::Zeros | Data::Stamped => {}
    }
    bytes.into()
}

/// What stamps are made of.
pub(crate) struct Stamps {
    worker: u32,
    first_byte: u64,
    block_bytes: u32,
    seed: Seed,
    /// How often each block was written; `None` when nobody counted.
    generations: Option<Arc<Generations>>,
    /// For each slot, the number of the write that is in flight in it.
    in_flight: Box<[u32]>,
}

impl Stamps {
    fn new(task: &Task<'_>, ledger: Option<&Ledger>) -> Result<Self, NoMemory> {
        let generations = match (ledger, task.job.action.writes()) {
            (Some(ledger), _) => Some(ledger.open(Place {
                path: task.path().to_owned(),
                offset_bytes: task.first_byte,
                blocks: task.blocks,
                block_bytes: task.block_bytes,
            })?),
            (None, true) => Some(Arc::new(Generations::new(task.blocks)?)),
            (None, false) => None,
        };
        Ok(Self {
            worker: task.worker,
            first_byte: task.first_byte,
            block_bytes: task.block_bytes,
            seed: ledger.map_or(task.job.seed, Ledger::seed),
            generations,
            in_flight: vec![0; task.depth as usize].into(),
        })
    }

    fn stamp(&self, generation: u32, offset_bytes: u64) -> Stamp {
        Stamp {
            worker: self.worker,
            offset_bytes,
            generation,
            block_bytes: self.block_bytes,
            seed: self.seed,
        }
    }

    fn generation(&self, block: u64) -> u32 {
        let generations = self.generations.as_ref();
        generations.map_or(0, |generations| generations.get(block))
    }

    /// The number of the block at `offset_bytes`.
    fn block(&self, offset_bytes: u64) -> u64 {
        (offset_bytes - self.first_byte) / u64::from(self.block_bytes)
    }

    fn write(&mut self, slot: u32, offset_bytes: u64, buffer: &mut [u8]) {
        let generation = self.generation(self.block(offset_bytes)).wrapping_add(1);
        self.in_flight[slot as usize] = generation;
        self.stamp(generation, offset_bytes).write(buffer);
    }

    fn written(&mut self, slot: u32, offset_bytes: u64) {
        if let Some(generations) = &self.generations {
            generations.set(self.block(offset_bytes), self.in_flight[slot as usize]);
        }
    }

    fn wanted(&self, offset_bytes: u64) -> Stamp {
        self.stamp(self.generation(self.block(offset_bytes)), offset_bytes)
    }
}

/// The blocks that were not what they must be.
pub(crate) struct Mismatches {
    kept: Vec<Mismatch>,
    count: u64,
    path: PathBuf,
}

impl Mismatches {
    fn new(task: &Task<'_>) -> Self {
        Self {
            kept: Vec::with_capacity(MISMATCHES_KEPT),
            count: 0,
            path: task.path().to_owned(),
        }
    }

    #[cold]
    fn add(&mut self, offset_bytes: u64, kind: super::MismatchKind) {
        self.count += 1;
        if self.kept.len() < MISMATCHES_KEPT {
            self.kept.push(Mismatch {
                path: self.path.clone(),
                offset_bytes,
                kind,
            });
        }
    }
}
