//! Data that layers which compress or deduplicate make less of, by as much as asked.

use stiction_core::{DataShape, Seed};

use super::random;

/// The unit of both shares: the page, and the smallest block of most filesystems.
const PIECE_BYTES: usize = 4096;

/// Makes the pieces of one worker's writes.
///
/// The pieces that repeat an earlier one are spread evenly: of the first `n`, the
/// share is met to less than one piece. Which one is repeated is drawn from all that
/// were unique, which takes no memory, as a piece follows from its number.
#[derive(Debug)]
pub(crate) struct Shaper {
    seed: Seed,
    compress_percent: usize,
    dedupe_percent: u64,
    /// Pieces made, and those of them that were new.
    pieces: u64,
    new: u64,
}

impl Shaper {
    pub(crate) fn new(seed: Seed, shape: DataShape) -> Self {
        Self {
            seed,
            compress_percent: shape.compress_percent.min(100).into(),
            dedupe_percent: shape.dedupe_percent.min(100).into(),
            pieces: 0,
            new: 0,
        }
    }

    /// Fills `block` with the next pieces.
    pub(crate) fn fill(&mut self, block: &mut [u8]) {
        for piece in block.chunks_mut(PIECE_BYTES) {
            let key = self.next_key();
            let zeros = piece.len() * self.compress_percent / 100;
            let (random, rest) = piece.split_at_mut(piece.len() - zeros);
            random::fill(key, random);
            rest.fill(0);
        }
    }

    fn next_key(&mut self) -> u64 {
        let repeats = |pieces: u64| u128::from(pieces) * u128::from(self.dedupe_percent) / 100;
        let repeat = repeats(self.pieces + 1) > repeats(self.pieces) && self.new > 0;
        self.pieces += 1;
        let number = if repeat {
            // Streams from the other end of the numbers choose what is repeated.
            let chance = self.seed.stream(u64::MAX - self.pieces).0;
            ((u128::from(chance) * u128::from(self.new)) >> 64) as u64
        } else {
            self.new += 1;
            self.new - 1
        };
        self.seed.stream(number).0
    }
}

/// Fills `block` with `pattern`, again and again.
pub(crate) fn repeat(pattern: &[u8], block: &mut [u8]) {
    for part in block.chunks_mut(pattern.len().max(1)) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    const BLOCK: usize = 16 * 4096;
    const BLOCKS: usize = 64;

    fn shaped(compress_percent: u8, dedupe_percent: u8) -> Vec<u8> {
        let shape = DataShape {
            compress_percent,
            dedupe_percent,
            refill: true,
        };
        let mut shaper = Shaper::new(Seed(3), shape);
        let mut data = vec![0x55; BLOCK * BLOCKS];
        data.chunks_mut(BLOCK).for_each(|block| shaper.fill(block));
        data
    }

    fn zlib_bytes(data: &[u8]) -> usize {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap().len()
    }

    /// zlib, page by page and over everything, is the judge. Its tables of codes take
    /// up to 100 bytes a page.
    #[test]
    fn a_compressor_leaves_as_much_as_was_asked() {
        for percent in [0, 1, 25, 50, 90, 100] {
            let data = shaped(percent, 0);
            let left = 1.0 - f64::from(percent) / 100.0;
            let pages: usize = data.chunks(4096).map(zlib_bytes).sum();
            for compressed in [pages, zlib_bytes(&data)] {
                let found = compressed as f64 / data.len() as f64;
                let more = found - left;
                assert!(
                    (-0.005..0.025).contains(&more),
                    "{percent} %: {found} is left"
                );
            }
        }
    }

    #[test]
    fn as_many_pages_are_repeated_as_was_asked() {
        for percent in [0, 1, 33, 50, 99] {
            let data = shaped(0, percent);
            let pages = data.len() / 4096;
            let distinct: HashSet<&[u8]> = data.chunks(4096).collect();
            let repeated = pages * usize::from(percent) / 100;
            // A repeat that was due before there was anything to repeat falls out.
            assert!(
                distinct.len().abs_diff(pages - repeated) <= 1,
                "{percent} %: {} of {pages} are distinct",
                distinct.len()
            );
        }
    }

    /// Compressed and repeated at once, neither takes from the other.
    #[test]
    fn both_shares_hold_together() {
        let data = shaped(50, 50);
        let distinct: HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!(distinct.len(), BLOCKS * BLOCK / 4096 / 2);
        let pages: usize = data.chunks(4096).map(zlib_bytes).sum();
        assert!((pages as f64 / data.len() as f64 - 0.5).abs() < 0.02);
    }

    #[test]
    fn everything_repeated_is_one_page() {
        let data = shaped(0, 100);
        assert!(data.chunks(4096).all(|page| page == &data[..4096]));
        assert!(zlib_bytes(&data[..4096]) > 4096);
    }

    #[test]
    fn a_pattern_begins_with_each_block() {
        let mut block = [0; 8];
        repeat(b"abc", &mut block);
        assert_eq!(&block, b"abcabcab");
        repeat(b"a pattern longer than the block", &mut block);
        assert_eq!(&block, b"a patter");
    }
}
