//! How many times each block was written: what a later read must find.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use stiction_core::Seed;

use crate::memory::{NoMemory, Pages};

/// Remembers, over several jobs on the same regions, how many times each block
/// was written with [`Data::Stamped`](stiction_core::Data::Stamped).
///
/// With it a checked read finds lost writes: blocks that are good but stale. It
/// takes four bytes for each block that was touched.
#[derive(Debug)]
pub struct Ledger {
    seed: Seed,
    regions: Mutex<BTreeMap<Place, Arc<Generations>>>,
}

/// What makes two regions the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) offset_bytes: u64,
    pub(crate) blocks: u64,
    pub(crate) block_bytes: u32,
}

impl Ledger {
    /// An empty ledger; `seed` goes into every stamp that is written with it, and
    /// a block with another one is found to be foreign.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            regions: Mutex::default(),
        }
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// The page of one region, blank when it was never written.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn open(&self, place: Place) -> Result<Arc<Generations>, NoMemory> {
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = regions.get(&place) {
            return Ok(Arc::clone(page));
        }
        let page = Arc::new(Generations::new(place.blocks)?);
        regions.insert(place, Arc::clone(&page));
        Ok(page)
    }
}

/// How many times each block of one region was written.
#[derive(Debug)]
pub(crate) struct Generations(Pages);

impl Generations {
    /// All zero, for `blocks` blocks.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn new(blocks: u64) -> Result<Self, NoMemory> {
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        Pages::new(blocks.saturating_mul(size_of::<AtomicU32>())).map(Self)
    }

    #[inline]
    fn of(&self, block: u64) -> &AtomicU32 {
        &self.0.atomics()[block as usize]
    }

    /// How many times `block` was written; 0 when never.
    #[inline]
    pub(crate) fn get(&self, block: u64) -> u32 {
        self.of(block).load(Ordering::Relaxed)
    }

    /// Notes that a write completed. Two writes of one block that were in flight
    /// together have the same number, and the same bytes.
    #[inline]
    pub(crate) fn set(&self, block: u64, generation: u32) {
        self.of(block).store(generation, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_found_again_and_others_are_blank() {
        let ledger = Ledger::new(Seed(1));
        let place = Place {
            path: "f".into(),
            offset_bytes: 0,
            blocks: 10_000,
            block_bytes: 4096,
        };
        ledger.open(place.clone()).unwrap().set(9_999, 3);
        assert_eq!(ledger.open(place.clone()).unwrap().get(9_999), 3);
        let other = Place {
            block_bytes: 512,
            ..place
        };
        assert_eq!(ledger.open(other).unwrap().get(9_999), 0);
    }
}
