//! Finds out whether a block is what had been written, and if not, what it is.

use super::mismatch::MismatchKind;
use super::stamp::Stamp;

/// What devices and filesystems write at once, at least.
const SECTOR_BYTES: usize = 512;
/// Fewer differing bits than this are flipped bits; random data of another write
/// differs in half of all bits, 2048 in a sector.
const FLIPPED_BITS_MAX: u64 = 64;
/// How many earlier writes of a block are tried when a part of it is of another.
const EARLIER_WRITES_TRIED: u32 = 8;

/// Checks a block against the stamp that it must have; a generation of 0 in
/// `wanted` means that the number of the last write is not known, and then its
/// worker and seed are not either.
pub(crate) fn check(block: &[u8], wanted: &Stamp) -> Result<(), MismatchKind> {
    match Stamp::read(block) {
        Some(found) if found.block_bytes != wanted.block_bytes => Err(MismatchKind::Foreign),
        Some(found) if found.fits(block) => place(&found, wanted),
        Some(found) => Err(damage(block, &found)),
        None => Err(unreadable(block, wanted)),
    }
}

/// A whole block: is it the right one?
fn place(found: &Stamp, wanted: &Stamp) -> Result<(), MismatchKind> {
    let known = wanted.generation > 0;
    if known && found.seed != wanted.seed {
        return Err(MismatchKind::Foreign);
    }
    if found.offset_bytes != wanted.offset_bytes {
        return Err(MismatchKind::Misplaced {
            belongs_at_bytes: found.offset_bytes,
        });
    }
    // A write that failed or was not waited for may have come through all the same.
    let came_through = wanted.generation.saturating_add(1);
    if known && ![wanted.generation, came_through].contains(&found.generation) {
        return Err(MismatchKind::Stale {
            found_generation: found.generation,
            expected_generation: wanted.generation,
        });
    }
    Ok(())
}

/// A block with a good stamp and other bytes after it than belong to the stamp.
fn damage(block: &[u8], found: &Stamp) -> MismatchKind {
    let differences = Differences::between(block, &found.block());
    differences.describe(block, found)
}

/// A block without a good stamp.
fn unreadable(block: &[u8], wanted: &Stamp) -> MismatchKind {
    if block.iter().all(|&byte| byte == 0) {
        return MismatchKind::Unstamped { zeros: true };
    }
    // Only the stamp may be damaged, which shows when it is known what it was.
    let differences = Differences::between(block, &wanted.block());
    if wanted.generation > 0 && differences.bytes < block.len() as u64 / 2 {
        return differences.describe(block, wanted);
    }
    MismatchKind::Unstamped { zeros: false }
}

/// Where and how much two blocks differ.
struct Differences {
    first_byte: u64,
    bytes: u64,
    bits: u64,
    /// For each sector, whether it differs; the last one may be short.
    sectors: Vec<bool>,
}

impl Differences {
    fn between(block: &[u8], wanted: &[u8]) -> Self {
        let pairs = || block.iter().zip(wanted);
        Self {
            first_byte: pairs().take_while(|(is, was)| is == was).count() as u64,
            bytes: pairs().filter(|(is, was)| is != was).count() as u64,
            bits: pairs()
                .map(|(is, was)| u64::from((is ^ was).count_ones()))
                .sum(),
            sectors: block
                .chunks(SECTOR_BYTES)
                .zip(wanted.chunks(SECTOR_BYTES))
                .map(|(is, was)| is != was)
                .collect(),
        }
    }

    fn describe(&self, block: &[u8], stamp: &Stamp) -> MismatchKind {
        let Self {
            first_byte,
            bytes,
            bits,
            ..
        } = *self;
        if bits <= FLIPPED_BITS_MAX {
            return MismatchKind::Flipped { first_byte, bits };
        }
        match self.torn_at(block, stamp) {
            Some(from_byte) => MismatchKind::Torn { from_byte },
            None => MismatchKind::Garbled { first_byte, bytes },
        }
    }

