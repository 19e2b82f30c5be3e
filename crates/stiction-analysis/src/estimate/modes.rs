//! Whether runs of one configuration gather around several levels instead of one.
//!
//! No single number describes two modes, and no average of them was ever measured. All
//! work is on logarithms.
//!
//! Two signs are looked for: a dip that a single mode would not show, which takes many runs
//! on both levels, and a gap, which shows two or three runs apart from the others. A gap
//! has to be wide beside the spacing of the runs *and* beside the spread on its two sides:
//! beside the spacing alone, noise with a single mode shows one in a third of samples of
//! twelve and in nearly all of fifty. With both, samples of 12 to 30 show two modes in 1 to
//! 2 % of normal noise, and in up to 10 % of exponential noise.

use super::dip::{Reference, dip};
use super::quantiles::median;
use super::{correct, rank_sum};

/// Fewest runs that are looked at.
pub const RUNS_MIN: usize = 12;
/// Fewest runs that make a mode.
const MEMBERS_MIN: usize = 2;
/// A gap is wider than so many median spacings,
const SPACINGS: f64 = 4.0;
/// and than so many standard deviations on its two sides.
const DEVIATIONS: f64 = 3.0;
/// The level of the dip test.
const LEVEL: f64 = 0.05;

/// A level that runs gather around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its runs.
    pub level: f64,
    /// How many runs are there.
    pub runs: usize,
    /// Which share of all runs, 0 to 1.
    pub share: f64,
}

/// The levels of `values`, in rising order: a single one unless there are signs of more.
///
/// `reference` is for samples of as many; with another, or with fewer than
/// [`RUNS_MIN`], the dip is not looked at or nothing is. Empty for no values, and where
/// some are not finite or not above 0.
#[must_use]
pub fn modes(values: &[f64], reference: &Reference) -> Vec<Mode> {
    let mut logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if !super::all_finite(&logs) {
        return Vec::new();
    }
    logs.sort_by(f64::total_cmp);
    let mut parts = Vec::new();
    part(&logs, Some(reference), &mut parts);
    let total = values.len() as f64;
    parts
        .into_iter()
        .filter_map(|runs| {
            Some(Mode {
                level: median(runs)?.exp(),
                runs: runs.len(),
                share: runs.len() as f64 / total,
            })
        })
        .collect()
}

/// Takes sorted `logs` apart as long as there are signs of two modes.
fn part<'a>(logs: &'a [f64], reference: Option<&Reference>, parts: &mut Vec<&'a [f64]>) {
    let by_dip = || {
        let reference = reference.filter(|reference| reference.n() == logs.len())?;
        let is_deep = reference.p(dip(logs)?) <= LEVEL;
        is_deep.then(|| tightest_split(logs))?
    };
    if logs.len() >= RUNS_MIN
        && let Some(at) = widest_gap(logs).or_else(by_dip)
    {
        part(&logs[..at], None, parts);
        part(&logs[at..], None, parts);
    } else {
        parts.push(logs);
    }
}

/// Where the widest gap is that is one: how many lie below it.
fn widest_gap(logs: &[f64]) -> Option<usize> {
    let spacings: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = SPACINGS * median(&spacings)?;
    splits(logs)
        .filter(|&at| spacings[at - 1] > least)
        .filter(|&at| {
            let freedom = (logs.len() - 2) as f64;
            spacings[at - 1] > DEVIATIONS * (squares_around(logs, at) / freedom).sqrt()
        })
        .max_by(|&a, &b| spacings[a - 1].total_cmp(&spacings[b - 1]))
}

/// Where a split leaves the least spread on its two sides.
fn tightest_split(logs: &[f64]) -> Option<usize> {
    splits(logs).min_by(|&a, &b| squares_around(logs, a).total_cmp(&squares_around(logs, b)))
}

fn splits(logs: &[f64]) -> impl Iterator<Item = usize> + use<> {
    MEMBERS_MIN..(logs.len() + 1).saturating_sub(MEMBERS_MIN)
}

