//! Many cells at once: the chance of any false alarm, with the cells' correlation.
//!
//! The step-down procedure of P. H. Westfall and S. S. Young, "Resampling-based
//! multiple testing" (1993), algorithm 2.8, with joint sign flips of whole blocks:
//! every flip turns a block round in all cells at once, so whatever makes cells move
//! together is kept.

use stiction_core::Seed;

use super::plan::FEWEST_BLOCKS;
use super::student::Student;

/// Random sign patterns: the standard error of a p-value of 0.05 is then 0.0015.
const RANDOM_PATTERNS: usize = 20_000;
/// Up to so many blocks all patterns are tried: there are no more of them than would be
/// drawn.
const ENUMERATED_BLOCKS: usize = 15;
/// Blocks whose signed sums are looked up at once.
const GROUP: usize = 8;
/// Sign patterns of a group.
const GROUP_PATTERNS: usize = 1 << GROUP;

/// The adjusted p-value of each cell: the chance that, without any effect anywhere,
/// some cell of those not yet rejected is as far out.
///
/// `cells` holds, cell by cell, one difference for each block; all cells have the
/// same blocks in the same order. `seed` chooses the patterns where there are too
/// many to try all. A cell with a value that is not finite has a p-value of 1 and costs
/// the others nothing; with fewer than two blocks all have.
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
    let scaled: Vec<Vec<f64>> = cells.iter().map(|cell| to_unit_length(cell)).collect();
    let observed: Vec<f64> = scaled
        .iter()
        .map(|cell| cell.iter().sum::<f64>().abs())
        .collect();
    let mut from_largest: Vec<usize> = (0..cells.len())
        .filter(|&cell| super::all_finite(&cells[cell]))
        .collect();
    from_largest.sort_by(|&i, &j| observed[j].total_cmp(&observed[i]));

    let patterns = Patterns::of(blocks, seed);
    // The largest of the cells not yet rejected, by pattern: the least come first.
    let mut largest = vec![0.0f64; patterns.count];
    let mut adjusted = vec![1.0; cells.len()];
    for &cell in from_largest.iter().rev() {
        patterns.raise(&mut largest, &scaled[cell]);
        // Equal sums in another order of addition differ in the last bits.
        let far = observed[cell] * (1.0 - 1e-9);
        let as_far = largest.iter().filter(|&&size| size >= far).count();
        adjusted[cell] = as_far as f64 / patterns.count as f64;
    }
    let mut floor = 0.0f64;
    for cell in from_largest {
        floor = floor.max(adjusted[cell]);
        adjusted[cell] = floor;
    }
    adjusted
}

/// Intervals for the means of all cells that cover them together with `confidence`; in the
/// order of `cells`, which are as for [`adjusted_p`]. `None` of fewer than six blocks, and
/// where some value is not finite; of equal values the interval is the value.
///
/// The reach in standard errors is the quantile of the largest |t| over the patterns of what
/// is left when each cell's mean is taken away: the wild bootstrap of R. Y. Liu, "Bootstrap
/// procedures under some non-i.i.d. models", Annals of Statistics 16 (1988), with signs.
#[must_use]
pub fn intervals(cells: &[Vec<f64>], confidence: f64, seed: Seed) -> Vec<Option<(f64, f64)>> {
    let estimates: Vec<Option<Student>> = cells.iter().map(|cell| Student::paired(cell)).collect();
    let blocks = cells.first().map_or(0, Vec::len);
    if blocks < FEWEST_BLOCKS as usize {
        return vec![None; cells.len()];
    }
    let patterns = Patterns::of(blocks, seed);
    let mut largest = vec![0.0f64; patterns.count];
    for (cell, estimate) in cells.iter().zip(&estimates) {
        if let Some(estimate) = estimate {
            let left: Vec<f64> = cell.iter().map(|d| d - estimate.estimate).collect();
            patterns.raise(&mut largest, &to_unit_length(&left));
        }
    }
    largest.sort_by(f64::total_cmp);
    let rank = (confidence * patterns.count as f64).ceil() as usize;
    let size = largest[rank.clamp(1, patterns.count) - 1];
    // From |S| / sqrt(Q) back to |t|.
    let n = blocks as f64;
    let r = size * size / n;
    let reach = ((n - 1.0) * r / (1.0 - r)).sqrt();
    let around = |estimate: Student| {
        let reach = reach * estimate.standard_error;
        (estimate.estimate - reach, estimate.estimate + reach)
    };
    let only_value = |cell: &[f64]| super::all_finite(cell).then_some((cell[0], cell[0]));
    cells
        .iter()
        .zip(estimates)
        .map(|(cell, estimate)| estimate.map(around).or_else(|| only_value(cell)))
        .collect()
}

