//! A file that is written, or read, from start to end again and again.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use stiction_core::Seed;
use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::options::LoadData;
use crate::contest::part::{PartResult, failed};

/// Bytes of a write.
const WRITE_BYTES: usize = 1 << 20;
/// Bytes of a read.
const READ_BYTES: usize = 128 << 10;

/// The file that is written.
fn written(directory: &Path) -> PathBuf {
    directory.join("io_load")
}

/// The file that is read.
pub(in crate::contest) fn to_read(directory: &Path) -> PathBuf {
    directory.join("read_load")
}

/// Writes one file again and again: each pass cuts it to nothing first, so that
/// blocks are freed and found again. No sync. It is steady after a pass, or when so much
/// is unwritten that the kernel holds writers up.
pub(super) fn write_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let path = written(&setting.directory);
    let mut content = Content::new(setting.data, setting.seed);
    let mut all = 0;
    while !stop.is_raised() {
        let mut file = File::create(&path).map_err(|error| failed("make", &path, &error))?;
        let mut left = setting.bytes;
        while left > 0 && !stop.is_raised() {
            let now = left.min(WRITE_BYTES as u64);
            file.write_all(&content.next()[..now as usize])
                .map_err(|error| failed("write", &path, &error))?;
            gauge.step(now);
            left -= now;
            all += now;
            if all >= setting.dirty_limit_bytes {
                gauge.settle();
            }
        }
        if left == 0 {
            gauge.pass(setting.bytes);
        }
    }
    Ok(())
}

/// Reads a file that is there already again and again. It may stop in the middle of it:
/// no other trial finds the rest in memory, since each has a file of its own.
pub(super) fn read_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let path = to_read(&setting.directory);
    let mut buffer = vec![0; READ_BYTES];
    while !stop.is_raised() {
        let mut file = File::open(&path).map_err(|error| failed("open", &path, &error))?;
        let mut all = 0;
        while !stop.is_raised() {
            let read = file
                .read(&mut buffer)
                .map_err(|error| failed("read", &path, &error))?;
            if read == 0 {
                break;
            }
            gauge.step(read as u64);
            all += read as u64;
        }
        if all >= setting.bytes {
            gauge.pass(all);
        } else if !stop.is_raised() {
            return Err(format!("{} is shorter than it was made", path.display()));
        }
    }
    Ok(())
}

/// What is written, a piece at a time.
struct Content {
    piece: Vec<u8>,
    /// Blocks that were written; `None` where all are the same.
    blocks: Option<u64>,
}

/// Each block of this size is compressible by itself, and differs from all others.
const BLOCK_BYTES: usize = 4096;

impl Content {
    fn new(data: LoadData, seed: Seed) -> Self {
        let mut piece = vec![0; WRITE_BYTES];
        let percent = match data {
            LoadData::Zeros => 100,
            LoadData::Random => 0,
            LoadData::Compressible { percent } => usize::from(percent.min(100)),
        };
        let zeros = BLOCK_BYTES * percent / 100;
        let mut words = (0..).map(|word| seed.stream(word).0.to_le_bytes());
        for block in piece.chunks_mut(BLOCK_BYTES) {
            for bytes in block[zeros..].chunks_mut(8) {
                let word = words.next().unwrap_or_default();
                bytes.copy_from_slice(&word[..bytes.len()]);
            }
        }
        Self {
            piece,
            blocks: (percent < 100).then_some(0),
        }
    }

    /// The next piece. The last bytes of each block say its number, so that no two are
    /// alike.
    fn next(&mut self) -> &[u8] {
        if let Some(blocks) = &mut self.blocks {
            for block in self.piece.chunks_mut(BLOCK_BYTES) {
                block[BLOCK_BYTES - 8..].copy_from_slice(&blocks.to_le_bytes());
                *blocks += 1;
            }
        }
        &self.piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros(bytes: &[u8]) -> usize {
        bytes.iter().filter(|&&byte| byte == 0).count()
    }

    #[test]
    fn blocks_have_the_share_of_zeros_that_was_asked_and_differ() {
        let first = |data| Content::new(data, Seed(1)).next()[..BLOCK_BYTES].to_vec();
        assert_eq!(zeros(&first(LoadData::Zeros)), BLOCK_BYTES);
        // One byte of 256 is 0 by chance, and the number of the first block is 0.
        assert!(zeros(&first(LoadData::Random)) < BLOCK_BYTES / 50);
        let half = first(LoadData::Compressible { percent: 50 });
        assert_eq!(zeros(&half[..BLOCK_BYTES / 2]), BLOCK_BYTES / 2);
        assert!(zeros(&half[BLOCK_BYTES / 2..]) < BLOCK_BYTES / 50);
        let mut content = Content::new(LoadData::Random, Seed(1));
        let blocks = [content.next().to_vec(), content.next().to_vec()].concat();
        let mut blocks: Vec<&[u8]> = blocks.chunks(BLOCK_BYTES).collect();
        let all = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), all);
    }
}
