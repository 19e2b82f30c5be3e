//! Which block comes next.

use stiction_core::Seed;

use crate::draw::Draw;

/// A source of block numbers below some `blocks`.
pub(crate) trait Offsets {
    /// The next block.
    fn next(&mut self) -> u64;
}

/// First block to last, again and again.
#[derive(Debug)]
pub(crate) struct Sequential {
    blocks: u64,
    next: u64,
}

impl Sequential {
    /// Over `blocks` blocks, 1 or more.
    pub(crate) fn new(blocks: u64) -> Self {
        Self { blocks, next: 0 }
    }
}

impl Offsets for Sequential {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let block = self.next;
        self.next = if block + 1 == self.blocks {
            0
        } else {
            block + 1
        };
        block
    }
}

/// Every block equally likely each time, the last one included.
#[derive(Debug)]
pub(crate) struct Independent {
    blocks: u64,
    draw: Draw,
}

impl Independent {
    /// Over `blocks` blocks, 1 or more.
    pub(crate) fn new(blocks: u64, seed: Seed) -> Self {
        Self {
            blocks,
            draw: Draw::new(seed),
        }
    }
}

impl Offsets for Independent {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.draw.below(self.blocks)
    }
}

/// A bijection of some `blocks` that leaves no order to be seen.
///
/// It is one of the smallest power of two that holds all blocks: steps that are
/// bijections of it (adding or xoring a key, multiplying by an odd number, xoring
/// the upper half of the bits onto the lower).
#[derive(Clone, Debug)]
pub(crate) struct Scramble {
    blocks: u64,
    mask: u64,
    /// Half of the bits of `mask`, rounded up, 1 at least.
    half: u32,
    keys: [u64; 4],
}

impl Scramble {
    /// Over `blocks` blocks, 1 or more.
    pub(crate) fn new(blocks: u64, seed: Seed) -> Self {
        let mask = blocks
            .checked_next_power_of_two()
            .map_or(u64::MAX, |power| power - 1);
        let mut keys = [0, 1, 2, 3].map(|key| seed.stream(key).0);
        keys[1] |= 1;
        keys[3] |= 1;
        Self {
            blocks,
            mask,
            half: mask.count_ones().div_ceil(2).max(1),
            keys,
        }
    }

    /// Another one of the same blocks.
    pub(crate) fn with_seed(&self, seed: Seed) -> Self {
        Self::new(self.blocks, seed)
    }

    /// Where `value` goes, in the power of two.
    #[inline(always)]
    fn of(&self, value: u64) -> u64 {
        let [first, odd, second, other_odd] = self.keys;
        let mut x = (value ^ first) & self.mask;
        x = x.wrapping_mul(odd) & self.mask;
        x ^= x >> self.half;
        x = x.wrapping_add(second).wrapping_mul(other_odd) & self.mask;
        x ^= x >> self.half;
        x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15) & self.mask;
        x ^ (x >> self.half)
    }

    /// Where `block` goes among the blocks: on through the power of two until one
    /// is met, twice on average at most.
    #[inline(always)]
    pub(crate) fn walk(&self, block: u64) -> u64 {
        let mut place = self.of(block);
        while place >= self.blocks {
            place = self.of(place);
        }
        place
    }
}

/// Every block exactly once a pass, in another random order each pass, without
/// memory of where it was.
///
/// A counter runs over the power of two of a [`Scramble`], and values that go
/// beyond the last block are skipped. The keys are new in each pass.
#[derive(Debug)]
pub(crate) struct Permutation {
    scramble: Scramble,
    counter: u64,
    /// Blocks still to come in this pass.
    left: u64,
    passes: u64,
    seed: Seed,
}

impl Permutation {
    /// Over `blocks` blocks, 1 or more.
    pub(crate) fn new(blocks: u64, seed: Seed) -> Self {
        Self {
            scramble: Scramble::new(blocks, seed.stream(0)),
            counter: 0,
            left: blocks,
            passes: 1,
            seed,
        }
    }

    #[cold]
    fn begin_pass(&mut self) {
        let blocks = self.scramble.blocks;
        self.scramble = Scramble::new(blocks, self.seed.stream(self.passes));
        self.passes += 1;
        self.counter = 0;
        self.left = blocks;
    }
}

