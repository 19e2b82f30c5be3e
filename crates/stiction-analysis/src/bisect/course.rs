//! The whole search: from what happened to what is to be done next.
//!
//! A [`Course`] is made from the events of a search alone, and gives the same next step
//! each time. Whoever carries it out writes each event down before asking again, so a
//! search that was cut off goes on from its journal.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use stiction_core::{
    BisectEvent, BisectQuestion, BlockValues, Link, Seed, Seek, Untestable, Version,
};

use super::Posterior;
use super::ends::{self, Ends};
use super::model::{Model, Step};
use super::probe::{self, Answer};
use super::simulate::{ExpectedCost, Method, expected_cost};

/// The chance at which a culprit is named. Searches through 1024 commits for a step of
/// one deviation, with [`END_BLOCKS`] of the ends, are then right in 95.9 % (1000
/// simulated).
pub const CONFIDENT: f64 = 0.96;

/// Blocks of the two ends that a search should begin with. Four more than the twelve of
/// a comparison save eleven later, where the step is one deviation.
pub const END_BLOCKS: u32 = 16;

/// What a build costs in blocks while none has been timed.
const BUILD_BLOCKS: f64 = 4.0;

/// Why a block is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// To see that the two ends differ.
    Ends,
    /// To find the culprit of the metric with that place in the question.
    Search(usize),
    /// To compare a culprit with its parent.
    Parent,
    /// To compare BAD with and without a culprit.
    Revert,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// One more block of these two.
    Block {
        /// What the candidate is measured against.
        reference: Version,
        /// What is judged.
        candidate: Version,
        /// Why.
        aim: Aim,
    },
    /// The lines that a merge joined are to be read from the repository.
    Open {
        /// The merge.
        merge: String,
        /// The commit before it, which is not in question.
        before: String,
    },
    /// Nothing more.
    Done,
}

/// The commit that made the change, as far as is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// It is one of these, oldest first: all but the last could not be measured.
    pub commits: Vec<Link>,
    /// The chance that it is.
    pub chance: f64,
}

impl Found {
    /// The newest of the commits, which can be measured.
    #[must_use]
    pub fn culprit(&self) -> &Link {
        self.commits.last().expect("a group has a commit")
    }

    /// The first parent of the oldest; `None` at the root of the history.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.commits.first()?.parents.first().map(String::as_str)
    }

    fn is_only(&self, commit: &str) -> bool {
        self.commits.len() == 1 && self.culprit().commit == commit
    }
}

/// How far the search for one metric's culprit is.
#[derive(Clone, Debug, PartialEq)]
pub enum Hunt {
    /// The ends do not show the change that is sought.
    NoStep,
    /// This commit is to be measured.
    Measure(String),
    /// This merge is to be opened.
    Open {
        /// The merge.
        merge: String,
        /// The commit before it.
        before: String,
    },
    /// It is over.
    Found(Found),
}

#[derive(Clone, Debug)]
struct Block {
    reference: Version,
    candidate: Version,
    values: Vec<BlockValues>,
}

/// A search, from its events.
#[derive(Clone, Debug)]
pub struct Course {
    question: BisectQuestion,
    blocks: Vec<Block>,
    untestable: BTreeMap<Version, (Untestable, String)>,
    opened: BTreeMap<String, Vec<Vec<Link>>>,
    build_seconds: Vec<f64>,
    block_seconds: Vec<f64>,
    extended: bool,
    /// The verdicts on the ends, which every step asks for.
    ends: OnceCell<Vec<Ends>>,
}

impl Course {
    /// A search that has just begun.
    #[must_use]
    pub fn new(question: BisectQuestion) -> Self {
        Self {
            question,
            blocks: Vec::new(),
            untestable: BTreeMap::new(),
            opened: BTreeMap::new(),
            build_seconds: Vec::new(),
            block_seconds: Vec::new(),
            extended: false,
            ends: OnceCell::new(),
        }
    }

    /// A search from its journal; `None` when that does not begin with a question.
    #[must_use]
    pub fn of(events: &[BisectEvent]) -> Option<Self> {
        let (BisectEvent::Begun(question), rest) = events.split_first()? else {
            return None;
        };
        let mut course = Self::new((**question).clone());
        for event in rest {
            course.take(event);
        }
        Some(course)
    }

