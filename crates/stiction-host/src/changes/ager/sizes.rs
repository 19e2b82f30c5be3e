//! How long the files of an aged filesystem are.

use std::f64::consts::TAU;

use stiction_core::Seed;

/// Mean and standard deviation of the logarithm of a file's bytes: the body of the
/// distribution of file sizes by count that N. Agrawal, A. C. Arpaci-Dusseau and R. H.
/// Arpaci-Dusseau, "Generating Realistic Impressions for File-System Benchmarking"
/// (FAST 2009), fit to the five-year study of 60 000 filesystems by Agrawal, Bolosky,
/// Douceur and Lorch (FAST 2007). Half of the files are below 13 KB, and the mean is
/// 270 KB. Its tail (files above 512 MB, 6 of 100 000) has no place on scratch space.
const LN_BYTES_MEAN: f64 = 9.48;
const LN_BYTES_DEVIATION: f64 = 2.46;

/// The mean that follows, bytes.
pub(super) const MEAN_BYTES: u64 = 270_000;

/// Random numbers, from a seed one after the other.
#[derive(Debug)]
pub(super) struct Draw {
    seed: Seed,
    drawn: u64,
}

impl Draw {
    pub(super) fn new(seed: Seed) -> Self {
        Self { seed, drawn: 0 }
    }

    fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.seed.stream(self.drawn).0
    }

    /// A number below `end`, which is above 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number between 0 and 1, neither included.
    fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Bytes of a file, 1 to `most`: what would be longer is drawn again, so that no file
    /// decides alone how the space lies.
    pub(super) fn file_bytes(&mut self, most: u64) -> u64 {
        loop {
            // Box and Muller, "A note on the generation of random normal deviates", 1958.
            let (radius, angle) = ((-2.0 * self.unit().ln()).sqrt(), TAU * self.unit());
            let normal = radius * angle.cos();
            let bytes = (LN_BYTES_MEAN + LN_BYTES_DEVIATION * normal).exp() as u64;
            if bytes <= most {
                return bytes.max(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles of a lognormal distribution: e^9.48 = 13 095, and e^2.46 = 11.70
    /// times that and its inverse at 84.13 % and 15.87 %. Of 100 000 draws they lie
    /// within 2 % of that.
    #[test]
    fn sizes_are_distributed_as_published() {
        let mut draw = Draw::new(Seed(7));
        let mut all: Vec<u64> = (0..100_000).map(|_| draw.file_bytes(u64::MAX)).collect();
        all.sort_unstable();
        for (place, expected) in [(50_000, 13_095.0), (84_134, 153_276.0), (15_866, 1118.7)] {
            let ratio = all[place] as f64 / expected;
            assert!((ratio - 1.0).abs() < 0.02, "{place}: {}", all[place]);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_nothing_beyond_the_most() {
        let drawn = |seed| {
            let mut draw = Draw::new(Seed(seed));
            (0..1000)
                .map(|_| draw.file_bytes(100_000))
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().all(|bytes| (1..=100_000).contains(bytes)));
    }
}
