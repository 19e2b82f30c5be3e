//! The stamps of one worker's writes, and what its reads must find.

use stiction_core::WriteSync;

use super::check::{Bounds, Found, Wanted, check, is_mixture};
use super::chunk::Entry;
use super::findings::Findings;
use super::ledger::{Entries, Grid, Ledger};
use super::mismatch::MismatchKind;
use super::stamp::Stamp;
use crate::EngineError;
use crate::request::Request;
use crate::task::Task;

/// How many blocks written since the last sync are remembered one by one; beyond it
/// a sync looks at all blocks of the region.
const DIRTY_MAX: u64 = 1 << 20;
/// What stands in a slot with no write in flight.
const NO_BLOCK: u64 = u64::MAX;

/// What stamps are made of. Blocks are known by their number in the target.
pub(crate) struct Stamps {
    /// The stamp of all blocks, but for place and number.
    stamp: Stamp,
    /// By file.
    files: Box<[Numbers]>,
    /// For each slot, the block that is being written, and the number of that write.
    in_flight: Box<[InFlight]>,
    /// For each slot with a read in flight, the write that its block was promised to
    /// have when the read began.
    held: Box<[u32]>,
    /// Whether blocks that were not written yet may hold good data of which nobody
    /// counted the writes.
    begins_unknown: bool,
    durable_at_once: bool,
}

/// A block that is being written.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    file: u32,
    block: u64,
    number: u32,
}

impl InFlight {
    const NONE: Self = Self {
        file: 0,
        block: NO_BLOCK,
        number: 0,
    };
}

/// The numbers of the writes of one file.
struct Numbers {
    /// `None` for a reader without a ledger.
    entries: Option<Entries>,
    first_block: u64,
    blocks: u64,
    dirty: Dirty,
}

/// Blocks that were written since the last sync.
enum Dirty {
    /// Nobody asks.
    Unwatched,
    Few(Vec<u64>),
    /// More than there is room for.
    Many(Vec<u64>),
}

impl Stamps {
    /// The stamps of `task`. Without a ledger, writes number their blocks from 1 on
    /// and reads do not check the numbers.
    ///
    /// # Errors
    /// When there is no memory for the numbers, or no room in the ledger's folder.
    pub(crate) fn new(task: &Task<'_>, ledger: Option<&Ledger>) -> Result<Self, EngineError> {
        let job = task.job;
        let files = (0..task.files()).map(|file| Numbers::new(task, file, ledger));
        let stamp = Stamp {
            offset_bytes: 0,
            generation: 0,
            block_bytes: task.block_bytes,
            seed: ledger.map_or(job.seed, Ledger::seed),
        };
        Ok(Self {
            stamp,
            files: files.collect::<Result<_, _>>()?,
            in_flight: vec![InFlight::NONE; task.depth as usize].into(),
            held: vec![0; task.depth as usize].into(),
            begins_unknown: ledger.is_none(),
            durable_at_once: job.write_sync != WriteSync::None,
        })
    }

    fn block(&self, request: Request) -> u64 {
        request.offset_bytes / u64::from(self.stamp.block_bytes)
    }

    fn stamp(&self, generation: u32, offset_bytes: u64) -> Stamp {
        Stamp {
            generation,
            offset_bytes,
            ..self.stamp
        }
    }

    /// A write from `slot` is about to begin: makes its block.
    ///
    /// While a write of the same block is in flight, nobody knows which of the two
    /// will be the last; so they have one number, and the same bytes.
    pub(crate) fn write(&mut self, slot: u32, request: Request, buffer: &mut [u8]) {
        let (file, block) = (request.file, self.block(request));
        let mut others = self.in_flight.iter();
        let overlaps = others.any(|other| (other.file, other.block) == (file, block));
        let number = match self.files[file as usize].entry(block) {
            Some(entry) if overlaps => entry.begun(),
            Some(entry) => entry.begin(),
            None => 1,
        };
        self.in_flight[slot as usize] = InFlight {
            file,
            block,
            number,
        };
        self.stamp(number, request.offset_bytes).write(buffer);
    }

    /// The write from `slot` was acknowledged.
    pub(crate) fn written(&mut self, slot: u32) {
        let done = std::mem::replace(&mut self.in_flight[slot as usize], InFlight::NONE);
        let numbers = &mut self.files[done.file as usize];
        let Some(entry) = numbers.entry(done.block) else {
            return;
        };
        entry.acknowledge(done.number);
        if self.durable_at_once {
            entry.sync();
        } else {
            numbers.dirty.add(done.block);
        }
    }

    /// All writes to `file` that were acknowledged are durable.
    pub(crate) fn synced(&mut self, file: u32) {
        self.files[file as usize].synced();
    }

    /// A read into `slot` is about to begin.
    pub(crate) fn read(&mut self, slot: u32, request: Request) {
        let entry = self.files[request.file as usize].entry(self.block(request));
        self.held[slot as usize] = entry.map_or(0, |entry| entry.bounds().held);
    }

