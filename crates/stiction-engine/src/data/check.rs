//! Finds out whether a block is what had been written, and if not, what it is.

use super::mismatch::MismatchKind;
use super::stamp::Stamp;

/// What devices and filesystems write at once, at least.
const SECTOR_BYTES: usize = 512;
/// Fewer differing bits than this are flipped bits; random data of another write
/// differs in half of all bits, 2048 in a sector.
const FLIPPED_BITS_MAX: u64 = 64;
/// How many writes of a block before the first that may be there, and how many of
/// those that may be there, are tried when a part of it is of another.
const EARLIER_WRITES_TRIED: u32 = 8;
/// While one read is under way, the kernel may run many writes of its block before it
/// gets back to that read; and without syncs, no write of a job is promised.
const WRITES_TRIED_MAX: u32 = 4096;

/// What must be in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The stamp of the last write that was begun.
    pub(crate) stamp: Stamp,
    /// The first and the last number that the write found there may have; `None`
    /// when nobody counted, and then the stamp's seed and number are of no account.
    pub(crate) known: Option<Bounds>,
}

/// Between which writes a block may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The write that must be there, or a later one; 0 for none.
    pub(crate) held: u32,
    /// The last write that was begun; 0 for none.
    pub(crate) begun: u32,
}

/// What a block is that may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The last write, or any where nobody counted.
    Last,
    /// Of an earlier write or of none; the later ones were begun, and nobody promised
    /// that they are there.
    Earlier,
    /// Parts of several writes of which the later ones were not promised.
    Partial,
    /// Never written by us.
    Unwritten,
}

/// Checks a block against what must be in it.
pub(crate) fn check(block: &[u8], wanted: &Wanted) -> Result<Found, MismatchKind> {
    let stamp = Stamp::read(block);
    if let Some(Bounds { begun: 0, .. }) = wanted.known
        && stamp.is_none_or(|found| found.seed != wanted.stamp.seed)
    {
        return Ok(Found::Unwritten);
    }
    match stamp {
        Some(found) if is_foreign(&found, wanted) => match wanted.known {
            // What was there before the first write was not ours.
            Some(Bounds { held: 0, .. }) => Ok(Found::Earlier),
            _ => Err(MismatchKind::Foreign),
        },
        Some(found) if found.fits(block) => place(&found, wanted),
        Some(found) => damage(block, &found, wanted.known),
        None => unreadable(block, wanted),
    }
}

/// Whether each byte of `block` is of one of the writes of `stamp`'s block that were in
/// flight while it was read: buffered reads and writes mix at any byte. Before the first
/// write, anything may have been there; and of more writes than are tried, nobody can tell.
pub(crate) fn is_mixture(block: &[u8], stamp: &Stamp, Bounds { held, begun }: Bounds) -> bool {
    if begun <= held {
        return false;
    }
    if held == 0 || begun - held >= WRITES_TRIED_MAX {
        return true;
    }
    let mut unknown: Vec<usize> = (0..block.len()).collect();
    (held..=begun).rev().any(|generation| {
        let write = stamp.numbered(generation).block();
        unknown.retain(|&at| block[at] != write[at]);
        unknown.is_empty()
    })
}

/// Checks a block that has no stamp against the bytes that must be in it.
pub(crate) fn check_bytes(block: &[u8], wanted: &[u8]) -> Result<(), MismatchKind> {
    if block == wanted {
        return Ok(());
    }
    if block.iter().all(|&byte| byte == 0) {
        return Err(MismatchKind::Unstamped { zeros: true });
    }
    let differences = Differences::between(block, wanted);
    let flipped = differences.flipped();
    Err(flipped.unwrap_or_else(|| differences.garbled()))
}

fn is_foreign(found: &Stamp, wanted: &Wanted) -> bool {
    found.block_bytes != wanted.stamp.block_bytes
        || wanted.known.is_some() && found.seed != wanted.stamp.seed
}

/// A whole block: is it the right one?
fn place(found: &Stamp, wanted: &Wanted) -> Result<Found, MismatchKind> {
    if found.offset_bytes != wanted.stamp.offset_bytes {
        return Err(MismatchKind::Misplaced {
            belongs_at_bytes: found.offset_bytes,
        });
    }
    let found_generation = found.generation;
    match wanted.known {
        Some(Bounds { held, .. }) if found_generation < held => Err(MismatchKind::Stale {
            found_generation,
            expected_generation: held,
        }),
        Some(Bounds { begun, .. }) if found_generation > begun => Err(MismatchKind::Ahead {
            found_generation,
            begun_generation: begun,
        }),
        Some(Bounds { begun, .. }) if found_generation < begun => Ok(Found::Earlier),
        _ => Ok(Found::Last),
    }
}

