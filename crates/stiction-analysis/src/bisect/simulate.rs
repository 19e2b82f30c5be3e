//! Searches in histories of which the culprit is known: how often they are right, and
//! what they cost.

use stiction_core::Seed;

use super::course::CONFIDENT;
use super::model::Step;
use super::probe::{self, Answer};
use super::{Model, Posterior};

/// How commits are chosen and judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Halving, each commit judged by the sequential test: `git bisect run`.
    Halving,
    /// The posterior of all commits.
    Posterior,
}

/// A kind of history to search in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// Commits that may be the culprit, at least 1.
    pub commits: usize,
    /// The step, in deviations of a block.
    pub step_in_deviations: f64,
    /// Blocks of the two ends, from which step and noise are known; at least 2.
    pub end_blocks: u32,
    /// What a build costs, in blocks.
    pub build_blocks: f64,
    /// How it is searched.
    pub method: Method,
}

/// How searches ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// How many searches there were.
    pub worlds: u32,
    /// Share of those that named the culprit.
    pub right_share: f64,
    /// Share of those that gave up on a commit: their answer is not counted as right.
    pub unsure_share: f64,
    /// Blocks of a search on average, without those of the ends.
    pub blocks_mean: f64,
    /// Commits that a search built on average, without the ends.
    pub builds_mean: f64,
}

/// Blocks after which a search by posterior is given up.
const MOST_BLOCKS: u32 = 2000;

/// How `worlds` searches end in histories with the culprit anywhere. Noise is normal.
/// Ends that show no step are measured again, as a user would before searching.
#[must_use]
pub fn simulate(scenario: &Scenario, worlds: u32, seed: Seed) -> Simulated {
    let mut sum = Simulated {
        worlds,
        right_share: 0.0,
        unsure_share: 0.0,
        blocks_mean: 0.0,
        builds_mean: 0.0,
    };
    for world in 0..worlds {
        let mut world = World::new(scenario, seed.stream(u64::from(world)));
        let found = match scenario.method {
            Method::Halving => world.halve(scenario),
            Method::Posterior => world.by_posterior(scenario),
        };
        match found {
            Some(place) if place == world.culprit => sum.right_share += 1.0,
            Some(_) => {}
            None => sum.unsure_share += 1.0,
        }
        sum.blocks_mean += f64::from(world.blocks);
        sum.builds_mean += f64::from(world.builds);
    }
    let count = f64::from(worlds.max(1));
    sum.right_share /= count;
    sum.unsure_share /= count;
    sum.blocks_mean /= count;
    sum.builds_mean /= count;
    sum
}

/// One history, and what has been measured of it.
struct World {
    seed: Seed,
    drawn: u64,
    culprit: usize,
    step: f64,
    ends: Vec<f64>,
    measured: Vec<Vec<f64>>,
    blocks: u32,
    builds: u32,
}

impl World {
    fn new(scenario: &Scenario, seed: Seed) -> Self {
        let mut world = Self {
            seed,
            drawn: 0,
            culprit: 0,
            step: scenario.step_in_deviations,
            ends: Vec::new(),
            measured: vec![Vec::new(); scenario.commits],
            blocks: 0,
            builds: 0,
        };
        world.culprit = (world.uniform() * scenario.commits as f64) as usize;
        // A step of one deviation shows in ends of sixteen blocks by 4 standard errors;
        // the bound is only there for scenarios without a step.
        for _ in 0..100 {
            world.ends = (0..scenario.end_blocks)
                .map(|_| world.step + world.normal())
                .collect();
            if shows_a_step(&world.ends) {
                break;
            }
        }
        world
    }

    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        // 53 bits, never 0.
        ((self.seed.stream(self.drawn).0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// By the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn measure(&mut self, place: usize) {
        let level = if place >= self.culprit {
            self.step
        } else {
            0.0
        };
        let difference = level + self.normal();
        self.measured[place].push(difference);
        self.blocks += 1;
    }

    fn halve(&mut self, scenario: &Scenario) -> Option<usize> {
        let error = probe::error_per_step(scenario.commits);
        let (mut lowest, mut highest) = (0, scenario.commits - 1);
        while lowest < highest {
            let place = lowest.midpoint(highest);
            self.builds += 1;
            let answer = loop {
                self.measure(place);
                let model = probe::model(&self.ends, &self.others(place), error)?;
                match probe::answer(&model, &self.measured[place], error) {
                    Answer::Open => {}
                    answer => break answer,
                }
            };
            match answer {
                Answer::Changed => highest = place,
                Answer::Unchanged => lowest = place + 1,
                Answer::Open | Answer::Unsure => return None,
            }
        }
        Some(lowest)
    }

    fn others(&self, place: usize) -> Vec<&[f64]> {
        let others = self.measured.iter().enumerate();
        others
            .filter(|&(other, blocks)| other != place && !blocks.is_empty())
            .map(|(_, blocks)| blocks.as_slice())
            .collect()
    }

    fn by_posterior(&mut self, scenario: &Scenario) -> Option<usize> {
        let model = Model::of(&self.ends, &[])?;
        let testable = vec![true; scenario.commits];
        let mut built = None;
        while self.blocks < MOST_BLOCKS {
            let chain: Vec<&[f64]> = self.measured.iter().map(Vec::as_slice).collect();
            let posterior = Posterior::of(&model, &chain, &testable)?;
            let best = posterior.best();
            if best.chance >= CONFIDENT {
                return Some(best.last);
            }
            let place = posterior.next(built, scenario.build_blocks)?;
            if built != Some(place) {
                self.builds += 1;
                built = Some(place);
            }
            self.measure(place);
        }
        None
    }
}

/// Whether the mean lies 2.2 standard errors above 0, about as the comparison of the
/// ends asks for.
fn shows_a_step(ends: &[f64]) -> bool {
    let n = ends.len() as f64;
    let mean = ends.iter().sum::<f64>() / n;
    let squares: f64 = ends.iter().map(|d| (d - mean).powi(2)).sum();
    mean > 2.2 * (squares / (n - 1.0) / n).sqrt()
}

/// What a search is likely to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedCost {
    /// Blocks.
    pub blocks: f64,
    /// Commits that are built.
    pub builds: f64,
    /// Share of searches that give up on a commit.
    pub unsure_share: f64,
}

