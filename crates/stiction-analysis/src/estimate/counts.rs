//! Rare events, such as operations that took longer than 2 s: exact counts, by block.

use super::{sign_flip, signed_rank};

/// Counts of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// A's, over all blocks.
    pub a: u64,
    /// B's.
    pub b: u64,
    /// The two-sided p-value of the hypothesis that a block's counts could as well have
    /// come the other way round. The sums are compared, exactly; in more than twenty blocks
    /// with a difference, their ranks.
    pub p: f64,
}

/// The counts of `blocks`, A's and B's each. A stall of one block is no evidence, however
/// many operations it held up: five blocks have to agree for a p-value of 1/16.
#[must_use]
pub fn paired(blocks: &[(u64, u64)]) -> Counts {
    let differences: Vec<f64> = blocks.iter().map(|&(a, b)| b as f64 - a as f64).collect();
    Counts {
        a: blocks.iter().map(|&(a, _)| a).sum(),
        b: blocks.iter().map(|&(_, b)| b).sum(),
        p: sign_flip::p_two_sided(&differences)
            .unwrap_or_else(|| signed_rank::p_two_sided(&differences)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_stall_is_no_evidence() {
        let mut blocks = [(0, 0); 10];
        blocks[4] = (0, 4000);
        let found = paired(&blocks);
        assert_eq!((found.a, found.b, found.p), (0, 4000, 1.0));
    }

    #[test]
    fn stalls_in_every_block_are() {
        let blocks: Vec<(u64, u64)> = (1..=8).map(|n| (0, n)).collect();
        assert_eq!(paired(&blocks).p, 2.0 / 256.0);
        let many: Vec<(u64, u64)> = (1..=30).map(|n| (n, 0)).collect();
        assert!(paired(&many).p < 1e-8);
        assert_eq!(paired(&[]).p, 1.0);
        assert_eq!(paired(&[(3, 3); 9]).p, 1.0);
    }
}
