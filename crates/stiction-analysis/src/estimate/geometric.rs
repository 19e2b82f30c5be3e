//! One figure for many cells: the geometric mean of their ratios, with an interval.
//!
//! Percentages do not average: -50 % and +100 % cancel, and their mean is +25 %. The
//! logarithms of ratios do. For the interval each block gives one number, the mean over
//! its cells, so that whatever the cells of a block share is counted once and not once a
//! cell.

use super::{all_finite, signed_rank};

/// Many cells in one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Mean over blocks and cells of the logarithm of the ratio; `exp` of it is the
    /// geometric mean.
    pub mean: f64,
    /// The Hodges-Lehmann estimate of the blocks' means, which one odd block cannot move.
    pub typical: f64,
    /// The exact interval of the latter; `None` of too few blocks for one.
    pub interval: Option<(f64, f64)>,
    /// How many blocks there are.
    pub blocks: usize,
    /// How many cells.
    pub cells: usize,
}

/// The summary of `cells`, each with one logarithm of a ratio for each block; all have the
/// same blocks in the same order. `None` of nothing, and where some value is not finite.
///
/// # Panics
/// When cells have different numbers of blocks.
#[must_use]
pub fn summary(cells: &[Vec<f64>], confidence: f64) -> Option<Summary> {
    let blocks = cells.first()?.len();
    assert!(
        cells.iter().all(|cell| cell.len() == blocks),
        "all cells have the same blocks"
    );
    let of_block = |block: usize| cells.iter().map(|cell| cell[block]).sum::<f64>();
    let means: Vec<f64> = (0..blocks)
        .map(|block| of_block(block) / cells.len() as f64)
        .collect();
    if !all_finite(&means) {
        return None;
    }
    Some(Summary {
        mean: means.iter().sum::<f64>() / blocks as f64,
        typical: signed_rank::hodges_lehmann(&means)?,
        interval: signed_rank::interval(&means, confidence),
        blocks,
        cells: cells.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_double_cancel() {
        let found = summary(&[vec![0.5f64.ln()], vec![2f64.ln()]], 0.95).unwrap();
        assert!(found.mean.abs() < 1e-15 && found.typical.abs() < 1e-15);
        assert_eq!((found.blocks, found.cells, found.interval), (1, 2, None));
    }

    #[test]
    fn what_a_block_shares_is_counted_once() {
        // Three cells that say the same are no more evidence than one.
        let cell: Vec<f64> = (1..=8).map(f64::from).collect();
        let alone = summary(std::slice::from_ref(&cell), 0.95).unwrap();
        let three = summary(&[cell.clone(), cell.clone(), cell], 0.95).unwrap();
        assert_eq!(three.interval, alone.interval);
        // The fourth smallest and largest Walsh average of 1 to 8: qsignrank(.025, 8) = 4.
        assert_eq!(alone.interval, Some((2.0, 7.0)));
        assert_eq!((alone.mean, alone.typical), (4.5, 4.5));
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_summary() {
        assert_eq!(summary(&[], 0.95), None);
        assert_eq!(summary(&[vec![], vec![]], 0.95), None);
        assert_eq!(summary(&[vec![1.0], vec![f64::NAN]], 0.95), None);
        assert_eq!(summary(&[vec![1.0], vec![f64::INFINITY]], 0.95), None);
    }
}
