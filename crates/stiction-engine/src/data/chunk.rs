//! What is known of a stretch of blocks, in memory or in a file.

use std::fs::File;
use std::sync::atomic::{AtomicU32, Ordering};

use super::check::Bounds;
use crate::EngineError;
use crate::memory::Pages;

/// Blocks of one chunk: 1 GiB in blocks of 4 KiB.
pub(crate) const BLOCKS_PER_CHUNK: u64 = 1 << 18;
/// Three numbers for each block.
const NUMBERS: usize = 3;
/// Bytes of the entries of a chunk; as they are touched, they take memory or space.
pub(crate) const ENTRIES_BYTES: usize = BLOCKS_PER_CHUNK as usize * NUMBERS * size_of::<u32>();
/// Bytes before the entries in a file: one page, the largest there are.
pub(crate) const HEADER_BYTES: usize = 65_536;

/// The entries of `BLOCKS_PER_CHUNK` blocks.
#[derive(Debug)]
pub(crate) struct Chunk {
    pages: Pages,
    /// Numbers before the first entry.
    skipped: usize,
}

impl Chunk {
    /// Nothing is known.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn in_memory() -> Result<Self, EngineError> {
        let pages = Pages::new(ENTRIES_BYTES)
            .map_err(|none| none.of("the numbers of writes", "ask for a smaller region"))?;
        Ok(Self { pages, skipped: 0 })
    }

    /// What `file` says, of `HEADER_BYTES` and `ENTRIES_BYTES`, and what it will say.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub(crate) fn in_file(file: &File) -> Result<Self, EngineError> {
        let pages = Pages::shared(file, HEADER_BYTES + ENTRIES_BYTES)
            .map_err(|none| none.of("the numbers of writes", "ask for a smaller region"))?;
        Ok(Self {
            pages,
            skipped: HEADER_BYTES / size_of::<u32>(),
        })
    }

    /// The entry of the `index`th block.
    #[inline]
    pub(crate) fn entry(&self, index: u64) -> Entry<'_> {
        let start = self.skipped + index as usize * NUMBERS;
        let [begun, held, synced] = &self.pages.atomics()[start..start + NUMBERS] else {
            unreachable!("the slice is as long")
        };
        Entry {
            begun,
            held,
            synced,
        }
    }

    /// All of them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..BLOCKS_PER_CHUNK).map(|index| self.entry(index))
    }
}

/// What is known of one block. Only one worker writes it, in program order, which is
/// also the order in which a file has it when the process is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// Number of the last write that was begun; 0 for none.
    begun: &'a AtomicU32,
    /// Number of the last write that was acknowledged, and must be there.
    held: &'a AtomicU32,
    /// Number of the last write that was synced, and must be there after a power cut.
    synced: &'a AtomicU32,
}

impl Entry<'_> {
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            held: self.held.load(Ordering::Relaxed),
            begun: self.begun.load(Ordering::Relaxed),
        }
    }

    /// The number of the last write that was begun.
    #[inline]
    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }

    /// A new write is begun; its number.
    #[inline]
    pub(crate) fn begin(&self) -> u32 {
        let number = self.begun().saturating_add(1);
        self.begun.store(number, Ordering::Release);
        number
    }

    /// Write `number` was acknowledged.
    #[inline]
    pub(crate) fn acknowledge(&self, number: u32) {
        self.held.store(number, Ordering::Release);
    }

    /// What was acknowledged is synced.
    #[inline]
    pub(crate) fn sync(&self) {
        let held = self.held.load(Ordering::Relaxed);
        if self.synced.load(Ordering::Relaxed) != held {
            self.synced.store(held, Ordering::Release);
        }
    }

    /// What was written is about to be removed or overwritten by others: nothing must
    /// be there any more.
    pub(crate) fn forget(self) {
        for number in [self.held, self.synced] {
            if number.load(Ordering::Relaxed) > 0 {
                number.store(0, Ordering::Release);
            }
        }
    }

    /// Only what was synced must be there any more.
    pub(crate) fn lose_unsynced(self) {
        let synced = self.synced.load(Ordering::Relaxed);
        if self.held.load(Ordering::Relaxed) != synced {
            self.held.store(synced, Ordering::Release);
        }
    }
}
