//! In which order the runs of two sides were made.

/// How the runs of two sides lie in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// In blocks of one run of each side, close in time: places of A's and B's run.
    Blocks(Vec<(usize, usize)>),
    /// In blocks, but with the same side first in every one of them: what drifts
    /// inside a block looks like a difference.
    OneSideFirst(Vec<(usize, usize)>),
    /// All runs of a configuration followed each other, or nearly so.
    Batched,
}

/// Finds the blocks in runs of A and B, given their places in one session: read in
/// order, every two neighbours have to be one of each. A last run without its fellow, as
/// where somebody stopped in between, is in no block.
pub(super) fn order(a: &[usize], b: &[usize]) -> Order {
    let of_a = a.iter().map(|&place| (place, true));
    let of_b = b.iter().map(|&place| (place, false));
    let mut all: Vec<(usize, bool)> = of_a.chain(of_b).collect();
    all.sort_unstable();
    let blocks = all.chunks_exact(2).map(|pair| match *pair {
        [(first, true), (second, false)] => Some((first, second)),
        [(first, false), (second, true)] => Some((second, first)),
        _ => None,
    });
    let Some(blocks) = blocks.collect::<Option<Vec<_>>>() else {
        return Order::Batched;
    };
    if blocks.is_empty() {
        return Order::Batched;
    }
    let a_first = blocks.iter().filter(|(a, b)| a < b).count();
    // Chance alone gives all blocks one order as rarely as it gives their differences
    // one sign, which is what the tests count.
    if a_first == 0 || a_first == blocks.len() {
        Order::OneSideFirst(blocks)
    } else {
        Order::Blocks(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_both_sides_are_blocks() {
        // A B B A A B
        let found = order(&[0, 3, 4], &[1, 2, 5]);
        assert_eq!(found, Order::Blocks(vec![(0, 1), (3, 2), (4, 5)]));
        assert_eq!(order(&[0, 1, 2], &[3, 4, 5]), Order::Batched);
        assert_eq!(order(&[0, 1], &[2]), Order::Batched);
        // A B B A A
        let cut_off = order(&[0, 3, 4], &[1, 2]);
        assert_eq!(cut_off, Order::Blocks(vec![(0, 1), (3, 2)]));
        assert_eq!(order(&[0], &[]), Order::Batched);
        let fixed = order(&[0, 2, 4], &[1, 3, 5]);
        assert_eq!(fixed, Order::OneSideFirst(vec![(0, 1), (2, 3), (4, 5)]));
        // A third configuration in between does not part a block: A C B B C A
        assert_eq!(order(&[0, 5], &[2, 3]), Order::Blocks(vec![(0, 2), (5, 3)]));
    }
}