/// The differences over the root of their sum of squares Q, which no flip changes.
///
/// With S the sum of n differences, t^2 = (n - 1) r / (1 - r) where r = S^2 / (n Q): it
/// rises with |S| / sqrt(Q), so those sums are in the order of |t|, in one cell and
/// between cells, and nothing is left to divide in each pattern.
fn to_unit_length(cell: &[f64]) -> Vec<f64> {
    let length = cell.iter().map(|d| d * d).sum::<f64>().sqrt();
    let scale = |d: &f64| if length > 0.0 { d / length } else { 0.0 };
    cell.iter().map(scale).collect()
}

/// Which blocks each of the patterns turns round, in groups of eight blocks. The first
/// pattern turns none: the data themselves are one of the possibilities.
struct Patterns {
    count: usize,
    /// One byte a pattern in each group; a bit is a block that is turned round.
    groups: Vec<Vec<u8>>,
}

impl Patterns {
    /// All patterns of `blocks` blocks, or [`RANDOM_PATTERNS`] by `seed` where there are
    /// more.
    fn of(blocks: usize, seed: Seed) -> Self {
        let groups = blocks.div_ceil(GROUP);
        if blocks <= ENUMERATED_BLOCKS {
            // Turning all blocks round changes no |t|: half of the patterns is enough.
            let count = 1usize << (blocks - 1);
            let group = |group: usize| (0..count).map(move |p| (p >> (group * GROUP)) as u8);
            return Self {
                count,
                groups: (0..groups).map(|index| group(index).collect()).collect(),
            };
        }
        let mut drawn = vec![Vec::with_capacity(RANDOM_PATTERNS); groups];
        for pattern in 0..RANDOM_PATTERNS {
            let bits = seed.stream(pattern as u64);
            for (word, groups) in drawn.chunks_mut(8).enumerate() {
                let bytes = bits.stream(word as u64).0.to_le_bytes();
                for (group, byte) in groups.iter_mut().zip(bytes) {
                    group.push(if pattern == 0 { 0 } else { byte });
                }
            }
        }
        Self {
            count: RANDOM_PATTERNS,
            groups: drawn,
        }
    }

    /// Raises `largest`, by pattern, to the size of the signed sum of `cell` where that
    /// is larger.
    fn raise(&self, largest: &mut [f64], cell: &[f64]) {
        let mut sums = vec![0.0; self.count];
        for (group, part) in self.groups.iter().zip(cell.chunks(GROUP)) {
            let signed = signed_sums(part);
            for (sum, &pattern) in sums.iter_mut().zip(group) {
                *sum += signed[usize::from(pattern)];
            }
        }
        for (largest, sum) in largest.iter_mut().zip(sums) {
            *largest = largest.max(sum.abs());
        }
    }
}

/// The sum of up to eight differences under each pattern of their signs.
fn signed_sums(part: &[f64]) -> [f64; GROUP_PATTERNS] {
    let mut sums = [0.0; GROUP_PATTERNS];
    for (pattern, sum) in sums.iter_mut().enumerate() {
        let signed = part.iter().enumerate();
        *sum = signed
            .map(|(bit, d)| if pattern >> bit & 1 == 1 { -d } else { *d })
            .sum();
    }
    sums
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
        assert_eq!(
            adjusted_p(&[MAIZE.to_vec()], Seed(1)),
            [1726.0 / 32768.0],
            "15 blocks are enumerated"
        );
    }

    /// A sixteenth block of 0 leaves every sum as it was, and makes the patterns too many
    /// to try all.
    #[test]
    fn drawn_patterns_agree_with_all_of_them() {
        let exact = 1726.0 / 32768.0;
        let longer = [&MAIZE[..], &[0.0]].concat();
        let found = adjusted_p(std::slice::from_ref(&longer), Seed(1))[0];
        // Four standard errors of 20,000 draws.
        let error = (exact * (1.0 - exact) / RANDOM_PATTERNS as f64).sqrt();
        assert!((found - exact).abs() < 4.0 * error, "{found} for {exact}");
        assert_eq!(
            found,
            adjusted_p(&[longer], Seed(1))[0],
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
        assert_eq!(adjusted_p(&[vec![0.0; 8]], Seed(1)), [1.0], "all zero");
    }

    #[test]
    fn a_cell_without_numbers_is_left_out() {
        let sound = MAIZE[..10].to_vec();
        let alone = adjusted_p(std::slice::from_ref(&sound), Seed(1))[0];
        for odd in [f64::NAN, f64::INFINITY] {
            let mut broken = vec![5.0; 10];
            broken[4] = odd;
            assert_eq!(adjusted_p(&[broken, sound.clone()], Seed(1)), [1.0, alone]);
        }
    }
}
