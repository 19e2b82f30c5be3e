//! The last word on a culprit: against its parent, and BAD without it.

use stiction_core::Version;

use super::course::{Aim, Course, Found, Next, opposite};
use super::ends::Ends;
use crate::estimate::plan;

/// Fewest and most blocks for the comparison of a culprit with its parent.
const BLOCKS: (u32, u32) = (8, 30);

/// What the last comparisons say of a culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct Bracket {
    /// The culprit against its parent, where both can be measured.
    pub parent: Option<Ends>,
    /// BAD without the culprit against BAD, where the culprit can be taken back.
    pub reverted: Option<Ends>,
    /// What it comes to.
    pub confirmation: Confirmation,
}

/// Whether a culprit is confirmed.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirmation {
    /// It differs from its parent, and without it the change is gone, where that could
    /// be tried.
    Confirmed,
    /// It is no more than the likeliest, for these reasons.
    BestGuess(Vec<String>),
}

impl Course {
    /// What is to be measured next to confirm a culprit; `None` when nothing is.
    #[must_use]
    pub fn next_of_bracket(&self, metric: usize, found: &Found) -> Option<Next> {
        let wanted = self.bracket_blocks(metric) as usize;
        let parent = parent_pair(found).map(|pair| (pair, Aim::Parent));
        let revert = (self.revert_pair(found), Aim::Revert);
        for ((reference, candidate), aim) in parent.into_iter().chain([revert]) {
            let measured = self.between(&reference, &candidate).count();
            if !self.is_lost(&reference, &candidate) && measured < wanted {
                return Some(Next::Block {
                    reference,
                    candidate,
                    aim,
                });
            }
        }
        None
    }

    /// Blocks that are likely to show the step.
    fn bracket_blocks(&self, metric: usize) -> u32 {
        let (fewest, most) = BLOCKS;
        let needed = self
            .step(metric)
            .and_then(|step| plan::blocks_needed(step.deviation, step.size.exp_m1()));
        needed.unwrap_or(most).clamp(fewest, most)
    }

    fn revert_pair(&self, found: &Found) -> (Version, Version) {
        let without = Version::Without {
            commit: self.question().bad.clone(),
            reverted: found.culprit().commit.clone(),
        };
        (self.bad(), without)
    }

    /// What the comparisons of a culprit say.
    #[must_use]
    pub fn bracket(&self, metric: usize, found: &Found) -> Bracket {
        let seek = self.question().seek;
        let judged = |(reference, candidate): (Version, Version)| {
            let any = self.between(&reference, &candidate).next().is_some();
            any.then(|| self.judged(&reference, &candidate).swap_remove(metric))
        };
        let parent = parent_pair(found).and_then(judged);
        let reverted = judged(self.revert_pair(found));
        let mut doubts = Vec::new();
        let said = |ends: &Ends| format!("{} after {} blocks", ends.verdict.word(), ends.blocks);
        match &parent {
            None => doubts.push("it was not compared with its parent".to_owned()),
            Some(ends) if !ends.lean(seek) => {
                doubts.push(format!("against its parent: {}", said(ends)));
            }
            Some(_) => {}
        }
        // To take the culprit back is the change the other way round.
        if let Some(ends) = reverted.as_ref().filter(|ends| !ends.lean(opposite(seek))) {
            doubts.push(format!("BAD without it, against BAD: {}", said(ends)));
        }
        if let beside @ 1.. = found.commits.len() - 1 {
            doubts.push(format!(
                "it may be one of {beside} before it that could not be measured"
            ));
        }
        let confirmation = if doubts.is_empty() {
            Confirmation::Confirmed
        } else {
            Confirmation::BestGuess(doubts)
        };
        Bracket {
            parent,
            reverted,
            confirmation,
        }
    }
}

fn parent_pair(found: &Found) -> Option<(Version, Version)> {
    let parent = Version::Commit(found.parent()?.to_owned());
    Some((parent, Version::Commit(found.culprit().commit.clone())))
}
