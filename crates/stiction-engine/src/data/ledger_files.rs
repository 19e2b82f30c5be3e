//! The folder that a ledger is kept in: a head with the seed, and a file for each
//! chunk, which says itself whose it is.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;
use stiction_core::Seed;

use super::chunk::{Chunk, ENTRIES_BYTES, HEADER_BYTES};
use super::ledger::{Grid, Place};
use crate::EngineError;

const HEAD: &str = "ledger";
const HEAD_BYTES: usize = 16;
const CHUNK_PREFIX: &str = "chunk-";
/// In the byte order of the machine, so that another one does not take it for its own.
const MARK: u64 = u64::from_ne_bytes(*b"stiledg1");
const WORDS: usize = 6;

/// The folder of a ledger, locked against others.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// A folder for a new ledger.
    ///
    /// # Errors
    /// When it has something in it or cannot be written.
    pub(crate) fn create(path: &Path, seed: Seed) -> Result<Self, EngineError> {
        let made = fs::create_dir_all(path).and_then(|()| fs::read_dir(path));
        let mut entries = made.map_err(|error| unusable(path, &error))?;
        if entries.next().is_some() {
            return Err(unusable(path, &"there is something in the folder already"));
        }
        let head = path.join(HEAD);
        let mut file = File::create_new(&head).map_err(|error| unusable(&head, &error))?;
        lock(&file, path)?;
        let bytes = [MARK.to_ne_bytes(), seed.0.to_ne_bytes()];
        file.write_all(bytes.as_flattened())
            .map_err(|error| unusable(&head, &error))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: file,
        })
    }

    /// The folder of a ledger that there is, and its seed.
    ///
    /// # Errors
    /// When there is none, or it is in use.
    pub(crate) fn open(path: &Path) -> Result<(Self, Seed), EngineError> {
        let head = path.join(HEAD);
        let mut file = File::open(&head).map_err(|error| unusable(&head, &error))?;
        lock(&file, path)?;
        let mut bytes = [0; HEAD_BYTES];
        file.read_exact(&mut bytes)
            .map_err(|error| unusable(&head, &error))?;
        let [mark, seed] = [0, 1].map(|index| word(&bytes, index));
        if mark != MARK {
            return Err(unusable(
                &head,
                &"this is no ledger of this kind of machine",
            ));
        }
        let folder = Self {
            path: path.to_owned(),
            _lock: file,
        };
        Ok((folder, Seed(seed)))
    }

    pub(crate) fn head_path(&self) -> PathBuf {
        self.path.join(HEAD)
    }

    /// The files of all chunks.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn chunk_files(&self) -> Result<Vec<PathBuf>, EngineError> {
        let entries = fs::read_dir(&self.path).map_err(|error| unusable(&self.path, &error))?;
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unusable(&self.path, &error))?;
            if entry
                .file_name()
                .as_bytes()
                .starts_with(CHUNK_PREFIX.as_bytes())
            {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    /// A chunk of which nothing is known, the `number`th of the ledger. Its space is
    /// reserved, as a store to a page without any would end the process.
    ///
    /// # Errors
    /// When there is no space or memory.
    pub(crate) fn new_chunk(&self, place: &Place, number: usize) -> Result<Chunk, EngineError> {
        let path = self.path.join(format!("{CHUNK_PREFIX}{number:08}"));
        let failed = |error: std::io::Error| unusable(&path, &error);
        // Readable too, as a shared mapping must be.
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        let mut file = file.map_err(failed)?;
        let length = (HEADER_BYTES + ENTRIES_BYTES) as u64;
        match fallocate(&file, FallocateFlags::empty(), 0, length) {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP) => file.set_len(length).map_err(failed)?,
            Err(errno) => return Err(failed(errno.into())),
        }
        file.write_all(&header(place)).map_err(failed)?;
        Chunk::in_file(&file)
    }
}

/// The chunk in the file at `path`, and whose it is.
///
/// # Errors
/// When it is not one.
pub(crate) fn read_chunk(path: &Path) -> Result<(Place, Chunk), EngineError> {
    let failed = |error: std::io::Error| unusable(path, &error);
    let file = File::options().read(true).write(true).open(path);
    let mut file = file.map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if length != (HEADER_BYTES + ENTRIES_BYTES) as u64 {
        return Err(unusable(
            path,
            &"it is not as long as a part of a ledger is",
        ));
    }
    let mut bytes = vec![0; HEADER_BYTES];
    file.read_exact(&mut bytes).map_err(failed)?;
    let place = place(&bytes).ok_or_else(|| unusable(path, &"its header is damaged"))?;
    Ok((place, Chunk::in_file(&file)?))
}

/// Six words (mark, check, chunk, block size, phase, length of the path), then the path.
fn header(place: &Place) -> Vec<u8> {
    let Grid {
        path,
        block_bytes,
        phase_bytes,
    } = &place.grid;
    let path = path.as_os_str().as_bytes();
    let words = [
        place.chunk,
        (*block_bytes).into(),
        (*phase_bytes).into(),
        path.len() as u64,
    ];
    let rest = [words.map(u64::to_ne_bytes).as_flattened(), path].concat();
    let front = [MARK, check(&rest)].map(u64::to_ne_bytes);
    [front.as_flattened(), &rest].concat()
}

fn place(bytes: &[u8]) -> Option<Place> {
    let words: [u64; WORDS] = std::array::from_fn(|index| word(bytes, index));
    let [mark, sum, chunk, block_bytes, phase_bytes, path_bytes] = words;
    let end = (WORDS * 8).checked_add(usize::try_from(path_bytes).ok()?)?;
    let rest = bytes.get(2 * 8..end)?;
    if mark != MARK || sum != check(rest) {
        return None;
    }
    Some(Place {
        grid: Grid {
            path: std::ffi::OsString::from_vec(bytes[WORDS * 8..end].to_vec()).into(),
            block_bytes: u32::try_from(block_bytes).ok()?,
            phase_bytes: u32::try_from(phase_bytes).ok()?,
        },
        chunk,
    })
}

fn word(bytes: &[u8], index: usize) -> u64 {
    let words = bytes.as_chunks::<8>().0;
    words.get(index).map_or(0, |word| u64::from_ne_bytes(*word))
}

fn check(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(Seed(0), |sum, &byte| {
            Seed(sum.0 ^ u64::from(byte)).stream(0)
        })
        .0
}

fn lock(file: &File, path: &Path) -> Result<(), EngineError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(unusable(path, &"it is in use by another process or run")),
        Err(errno) => Err(unusable(path, &errno)),
    }
}

fn unusable(path: &Path, cause: &impl ToString) -> EngineError {
    EngineError::Ledger {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}