    /// Where the block changes from one write to another, if its sectors are all
    /// of `stamp`'s write, of one other write of the same block, or zeros.
    fn torn_at(&self, block: &[u8], stamp: &Stamp) -> Option<u64> {
        let is_of = |other: &dyn Fn(usize, &[u8]) -> bool| {
            let sectors = self.sectors.iter().zip(block.chunks(SECTOR_BYTES));
            sectors
                .enumerate()
                .all(|(index, (&differs, sector))| !differs || other(index, sector))
        };
        let zeros = is_of(&|_, sector| sector.iter().all(|&byte| byte == 0));
        let earliest = stamp.generation.saturating_sub(EARLIER_WRITES_TRIED);
        let latest = stamp.generation.saturating_add(1);
        let other_write = || {
            (earliest..=latest).any(|generation| {
                let other = Stamp {
                    generation,
                    ..*stamp
                }
                .block();
                let sectors: Vec<&[u8]> = other.chunks(SECTOR_BYTES).collect();
                is_of(&|index, sector| sectors[index] == sector)
            })
        };
        if !zeros && !other_write() {
            return None;
        }
        let first = self.sectors[0];
        let change = self.sectors.iter().position(|&differs| differs != first)?;
        Some((change * SECTOR_BYTES) as u64)
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::Seed;

    use super::*;

    const STAMP: Stamp = Stamp {
        worker: 2,
        offset_bytes: 40_960,
        generation: 5,
        block_bytes: 4096,
        seed: Seed(11),
    };

    fn kind(block: &[u8]) -> MismatchKind {
        check(block, &STAMP).unwrap_err()
    }

    #[test]
    fn the_block_that_was_written_is_right() {
        assert_eq!(check(&STAMP.block(), &STAMP), Ok(()));
        let unknown = Stamp {
            generation: 0,
            seed: Seed(0),
            worker: 0,
            ..STAMP
        };
        assert_eq!(check(&STAMP.block(), &unknown), Ok(()));
    }

    #[test]
    fn holes_and_strange_data_are_told_apart() {
        let zeros = MismatchKind::Unstamped { zeros: true };
        assert_eq!(kind(&[0; 4096]), zeros);
        assert_eq!(kind(&[7; 4096]), MismatchKind::Unstamped { zeros: false });
    }

    #[test]
    fn a_block_from_elsewhere_says_where_it_belongs() {
        let elsewhere = Stamp {
            offset_bytes: 8192,
            ..STAMP
        };
        let belongs_at_bytes = 8192;
        assert_eq!(
            kind(&elsewhere.block()),
            MismatchKind::Misplaced { belongs_at_bytes }
        );
    }

    #[test]
    fn an_overwritten_block_is_stale() {
        let before = Stamp {
            generation: 4,
            ..STAMP
        };
        assert_eq!(
            kind(&before.block()),
            MismatchKind::Stale {
                found_generation: 4,
                expected_generation: 5
            }
        );
    }

    #[test]
    fn another_seed_or_block_size_is_foreign() {
        let seed = Stamp {
            seed: Seed(12),
            ..STAMP
        };
        assert_eq!(kind(&seed.block()), MismatchKind::Foreign);
        for block_bytes in [2048, 8192] {
            let size = Stamp {
                block_bytes,
                ..STAMP
            };
            let mut found = size.block();
            found.resize(4096, 0);
            assert_eq!(kind(&found), MismatchKind::Foreign);
        }
    }

    #[test]
    fn flipped_bits_are_counted_in_data_and_in_the_stamp() {
        let mut block = STAMP.block();
        block[1000] ^= 0b101;
        block[3000] ^= 0b1;
        let first_byte = 1000;
        assert_eq!(
            kind(&block),
            MismatchKind::Flipped {
                first_byte,
                bits: 3
            }
        );

        let mut block = STAMP.block();
        block[9] ^= 1;
        let first_byte = 9;
        assert_eq!(
            kind(&block),
            MismatchKind::Flipped {
                first_byte,
                bits: 1
            }
        );
    }

    #[test]
    fn parts_of_two_writes_are_torn() {
        let before = Stamp {
            generation: 4,
            ..STAMP
        }
        .block();
        let new_then_old = [&STAMP.block()[..1536], &before[1536..]].concat();
        assert_eq!(kind(&new_then_old), MismatchKind::Torn { from_byte: 1536 });
        let old_then_new = [&before[..512], &STAMP.block()[512..]].concat();
        assert_eq!(kind(&old_then_new), MismatchKind::Torn { from_byte: 512 });
        let then_zeros = [&STAMP.block()[..2048], &[0; 2048]].concat();
        assert_eq!(kind(&then_zeros), MismatchKind::Torn { from_byte: 2048 });
        let zeros_then = [&[0; 512], &STAMP.block()[512..]].concat();
        assert_eq!(kind(&zeros_then), MismatchKind::Torn { from_byte: 512 });
    }

    #[test]
    fn other_damage_is_garbled() {
        let mut block = STAMP.block();
        block[700..800].fill(0x55);
        let MismatchKind::Garbled { first_byte, bytes } = kind(&block) else {
            panic!("{:?}", kind(&block));
        };
        // One byte in 256 happens to be 0x55 already.
        assert!((700..703).contains(&first_byte));
        assert!((90..=100).contains(&bytes));
    }
}
