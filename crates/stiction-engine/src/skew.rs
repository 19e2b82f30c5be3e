//! Blocks of which some are more likely than others, at the price of two random
//! numbers and one look-up.
//!
//! The region is cut into cells. A cell is drawn by the alias method (Walker,
//! "An efficient method for generating discrete random variables with general
//! distributions", 1977, in the form of Vose, 1991), then a block of it, each
//! equally likely. Where the likelihood falls steeply a cell is one block; elsewhere
//! it is so narrow that within it the likelihood changes by less than a hundredth.

use std::sync::Arc;

use stiction_core::{PPM_WHOLE, Seed, Skew, SkewShape, Zone};

use crate::draw::Draw;
use crate::offsets::{Offsets, Scramble};

/// Blocks at the front that are cells of their own, for shapes with their peak there.
const SINGLE_CELLS: u64 = 2048;
/// A later cell holds one in so many of the blocks before it.
const CELL_SHARE: u64 = 256;
/// Cells over the whole width of a normal distribution.
const NORMAL_CELLS: u64 = 8192;
/// Half of that width, in standard deviations: beyond lies one operation in 10^15.
const NORMAL_HALF_WIDTH: f64 = 8.0;

/// Some neighbouring blocks, and how the alias method uses its place in the table.
#[derive(Clone, Copy, Debug)]
struct Cell {
    first: u64,
    blocks: u64,
    /// Share of the draws of this place that go to this cell, in 2^64ths.
    own: u64,
    /// Where the other draws go.
    alias: u32,
}

/// A source of blocks by a [`Skew`].
#[derive(Clone, Debug)]
pub(crate) struct Skewed {
    cells: Arc<[Cell]>,
    scatter: Option<Scramble>,
    draw: Draw,
}

impl Skewed {
    /// Over `blocks` blocks, 1 or more; the shape was checked.
    pub(crate) fn new(skew: &Skew, blocks: u64, seed: Seed) -> Self {
        Self {
            cells: alias_table(&weights(&skew.shape, blocks)).into(),
            scatter: skew
                .scattered
                .then(|| Scramble::new(blocks, seed.stream(1))),
            draw: Draw::new(seed.stream(0)),
        }
    }

    /// The same over other blocks, as many of them.
    pub(crate) fn with_seed(&self, seed: Seed) -> Self {
        let scatter = self.scatter.as_ref();
        Self {
            cells: Arc::clone(&self.cells),
            scatter: scatter.map(|scatter| scatter.with_seed(seed.stream(1))),
            draw: Draw::new(seed.stream(0)),
        }
    }
}

impl Offsets for Skewed {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let (place, rest) = self.draw.split_below(self.cells.len() as u64);
        let mut cell = &self.cells[place as usize];
        if rest >= cell.own {
            cell = &self.cells[cell.alias as usize];
        }
        let rank = cell.first + self.draw.below(cell.blocks);
        match &self.scatter {
            None => rank,
            Some(scatter) => scatter.walk(rank),
        }
    }
}

/// Neighbouring blocks and how likely they are together, to a common factor.
#[derive(Clone, Copy, Debug)]
struct Weight {
    first: u64,
    blocks: u64,
    weight: f64,
}

fn weights(shape: &SkewShape, blocks: u64) -> Vec<Weight> {
    let share = |ppm: u32| f64::from(ppm) / f64::from(PPM_WHOLE);
    match shape {
        SkewShape::Zipf { exponent_ppm } => {
            let exponent = share(*exponent_ppm);
            front_cells(blocks, |first, end| zipf_weight(exponent, first, end))
        }
        SkewShape::SelfSimilar { hot_ppm } => {
            let hot = share(*hot_ppm);
            // F(q) = q^power has F(hot) = 1 - hot, and so on at every scale.
            let power = (1.0 - hot).ln() / hot.ln();
            let below = |block: u64| (block as f64 / blocks as f64).powf(power);
            front_cells(blocks, |first, end| below(end) - below(first))
        }
        SkewShape::Normal { deviation_ppm } => normal_cells(share(*deviation_ppm), blocks),
        SkewShape::Zoned(zones) => zone_cells(zones, blocks),
    }
}

/// Cells for a likelihood that falls from the front on; `weight` is told the first
/// block and the one after the last.
fn front_cells(blocks: u64, weight: impl Fn(u64, u64) -> f64) -> Vec<Weight> {
    let mut cells = Vec::new();
    let mut first = 0;
    while first < blocks {
        let wanted = if first < SINGLE_CELLS {
            1
        } else {
            first / CELL_SHARE
        };
        let length = wanted.min(blocks - first);
        cells.push(Weight {
            first,
            blocks: length,
            weight: weight(first, first + length),
        });
        first += length;
    }
    cells
}

