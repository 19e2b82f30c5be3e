//! All commits at once: how likely each is the culprit.

use super::information::gain_per_cost;
use super::model::{Model, Step, Total};

/// Commits that no measurement tells apart: all but the last cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Place of its first commit, from 0.
    pub first: usize,
    /// Place of its last commit, which can be measured.
    pub last: usize,
    /// The chance that the culprit is among them.
    pub chance: f64,
}

/// How likely each commit of a chain is the one that made the change, when each was
/// before any measurement.
///
/// The last commit of the chain shows the change, so one of them made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    chances: Vec<f64>,
    testable: Vec<bool>,
    step: Step,
}

impl Posterior {
    /// From the differences of each commit of a chain, oldest first; those of commits
    /// that cannot be measured are empty and `false` in `testable`.
    ///
    /// `None` for an empty chain.
    #[must_use]
    pub fn of(model: &Model, chain: &[&[f64]], testable: &[bool]) -> Option<Self> {
        let totals: Vec<Total> = chain.iter().map(|blocks| model.total(blocks)).collect();
        let all = totals.iter().fold(Total::default(), |sum, &t| sum.and(t));
        let mut changed = Total::default();
        let mut log = model.log_evidence(changed, all);
        let mut logs = vec![log; totals.len()];
        for (place, &total) in totals.iter().enumerate().rev() {
            // Most commits have no blocks, and are as likely as the next.
            if total.blocks > 0.0 {
                changed = changed.and(total);
                log = model.log_evidence(changed, all);
            }
            logs[place] = log;
        }
        let highest = logs.iter().copied().reduce(f64::max)?;
        let weights = weights(&logs, highest);
        let sum: f64 = weights.iter().sum();
        Some(Self {
            chances: weights.iter().map(|weight| weight / sum).collect(),
            testable: testable.to_vec(),
            step: model.step(),
        })
    }

    /// The chance of each commit.
    #[must_use]
    pub fn chances(&self) -> &[f64] {
        &self.chances
    }

    /// The commits in groups that measurements can tell apart, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let last_of_chain = self.chances.len() - 1;
        let mut groups = Vec::new();
        let (mut first, mut chance) = (0, 0.0);
        for (place, p) in self.chances.iter().enumerate() {
            chance += p;
            if self.testable[place] || place == last_of_chain {
                groups.push(Group {
                    first,
                    last: place,
                    chance,
                });
                (first, chance) = (place + 1, 0.0);
            }
        }
        groups
    }

    /// The likeliest group.
    #[must_use]
    pub fn best(&self) -> Group {
        let groups = self.groups();
        let best = groups
            .into_iter()
            .max_by(|a, b| a.chance.total_cmp(&b.chance));
        best.expect("a chain that has a posterior has a commit")
    }

    /// The commit to measure next: the one that splits the chances most evenly, or the
    /// one that is built already, `built`, while a block of it tells more for its cost.
    /// A build costs as much as `build_blocks` blocks. `None` where nothing is left
    /// that can be measured.
    #[must_use]
    pub fn next(&self, built: Option<usize>, build_blocks: f64) -> Option<usize> {
        let last_of_chain = self.chances.len() - 1;
        let mut below = 0.0;
        let mut even: Option<(usize, f64)> = None;
        let mut share_built = None;
        for (place, p) in self.chances.iter().enumerate() {
            below += p;
            // That the last one shows the change is known.
            if !self.testable[place] || place == last_of_chain {
                continue;
            }
            if built == Some(place) {
                share_built = Some(below);
            }
            if even.is_none_or(|(_, share)| (below - 0.5).abs() < (share - 0.5).abs()) {
                even = Some((place, below));
            }
        }
        let (place, share) = even?;
        if let (Some(built), Some(share_built)) = (built, share_built) {
            let of_built = gain_per_cost(share_built, self.step, 0.0);
            if of_built >= gain_per_cost(share, self.step, build_blocks) {
                return Some(built);
            }
        }
        Some(place)
    }
}

