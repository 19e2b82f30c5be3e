//! Which write of each block a later read must find.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use stiction_core::Seed;

use super::chunk::{BLOCKS_PER_CHUNK, Chunk, Entry};
use super::ledger_files::{self, Folder};
use crate::EngineError;

/// What is left of what a process wrote before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Survived {
    /// Everything that it was told was written: it ended, was killed or crashed.
    Acknowledged,
    /// What it was told was synced: the machine or the device lost its power.
    Synced,
}

/// Remembers, over several jobs, which write of each block was begun, which was
/// acknowledged, and which was synced, with [`Data::Stamped`](stiction_core::Data::Stamped).
///
/// With it a checked read finds lost writes: blocks that are good but stale. It
/// takes twelve bytes for each block that was touched. Targets are known by the path
/// that the job gives; regions may be split among workers differently each time.
///
/// Kept in a folder, it survives the process that writes, however that ends, and a
/// later one can check what is there. To find out what a power cut took, the folder
/// has to lie where the power stays on.
#[derive(Debug)]
pub struct Ledger {
    seed: Seed,
    folder: Option<Folder>,
    chunks: Mutex<BTreeMap<Place, Arc<Chunk>>>,
}

/// Whose entries a chunk has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) grid: Grid,
    /// Number of the chunk in the target.
    pub(crate) chunk: u64,
}

/// How a target is divided into blocks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Grid {
    pub(crate) path: PathBuf,
    pub(crate) block_bytes: u32,
    /// Where the first block begins, less than `block_bytes`.
    pub(crate) phase_bytes: u32,
}

impl Ledger {
    /// An empty ledger in memory; `seed` goes into every stamp that is written with
    /// it, and a block with another one is found to be foreign.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            folder: None,
            chunks: Mutex::default(),
        }
    }

    /// An empty ledger in `folder`, which is made if need be and must be empty.
    ///
    /// # Errors
    /// [`EngineError::Ledger`].
    pub fn create(folder: &Path, seed: Seed) -> Result<Self, EngineError> {
        let kept = Folder::create(folder, seed)?;
        Ok(Self {
            folder: Some(kept),
            ..Self::new(seed)
        })
    }

    /// The ledger in `folder`. With [`Survived::Synced`], writes that were acknowledged
    /// and not synced count as lost with good reason from here on.
    ///
    /// # Errors
    /// [`EngineError::Ledger`] when there is none, it is in use, or it is damaged.
    pub fn reopen(folder: &Path, survived: Survived) -> Result<Self, EngineError> {
        let (kept, seed) = Folder::open(folder)?;
        let mut chunks = BTreeMap::new();
        for file in kept.chunk_files()? {
            let (place, chunk) = ledger_files::read_chunk(&file)?;
            if survived == Survived::Synced {
                chunk.entries().for_each(Entry::lose_unsynced);
            }
            chunks.insert(place, Arc::new(chunk));
        }
        Ok(Self {
            seed,
            folder: Some(kept),
            chunks: Mutex::new(chunks),
        })
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// The entries of the blocks from `first` on for a writer, made where there are
    /// none. What was written there in blocks of another size is no longer held.
    ///
    /// # Errors
    /// When there is no memory or no room in the folder.
    pub(crate) fn for_writing(
        &self,
        grid: &Grid,
        first: u64,
        blocks: u64,
    ) -> Result<Entries, EngineError> {
        let bytes = grid.offset_of(first)..grid.offset_of(first.saturating_add(blocks));
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, chunk) in chunks.iter() {
            if place.grid != *grid && place.grid.path == grid.path {
                place.forget(chunk, &bytes);
            }
        }
        let numbers = chunk_numbers(first, blocks);
        let first_chunk = *numbers.start();
        let mut taken = Vec::new();
        for chunk in numbers {
            let place = Place {
                grid: grid.clone(),
                chunk,
            };
            let chunk = match chunks.get(&place) {
                Some(chunk) => Arc::clone(chunk),
                None => Arc::new(self.new_chunk(&place, chunks.len())?),
            };
            chunks.insert(place, Arc::clone(&chunk));
            taken.push(Some(chunk));
        }
        Ok(Entries {
            first_chunk,
            chunks: taken.into(),
        })
    }

    /// The bytes of the target at `path` are about to be removed or overwritten: they
    /// need not be there any more.
    pub(crate) fn forget(&self, path: &Path, bytes: Range<u64>) {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, chunk) in chunks.iter().filter(|(place, _)| place.grid.path == path) {
            place.forget(chunk, &bytes);
        }
    }

    /// The entries of the blocks from `first` on for a reader, as far as there are any.
    pub(crate) fn for_reading(&self, grid: &Grid, first: u64, blocks: u64) -> Entries {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = chunk_numbers(first, blocks);
        let first_chunk = *numbers.start();
        let taken = numbers.map(|chunk| {
            let grid = grid.clone();
            chunks.get(&Place { grid, chunk }).map(Arc::clone)
        });
        Entries {
            first_chunk,
            chunks: taken.collect(),
        }
    }

    fn new_chunk(&self, place: &Place, number: usize) -> Result<Chunk, EngineError> {
        match &self.folder {
            Some(folder) => folder.new_chunk(place, number),
            None => Chunk::in_memory(),
        }
    }
}