/// The sum of squares around the means of the two sides.
fn squares_around(logs: &[f64], at: usize) -> f64 {
    let of_side = |side: &[f64]| {
        let mean = side.iter().sum::<f64>() / side.len() as f64;
        side.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    of_side(&logs[..at]) + of_side(&logs[at..])
}

/// What became of the modes of A in B.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeChange {
    /// Whether some level of A is gone and another one is there in its place.
    pub levels_moved: bool,
    /// The p-value of the hypothesis that a run falls on each level as often in B as in A:
    /// Fisher's exact test of each level against the others, corrected by Holm.
    pub shares_p: f64,
}

impl ModeChange {
    /// How `b` differs from `a`; `None` when neither has several modes or one is empty.
    ///
    /// Levels closer than `margin`, a difference of logarithms, are one level. Where both
    /// sides have levels that the other one lacks, levels have moved, and they are compared
    /// in rising order. Where one side alone has, the other one has no runs there.
    #[must_use]
    pub fn between(a: &[Mode], b: &[Mode], margin: f64) -> Option<Self> {
        if a.is_empty() || b.is_empty() || (a.len() < 2 && b.len() < 2) {
            return None;
        }
        let (levels, levels_moved) = matched(a, b, margin);
        let totals = (runs(a), runs(b));
        let shares: Vec<f64> = levels
            .iter()
            .map(|&(of_a, of_b)| fisher((of_a, totals.0), (of_b, totals.1)))
            .collect();
        let smallest = correct::holm(&shares).into_iter().fold(1.0, f64::min);
        Some(Self {
            levels_moved,
            // Of two levels one follows from the other: there is a single test.
            shares_p: if levels.len() == 2 {
                shares[0]
            } else {
                smallest
            },
        })
    }
}

fn runs(modes: &[Mode]) -> usize {
    modes.iter().map(|mode| mode.runs).sum()
}

/// The runs of A and of B on each level, and whether levels have moved.
fn matched(a: &[Mode], b: &[Mode], margin: f64) -> (Vec<(usize, usize)>, bool) {
    let mut left: Vec<Mode> = b.to_vec();
    let mut levels = Vec::new();
    let mut gone = Vec::new();
    for mode in a {
        let distance = |other: &Mode| (other.level / mode.level).ln().abs();
        let nearest =
            (0..left.len()).min_by(|&i, &j| distance(&left[i]).total_cmp(&distance(&left[j])));
        match nearest.filter(|&index| distance(&left[index]) < margin) {
            Some(index) => levels.push((mode.runs, left.remove(index).runs)),
            None => gone.push(mode.runs),
        }
    }
    let moved = !gone.is_empty() && !left.is_empty();
    let in_order = gone.len().max(left.len());
    let at = |runs: Option<usize>| runs.unwrap_or(0);
    levels.extend((0..in_order).map(|index| {
        (
            at(gone.get(index).copied()),
            at(left.get(index).map(|mode| mode.runs)),
        )
    }));
    (levels, moved)
}

/// Fisher's exact test of two shares, two-sided by doubling: the exact rank test of values
/// of which there are two.
fn fisher((of_a, total_a): (usize, usize), (of_b, total_b): (usize, usize)) -> f64 {
    let side = |on: usize, total: usize| -> Vec<f64> {
        (0..total)
            .map(|run| f64::from(u8::from(run < on)))
            .collect()
    };
    rank_sum::p_two_sided(&side(of_a, total_a), &side(of_b, total_b))
}

#[cfg(test)]
mod tests {
    use stiction_core::Seed;

    use super::*;
    use crate::draws::Draws;

    fn found(values: &[f64]) -> Vec<Mode> {
        modes(values, &Reference::of(values.len(), Seed(1)))
    }

    fn around(draws: &mut Draws, level: f64, runs: usize) -> Vec<f64> {
        (0..runs)
            .map(|_| level * (0.01 * draws.normal()).exp())
            .collect()
    }