    /// A trim is about to begin: nothing need be there until the block is written.
    pub(crate) fn trim(&mut self, request: Request) {
        let entry = self.files[request.file as usize].entry(self.block(request));
        if let Some(entry) = entry {
            entry.forget();
        }
    }

    /// Looks at a block that was read into `slot`, if writes may have gone on meanwhile.
    pub(crate) fn check(
        &self,
        slot: Option<u32>,
        request: Request,
        buffer: &[u8],
        findings: &mut Findings,
    ) {
        let entry = self.files[request.file as usize].entry(self.block(request));
        let bounds = entry.map(|entry| entry.bounds());
        let known = bounds.map(|bounds| Bounds {
            held: slot.map_or(bounds.held, |slot| self.held[slot as usize]),
            ..bounds
        });
        let known = known.filter(|known| known.begun > 0 || !self.begins_unknown);
        let is_known = bounds.is_some() == known.is_some();
        let generation = known.map_or(0, |known| known.begun);
        let wanted = Wanted {
            stamp: self.stamp(generation, request.offset_bytes),
            known,
        };
        let checked = &mut findings.checked;
        match check(buffer, &wanted) {
            Ok(Found::Last) if known.is_none() => checked.uncounted += 1,
            Ok(Found::Last) => checked.last += 1,
            Ok(Found::Earlier) => checked.earlier += 1,
            Ok(Found::Partial) => checked.partial += 1,
            Ok(Found::Unwritten) => checked.unwritten += 1,
            // Whatever was there before the first write was nobody's to check.
            Err(MismatchKind::Unstamped { .. } | MismatchKind::Foreign) if !is_known => {
                checked.unwritten += 1;
            }
            Err(
                MismatchKind::Garbled { .. }
                | MismatchKind::Torn { .. }
                | MismatchKind::Flipped { .. }
                | MismatchKind::Unstamped { .. },
            ) if let Some(known) = known.filter(|_| slot.is_some())
                && is_mixture(buffer, &wanted.stamp, known) =>
            {
                checked.partial += 1;
            }
            Err(kind) => findings.add(request, kind),
        }
    }
}

impl Numbers {
    fn new(task: &Task<'_>, file: u32, ledger: Option<&Ledger>) -> Result<Self, EngineError> {
        let block_bytes = u64::from(task.block_bytes);
        let (first_byte, blocks) = (task.first_byte(file), task.blocks(file));
        let first_block = first_byte / block_bytes;
        let grid = Grid {
            path: task.path(file).to_owned(),
            block_bytes: task.block_bytes,
            phase_bytes: (first_byte % block_bytes) as u32,
        };
        let writes = task.job.action.writes();
        let entries = match ledger {
            Some(ledger) if writes => Some(ledger.for_writing(&grid, first_block, blocks)?),
            Some(ledger) => Some(ledger.for_reading(&grid, first_block, blocks)),
            None if writes => Some(Entries::in_memory(first_block, blocks)?),
            None => None,
        };
        Ok(Self {
            entries,
            first_block,
            blocks,
            dirty: Dirty::new(task, ledger),
        })
    }

    #[inline]
    fn entry(&self, block: u64) -> Option<Entry<'_>> {
        self.entries.as_ref()?.get(block)
    }

    fn synced(&mut self) {
        let Some(entries) = &self.entries else {
            return;
        };
        let sync = |block| {
            if let Some(entry) = entries.get(block) {
                entry.sync();
            }
        };
        match &self.dirty {
            Dirty::Unwatched => {}
            Dirty::Few(blocks) => blocks.iter().copied().for_each(sync),
            Dirty::Many(_) => (self.first_block..self.first_block + self.blocks).for_each(sync),
        }
        self.dirty.clear();
    }
}

impl Dirty {
    fn new(task: &Task<'_>, ledger: Option<&Ledger>) -> Self {
        let job = task.job;
        let syncs =
            job.sync_every.is_some() || job.sync_at_end.is_some() || job.sync_on_close.is_some();
        if ledger.is_none() || !syncs {
            return Self::Unwatched;
        }
        let most = task.writes_to_sync().min(task.operations);
        let most = most.min(DIRTY_MAX / u64::from(task.files()));
        Self::Few(Vec::with_capacity(most as usize))
    }

    fn add(&mut self, block: u64) {
        match self {
            Self::Unwatched | Self::Many(_) => {}
            Self::Few(blocks) if blocks.len() < blocks.capacity() => blocks.push(block),
            Self::Few(blocks) => *self = Self::Many(std::mem::take(blocks)),
        }
    }

    fn clear(&mut self) {
        if let Self::Few(blocks) | Self::Many(blocks) = self {
            blocks.clear();
            *self = Self::Few(std::mem::take(blocks));
        }
    }
}