/// The sum of 1 / k^exponent for k from `first` + 1 to `end`; for several k the
/// integral from half a step before the first to half a step after the last, which
/// from 2048 on is wrong by less than one in 10^5 of itself for exponents up to 10.
fn zipf_weight(exponent: f64, first: u64, end: u64) -> f64 {
    if end - first == 1 {
        return (end as f64).powf(-exponent);
    }
    let (from, to) = (first as f64 + 0.5, end as f64 + 0.5);
    let octaves = (to / from).ln();
    let power = 1.0 - exponent;
    let integral = if power == 0.0 {
        octaves
    } else {
        (power * octaves).exp_m1() / power
    };
    from.powf(power) * integral
}

fn normal_cells(deviation: f64, blocks: u64) -> Vec<Weight> {
    let scale = blocks as f64;
    let edge = |share: f64| (share.clamp(0.0, 1.0) * scale) as u64;
    let half = NORMAL_HALF_WIDTH * deviation;
    let first = edge(0.5 - half).min(blocks - 1);
    let end = edge(0.5 + half).max(first + 1).min(blocks);
    let below = |block: u64| {
        let distance = (block as f64 / scale - 0.5) / deviation;
        // The lower tail, 0.5 at the middle; symmetrical, so that far from the
        // middle differences keep their digits.
        0.5 * libm::erfc(distance.abs() / std::f64::consts::SQRT_2)
    };
    let between = |from: u64, to: u64| {
        let is_left = |block: u64| 2 * u128::from(block) <= u128::from(blocks);
        if is_left(from) == is_left(to) {
            (below(to) - below(from)).abs()
        } else {
            1.0 - below(from) - below(to)
        }
    };
    let count = (end - first).min(NORMAL_CELLS);
    let cut =
        |cell: u64| first + (u128::from(end - first) * u128::from(cell) / u128::from(count)) as u64;
    (0..count)
        .map(|cell| {
            let (from, to) = (cut(cell), cut(cell + 1));
            Weight {
                first: from,
                blocks: to - from,
                weight: between(from, to),
            }
        })
        .collect()
}

/// A zone that is narrower than a block has none, unless all are: then its share
/// goes to the block in which it ends.
fn zone_cells(zones: &[Zone], blocks: u64) -> Vec<Weight> {
    let mut cells: Vec<Weight> = Vec::with_capacity(zones.len());
    let (mut first, mut reached_ppm) = (0u64, 0u64);
    for zone in zones {
        reached_ppm += u64::from(zone.region_ppm);
        let end = (u128::from(blocks) * u128::from(reached_ppm) / u128::from(PPM_WHOLE)) as u64;
        let weight = f64::from(zone.operations_ppm);
        if end > first {
            cells.push(Weight {
                first,
                blocks: end - first,
                weight,
            });
            first = end;
        } else {
            let block = first.min(blocks - 1);
            cells.push(Weight {
                first: block,
                blocks: 1,
                weight,
            });
        }
    }
    cells
}