    #[test]
    fn fourteen_runs_near_one_level_and_six_near_another() {
        let mut draws = Draws::new(Seed(4));
        let values = [around(&mut draws, 35.1, 14), around(&mut draws, 12.4, 6)].concat();
        let [low, high] = found(&values)[..] else {
            panic!("{:?}", found(&values));
        };
        assert_eq!((low.runs, high.runs), (6, 14));
        assert_eq!((low.share, high.share), (0.3, 0.7));
        assert!((low.level / 12.4 - 1.0).abs() < 0.01, "{low:?}");
        assert!((high.level / 35.1 - 1.0).abs() < 0.01, "{high:?}");
    }

    #[test]
    fn two_runs_apart_are_a_mode_and_one_is_an_outlier() {
        let mut draws = Draws::new(Seed(5));
        let ten = around(&mut draws, 100.0, 10);
        assert_eq!(found(&[&ten[..], &[70.0, 70.5]].concat()).len(), 2);
        assert_eq!(found(&[&ten[..], &[70.0, 100.2]].concat()).len(), 1);
    }

    #[test]
    fn three_levels_are_three_modes() {
        let mut draws = Draws::new(Seed(6));
        let levels = [1.0, 2.0, 4.0].map(|level| around(&mut draws, level, 12));
        let runs: Vec<usize> = found(&levels.concat())
            .iter()
            .map(|mode| mode.runs)
            .collect();
        assert_eq!(runs, [12, 12, 12]);
    }

    /// Modes two and a half standard deviations from their middle leave no gap among sixty
    /// runs, and dip.
    #[test]
    fn modes_that_touch_are_found_by_their_dip() {
        let mut draws = Draws::new(Seed(7));
        let values = [around(&mut draws, 0.975, 30), around(&mut draws, 1.025, 30)].concat();
        let mut logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
        logs.sort_by(f64::total_cmp);
        assert_eq!(widest_gap(&logs), None);
        assert_eq!(found(&values).len(), 2);
    }

    #[test]
    fn few_runs_equal_runs_and_failed_runs_show_nothing() {
        assert_eq!(found(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]).len(), 1);
        let equal = found(&[5.0; 20]);
        assert_eq!((equal.len(), equal[0].runs, equal[0].share), (1, 20, 1.0));
        assert!((equal[0].level - 5.0).abs() < 1e-12);
        assert_eq!(found(&[]), []);
        for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut values = vec![1.0; 20];
            values[3] = odd;
            assert_eq!(found(&values), [], "{odd}");
        }
    }

    fn mode(level: f64, runs: usize) -> Mode {
        Mode {
            level,
            runs,
            share: 0.0,
        }
    }

    #[test]
    fn levels_and_shares_are_told_apart() {
        let a = [mode(12.4, 6), mode(35.1, 14)];
        let same = ModeChange::between(&a, &a, 0.03).unwrap();
        assert!(!same.levels_moved && same.shares_p > 0.5, "{same:?}");
        let levels = ModeChange::between(&a, &[mode(15.0, 6), mode(40.0, 14)], 0.03).unwrap();
        assert!(levels.levels_moved && levels.shares_p > 0.5, "{levels:?}");
        let shares = ModeChange::between(&a, &[mode(12.4, 18), mode(35.1, 2)], 0.03).unwrap();
        assert!(
            !shares.levels_moved && shares.shares_p < 0.001,
            "{shares:?}"
        );
        // One of the levels is gone, and none has come.
        let gone = ModeChange::between(&a, &[mode(35.1, 20)], 0.03).unwrap();
        assert!(!gone.levels_moved && gone.shares_p < 0.05, "{gone:?}");
        assert_eq!(ModeChange::between(&a[..1], &a[..1], 0.03), None);
        assert_eq!(ModeChange::between(&a, &[], 0.03), None);
    }

    /// R. A. Fisher's lady tasting tea, "The design of experiments" (1935), chapter 2: three
    /// of four right has a one-sided chance of 17 in 70.
    #[test]
    fn the_lady_tasting_tea() {
        assert!((fisher((3, 4), (1, 4)) - 2.0 * 17.0 / 70.0).abs() < 1e-12);
    }
}