/// A block with a good stamp and other bytes after it than belong to the stamp.
fn damage(block: &[u8], found: &Stamp, known: Option<Bounds>) -> Result<Found, MismatchKind> {
    let differences = Differences::between(block, &found.block());
    if let Some(flipped) = differences.flipped() {
        return Err(flipped);
    }
    // Without numbers the block itself says around which write it is.
    let around = known.unwrap_or(Bounds {
        held: found.generation,
        begun: found.generation.saturating_add(1),
    });
    match Parts::of(block, found, around) {
        Some(parts) => parts.judge(known),
        // The rest may be what was there before the first write.
        None if around.held == 0 => Ok(Found::Partial),
        None => Err(differences.garbled()),
    }
}

/// A block without a good stamp.
fn unreadable(block: &[u8], wanted: &Wanted) -> Result<Found, MismatchKind> {
    let zeros = block.iter().all(|&byte| byte == 0);
    let Some(known) = wanted.known else {
        return Err(MismatchKind::Unstamped { zeros });
    };
    if zeros && known.held > 0 {
        return Err(MismatchKind::Lost {
            expected_generation: known.held,
        });
    }
    if zeros {
        return Ok(Found::Earlier);
    }
    if let Some(parts) = Parts::of(block, &wanted.stamp, known) {
        return parts.judge(Some(known));
    }
    // Only the stamp may be damaged, which shows when it is known what it was.
    let differences = (known.held..=known.begun)
        .rev()
        .take(WRITES_TRIED_MAX as usize)
        .map(|generation| Differences::between(block, &wanted.stamp.numbered(generation).block()))
        .find(|differences| differences.bytes < block.len() as u64 / 2);
    Err(match differences {
        Some(differences) => differences
            .flipped()
            .unwrap_or_else(|| differences.garbled()),
        None if known.held == 0 => return Ok(Found::Earlier),
        None => MismatchKind::Unstamped { zeros: false },
    })
}

/// Where and how much two blocks differ.
struct Differences {
    first_byte: u64,
    bytes: u64,
    bits: u64,
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
        }
    }

    fn flipped(&self) -> Option<MismatchKind> {
        (self.bits <= FLIPPED_BITS_MAX).then_some(MismatchKind::Flipped {
            first_byte: self.first_byte,
            bits: self.bits,
        })
    }

    fn garbled(&self) -> MismatchKind {
        MismatchKind::Garbled {
            first_byte: self.first_byte,
            bytes: self.bytes,
        }
    }
}

/// A block of whole sectors, each of some write of it; more than one is torn.
struct Parts {
    /// First byte that is not of the write that the block's first bytes are of.
    from_byte: u64,
    /// Number of the earliest write that a sector is of; 0 where one is of none.
    earliest: u32,
    torn: bool,
}

impl Parts {
    /// The parts of `block`, if each of its sectors is zeros or of a write of `stamp`'s
    /// block with a number around those of `around`.
    fn of(block: &[u8], stamp: &Stamp, around: Bounds) -> Option<Self> {
        let first = around.held.saturating_sub(EARLIER_WRITES_TRIED).max(1);
        let last = around.begun.max(around.held);
        let first = first.max(last.saturating_sub(WRITES_TRIED_MAX));
        let mut numbers: Vec<Option<u32>> = block
            .chunks(SECTOR_BYTES)
            .map(|sector| sector.iter().all(|&byte| byte == 0).then_some(0))
            .collect();
        for generation in (first..=last).rev() {
            if numbers.iter().all(Option::is_some) {
                break;
            }
            let write = stamp.numbered(generation).block();
            let sectors = block
                .chunks(SECTOR_BYTES)
                .zip(write.chunks(SECTOR_BYTES))
                .zip(&mut numbers);
            for ((is, was), number) in sectors {
                if number.is_none() && is == was {
                    *number = Some(generation);
                }
            }
        }
        let numbers: Vec<u32> = numbers.into_iter().collect::<Option<_>>()?;
        let change = numbers.iter().position(|&number| number != numbers[0]);
        Some(Self {
            from_byte: (change.unwrap_or(0) * SECTOR_BYTES) as u64,
            earliest: numbers.iter().copied().min().unwrap_or(0),
            torn: change.is_some(),
        })
    }

