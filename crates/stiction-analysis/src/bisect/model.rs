//! How likely differences are before and after the change.
//!
//! Both the size of the step and the noise are known only from a handful of blocks of
//! the two ends. To put their estimates in the place of the truth makes a search over
//! 1024 commits, with a step of one deviation, wrong in every fifth case where it says
//! one in twenty; so both are integrated out. With flat priors on the step and on the
//! logarithm of the deviation, the likelihood that of N differences exactly n, with the
//! sum S, lie about the step, and the others about 0, is up to a constant
//!
//! ```text
//! n^(-1/2) * (Q - S^2 / n)^(-(N - 1) / 2)        Q = sum of all squares
//! ```
//!
//! (the marginal likelihood of a normal linear model: G. E. P. Box and G. C. Tiao,
//! "Bayesian inference in statistical analysis" (1973), section 2.7). The blocks of the
//! ends are always among the n. With many of them this becomes the likelihood ratio of
//! two known levels, sum(d D - D^2 / 2) / s^2.

use crate::estimate::quantiles::{DEVIATION_OF_MEDIAN_DISTANCE, median};

/// Deviations beyond a level at which a difference is cut, so that one stalled run
/// cannot decide (P. J. Huber, "Robust estimation of a location parameter", Annals of
/// Mathematical Statistics 35 (1964)).
const CUT_DEVIATIONS: f64 = 3.0;

/// A counter that always gives the same number has no noise, and infinite evidence. The
/// squares get this share of the squared step, once: a tenth of the step as one more
/// residual.
const FLOOR_SHARE: f64 = 0.01;

/// The step that is sought, and the noise that hides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Size in logarithms, above 0.
    pub size: f64,
    /// Standard deviation of the difference of one block.
    pub deviation: f64,
}

impl Step {
    /// The step in deviations of a block; infinite without noise.
    #[must_use]
    pub fn in_deviations(self) -> f64 {
        self.size / self.deviation
    }
}

/// Some differences: how many, their sum and the sum of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// How many.
    pub blocks: f64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Total {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    fn of(differences: impl IntoIterator<Item = f64>) -> Self {
        differences
            .into_iter()
            .map(|d| Self {
                blocks: 1.0,
                sum: d,
                squares: d * d,
            })
            .fold(Self::default(), Self::and)
    }

    /// Sum of squares about the mean.
    fn about_mean(self) -> f64 {
        if self.blocks == 0.0 {
            return 0.0;
        }
        (self.squares - self.sum * self.sum / self.blocks).max(0.0)
    }
}

/// What the ends, and blocks of commits beside the ones in question, say of step and
/// noise.
#[derive(Clone, Debug)]
pub struct Model {
    /// The blocks of the ends, cut.
    ends: Total,
    /// Squares about their own means of blocks beside those in question, and how many
    /// more of them there are than means.
    beside_squares: f64,
    beside_freedom: f64,
    step: Step,
    lowest: f64,
    highest: f64,
    floor: f64,
}

impl Model {
    /// The model that the differences of the ends give, with the differences of each
    /// commit that is not in question itself, `beside`, which tell only of noise.
    ///
    /// `None` with fewer than two blocks of the ends, or without a step in them: their
    /// mean is not above 0, or not a number.
    #[must_use]
    pub fn of(ends: &[f64], beside: &[&[f64]]) -> Option<Self> {
        let groups: Vec<&[f64]> = std::iter::once(ends)
            .chain(beside.iter().copied())
            .collect();
        let spread = spread(&groups);
        let centre = median(ends)?;
        let reach = CUT_DEVIATIONS * spread;
        let within = |d: f64| d.max(centre - reach).min(centre + reach);
        let total = Total::of(ends.iter().map(|&d| within(d)));
        let size = total.sum / total.blocks;
        if ends.len() < 2 || !size.is_finite() || size <= 0.0 {
            return None;
        }
        let mut model = Self {
            ends: total,
            beside_squares: 0.0,
            beside_freedom: 0.0,
            step: Step {
                size,
                deviation: 0.0,
            },
            lowest: -reach,
            highest: centre.max(0.0) + reach,
            floor: FLOOR_SHARE * size * size,
        };
        for group in beside.iter().filter(|group| group.len() > 1) {
            model.beside_squares += model.total(group).about_mean();
            model.beside_freedom += group.len() as f64 - 1.0;
        }
        let squares = model.ends.about_mean() + model.beside_squares + model.floor;
        let freedom = model.ends.blocks - 1.0 + model.beside_freedom;
        model.step.deviation = (squares / freedom).sqrt();
        Some(model)
    }

    /// The step and the noise as the blocks so far have them, for plans and for
    /// reports. The evidence rests on no such estimate.
    #[must_use]
    pub fn step(&self) -> Step {
        self.step
    }

