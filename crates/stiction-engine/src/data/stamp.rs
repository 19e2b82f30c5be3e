//! What a stamped block holds: a header that says which block it is of which
//! write, and random bytes that follow from the header.
//!
//! The header is five little-endian 64-bit words: a mark, the block's offset in its
//! target, the number of the write and the block's length, the seed of the writes, and a
//! check over the four. The check is also the key of the random bytes, so a block checks
//! itself from its first byte to its last. Which worker wrote it is left out: whoever
//! reads must be able to say what any write of the block looked like.

use stiction_core::Seed;

use super::random;

/// Smallest block that has room for a stamp and some data.
pub(crate) const STAMPED_BYTES_MIN: u64 = 64;
const HEADER_WORDS: usize = 5;
const HEADER_BYTES: usize = HEADER_WORDS * 8;
const MARK: u64 = u64::from_le_bytes(*b"stiction");

/// Which block of which write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Offset of the block in its target, bytes.
    pub(crate) offset_bytes: u64,
    /// How many times the block was written, this write included.
    pub(crate) generation: u32,
    pub(crate) block_bytes: u32,
    pub(crate) seed: Seed,
}

impl Stamp {
    fn words(&self) -> [u64; HEADER_WORDS] {
        let words = [
            MARK,
            self.offset_bytes,
            u64::from(self.generation) << 32 | u64::from(self.block_bytes),
            self.seed.0,
        ];
        let check = words
            .iter()
            .fold(Seed(0), |check, &word| Seed(check.stream(0).0 ^ word));
        let [mark, offset, generation, seed] = words;
        [mark, offset, generation, seed, check.stream(0).0]
    }

    /// Makes `block` the block of this stamp.
    pub(crate) fn write(&self, block: &mut [u8]) {
        let words = self.words();
        let (header, payload) = block.split_at_mut(HEADER_BYTES);
        header.copy_from_slice(words.map(u64::to_le_bytes).as_flattened());
        random::fill(words[HEADER_WORDS - 1], payload);
    }

    /// The stamp at the beginning of `block`, if there is a whole one.
    pub(crate) fn read(block: &[u8]) -> Option<Self> {
        let (header, _) = block.split_first_chunk::<HEADER_BYTES>()?;
        let (words, _) = header.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let stamp = Self {
            offset_bytes: word(1),
            generation: (word(2) >> 32) as u32,
            block_bytes: word(2) as u32,
            seed: Seed(word(3)),
        };
        let whole = stamp
            .words()
            .iter()
            .enumerate()
            .all(|(index, &wanted)| word(index) == wanted);
        whole.then_some(stamp)
    }

    /// Whether the bytes after the header are the ones that belong to it.
    pub(crate) fn fits(&self, block: &[u8]) -> bool {
        let key = self.words()[HEADER_WORDS - 1];
        random::is_filled(key, &block[HEADER_BYTES..])
    }

    /// The stamp of another write of the same block.
    pub(crate) fn numbered(&self, generation: u32) -> Self {
        Self {
            generation,
            ..*self
        }
    }

    /// The whole block of this stamp.
    pub(crate) fn block(&self) -> Vec<u8> {
        let mut block = vec![0; self.block_bytes as usize];
        self.write(&mut block);
        block
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamp() -> impl Strategy<Value = Stamp> {
        let numbers = (any::<u64>(), any::<u32>(), any::<u64>());
        (numbers, 64u32..1000).prop_map(|((offset_bytes, generation, seed), block_bytes)| Stamp {
            offset_bytes,
            generation,
            block_bytes,
            seed: Seed(seed),
        })
    }

    proptest! {
        #[test]
        fn a_stamp_comes_back(stamp in stamp()) {
            let block = stamp.block();
            prop_assert_eq!(Stamp::read(&block), Some(stamp));
            prop_assert!(stamp.fits(&block));
        }

        #[test]
        fn any_flipped_bit_is_seen(stamp in stamp(), at: prop::sample::Index, bit in 0u32..8) {
            let mut block = stamp.block();
            let length = block.len();
            block[at.index(length)] ^= 1 << bit;
            prop_assert!(!Stamp::read(&block).is_some_and(|read| read.fits(&block)));
        }

        #[test]
        fn another_write_has_other_bytes_throughout(stamp in stamp()) {
            let next = Stamp { generation: stamp.generation.wrapping_add(1), ..stamp };
            let same = stamp.block()[HEADER_BYTES..]
                .as_chunks::<8>().0.iter()
                .zip(next.block()[HEADER_BYTES..].as_chunks::<8>().0)
                .filter(|(one, other)| one == other)
                .count();
            prop_assert_eq!(same, 0);
        }
    }

    #[test]
    fn zeros_have_no_stamp() {
        assert_eq!(Stamp::read(&[0; 4096]), None);
        assert_eq!(Stamp::read(&[0; 10]), None);
    }
}
