//! Many cells at once: the chance of any false alarm, with the cells' correlation.
//!
//! The step-down procedure of P. H. Westfall and S. S. Young, "Resampling-based
//! multiple testing" (1993), algorithm 2.8, with joint sign flips of whole blocks:
//! every flip turns a block round in all cells at once, so whatever makes cells move
//! together is kept.

use stiction_core::Seed;

/// Up to this many blocks all sign patterns are tried; beyond it [`RANDOM_PATTERNS`].
const ENUMERATED_BLOCKS: usize = 13;
/// Random sign patterns: the standard error of a p-value of 0.05 is then 0.0015.
const RANDOM_PATTERNS: u64 = 20_000;

/// The adjusted p-value of each cell: the chance that, without any effect anywhere,
/// some cell of those not yet rejected is as far out.
///
/// `cells` holds, cell by cell, one difference for each block; all cells have the
/// same blocks in the same order. `seed` chooses the patterns where there are too
/// many to try all.
///
/// # Panics
/// When cells have different numbers of blocks.
#[must_use]
pub fn adjusted_p(cells: &[Vec<f64>], seed: Seed) -> Vec<f64> {
    let blocks = cells.first().map_or(0, Vec::len);
    assert!(
        cells.iter().all(|cell| cell.len() == blocks),
        "all cells have the same blocks"
    );
    if blocks < 2 {
        return vec![1.0; cells.len()];
    }
    let squares: Vec<f64> = cells
        .iter()
        .map(|cell| cell.iter().map(|d| d * d).sum())
        .collect();
    let observed: Vec<f64> = cells
        .iter()
        .zip(&squares)
        .map(|(cell, &squares)| t(cell.iter().sum(), squares, blocks))
        .collect();
    let mut from_largest: Vec<usize> = (0..cells.len()).collect();
    from_largest.sort_by(|&i, &j| observed[j].total_cmp(&observed[i]));

    let (patterns, flips) = patterns(blocks, seed);
    let mut as_far = vec![0u64; cells.len()];
    for pattern in 0..patterns {
        let flip = flips(pattern);
        let mut largest = 0.0f64;
        for &cell in from_largest.iter().rev() {
            let signed = cells[cell].iter().enumerate();
            let sum = signed
                .map(|(block, d)| if flip(block) { -d } else { *d })
                .sum();
            largest = largest.max(t(sum, squares[cell], blocks));
            // Equal sums in another order of addition differ in the last bits.
            if largest >= observed[cell] * (1.0 - 1e-9) {
                as_far[cell] += 1;
            }
        }
    }
    let mut adjusted = vec![0.0; cells.len()];
    let mut floor = 0.0f64;
    for cell in from_largest {
        floor = floor.max(as_far[cell] as f64 / patterns as f64);
        adjusted[cell] = floor;
    }
    adjusted
}

/// The size of Student's t of n differences with this sum and sum of squares.
fn t(sum: f64, squares: f64, n: usize) -> f64 {
    let n = n as f64;
    let explained = sum * sum / n;
    let rest = (squares - explained) / (n - 1.0);
    if explained == 0.0 {
        0.0
    } else if rest <= squares * 1e-15 {
        f64::INFINITY
    } else {
        (explained / rest).sqrt()
    }
}

/// Whether a block is turned round.
type Flip = Box<dyn Fn(usize) -> bool>;

/// How many sign patterns are tried, and which blocks each of them turns round. The
/// first pattern turns none: the data themselves are one of the possibilities.
fn patterns(blocks: usize, seed: Seed) -> (u64, Box<dyn Fn(u64) -> Flip>) {
    if blocks <= ENUMERATED_BLOCKS {
        // Turning all blocks round changes no |t|: one half of the patterns is enough.
        let half = 1u64 << (blocks - 1);
        let enumerate = |pattern: u64| -> Flip { Box::new(move |block| pattern >> block & 1 == 1) };
        return (half, Box::new(enumerate));
    }
    let draw = move |pattern: u64| -> Flip {
        let bits = seed.stream(pattern);
        Box::new(move |block| {
            let word = bits.stream((block / 64) as u64).0;
            pattern > 0 && word >> (block % 64) & 1 == 1
        })
    };
    (RANDOM_PATTERNS, Box::new(draw))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin's maize, crossed against self-fertilised, in eighths of an inch: R. A.
    /// Fisher, "The design of experiments" (1935), section 21, found 863 of 32768 sums as
    /// large, so 1726 of 32768 both ways.
    const MAIZE: [f64; 15] = [
        49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0,
    ];

    #[test]
    fn darwins_maize_gives_fishers_p_value() {
        let exact = 1726.0 / 32768.0;
        let found = adjusted_p(&[MAIZE.to_vec()], Seed(1))[0];
        // 15 blocks are drawn, not enumerated: four standard errors of 20,000 draws.
        let error = (exact * (1.0 - exact) / RANDOM_PATTERNS as f64).sqrt();
        assert!((found - exact).abs() < 4.0 * error, "{found} for {exact}");
        assert_eq!(
            found,
            adjusted_p(&[MAIZE.to_vec()], Seed(1))[0],
            "the same seed, the same p"
        );
    }

    #[test]
    fn few_blocks_are_enumerated() {
        // All eight of one sign and size: only the data themselves, of 128, are as far out.
        let cell = vec![1.0; 8];
        assert_eq!(adjusted_p(&[cell], Seed(1)), [1.0 / 128.0]);
        let first = &MAIZE[..10];
        let sums = |pattern: u32| -> f64 {
            let signed = first.iter().enumerate();
            signed
                .map(|(i, d)| if pattern >> i & 1 == 1 { -d } else { *d })
                .sum()
        };
        let as_far = (0..1024)
            .filter(|&p| sums(p).abs() >= sums(0).abs())
            .count();
        let found = adjusted_p(&[first.to_vec()], Seed(1))[0];
        assert_eq!(found, as_far as f64 / 1024.0);
    }

    #[test]
    fn a_cell_that_says_the_same_again_costs_nothing() {
        let alone = adjusted_p(&[MAIZE[..12].to_vec()], Seed(1))[0];
        let twice: Vec<f64> = MAIZE[..12].iter().map(|d| d * 2.0).collect();
        let both = adjusted_p(&[MAIZE[..12].to_vec(), twice], Seed(1));
        assert_eq!(both, [alone, alone]);
    }

    #[test]
    fn another_cell_raises_the_p_value_and_never_past_order() {
        let noise = vec![1.0, -2.0, 3.0, -1.0, 2.0, -3.0, 1.0, -1.0];
        let effect = vec![1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.3, 0.7];
        let alone = adjusted_p(std::slice::from_ref(&effect), Seed(1))[0];
        let both = adjusted_p(&[noise, effect], Seed(1));
        assert!(both[1] >= alone && both[0] >= both[1], "{both:?} {alone}");
    }

    #[test]
    fn too_few_blocks_decide_nothing() {
        assert_eq!(adjusted_p(&[], Seed(1)), [0.0; 0]);
        assert_eq!(adjusted_p(&[vec![3.0]], Seed(1)), [1.0]);
    }
}
