//! The order of the trials inside each block.

use serde::{Deserialize, Serialize};
use stiction_core::Seed;
use stiction_suite::shuffled;

/// The stream of a plan's seed that orders are drawn from; workloads use low numbers.
const ORDER_STREAM: u64 = 0x6f72_6465_7200_0000;

/// How the trials of a block are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockOrder {
    /// Drawn for each block by itself: no drift can take sides.
    #[default]
    Random,
    /// Drawn for every other block, and turned round in the one after it, so that two
    /// configurations run as ABBA or BAAB: what drifts steadily cancels in each pair.
    Abba,
}

impl BlockOrder {
    /// The trials of block number `block`, given by their numbers below `count`, in the
    /// order in which they run.
    pub(super) fn of_block(self, block: u32, count: usize, seed: Seed) -> Vec<usize> {
        let orders = seed.stream(ORDER_STREAM);
        let drawn = |block: u32| shuffled((0..count).collect(), orders.stream(block.into()));
        match self {
            Self::Random => drawn(block),
            Self::Abba if block.is_multiple_of(2) => drawn(block),
            Self::Abba => drawn(block - 1).into_iter().rev().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_holds_each_trial_once_and_the_seed_replays() {
        for order in [BlockOrder::Random, BlockOrder::Abba] {
            let mut orders = Vec::new();
            for block in 0..50 {
                let one = order.of_block(block, 6, Seed(4711));
                assert_eq!(one, order.of_block(block, 6, Seed(4711)));
                let mut sorted = one.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
                orders.push(one);
            }
            orders.sort();
            orders.dedup();
            assert!(orders.len() > 40, "{order:?} draws {} orders", orders.len());
        }
    }

    /// Of 4000 blocks each of two orders comes 2000 times on average; five standard
    /// deviations are 158.
    #[test]
    fn both_orders_of_two_are_equally_likely_and_blocks_independent() {
        let first = |block| BlockOrder::Random.of_block(block, 2, Seed(1))[0];
        let a_first = (0..4000).filter(|&block| first(block) == 0).count();
        assert!((1842..2158).contains(&a_first), "{a_first}");
        let same_as_before = (1..4000).filter(|&block| first(block) == first(block - 1));
        assert!((1842..2158).contains(&same_as_before.count()));
    }

    #[test]
    fn abba_turns_every_other_block_round() {
        for pair in 0..20 {
            let first = BlockOrder::Abba.of_block(2 * pair, 3, Seed(9));
            let mut second = BlockOrder::Abba.of_block(2 * pair + 1, 3, Seed(9));
            second.reverse();
            assert_eq!(first, second);
        }
    }
}