impl Offsets for Permutation {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        if self.left == 0 {
            self.begin_pass();
        }
        self.left -= 1;
        loop {
            let block = self.scramble.of(self.counter);
            self.counter = self.counter.wrapping_add(1);
            if block < self.scramble.blocks {
                return block;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(offsets: &mut impl Offsets, count: u64) -> Vec<u64> {
        (0..count).map(|_| offsets.next()).collect()
    }

    fn sorted(mut blocks: Vec<u64>) -> Vec<u64> {
        blocks.sort_unstable();
        blocks
    }

    #[test]
    fn sequential_wraps_around() {
        assert_eq!(take(&mut Sequential::new(3), 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(take(&mut Sequential::new(1), 3), [0, 0, 0]);
    }

    proptest! {
        #[test]
        fn a_pass_visits_each_block_once(blocks in 1u64..3000, seed: u64) {
            let mut permutation = Permutation::new(blocks, Seed(seed));
            let all: Vec<u64> = (0..blocks).collect();
            for _ in 0..3 {
                prop_assert_eq!(sorted(take(&mut permutation, blocks)), &all[..]);
            }
        }

        #[test]
        fn passes_and_seeds_differ_in_order(blocks in 64u64..5000, seed in 0..u64::MAX) {
            let mut permutation = Permutation::new(blocks, Seed(seed));
            let first = take(&mut permutation, blocks);
            let second = take(&mut permutation, blocks);
            prop_assert_ne!(&first, &second);
            let other = take(&mut Permutation::new(blocks, Seed(seed + 1)), blocks);
            prop_assert_ne!(&first, &other);
            prop_assert_eq!(first, take(&mut Permutation::new(blocks, Seed(seed)), blocks));
        }

        #[test]
        fn independent_blocks_stay_below_the_end(blocks in 1u64.., seed: u64) {
            let mut independent = Independent::new(blocks, Seed(seed));
            prop_assert!((0..64).all(|_| independent.next() < blocks));
        }
    }

    #[test]
    fn a_region_of_any_size_has_a_permutation() {
        for blocks in [(1 << 62) + 1, 1 << 63, (1 << 63) + 1, u64::MAX] {
            let mut permutation = Permutation::new(blocks, Seed(1));
            let seen = sorted(take(&mut permutation, 1000));
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(seen[999] < blocks);
        }
    }

    /// A random order has a mean step of a third of the range, and a step to the
    /// very next block as often as chance has it: once in a pass on average.
    #[test]
    fn a_pass_is_in_no_order() {
        let blocks = 10_000;
        for seed in 0..20 {
            let pass = take(&mut Permutation::new(blocks, Seed(seed)), blocks);
            let steps: Vec<f64> = pass
                .windows(2)
                .map(|pair| pair[1] as f64 - pair[0] as f64)
                .collect();
            let mean = steps.iter().map(|step| step.abs()).sum::<f64>() / steps.len() as f64;
            assert!(
                (mean / blocks as f64 - 1.0 / 3.0).abs() < 0.02,
                "seed {seed}: {mean}"
            );
            let adjacent = steps.iter().filter(|step| step.abs() == 1.0).count();
            assert!(
                adjacent < 20,
                "seed {seed}: {adjacent} steps to a neighbour"
            );
        }
    }

    proptest! {
        #[test]
        fn a_walk_is_a_bijection(blocks in 1u64..3000, seed: u64) {
            let scramble = Scramble::new(blocks, Seed(seed));
            let all: Vec<u64> = (0..blocks).collect();
            let walked: Vec<u64> = all.iter().map(|&block| scramble.walk(block)).collect();
            prop_assert_eq!(sorted(walked), all);
        }
    }

    /// Chi-squared over 64 blocks, the last one included: with 63 degrees of
    /// freedom, 127.8 is exceeded once in 300,000 times by chance.
    #[test]
    fn independent_blocks_are_equally_likely() {
        let (blocks, draws) = (64, 64_000);
        let mut counts = [0u64; 64];
        let mut independent = Independent::new(blocks, Seed(7));
        (0..draws).for_each(|_| counts[independent.next() as usize] += 1);
        let expected = draws as f64 / blocks as f64;
        let chi_squared: f64 = counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        assert!(chi_squared < 127.8, "{chi_squared}");
        assert!(counts[63] > 0);
    }
}
