//! Worlds of noise: what a machine does to runs that ought to be equal.

use crate::draws::Draws;

/// How the logarithms of runs are scattered, in units of their spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum World {
    /// Normal on logarithms, each run for itself.
    Normal,
    /// A long tail on logarithms too: most runs close together, some far off.
    Heavy,
    /// Normal, and one run in twenty is eight spreads slower.
    SlowRuns,
    /// Three runs in four in one mode, one in four in another six spreads below.
    TwoModes,
    /// Exponential on logarithms: a sharp best, and a slope below it.
    Skewed,
    /// Normal, and each run a tenth of a spread slower than the one before: far too
    /// little to see.
    SlowDrift,
    /// Normal, and each run a whole spread slower than the one before.
    FastDrift,
    /// Each run keeps half of the last one's deviation.
    Autocorrelated,
    /// Normal, and three spreads slower from the middle of the session on.
    Step,
}

impl World {
    /// All nine.
    pub(super) const ALL: [Self; 9] = [
        Self::Normal,
        Self::Heavy,
        Self::SlowRuns,
        Self::TwoModes,
        Self::Skewed,
        Self::SlowDrift,
        Self::FastDrift,
        Self::Autocorrelated,
        Self::Step,
    ];

    /// The shapes of noise in which a run knows nothing of the others.
    pub(super) const SHAPES: [Self; 5] = [
        Self::Normal,
        Self::Heavy,
        Self::SlowRuns,
        Self::TwoModes,
        Self::Skewed,
    ];

    /// What it is called in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Heavy => "heavy tail",
            Self::SlowRuns => "5% very slow",
            Self::TwoModes => "two modes",
            Self::Skewed => "skewed",
            Self::SlowDrift => "slow drift",
            Self::FastDrift => "fast drift",
            Self::Autocorrelated => "autocorrelated",
            Self::Step => "step",
        }
    }

    /// The deviations of `count` runs in the order of time, in spreads; positive is
    /// better.
    pub(super) fn runs(self, count: usize, draws: &mut Draws) -> Vec<f64> {
        let mut last = draws.normal();
        let run = |index: usize| {
            let normal = draws.normal();
            match self {
                Self::Normal => normal,
                Self::Heavy => 1.0 - normal.exp(),
                Self::SlowRuns => normal - if draws.happens(0.05) { 8.0 } else { 0.0 },
                Self::TwoModes => normal - if draws.happens(0.25) { 6.0 } else { 0.0 },
                Self::Skewed => 1.0 - draws.exponential(),
                Self::SlowDrift => normal - 0.1 * index as f64,
                Self::FastDrift => normal - index as f64,
                Self::Autocorrelated => {
                    last = 0.5 * last + 0.75f64.sqrt() * normal;
                    last
                }
                Self::Step => normal - if index >= count / 2 { 3.0 } else { 0.0 },
            }
        };
        (0..count).map(run).collect()
    }
}

/// Two sides in blocks of one run of each, in random order inside each block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// The world.
    pub(super) world: World,
    /// How many blocks.
    pub(super) blocks: usize,
    /// The spread of one run, on logarithms: nearly its coefficient of variation.
    pub(super) spread: f64,
    /// ln(b / a) of a typical run.
    pub(super) truth: f64,
}

impl Blocks {
    /// ln(b / a) of each block.
    pub(super) fn differences(self, draws: &mut Draws) -> Vec<f64> {
        self.ordered(draws, |_, draws| draws.happens(0.5))
    }

    /// As [`differences`](Self::differences), with the order of each block by
    /// `b_first`.
    pub(super) fn ordered(
        self,
        draws: &mut Draws,
        mut b_first: impl FnMut(usize, &mut Draws) -> bool,
    ) -> Vec<f64> {
        let runs = self.world.runs(2 * self.blocks, draws);
        runs.chunks_exact(2)
            .enumerate()
            .map(|(block, runs)| {
                let later_over_earlier = runs[1] - runs[0];
                let noise = if b_first(block, draws) {
                    -later_over_earlier
                } else {
                    later_over_earlier
                };
                self.truth + self.spread * noise
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::Seed;

    use super::*;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The means and lag-1 correlations that the definitions give, of 40,000 runs.
    #[test]
    fn worlds_are_what_they_say() {
        let means = [
            (World::Normal, 0.0),
            (World::Heavy, 1.0 - 0.5f64.exp()),
            (World::SlowRuns, -0.4),
            (World::TwoModes, -1.5),
            (World::Skewed, 0.0),
            (World::Autocorrelated, 0.0),
            (World::Step, -1.5),
        ];
        for (world, want) in means {
            let runs = world.runs(40_000, &mut Draws::new(Seed(3)));
            assert!(
                (mean(&runs) - want).abs() < 0.07,
                "{world:?}: {}",
                mean(&runs)
            );
        }
        let drift = World::FastDrift.runs(1001, &mut Draws::new(Seed(3)));
        assert!((mean(&drift) + 500.0).abs() < 0.2);
        let runs = World::Autocorrelated.runs(40_000, &mut Draws::new(Seed(3)));
        let lagged: Vec<f64> = runs.windows(2).map(|pair| pair[0] * pair[1]).collect();
        let squares: Vec<f64> = runs.iter().map(|run| run * run).collect();
        assert!((mean(&lagged) - 0.5).abs() < 0.03 && (mean(&squares) - 1.0).abs() < 0.05);
    }

    #[test]
    fn blocks_hold_the_truth_and_twice_the_variance() {
        let blocks = Blocks {
            world: World::Normal,
            blocks: 40_000,
            spread: 0.02,
            truth: 0.05,
        };
        let differences = blocks.differences(&mut Draws::new(Seed(3)));
        assert!((mean(&differences) - 0.05).abs() < 0.001);
        let squares: Vec<f64> = differences.iter().map(|d| (d - 0.05).powi(2)).collect();
        assert!((mean(&squares) / 0.0008 - 1.0).abs() < 0.05);
    }
}