/// Vose's table: every place is filled to the average by one cell or two.
fn alias_table(weights: &[Weight]) -> Box<[Cell]> {
    let total: f64 = weights.iter().map(|cell| cell.weight).sum();
    let average = total / weights.len() as f64;
    let mut fill: Vec<f64> = weights.iter().map(|cell| cell.weight / average).collect();
    let mut cells: Box<[Cell]> = weights
        .iter()
        .zip(0..)
        .map(|(cell, place)| Cell {
            first: cell.first,
            blocks: cell.blocks,
            own: u64::MAX,
            alias: place,
        })
        .collect();
    let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
        (0..cells.len()).partition(|&place| fill[place] < 1.0);
    while let (Some(&giver), Some(place)) = (rich.last(), poor.pop()) {
        cells[place].own = (fill[place] * 2f64.powi(64)) as u64;
        cells[place].alias = giver as u32;
        fill[giver] -= 1.0 - fill[place];
        if fill[giver] < 1.0 {
            rich.pop();
            poor.push(giver);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_distr::Distribution as _;
    use rand_pcg::Pcg64;

    use super::*;

    const DRAWS: u64 = 200_000;

    fn in_place(shape: SkewShape) -> Skew {
        Skew {
            shape,
            scattered: false,
        }
    }

    fn draws(skew: &Skew, blocks: u64) -> Vec<u64> {
        let mut skewed = Skewed::new(skew, blocks, Seed(11));
        (0..DRAWS).map(|_| skewed.next()).collect()
    }

    /// The greatest distance between the share of `draws` below a block and what it
    /// must be, over `steps` blocks.
    fn distance(mut draws: Vec<u64>, blocks: u64, steps: u64, below: impl Fn(f64) -> f64) -> f64 {
        draws.sort_unstable();
        (1..steps)
            .map(|step| {
                let block = blocks * step / steps;
                let share = draws.partition_point(|&drawn| drawn < block) as f64 / DRAWS as f64;
                (share - below(block as f64 / blocks as f64)).abs()
            })
            .fold(0.0, f64::max)
    }

    /// Kolmogorov and Smirnov's bound that chance exceeds once in 100,000 times:
    /// sqrt(-ln(alpha / 2) / 2 / n) with alpha = 1e-5.
    fn bound(n: f64) -> f64 {
        (-(0.5e-5f64).ln() / 2.0 / n).sqrt()
    }

    /// The same for two samples of `DRAWS`.
    fn two_sample_distance(mut a: Vec<u64>, mut b: Vec<u64>) -> f64 {
        a.sort_unstable();
        b.sort_unstable();
        let share = |all: &[u64], block| {
            all.partition_point(|&drawn| drawn <= block) as f64 / all.len() as f64
        };
        a.iter()
            .step_by(7)
            .map(|&block| (share(&a, block) - share(&b, block)).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn zipf_cells_weigh_what_their_blocks_do() {
        let blocks = 3_000_000;
        for exponent_ppm in [100_000, 990_000, 1_000_000, 1_200_000, 3_000_000] {
            let exponent = f64::from(exponent_ppm) / 1e6;
            let cells = weights(&SkewShape::Zipf { exponent_ppm }, blocks);
            assert!(cells.len() < 10_000, "{} cells", cells.len());
            let mut next = 0;
            for cell in &cells {
                assert_eq!(cell.first, next);
                next += cell.blocks;
                let ranks = cell.first + 1..=cell.first + cell.blocks;
                let sum: f64 = ranks.map(|rank| (rank as f64).powf(-exponent)).sum();
                assert!((cell.weight / sum - 1.0).abs() < 1e-5, "{cell:?} for {sum}");
            }
            assert_eq!(next, blocks);
        }
    }

    /// Chi-squared over the first 50 blocks and the rest: with 50 degrees of freedom,
    /// 112.3 is exceeded once in 1,000,000 times.
    #[test]
    fn zipf_blocks_are_drawn_as_often_as_they_must() {
        let blocks = 10_000u64;
        let skew = in_place(SkewShape::Zipf {
            exponent_ppm: 1_200_000,
        });
        let power = |rank: u64| (rank as f64).powf(-1.2);
        let total: f64 = (1..=blocks).map(power).sum();
        let mut expected: Vec<f64> = (1..=50)
            .map(|rank| power(rank) / total * DRAWS as f64)
            .collect();
        expected.push(DRAWS as f64 - expected.iter().sum::<f64>());
        let mut counts = [0u64; 51];
        for block in draws(&skew, blocks) {
            counts[block.min(50) as usize] += 1;
        }
        let chi_squared: f64 = counts
            .iter()
            .zip(&expected)
            .map(|(&count, expected)| (count as f64 - expected).powi(2) / expected)
            .sum();
        assert!(chi_squared < 112.3, "{chi_squared}");
    }

    #[test]
    fn zipf_is_what_another_hand_draws() {
        let blocks = 1u64 << 30;
        let ours = draws(
            &in_place(SkewShape::Zipf {
                exponent_ppm: 900_000,
            }),
            blocks,
        );
        let zipf = rand_distr::Zipf::new(blocks as f64, 0.9).unwrap();
        let mut source = Pcg64::seed_from_u64(5);
        let theirs = (0..DRAWS)
            .map(|_| zipf.sample(&mut source) as u64 - 1)
            .collect();
        let distance = two_sample_distance(ours, theirs);
        assert!(distance < bound(DRAWS as f64 / 2.0), "{distance}");
    }

    /// F(q) = q^(ln(1 - h) / ln h), in closed form.
    #[test]
    fn self_similar_is_so_at_every_scale() {
        let (blocks, hot) = (1u64 << 26, 0.2f64);
        let skew = in_place(SkewShape::SelfSimilar { hot_ppm: 200_000 });
        let power = (1.0 - hot).ln() / hot.ln();
        let drawn = draws(&skew, blocks);
        let share_below = |share: f64| {
            let end = (share * blocks as f64) as u64;
            drawn.iter().filter(|&&block| block < end).count() as f64 / DRAWS as f64
        };
        for (share, wanted) in [(0.2, 0.8), (0.04, 0.64), (0.008, 0.512)] {
            let found = share_below(share);
            assert!((found - wanted).abs() < 0.005, "{share}: {found}");
        }
        let distance = distance(drawn, blocks, 1000, |q| q.powf(power));
        assert!(distance < bound(DRAWS as f64), "{distance}");
    }

    #[test]
    fn normal_is_what_another_hand_draws() {
        let blocks = 1u64 << 24;
        for (deviation_ppm, deviation) in [(100_000, 0.1), (400_000, 0.4), (1, 1e-6)] {
            let ours = draws(&in_place(SkewShape::Normal { deviation_ppm }), blocks);
            let normal = rand_distr::Normal::new(0.5, deviation).unwrap();
            let mut source = Pcg64::seed_from_u64(6);
            let theirs = normal
                .sample_iter(&mut source)
                .filter(|place| (0.0..1.0).contains(place))
                .map(|place| (place * blocks as f64) as u64)
                .take(DRAWS as usize)
                .collect();
            let distance = two_sample_distance(ours, theirs);
            assert!(
                distance < bound(DRAWS as f64 / 2.0),
                "{deviation}: {distance}"
            );
        }
    }

    #[test]
    fn zones_take_their_share_and_are_even_within() {
        let zone = |operations_ppm, region_ppm| Zone {
            operations_ppm,
            region_ppm,
        };
        let zones = vec![
            zone(500_000, 50_000),
            zone(300_000, 150_000),
            zone(200_000, 800_000),
        ];
        let blocks = 1_000_003;
        let below = |q: f64| match q {
            q if q < 0.05 => q / 0.05 * 0.5,
            q if q < 0.2 => 0.5 + (q - 0.05) / 0.15 * 0.3,
            q => 0.8 + (q - 0.2) / 0.8 * 0.2,
        };
        let drawn = draws(&in_place(SkewShape::Zoned(zones)), blocks);
        let distance = distance(drawn, blocks, 1000, below);
        assert!(distance < bound(DRAWS as f64), "{distance}");
    }

    #[test]
    fn a_zone_without_operations_is_left_alone() {
        let zone = |operations_ppm, region_ppm| Zone {
            operations_ppm,
            region_ppm,
        };
        let zones = vec![zone(0, 500_000), zone(PPM_WHOLE, 500_000)];
        let drawn = draws(&in_place(SkewShape::Zoned(zones)), 100);
        assert!(drawn.iter().all(|block| (50..100).contains(block)));
    }

    #[test]
    fn scattering_moves_the_blocks_and_keeps_their_counts() {
        let shape = SkewShape::Zipf {
            exponent_ppm: 1_500_000,
        };
        let counts = |scattered| {
            let mut counts = vec![0u32; 1000];
            let skew = Skew {
                shape: shape.clone(),
                scattered,
            };
            draws(&skew, 1000)
                .into_iter()
                .for_each(|block| counts[block as usize] += 1);
            counts
        };
        let (mut near, mut far) = (counts(false), counts(true));
        assert_ne!(near, far);
        near.sort_unstable();
        far.sort_unstable();
        assert_eq!(near, far);
    }

    #[test]
    fn a_region_of_any_size_can_be_skewed() {
        let shapes = [
            SkewShape::Zipf {
                exponent_ppm: 1_000_000,
            },
            SkewShape::SelfSimilar { hot_ppm: 1 },
            SkewShape::Normal { deviation_ppm: 1 },
            SkewShape::Normal {
                deviation_ppm: PPM_WHOLE,
            },
            SkewShape::Zoned(vec![Zone {
                operations_ppm: PPM_WHOLE,
                region_ppm: PPM_WHOLE,
            }]),
        ];
        for (shape, scattered) in shapes
            .into_iter()
            .flat_map(|shape| [(shape.clone(), false), (shape, true)])
        {
            let skew = Skew { shape, scattered };
            for blocks in [1, 2, 3, 2047, 2049, (1 << 62) + 1] {
                let mut skewed = Skewed::new(&skew, blocks, Seed(3));
                assert!(
                    (0..1000).all(|_| skewed.next() < blocks),
                    "{skew:?} {blocks}"
                );
            }
        }
    }
}