fn chunk_numbers(first: u64, blocks: u64) -> std::ops::RangeInclusive<u64> {
    let last = first.saturating_add(blocks.saturating_sub(1));
    first / BLOCKS_PER_CHUNK..=last / BLOCKS_PER_CHUNK
}

impl Grid {
    pub(crate) fn offset_of(&self, number: u64) -> u64 {
        number
            .saturating_mul(self.block_bytes.into())
            .saturating_add(self.phase_bytes.into())
    }
}

impl Place {
    /// Blocks with any of these bytes need not be there any more.
    fn forget(&self, chunk: &Chunk, bytes: &Range<u64>) {
        let first = self.chunk * BLOCKS_PER_CHUNK;
        let end = self.grid.offset_of(first + BLOCKS_PER_CHUNK);
        if bytes.is_empty() || end <= bytes.start {
            return;
        }
        for (number, entry) in (first..).zip(chunk.entries()) {
            let offset = self.grid.offset_of(number);
            let end = offset.saturating_add(self.grid.block_bytes.into());
            if offset < bytes.end && end > bytes.start {
                entry.forget();
            }
        }
    }
}

/// The entries of one worker's blocks.
#[derive(Debug)]
pub(crate) struct Entries {
    first_chunk: u64,
    chunks: Box<[Option<Arc<Chunk>>]>,
}

impl Entries {
    /// Entries in memory for the blocks from `first` on, for a writer without a ledger.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn in_memory(first: u64, blocks: u64) -> Result<Self, EngineError> {
        let numbers = chunk_numbers(first, blocks);
        let first_chunk = *numbers.start();
        let chunks = numbers.map(|_| Chunk::in_memory().map(|chunk| Some(Arc::new(chunk))));
        Ok(Self {
            first_chunk,
            chunks: chunks.collect::<Result<_, _>>()?,
        })
    }

    /// The entry of block `number`; `None` when nobody counted.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<Entry<'_>> {
        let chunk = (number / BLOCKS_PER_CHUNK).checked_sub(self.first_chunk)?;
        let chunk = self.chunks.get(chunk as usize)?.as_ref()?;
        Some(chunk.entry(number % BLOCKS_PER_CHUNK))
    }
}