/// exp(log - highest) of each; neighbours are mostly equal.
fn weights(logs: &[f64], highest: f64) -> Vec<f64> {
    let mut last = (highest, 1.0);
    logs.iter()
        .map(|&log| {
            if log != last.0 {
                last = (log, (log - highest).exp());
            }
            last.1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four commits, by hand. Ends 2, 2, 2 (n 3, S 6, Q 12, floor 0.04); commit 2 (the
    /// third) measured once with 2: for the culprits 0, 1, 2 it is changed, so n 4, S 8
    /// and the residual is 16 - 16 = 0; for culprit 3 it is not: n 3, S 6, residual
    /// 16 - 12 = 4. N is 4.
    #[test]
    fn four_commits_are_as_worked_out_by_hand() {
        let model = Model::of(&[2.0, 2.0, 2.0], &[]).unwrap();
        let chain: [&[f64]; 4] = [&[], &[], &[2.0], &[]];
        // Without spread in the ends nothing is cut but what lies beyond the levels.
        let posterior = Posterior::of(&model, &chain, &[true; 4]).unwrap();
        let before = 4f64.powf(-0.5) * 0.04f64.powf(-1.5);
        let after = 3f64.powf(-0.5) * 4.04f64.powf(-1.5);
        let sum = 3.0 * before + after;
        for (found, by_hand) in posterior
            .chances()
            .iter()
            .zip([before, before, before, after])
        {
            assert!((found - by_hand / sum).abs() < 1e-12, "{found}");
        }
        // Three that are as likely: both inner ends split them as evenly.
        assert!(matches!(posterior.next(None, 0.0), Some(0 | 1)));
    }

    #[test]
    fn an_unmeasured_chain_is_halved_and_every_commit_as_likely() {
        let model = Model::of(&[1.0, 1.2, 0.8], &[]).unwrap();
        let chain = [&[][..]; 8];
        let posterior = Posterior::of(&model, &chain, &[true; 8]).unwrap();
        assert_eq!(posterior.chances(), [0.125; 8]);
        assert_eq!(posterior.next(None, 4.0), Some(3));
        assert!(Posterior::of(&model, &[], &[]).is_none());
    }

    #[test]
    fn commits_that_cannot_be_measured_stay_together() {
        let model = Model::of(&[1.0, 1.2, 0.8], &[]).unwrap();
        let clear = [1.0, 1.1, 0.9, 1.0];
        let none = [0.0, 0.1, -0.1, 0.0];
        let chain: [&[f64]; 5] = [&none, &[], &[], &clear, &[]];
        let testable = [true, false, false, true, true];
        let posterior = Posterior::of(&model, &chain, &testable).unwrap();
        let best = posterior.best();
        assert_eq!((best.first, best.last), (1, 3));
        assert!(best.chance > 0.95, "{best:?}");
        assert_eq!(posterior.groups().len(), 3);
    }

    #[test]
    fn a_dear_build_keeps_to_the_commit_that_is_built() {
        let model = Model::of(&[1.0, 2.0, 0.0, 1.5, 0.5, 1.0], &[]).unwrap();
        let chain = [&[][..]; 64];
        let posterior = Posterior::of(&model, &chain, &[true; 64]).unwrap();
        assert_eq!(posterior.next(Some(24), 0.0), Some(31));
        assert_eq!(posterior.next(Some(24), 20.0), Some(24));
        assert_eq!(posterior.next(Some(1), 0.5), Some(31));
    }

    #[test]
    fn nothing_is_left_where_only_the_last_can_be_measured() {
        let model = Model::of(&[1.0, 1.2, 0.8], &[]).unwrap();
        let chain = [&[][..]; 3];
        let posterior = Posterior::of(&model, &chain, &[false, false, true]).unwrap();
        assert_eq!(posterior.next(None, 1.0), None);
        assert_eq!(
            posterior.best(),
            Group {
                first: 0,
                last: 2,
                chance: 1.0
            }
        );
    }
}