    /// Takes notice of what happened.
    pub fn take(&mut self, event: &BisectEvent) {
        match event.clone() {
            BisectEvent::Begun(_) => {}
            BisectEvent::Extended { end_blocks } => {
                self.question.end_blocks = end_blocks;
                self.extended = true;
            }
            BisectEvent::Built { seconds, .. } => self.build_seconds.push(seconds),
            BisectEvent::Untestable {
                version,
                step,
                message,
            } => {
                self.untestable.insert(version, (step, message));
            }
            BisectEvent::Block {
                reference,
                candidate,
                values,
                seconds,
                ..
            } => {
                self.block_seconds.push(seconds);
                if reference == self.good() && candidate == self.bad() {
                    self.ends = OnceCell::new();
                }
                self.blocks.push(Block {
                    reference,
                    candidate,
                    values,
                });
            }
            BisectEvent::Opened { merge, lines } => {
                self.opened.insert(merge, lines);
            }
        }
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> &BisectQuestion {
        &self.question
    }

    /// Whether blocks of the ends were added after a look at them.
    #[must_use]
    pub fn is_extended(&self) -> bool {
        self.extended
    }

    /// Blocks measured so far.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks of a commit against GOOD.
    #[must_use]
    pub fn blocks_of(&self, commit: &str) -> usize {
        let version = Version::Commit(commit.to_owned());
        self.between(&self.good(), &version).count()
    }

    /// Builds made so far.
    #[must_use]
    pub fn builds(&self) -> usize {
        self.build_seconds.len()
    }

    /// Versions that have no numbers, with the step that failed and what was said.
    pub fn untestable(&self) -> impl Iterator<Item = (&Version, Untestable, &str)> {
        self.untestable
            .iter()
            .map(|(version, (step, message))| (version, *step, message.as_str()))
    }

    /// Why `version` has no numbers, if it has none.
    #[must_use]
    pub fn why_untestable(&self, version: &Version) -> Option<(Untestable, &str)> {
        let (step, message) = self.untestable.get(version)?;
        Some((*step, message))
    }

    pub(super) fn good(&self) -> Version {
        Version::Commit(self.question.good.clone())
    }

    pub(super) fn bad(&self) -> Version {
        Version::Commit(self.question.bad.clone())
    }

    pub(super) fn between<'a>(
        &'a self,
        reference: &'a Version,
        candidate: &'a Version,
    ) -> impl Iterator<Item = &'a [BlockValues]> {
        self.blocks
            .iter()
            .filter(move |block| block.reference == *reference && block.candidate == *candidate)
            .map(|block| block.values.as_slice())
    }

    /// The differences of `candidate` from GOOD toward the change.
    fn differences(&self, candidate: &Version, metric: usize) -> Vec<f64> {
        let sought = &self.question.metrics[metric];
        let seek = self.question.seek;
        self.between(&self.good(), candidate)
            .filter_map(|values| ends::toward_change(*values.get(metric)?, sought, seek))
            .collect()
    }

    pub(super) fn judged(&self, reference: &Version, candidate: &Version) -> Vec<Ends> {
        let blocks: Vec<&[BlockValues]> = self.between(reference, candidate).collect();
        // The same events give the same verdict: the flips need no seed of their own.
        ends::judge(&blocks, &self.question.metrics, Seed(0))
    }

    /// How the two ends compare, by metric.
    #[must_use]
    pub fn ends(&self) -> &[Ends] {
        self.ends
            .get_or_init(|| self.judged(&self.good(), &self.bad()))
    }

    /// Whether the ends show the change that is sought in a metric.
    #[must_use]
    pub fn shows_step(&self, metric: usize) -> bool {
        let ends = self.ends().get(metric);
        ends.is_some_and(|ends| ends.show(self.question.seek))
    }

    /// Step and noise of a metric, from the ends; `None` without a step.
    #[must_use]
    pub fn step(&self, metric: usize) -> Option<Step> {
        Some(self.model(metric, &[])?.step())
    }

    fn model(&self, metric: usize, beside: &[&[f64]]) -> Option<Model> {
        Model::of(&self.differences(&self.bad(), metric), beside)
    }

    /// Whether the blocks of the ends are all there, or cannot be had.
    #[must_use]
    pub fn ends_are_measured(&self) -> bool {
        let (good, bad) = (self.good(), self.bad());
        self.is_lost(&good, &bad)
            || self.between(&good, &bad).count() >= self.question.end_blocks as usize
    }

    /// Whether one of the two has no numbers.
    pub(super) fn is_lost(&self, reference: &Version, candidate: &Version) -> bool {
        self.untestable.contains_key(reference) || self.untestable.contains_key(candidate)
    }

    /// What a build costs in blocks, by the times so far.
    #[must_use]
    pub fn build_blocks(&self) -> f64 {
        if self.question.build.is_none() {
            return 0.0;
        }
        match (mean(&self.build_seconds), mean(&self.block_seconds)) {
            (Some(build), Some(block)) if block > 0.0 => build / block,
            _ => BUILD_BLOCKS,
        }
    }

    /// How long a search with such a cost takes, s; `None` before a block was timed.
    #[must_use]
    pub fn seconds_of(&self, cost: ExpectedCost) -> Option<f64> {
        let build = mean(&self.build_seconds).unwrap_or(0.0);
        Some(cost.blocks * mean(&self.block_seconds)? + cost.builds * build)
    }

    /// What the search for a metric's culprit is likely to cost.
    #[must_use]
    pub fn expected(&self, metric: usize, method: Method) -> Option<ExpectedCost> {
        Some(expected_cost(
            self.question.chain.len(),
            self.step(metric)?,
            self.question.end_blocks,
            self.build_blocks(),
            method,
        ))
    }

    /// What the blocks of one commit say about a metric, as a sequential test whose
    /// chance to err is that of one question of a search through the whole chain.
    ///
    /// [`Answer::Unsure`] where the ends show no step.
    #[must_use]
    pub fn answer(&self, commit: &str, metric: usize) -> Answer {
        if commit == self.question.good {
            return Answer::Unchanged;
        }
        if commit == self.question.bad {
            return Answer::Changed;
        }
        let Some((model, differences)) = self.probed(commit, metric) else {
            return Answer::Unsure;
        };
        probe::answer(&model, &differences, self.error_per_step())
    }

    /// Whether the blocks of a commit lie between the two levels.
    #[must_use]
    pub fn is_between(&self, commit: &str, metric: usize) -> bool {
        self.probed(commit, metric)
            .is_some_and(|(model, differences)| probe::is_between(&model, &differences))
    }

    fn probed(&self, commit: &str, metric: usize) -> Option<(Model, Vec<f64>)> {
        let version = Version::Commit(commit.to_owned());
        let others: Vec<Vec<f64>> = self
            .measured()
            .into_iter()
            .filter(|other| **other != version && **other != self.bad())
            .map(|other| self.differences(other, metric))
            .collect();
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        let ends = self.differences(&self.bad(), metric);
        let model = probe::model(&ends, &others, self.error_per_step())?;
        Some((model, self.differences(&version, metric)))
    }

    fn error_per_step(&self) -> f64 {
        probe::error_per_step(self.question.chain.len())
    }

    /// The versions that have blocks against GOOD, each once.
    fn measured(&self) -> Vec<&Version> {
        let good = self.good();
        let against_good = self.blocks.iter().filter(|block| block.reference == good);
        let mut versions: Vec<&Version> = against_good.map(|block| &block.candidate).collect();
        versions.sort();
        versions.dedup();
        versions
    }

    /// Commits, other than BAD, whose level lies between those of the ends.
    #[must_use]
    pub fn between_levels(&self, metric: usize) -> Vec<&str> {
        self.measured()
            .into_iter()
            .filter_map(|version| match version {
                Version::Commit(id) if *id != self.question.bad => Some(id.as_str()),
                _ => None,
            })
            .filter(|id| self.is_between(id, metric))
            .collect()
    }

    /// How far the search for the culprit of a metric is.
    #[must_use]
    pub fn hunt(&self, metric: usize) -> Hunt {
        let shown = self.shows_step(metric);
        match self.model(metric, &[]) {
            Some(model) if shown => {
                let line = Line {
                    links: &self.question.chain,
                    before: &self.question.good,
                    inside: None,
                };
                self.search(&model, metric, line, 1.0)
            }
            _ => Hunt::NoStep,
        }
    }

    /// The commits of the chain with the chance of each to be the culprit of a metric,
    /// likeliest first; empty where the ends show no step.
    #[must_use]
    pub fn likeliest(&self, metric: usize) -> Vec<(&Link, f64)> {
        let chain = &self.question.chain;
        let posterior = self
            .model(metric, &[])
            .and_then(|model| self.posterior(&model, metric, chain));
        let Some(posterior) = posterior else {
            return Vec::new();
        };
        let chances = posterior.chances().iter().copied();
        let mut likeliest: Vec<(&Link, f64)> = chain.iter().zip(chances).collect();
        likeliest.sort_by(|a, b| b.1.total_cmp(&a.1));
        likeliest
    }

    fn posterior(&self, model: &Model, metric: usize, links: &[Link]) -> Option<Posterior> {
        // By commit first: chains have thousands, and most were never measured.
        let measured: BTreeMap<&str, Vec<f64>> = self
            .measured()
            .into_iter()
            .filter_map(|version| match version {
                // The blocks of BAD are the ends', which the model has already.
                Version::Commit(id) if *id != self.question.bad => {
                    Some((id.as_str(), self.differences(version, metric)))
                }
                _ => None,
            })
            .collect();
        let differences: Vec<&[f64]> = links
            .iter()
            .map(|link| {
                measured
                    .get(link.commit.as_str())
                    .map_or(&[][..], Vec::as_slice)
            })
            .collect();
        let testable: Vec<bool> = links
            .iter()
            .map(|link| {
                let version = Version::Commit(link.commit.clone());
                !self.untestable.contains_key(&version)
            })
            .collect();
        Posterior::of(model, &differences, &testable)
    }

    fn search(&self, model: &Model, metric: usize, line: Line<'_>, chance: f64) -> Hunt {
        let Some(posterior) = self.posterior(model, metric, line.links) else {
            return Hunt::NoStep;
        };
        let best = posterior.best();
        if best.chance < CONFIDENT {
            let next = posterior.next(self.built_in(line.links), self.build_blocks());
            if let Some(link) = next.map(|place| &line.links[place]) {
                // A commit that stays undecided so long fits neither level.
                if self.blocks_of(&link.commit) < probe::MOST_BLOCKS {
                    return Hunt::Measure(link.commit.clone());
                }
            }
        }
        let found = Found {
            commits: line.links[best.first..=best.last].to_vec(),
            chance: chance * best.chance,
        };
        let culprit = found.culprit();
        if found.commits.len() > 1 || !culprit.is_merge() || line.inside == Some(&culprit.commit) {
            return Hunt::Found(found);
        }
        let before = match best.first.checked_sub(1) {
            Some(place) => &line.links[place].commit,
            None => line.before,
        };
        self.descend(model, metric, found, before)
    }

    /// Into the lines that the merge joined, one after the other.
    fn descend(&self, model: &Model, metric: usize, mut found: Found, before: &str) -> Hunt {
        let merge = found.culprit().commit.clone();
        let Some(lines) = self.opened.get(&merge) else {
            let before = before.to_owned();
            return Hunt::Open { merge, before };
        };
        for links in lines {
            let line = Line {
                links,
                before,
                inside: Some(&merge),
            };
            match self.search(model, metric, line, found.chance) {
                Hunt::Found(deeper) if deeper.is_only(&merge) => found.chance = deeper.chance,
                // A line without commits has nothing to search in.
                Hunt::NoStep => {}
                other => return other,
            }
        }
        Hunt::Found(found)
    }

    /// The place in `links` of the commit that was measured last, which is built.
    fn built_in(&self, links: &[Link]) -> Option<usize> {
        let Version::Commit(last) = &self.blocks.last()?.candidate else {
            return None;
        };
        links.iter().position(|link| link.commit == *last)
    }

    /// What is to be done next; with `bracket`, until every culprit is confirmed or
    /// known to be no more than likely.
    #[must_use]
    pub fn next(&self, bracket: bool) -> Next {
        if !self.ends_are_measured() {
            return Next::Block {
                reference: self.good(),
                candidate: self.bad(),
                aim: Aim::Ends,
            };
        }
        let mut found = Vec::new();
        for metric in 0..self.question.metrics.len() {
            match self.hunt(metric) {
                Hunt::NoStep => {}
                Hunt::Measure(commit) => {
                    return Next::Block {
                        reference: self.good(),
                        candidate: Version::Commit(commit),
                        aim: Aim::Search(metric),
                    };
                }
                Hunt::Open { merge, before } => return Next::Open { merge, before },
                Hunt::Found(culprit) => found.push((metric, culprit)),
            }
        }
        let brackets = found.iter().filter(|_| bracket);
        let mut open =
            brackets.filter_map(|(metric, culprit)| self.next_of_bracket(*metric, culprit));
        open.next().unwrap_or(Next::Done)
    }
}

/// A line of commits to search in.
#[derive(Clone, Copy)]
struct Line<'a> {
    links: &'a [Link],
    /// The commit before the first.
    before: &'a str,
    /// The merge that joined it, which ends it.
    inside: Option<&'a String>,
}

/// The change the other way round.
pub(super) fn opposite(seek: Seek) -> Seek {
    match seek {
        Seek::Worse => Seek::Better,
        Seek::Better => Seek::Worse,
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
