//! Which functions CPUs were found in more often, and which less.

use std::collections::BTreeMap;

use stiction_core::{Phase, Profile};

use crate::estimate::plan::FEWEST_BLOCKS;
use crate::estimate::signed_rank;

/// Changes of fewer points are nothing to speak of.
const POINTS_MIN: f64 = 0.5;
/// Functions listed on each side.
const LISTED: usize = 8;
/// The normal quantile of a 95 % interval.
const Z: f64 = 1.959_964;

/// A function's share of the samples on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolChange {
    /// The function, or `[user]`.
    pub name: String,
    /// Its share of A's samples, percent.
    pub a_percent: f64,
    /// Its share of B's samples, percent.
    pub b_percent: f64,
    /// The 95 % interval of the difference, points; it leaves 0 out.
    pub interval_points: (f64, f64),
}

impl SymbolChange {
    /// B's share less A's, points.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.b_percent - self.a_percent
    }
}

/// What the profiles of both sides say.
#[derive(Clone, Debug, PartialEq)]
pub enum Symbols {
    /// There are none on both sides.
    Unseen,
    /// One side's alone: where its CPUs were, most first, percent.
    One(Vec<(String, f64)>),
    /// What changed.
    Changed {
        /// Functions with more samples in B, the largest difference first.
        gained: Vec<SymbolChange>,
        /// Functions with fewer.
        lost: Vec<SymbolChange>,
        /// Samples of both sides.
        samples: (u64, u64),
        /// Whether intervals are of runs in blocks; else of single samples, which takes
        /// those of one run for independent.
        of_blocks: bool,
    },
}

/// Holds the profiles of two sides against each other; `b` is empty where there is one side.
pub(super) fn symbols(a: &[&Phase], b: &[&Phase], blocks: &[(Vec<usize>, Vec<usize>)]) -> Symbols {
    let (of_a, of_b) = (Sampled::of(a), Sampled::of(b));
    match (of_a, of_b) {
        (Some(a), Some(b)) => changed(&a, &b, blocks),
        (Some(one), None) if b.is_empty() => Symbols::One(one.most()),
        _ => Symbols::Unseen,
    }
}

/// The samples of a side's runs by function.
struct Sampled<'a> {
    runs: Vec<(u64, BTreeMap<&'a str, u64>)>,
}

impl<'a> Sampled<'a> {
    /// `None` where a run has no profile, or one without a sample.
    fn of(phases: &[&'a Phase]) -> Option<Self> {
        let run = |phase: &&'a Phase| {
            let profile: &'a Profile = phase.witnesses.profile.as_ref()?;
            let functions = profile.by_function().into_iter().collect();
            (profile.samples > 0).then_some((profile.samples, functions))
        };
        let runs: Option<Vec<_>> = phases.iter().map(run).collect();
        let runs = runs.filter(|runs| !runs.is_empty())?;
        Some(Self { runs })
    }

    fn samples(&self) -> u64 {
        self.runs.iter().map(|(samples, _)| samples).sum()
    }

    fn of_function(&self, name: &str) -> u64 {
        let each = self.runs.iter();
        each.filter_map(|(_, functions)| functions.get(name)).sum()
    }

    fn share(&self, name: &str) -> f64 {
        self.of_function(name) as f64 / self.samples() as f64
    }

    fn share_in(&self, runs: &[usize], name: &str) -> f64 {
        let of_run = |&run: &usize| {
            let (samples, functions) = &self.runs[run];
            functions.get(name).copied().unwrap_or(0) as f64 / *samples as f64
        };
        runs.iter().map(of_run).sum::<f64>() / runs.len() as f64
    }

    fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        let each = self.runs.iter();
        each.flat_map(|(_, functions)| functions.keys().copied())
    }

    fn most(&self) -> Vec<(String, f64)> {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        names.dedup();
        let mut shares: Vec<(String, f64)> = names
            .into_iter()
            .map(|name| (name.to_owned(), 100.0 * self.share(name)))
            .collect();
        shares.sort_by(|x, y| y.1.total_cmp(&x.1));
        shares.truncate(LISTED);
        shares
    }
}

fn changed(a: &Sampled<'_>, b: &Sampled<'_>, blocks: &[(Vec<usize>, Vec<usize>)]) -> Symbols {
    let mut names: Vec<&str> = a.names().chain(b.names()).collect();
    names.sort_unstable();
    names.dedup();
    let of_blocks = blocks.len() >= FEWEST_BLOCKS as usize;
    let change = |name: &str| {
        let interval = if of_blocks {
            let difference = |(of_a, of_b): &(Vec<usize>, Vec<usize>)| {
                b.share_in(of_b, name) - a.share_in(of_a, name)
            };
            let differences: Vec<f64> = blocks.iter().map(difference).collect();
            signed_rank::interval(&differences, 0.95)?
        } else {
            let of = |side: &Sampled<'_>| (side.of_function(name), side.samples());
            newcombe(of(a), of(b))
        };
        let leaves_0_out = interval.0 > 0.0 || interval.1 < 0.0;
        let (a_share, b_share) = (a.share(name), b.share(name));
        let is_large = 100.0 * (b_share - a_share).abs() >= POINTS_MIN;
        (leaves_0_out && is_large).then(|| SymbolChange {
            name: name.to_owned(),
            a_percent: 100.0 * a_share,
            b_percent: 100.0 * b_share,
            interval_points: (100.0 * interval.0, 100.0 * interval.1),
        })
    };
    let mut all: Vec<SymbolChange> = names.into_iter().filter_map(change).collect();
    all.sort_by(|x, y| y.points().abs().total_cmp(&x.points().abs()));
    let (mut gained, mut lost): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|change| change.points() > 0.0);
    gained.truncate(LISTED);
    lost.truncate(LISTED);
    Symbols::Changed {
        gained,
        lost,
        samples: (a.samples(), b.samples()),
        of_blocks,
    }
}

/// The 95 % interval of a difference of two shares: R. G. Newcombe, "Interval estimation for
/// the difference between independent proportions", Statistics in Medicine 17 (1998),
/// method 10.
fn newcombe((a, of_a): (u64, u64), (b, of_b): (u64, u64)) -> (f64, f64) {
    let (share_a, share_b) = (a as f64 / of_a as f64, b as f64 / of_b as f64);
    let (low_a, high_a) = wilson(share_a, of_a as f64);
    let (low_b, high_b) = wilson(share_b, of_b as f64);
    let difference = share_b - share_a;
    (
        difference - (share_b - low_b).hypot(high_a - share_a),
        difference + (high_b - share_b).hypot(share_a - low_a),
    )
}

/// E. B. Wilson's interval of a share, Journal of the American Statistical Association 22
/// (1927).
fn wilson(share: f64, n: f64) -> (f64, f64) {
    let squared = Z * Z;
    let centre = share + squared / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + squared / (4.0 * n * n)).sqrt();
    let whole = 1.0 + squared / n;
    ((centre - half) / whole, (centre + half) / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe's table II, example (a): 56 of 70 and 48 of 80 by method 10 are 0.0524 to
    /// 0.3339.
    #[test]
    fn the_interval_is_that_of_the_paper() {
        let (low, high) = newcombe((48, 80), (56, 70));
        assert!((low - 0.0524).abs() < 5e-5, "{low}");
        assert!((high - 0.3339).abs() < 5e-5, "{high}");
    }
}
