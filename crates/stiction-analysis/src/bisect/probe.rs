//! One commit: before the change, or after it? A sequential test.
//!
//! A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical
//! Statistics 16 (1945): blocks are added until the likelihood ratio of the two levels
//! leaves the band from e / (1 - e) to (1 - e) / e, which errs with a chance of at
//! most about e.

use super::Model;
use super::model::Total;

/// The chance that any answer of a whole search is wrong.
pub const ERROR_OF_SEARCH: f64 = 0.03;

/// Fewest blocks for an answer: one run may be the one that stalled.
pub const FEWEST_BLOCKS: usize = 2;

/// Blocks after which a commit is given up.
pub const MOST_BLOCKS: usize = 40;

/// Standard errors that a mean must keep from both levels to be between them: 99 %.
const BETWEEN_ERRORS: f64 = 2.576;

/// What the blocks of a commit say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It lies before the change.
    Unchanged,
    /// It lies after the change, or is it.
    Changed,
    /// More blocks are needed.
    Open,
    /// [`MOST_BLOCKS`] did not suffice.
    Unsure,
}

/// Questions that a search halves `commits` commits with.
#[must_use]
pub fn steps(commits: usize) -> u32 {
    commits.max(2).next_power_of_two().trailing_zeros()
}

/// The chance of a wrong answer that each of the questions of a search may have.
#[must_use]
pub fn error_per_step(commits: usize) -> f64 {
    ERROR_OF_SEARCH / f64::from(steps(commits))
}

/// What the ends and the blocks of other commits tell of step and noise. A commit that
/// was found to lie after the change, with the chance `error` to be wrong, tells of the
/// step as BAD does; the others tell of noise only.
///
/// `None` where the ends show no step.
#[must_use]
pub fn model(ends: &[f64], others: &[&[f64]], error: f64) -> Option<Model> {
    let alone = Model::of(ends, &[])?;
    let (changed, beside): (Vec<&[f64]>, Vec<&[f64]>) = others
        .iter()
        .copied()
        .partition(|&blocks| answer(&alone, blocks, error) == Answer::Changed);
    let after: Vec<f64> = ends
        .iter()
        .chain(changed.into_iter().flatten())
        .copied()
        .collect();
    Model::of(&after, &beside)
}

/// What `differences` say, with the chance `error` to be wrong.
#[must_use]
pub fn answer(model: &Model, differences: &[f64], error: f64) -> Answer {
    let blocks = differences.len();
    let ratio = log_ratio(model, differences);
    let bound = ((1.0 - error) / error).ln();
    if blocks >= FEWEST_BLOCKS && ratio >= bound {
        Answer::Changed
    } else if blocks >= FEWEST_BLOCKS && ratio <= -bound {
        Answer::Unchanged
    } else if blocks >= MOST_BLOCKS {
        Answer::Unsure
    } else {
        Answer::Open
    }
}

/// Logarithm of the ratio of the likelihoods that the commit lies after and before the
/// change.
#[must_use]
pub fn log_ratio(model: &Model, differences: &[f64]) -> f64 {
    let all = model.total(differences);
    model.log_evidence(all, all) - model.log_evidence(Total::default(), all)
}

/// Whether the differences lie between the two levels: away from both with 99 %, and in
/// the middle three fifths. A single step does not do that; two do.
#[must_use]
pub fn is_between(model: &Model, differences: &[f64]) -> bool {
    let step = model.step();
    let total = model.total(differences);
    if total.blocks < FEWEST_BLOCKS as f64 {
        return false;
    }
    let mean = total.sum / total.blocks;
    let reach = BETWEEN_ERRORS * step.deviation / total.blocks.sqrt();
    let share = mean / step.size;
    mean - reach > 0.0 && mean + reach < step.size && (0.2..=0.8).contains(&share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [f64; 12] = [0.8, 1.2, 1.0, 0.9, 1.1, 1.0, 0.8, 1.2, 1.0, 0.9, 1.1, 1.0];

    #[test]
    fn a_search_through_1024_commits_asks_ten_times() {
        assert_eq!(steps(1024), 10);
        assert_eq!(steps(1025), 11);
        assert_eq!((steps(1), steps(2), steps(3)), (1, 1, 2));
        assert!((error_per_step(1024) - 0.003).abs() < 1e-12);
    }

    #[test]
    fn two_clear_blocks_answer_and_one_never_does() {
        let model = Model::of(&ENDS, &[]).unwrap();
        assert_eq!(answer(&model, &[1.0], 0.003), Answer::Open);
        assert_eq!(answer(&model, &[1.0, 0.9], 0.003), Answer::Changed);
        assert_eq!(answer(&model, &[0.1, -0.1], 0.003), Answer::Unchanged);
    }

    /// Somewhere between the levels is one that fits both as badly.
    #[test]
    fn a_commit_that_fits_neither_level_is_given_up() {
        let model = Model::of(&ENDS, &[]).unwrap();
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > 1e-9 {
            let level = f64::midpoint(low, high);
            if log_ratio(&model, &[level; MOST_BLOCKS]) < 0.0 {
                low = level;
            } else {
                high = level;
            }
        }
        assert_eq!(
            answer(&model, &[low; MOST_BLOCKS], 0.003),
            Answer::Unsure,
            "{low}"
        );
        assert_eq!(answer(&model, &[low; 2], 0.003), Answer::Open);
    }

    #[test]
    fn a_level_in_the_middle_is_noticed() {
        let model = Model::of(&ENDS, &[]).unwrap();
        assert!(is_between(&model, &[0.5, 0.45, 0.55, 0.5]));
        for other in [&[0.0, 0.1, -0.1][..], &[1.0, 0.9, 1.1], &[0.5]] {
            assert!(!is_between(&model, other), "{other:?}");
        }
    }
}