    fn judge(&self, known: Option<Bounds>) -> Result<Found, MismatchKind> {
        let from_byte = self.from_byte;
        match known {
            Some(known) if self.earliest >= known.held && self.torn => Ok(Found::Partial),
            _ => Err(MismatchKind::Torn { from_byte }),
        }
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::Seed;

    use super::*;

    const STAMP: Stamp = Stamp {
        offset_bytes: 40_960,
        generation: 5,
        block_bytes: 4096,
        seed: Seed(11),
    };

    /// Write `held` is promised, and write `begun` was begun.
    fn between(held: u32, begun: u32) -> Wanted {
        Wanted {
            stamp: STAMP.numbered(begun),
            known: Some(Bounds { held, begun }),
        }
    }

    /// Nobody counted.
    fn unknown() -> Wanted {
        let stamp = Stamp {
            generation: 0,
            seed: Seed(0),
            ..STAMP
        };
        Wanted { stamp, known: None }
    }

    fn kind(block: &[u8]) -> MismatchKind {
        check(block, &between(5, 5)).unwrap_err()
    }

    fn write(generation: u32) -> Vec<u8> {
        STAMP.numbered(generation).block()
    }

    #[test]
    fn the_block_that_was_written_is_right() {
        assert_eq!(check(&write(5), &between(5, 5)), Ok(Found::Last));
        assert_eq!(check(&write(5), &unknown()), Ok(Found::Last));
    }

    #[test]
    fn holes_and_strange_data_are_told_apart() {
        let expected_generation = 5;
        assert_eq!(
            kind(&[0; 4096]),
            MismatchKind::Lost {
                expected_generation
            }
        );
        assert_eq!(kind(&[7; 4096]), MismatchKind::Unstamped { zeros: false });
        for (block, zeros) in [([0; 4096], true), ([7; 4096], false)] {
            let found = check(&block, &unknown());
            assert_eq!(found, Err(MismatchKind::Unstamped { zeros }));
        }
    }

    #[test]
    fn a_block_from_elsewhere_says_where_it_belongs() {
        let elsewhere = Stamp {
            offset_bytes: 8192,
            ..STAMP
        };
        let belongs_at_bytes = 8192;
        let misplaced = MismatchKind::Misplaced { belongs_at_bytes };
        for wanted in [between(5, 5), between(0, 0), between(0, 1), unknown()] {
            assert_eq!(check(&elsewhere.block(), &wanted), Err(misplaced));
        }
    }

    #[test]
    fn an_overwritten_block_is_stale() {
        assert_eq!(
            kind(&write(4)),
            MismatchKind::Stale {
                found_generation: 4,
                expected_generation: 5
            }
        );
    }

    #[test]
    fn a_write_that_was_never_begun_is_ahead() {
        assert_eq!(
            kind(&write(6)),
            MismatchKind::Ahead {
                found_generation: 6,
                begun_generation: 5
            }
        );
        let begun_generation = 0;
        assert_eq!(
            check(&write(6), &between(0, 0)),
            Err(MismatchKind::Ahead {
                found_generation: 6,
                begun_generation
            })
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
    fn what_we_never_wrote_is_left_alone() {
        let other = Stamp {
            seed: Seed(12),
            ..STAMP
        };
        for block in [&[0; 4096][..], &[7; 4096], &other.block()] {
            assert_eq!(check(block, &between(0, 0)), Ok(Found::Unwritten));
        }
    }

    /// From the promised write to the last one that was begun, every one will do.
    #[test]
    fn writes_that_nobody_promised_may_be_missing() {
        for generation in 3..=6 {
            let found = if generation == 6 {
                Found::Last
            } else {
                Found::Earlier
            };
            assert_eq!(check(&write(generation), &between(3, 6)), Ok(found));
        }
        assert!(check(&write(2), &between(3, 6)).is_err());
        assert_eq!(check(&[0; 4096], &between(0, 1)), Ok(Found::Earlier));
        assert_eq!(check(&[9; 4096], &between(0, 1)), Ok(Found::Earlier));
        let other = Stamp {
            seed: Seed(12),
            ..STAMP
        };
        let other = other.block();
        assert_eq!(check(&other, &between(0, 1)), Ok(Found::Earlier));
        let over_other = [&write(1)[..512], &other[512..]].concat();
        assert_eq!(check(&over_other, &between(0, 1)), Ok(Found::Partial));
        assert!(check(&[9; 4096], &between(1, 2)).is_err());
    }

    #[test]
    fn a_write_that_nobody_promised_may_have_come_in_part() {
        let parts = [&write(6)[..512], &write(5)[512..2048], &write(4)[2048..]].concat();
        assert_eq!(check(&parts, &between(4, 6)), Ok(Found::Partial));
        let from_byte = 512;
        let torn = MismatchKind::Torn { from_byte };
        assert_eq!(check(&parts, &between(5, 6)), Err(torn));
        let far_apart = [&write(200)[..512], &write(4)[512..]].concat();
        assert_eq!(check(&far_apart, &between(4, 200)), Ok(Found::Partial));
        let with_zeros = [&[0; 512], &write(1)[512..]].concat();
        assert_eq!(check(&with_zeros, &between(0, 1)), Ok(Found::Partial));
        assert_eq!(check(&with_zeros, &between(1, 1)), Err(torn));
    }

    #[test]
    fn a_read_beside_a_write_may_mix_the_two_at_any_byte() {
        let mut block = [&write(6)[..700], &write(5)[700..]].concat();
        let between = |held, begun| Bounds { held, begun };
        assert!(check(&block, &self::between(5, 6)).is_err());
        assert!(is_mixture(&block, &STAMP, between(5, 6)));
        assert!(is_mixture(&block, &STAMP, between(4, 6)));
        for settled in [between(6, 6), between(6, 7), between(4, 5)] {
            assert!(!is_mixture(&block, &STAMP, settled));
        }
        block[3000] ^= 1;
        assert!(!is_mixture(&block, &STAMP, between(5, 6)));
        // A read that was put off in its course, while others wrote a hundred times.
        let late = [&write(5)[..700], &write(60)[700..900], &write(105)[900..]].concat();
        assert!(is_mixture(&late, &STAMP, between(5, 105)));
        assert!(!is_mixture(&late, &STAMP, between(6, 105)));
        assert!(is_mixture(&block, &STAMP, between(0, 1)));
    }

    #[test]
    fn flipped_bits_are_counted_in_data_and_in_the_stamp() {
        let mut block = write(5);
        block[1000] ^= 0b101;
        block[3000] ^= 0b1;
        let first_byte = 1000;
        let bits = 3;
        let flipped = MismatchKind::Flipped { first_byte, bits };
        assert_eq!(kind(&block), flipped);
        assert_eq!(check(&block, &unknown()), Err(flipped));
        assert_eq!(check(&block, &between(0, 9)), Err(flipped));

        let mut block = write(5);
        block[9] ^= 1;
        let first_byte = 9;
        let bits = 1;
        let flipped = MismatchKind::Flipped { first_byte, bits };
        assert_eq!(kind(&block), flipped);
        assert_eq!(check(&block, &between(3, 7)), Err(flipped));
    }

    #[test]
    fn parts_of_two_writes_are_torn() {
        let torn = |from_byte| MismatchKind::Torn { from_byte };
        let new_then_old = [&write(5)[..1536], &write(4)[1536..]].concat();
        assert_eq!(kind(&new_then_old), torn(1536));
        assert_eq!(check(&new_then_old, &unknown()), Err(torn(1536)));
        let old_then_new = [&write(4)[..512], &write(5)[512..]].concat();
        assert_eq!(kind(&old_then_new), torn(512));
        assert_eq!(check(&old_then_new, &unknown()), Err(torn(512)));
        let then_zeros = [&write(5)[..2048], &[0; 2048]].concat();
        assert_eq!(kind(&then_zeros), torn(2048));
        let zeros_then = [&[0; 512], &write(5)[512..]].concat();
        assert_eq!(kind(&zeros_then), torn(512));
    }

    #[test]
    fn other_damage_is_garbled() {
        let mut block = write(5);
        block[700..800].fill(0x55);
        let MismatchKind::Garbled { first_byte, bytes } = kind(&block) else {
            panic!("{:?}", kind(&block));
        };
        // One byte in 256 happens to be 0x55 already.
        assert!((700..703).contains(&first_byte));
        assert!((90..=100).contains(&bytes));
    }
}
