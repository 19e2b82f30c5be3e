//! The stamps of one worker's writes, and what its reads must find.

use stiction_core::WriteSync;

use super::check::{Found, Wanted, check};
use super::findings::Findings;
use super::ledger::{Entries, Grid, Ledger};
use super::stamp::Stamp;
use crate::EngineError;
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
    /// `None` for a reader without a ledger.
    entries: Option<Entries>,
    first_block: u64,
    blocks: u64,
    /// For each slot, the block that is being written, and the number of that write.
    in_flight: Box<[(u64, u32)]>,
    durable_at_once: bool,
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
        let block_bytes = u64::from(task.block_bytes);
        let (first_block, blocks) = (task.first_byte / block_bytes, task.blocks);
        let grid = Grid {
            path: task.path().to_owned(),
            block_bytes: task.block_bytes,
            phase_bytes: (task.first_byte % block_bytes) as u32,
        };
        let writes = job.action.writes();
        let entries = match ledger {
            Some(ledger) if writes => Some(ledger.for_writing(&grid, first_block, blocks)?),
            Some(ledger) => Some(ledger.for_reading(&grid, first_block, blocks)),
            None if writes => Some(Entries::in_memory(first_block, blocks)?),
            None => None,
        };
        let stamp = Stamp {
            worker: task.worker,
            offset_bytes: 0,
            generation: 0,
            block_bytes: task.block_bytes,
            seed: ledger.map_or(job.seed, Ledger::seed),
        };
        Ok(Self {
            stamp,
            entries,
            first_block,
            blocks,
            in_flight: vec![(NO_BLOCK, 0); task.depth as usize].into(),
            durable_at_once: job.write_sync != WriteSync::None,
            dirty: Dirty::new(task, ledger),
        })
    }

    fn block(&self, offset_bytes: u64) -> u64 {
        offset_bytes / u64::from(self.stamp.block_bytes)
    }

    fn stamp(&self, generation: u32, offset_bytes: u64) -> Stamp {
        Stamp {
            generation,
            offset_bytes,
            ..self.stamp
        }
    }

    /// A write from `slot` to `offset_bytes` is about to begin: makes its block.
    ///
    /// While a write of the same block is in flight, nobody knows which of the two
    /// will be the last; so they have one number, and the same bytes.
    pub(crate) fn write(&mut self, slot: u32, offset_bytes: u64, buffer: &mut [u8]) {
        let block = self.block(offset_bytes);
        let overlaps = self.in_flight.iter().any(|&(other, _)| other == block);
        let entry = self.entries.as_ref().and_then(|entries| entries.get(block));
        let number = match entry {
            Some(entry) if overlaps => entry.begun(),
            Some(entry) => entry.begin(),
            None => 1,
        };
        self.in_flight[slot as usize] = (block, number);
        self.stamp(number, offset_bytes).write(buffer);
    }

    /// The write from `slot` was acknowledged.
    pub(crate) fn written(&mut self, slot: u32) {
        let (block, number) = std::mem::replace(&mut self.in_flight[slot as usize], (NO_BLOCK, 0));
        let entry = self.entries.as_ref().and_then(|entries| entries.get(block));
        let Some(entry) = entry else {
            return;
        };
        entry.acknowledge(number);
        if self.durable_at_once {
            entry.sync();
        } else {
            self.dirty.add(block);
        }
    }

    /// All writes that were acknowledged are durable.
    pub(crate) fn synced(&mut self) {
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

    /// Looks at a block that was read.
    pub(crate) fn check(&self, offset_bytes: u64, buffer: &[u8], findings: &mut Findings) {
        let block = self.block(offset_bytes);
        let entry = self.entries.as_ref().and_then(|entries| entries.get(block));
        let known = entry.map(|entry| entry.bounds());
        let wanted = Wanted {
            stamp: self.stamp(known.map_or(0, |known| known.begun), offset_bytes),
            known,
        };
        let checked = &mut findings.checked;
        match check(buffer, &wanted) {
            Ok(Found::Last) if known.is_none() => checked.uncounted += 1,
            Ok(Found::Last) => checked.last += 1,
            Ok(Found::Earlier) => checked.earlier += 1,
            Ok(Found::Partial) => checked.partial += 1,
            Ok(Found::Unwritten) => checked.unwritten += 1,
            Err(kind) => findings.add(offset_bytes, kind),
        }
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
        let most = task.writes_to_sync().min(task.operations).min(DIRTY_MAX);
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