/// Removes the ledger in `folder`, and the folder, if there is nothing else in it.
///
/// # Errors
/// [`EngineError::Ledger`] when it is in use or cannot be removed.
pub fn remove_ledger(folder: &Path) -> Result<(), EngineError> {
    let (kept, _) = Folder::open(folder)?;
    let removed = kept
        .chunk_files()?
        .iter()
        .try_for_each(fs::remove_file)
        .and_then(|()| fs::remove_file(kept.head_path()))
        .and_then(|()| fs::remove_dir(folder));
    removed.map_err(|error| EngineError::Ledger {
        path: folder.to_owned(),
        cause: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(block_bytes: u32) -> Grid {
        Grid {
            path: "f".into(),
            block_bytes,
            phase_bytes: 0,
        }
    }

    /// Write of block `number`, acknowledged.
    fn write(entries: &Entries, number: u64) -> u32 {
        let entry = entries.get(number).unwrap();
        let generation = entry.begin();
        entry.acknowledge(generation);
        generation
    }

    fn held(ledger: &Ledger, grid: &Grid, number: u64) -> Option<u32> {
        let entries = ledger.for_reading(grid, number, 1);
        entries.get(number).map(|entry| entry.bounds().held)
    }

    #[test]
    fn blocks_are_found_again_however_regions_are_cut() {
        let ledger = Ledger::new(Seed(1));
        let last = BLOCKS_PER_CHUNK * 2 + 7;
        let all = ledger.for_writing(&grid(4096), 0, last + 1).unwrap();
        assert_eq!(
            (write(&all, 9), write(&all, 9), write(&all, last)),
            (1, 2, 1)
        );
        let part = ledger.for_writing(&grid(4096), last, 1).unwrap();
        assert_eq!(write(&part, last), 2);
        assert_eq!(held(&ledger, &grid(4096), 9), Some(2));
        assert_eq!(held(&ledger, &grid(4096), last), Some(2));
        assert_eq!(held(&ledger, &grid(4096), 10), Some(0));
        assert_eq!(held(&ledger, &grid(512), 9), None);
        assert!(part.get(0).is_none());
    }

    #[test]
    fn blocks_of_another_size_replace_those_under_them_and_no_others() {
        let ledger = Ledger::new(Seed(1));
        let small = ledger.for_writing(&grid(512), 0, 100).unwrap();
        for number in 0..100 {
            write(&small, number);
        }
        ledger.for_writing(&grid(4096), 1, 2).unwrap();
        let kept: Vec<u64> = (0..100)
            .filter(|&number| held(&ledger, &grid(512), number) == Some(1))
            .collect();
        let expected: Vec<u64> = (0..8).chain(24..100).collect();
        assert_eq!(kept, expected);
        // They are begun all the same: the next one has the next number.
        assert_eq!(write(&small, 8), 2);
    }

    #[test]
    fn a_ledger_in_a_folder_is_there_for_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("ledger");
        let ledger = Ledger::create(&folder, Seed(77)).unwrap();
        let entries = ledger.for_writing(&grid(4096), 5, 10).unwrap();
        write(&entries, 7);
        entries.get(7).unwrap().sync();
        write(&entries, 7);
        entries.get(8).unwrap().begin();

        let error = Ledger::reopen(&folder, Survived::Acknowledged).unwrap_err();
        assert!(error.to_string().contains("in use"), "{error}");
        assert!(
            Ledger::create(&folder, Seed(77)).is_err(),
            "it is not empty"
        );
        drop((ledger, entries));

        let bounds = |survived| {
            let ledger = Ledger::reopen(&folder, survived).unwrap();
            assert_eq!(ledger.seed(), Seed(77));
            let entries = ledger.for_reading(&grid(4096), 0, 20);
            [6, 7, 8].map(|number| {
                let bounds = entries.get(number).unwrap().bounds();
                (bounds.held, bounds.begun)
            })
        };
        assert_eq!(bounds(Survived::Acknowledged), [(0, 0), (2, 2), (0, 1)]);
        assert_eq!(bounds(Survived::Synced), [(0, 0), (1, 2), (0, 1)]);
        remove_ledger(&folder).unwrap();
        assert!(!folder.exists());
        assert!(Ledger::reopen(&folder, Survived::Synced).is_err());
    }

    #[test]
    fn what_is_no_ledger_or_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("ledger");
        let ledger = Ledger::create(&folder, Seed(1)).unwrap();
        ledger.for_writing(&grid(4096), 0, 1).unwrap();
        let [chunk] = &ledger.folder.as_ref().unwrap().chunk_files().unwrap()[..] else {
            panic!("one chunk is one file");
        };
        let chunk = chunk.clone();
        drop(ledger);
        let good = fs::read(&chunk).unwrap();
        let mut flipped = good.clone();
        flipped[20] ^= 1;
        for bad in [
            &flipped[..],
            &good[..good.len() - 1],
            b"",
            b"something else",
        ] {
            fs::write(&chunk, bad).unwrap();
            let error = Ledger::reopen(&folder, Survived::Synced).unwrap_err();
            assert!(
                error.to_string().contains(&*chunk.to_string_lossy()),
                "{error}"
            );
        }
        fs::write(&chunk, &good).unwrap();
        Ledger::reopen(&folder, Survived::Synced).unwrap();
    }
}