    /// The differences of a commit in question, each cut at three deviations beyond
    /// the nearer level.
    #[must_use]
    pub fn total(&self, differences: &[f64]) -> Total {
        Total::of(
            differences
                .iter()
                .map(|&d| d.max(self.lowest).min(self.highest)),
        )
    }

    /// Logarithm, up to a constant, of the likelihood that of `all` differences in
    /// question exactly those in `changed` lie about the step.
    #[must_use]
    pub fn log_evidence(&self, changed: Total, all: Total) -> f64 {
        let changed = changed.and(self.ends);
        let all = all.and(self.ends);
        let squares = all.squares - changed.sum * changed.sum / changed.blocks;
        let count = all.blocks + self.beside_freedom;
        let squares = squares.max(0.0) + self.beside_squares + self.floor;
        -0.5 * changed.blocks.ln() - 0.5 * (count - 1.0) * squares.ln()
    }
}

/// A standard deviation about the groups' own medians that a few wild values leave
/// alone.
fn spread(groups: &[&[f64]]) -> f64 {
    let mut distances = Vec::new();
    for group in groups.iter().filter(|group| group.len() > 2) {
        let centre = median(group).unwrap_or(0.0);
        distances.extend(group.iter().map(|d| (d - centre).abs()));
    }
    DEVIATION_OF_MEDIAN_DISTANCE * median(&distances).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ends 9, 10, 11 (n 3, S 30, Q 302) and a commit with 10. As changed:
    /// n 4, S 40, residual 402 - 400 = 2; as unchanged: 402 - 300 = 102. The floor is
    /// 0.01 * 100 = 1. N is 4.
    #[test]
    fn the_evidence_of_one_block_is_as_worked_out_by_hand() {
        let model = Model::of(&[9.0, 10.0, 11.0], &[]).unwrap();
        let one = model.total(&[10.0]);
        let changed = model.log_evidence(one, one);
        let unchanged = model.log_evidence(Total::default(), one);
        let by_hand = -0.5 * (4f64 / 3.0).ln() - 1.5 * (3f64 / 103.0).ln();
        assert!((changed - unchanged - by_hand).abs() < 1e-9);
        // Squares about the mean 2, floor 1, two degrees of freedom.
        assert_eq!(model.step().size, 10.0);
        assert!((model.step().deviation - 1.5f64.sqrt()).abs() < 1e-12);
    }

    /// With very many blocks of the ends: sum(d D - D^2 / 2) / s^2.
    #[test]
    fn with_many_blocks_of_the_ends_it_is_the_ratio_of_two_known_levels() {
        let ends: Vec<f64> = (0..200_000)
            .map(|i| if i % 2 == 0 { 1.0 } else { 3.0 })
            .collect();
        let model = Model::of(&ends, &[]).unwrap();
        let blocks = [1.9, 0.4, 2.2];
        let all = model.total(&blocks);
        let ratio = model.log_evidence(all, all) - model.log_evidence(Total::default(), all);
        let (step, deviation) = (2.0, 1.0);
        let known: f64 = blocks.iter().map(|d| d * step - step * step / 2.0).sum();
        assert!(
            (ratio - known / (deviation * deviation)).abs() < 1e-3,
            "{ratio} {known}"
        );
    }

    #[test]
    fn one_stalled_run_cannot_decide() {
        let ends = [0.9, 1.0, 1.1, 0.95, 1.05, 1.0, 0.9, 1.1];
        let model = Model::of(&ends, &[]).unwrap();
        let ratio = |blocks: &[f64]| {
            let all = model.total(blocks);
            model.log_evidence(all, all) - model.log_evidence(Total::default(), all)
        };
        assert!(ratio(&[50.0, 0.0, 0.02, -0.01, 0.01]) < ratio(&[0.0, 0.0, 1.0]));
        assert_eq!(ratio(&[50.0]), ratio(&[5000.0]));
    }

    #[test]
    fn without_noise_evidence_stays_finite() {
        let model = Model::of(&[0.1; 6], &[]).unwrap();
        let all = model.total(&[0.1, 0.1]);
        let ratio = model.log_evidence(all, all) - model.log_evidence(Total::default(), all);
        assert!(ratio.is_finite() && ratio > 10.0, "{ratio}");
    }

    #[test]
    fn ends_without_a_step_make_no_model() {
        for ends in [
            &[][..],
            &[1.0],
            &[0.0, 0.0],
            &[-1.0, -2.0],
            &[f64::NAN, f64::NAN],
        ] {
            assert!(Model::of(ends, &[]).is_none(), "{ends:?}");
        }
    }
}