/// Searches that a cost is expected from.
const WORLDS_OF_COST: u32 = 60;

/// Most commits of a history that stands for longer ones.
const COMMITS_OF_COST: usize = 1024;

/// What a search through `commits` commits is likely to cost, by simulation. Longer
/// histories than 1024 commits are scaled by the number of halvings.
#[must_use]
pub fn expected_cost(
    commits: usize,
    step: Step,
    end_blocks: u32,
    build_blocks: f64,
    method: Method,
) -> ExpectedCost {
    let scenario = Scenario {
        commits: commits.clamp(1, COMMITS_OF_COST),
        // Beyond ten deviations every block is clear.
        step_in_deviations: step.in_deviations().min(10.0),
        end_blocks,
        build_blocks,
        method,
    };
    let seen = simulate(&scenario, WORLDS_OF_COST, Seed(2));
    let scale = f64::from(probe::steps(commits)) / f64::from(probe::steps(scenario.commits));
    ExpectedCost {
        blocks: seen.blocks_mean * scale,
        builds: seen.builds_mean * scale,
        unsure_share: seen.unsure_share,
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::END_BLOCKS;
    use super::*;

    fn scenario(step: f64, method: Method) -> Scenario {
        Scenario {
            commits: 64,
            step_in_deviations: step,
            end_blocks: END_BLOCKS,
            build_blocks: 4.0,
            method,
        }
    }

    /// The bound of the full size, 94 %, less two standard errors of 60 searches.
    #[test]
    fn searches_name_the_culprit() {
        for method in [Method::Halving, Method::Posterior] {
            let seen = simulate(&scenario(2.0, method), 60, Seed(1));
            let error = (0.94f64 * 0.06 / 60.0).sqrt();
            assert!(
                seen.right_share >= 0.94 - 2.0 * error,
                "{method:?} {seen:?}"
            );
        }
    }

    /// Halving takes six questions for 64 commits; Wald's bound for the number of
    /// blocks of each, at an error of .005 and two deviations: 0.99 ln 199 / 2 = 2.6,
    /// and at most an overshoot and the noise of the ends more.
    #[test]
    fn blocks_are_about_as_many_as_walds() {
        let seen = simulate(&scenario(2.0, Method::Halving), 60, Seed(1));
        assert!(
            (6.0 * 2.6..6.0 * 6.0).contains(&seen.blocks_mean),
            "{seen:?}"
        );
        assert!((seen.builds_mean - 6.0).abs() < 0.2, "{seen:?}");
    }

    #[test]
    fn the_expected_cost_grows_with_the_halvings() {
        let step = Step {
            size: 0.1,
            deviation: 0.01,
        };
        let cost = |commits| expected_cost(commits, step, 12, 4.0, Method::Halving);
        assert!((cost(1 << 20).builds / cost(1024).builds - 2.0).abs() < 1e-9);
        assert!((cost(1024).builds - 10.0).abs() < 0.5);
    }
}
