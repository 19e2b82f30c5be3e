//! Which counters moved together with the score.
//!
//! All counters of all phases go through the test that verdicts rest on: differences
//! inside blocks, or runs of two sides where there are no blocks. With so many tests some
//! come out small by chance, so the share of false ones among those told is kept at 5 %.
//! What moved is ranked by its size over its noise. A counter whose runs also follow the
//! score inside each side speaks to the noise from run to run as well.

use stiction_core::{Seed, Unit};

use super::counter::{Group, Per};
use crate::compare::decide::{LEVEL, p_alone};
use crate::compare::{Matched, Method};
use crate::estimate::plan::{FEWEST_BLOCKS, deviation};
use crate::estimate::{correct, quantiles, rank_sum, signed_rank, trend};

/// Fewest runs a side in no blocks: as for verdicts.
const FEWEST_APART: usize = 4;
/// Smaller changes are nothing to speak of, however sure.
const SMALLEST_CHANGE: f64 = 0.01;
/// What nothing can be tested is told from here on.
const LARGE_CHANGE: f64 = 0.10;
/// Noise below half a percent is not believed when counters are ranked: a counter that
/// moves by 1 % exactly is not before one that doubles.
const LEAST_NOISE: f64 = 0.005;
/// Fewest runs of both sides together of which a rank correlation is asked.
const FEWEST_WITHIN: usize = 8;

/// A counter that differs between two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovedCounter {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// Unit of its values.
    pub unit: Unit,
    /// What it was divided by.
    pub per: Per,
    /// Its median over A's runs.
    pub a: f64,
    /// Its median over B's runs.
    pub b: f64,
    /// How far it moved over how far its runs lie apart; `None` of one run a side.
    pub over_noise: Option<f64>,
    /// The share of false ones among those at least as sure; `None` where there were too
    /// few runs for a test.
    pub p_adjusted: Option<f64>,
    /// How its runs follow the score inside each side.
    pub within: Option<Within>,
}

impl MovedCounter {
    /// B's over A's; `None` where a side is not above 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.a > 0.0 && self.b > 0.0).then(|| self.b / self.a)
    }
}

/// How a counter's runs follow the score inside each side, its level on that side taken
/// away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within {
    /// Kendall's tau with the score: above 0 where more of it goes with a higher score.
    pub tau: f64,
    /// The share of false ones among those at least as sure.
    pub p_adjusted: f64,
}

impl Within {
    /// Whether it is to be told.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.p_adjusted <= LEVEL
    }
}

/// What the counters of one phase came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Together {
    /// Counters that both sides have.
    pub seen: u32,
    /// Those that were tested, in this phase: they vary, and there were runs enough.
    pub tested: u32,
    /// How; `None` where there were too few runs.
    pub method: Option<Method>,
    /// Blocks, or runs of the side that has fewer.
    pub repetitions: u32,
    /// Those that moved, the clearest first.
    pub moved: Vec<MovedCounter>,
    /// Where nothing could be tested: those that differ most.
    pub differing: Vec<MovedCounter>,
    /// How many blocks one counter alone would need to be told among so many; `None` where
    /// there are enough.
    pub blocks_needed: Option<u32>,
}

/// A counter's value in every run of both sides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) unit: Unit,
    pub(super) per: Per,
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
}

/// One phase with the counters of its runs.
pub(super) struct Gathered {
    pub(super) blocks: Vec<(Vec<usize>, Vec<usize>)>,
    pub(super) series: Vec<Series>,
    /// The score of each run.
    pub(super) score: (Vec<f64>, Vec<f64>),
}

impl Gathered {
    /// The counters that all runs of both sides have.
    pub(super) fn of(matched: &Matched<'_>, score: (Vec<f64>, Vec<f64>)) -> Self {
        let all = |phases: &[&stiction_core::Phase]| -> Vec<_> {
            phases.iter().map(|one| super::counters(one)).collect()
        };
        let (of_a, of_b) = (all(&matched.a), all(&matched.b));
        let first = of_a.first().cloned().unwrap_or_default();
        let series = first.into_iter().filter_map(|counter| {
            let values = |runs: &[Vec<super::Counter>]| -> Option<Vec<f64>> {
                let value = |run: &Vec<super::Counter>| {
                    let same = run.iter().find(|other| other.is_same(&counter));
                    same.map(|same| same.value)
                };
                runs.iter().map(value).collect()
            };
            Some(Series {
                name: counter.name,
                group: counter.group,
                unit: counter.unit,
                per: counter.per,
                a: values(&of_a)?,
                b: values(&of_b)?,
            })
        });
        Self {
            blocks: matched.blocks.clone(),
            series: series.collect(),
            score,
        }
    }

    fn method(&self) -> Option<Method> {
        let (a, b) = (&self.score.0, &self.score.1);
        if self.blocks.len() >= FEWEST_BLOCKS as usize {
            Some(Method::Paired)
        } else if self.blocks.is_empty() && a.len().min(b.len()) >= FEWEST_APART {
            Some(Method::Unpaired)
        } else {
            None
        }
    }

    fn repetitions(&self) -> usize {
        match self.blocks.len() {
            0 => self.score.0.len().min(self.score.1.len()),
            blocks => blocks,
        }
    }
}

/// What the counters of all phases came to: one family of tests.
pub(super) fn together(phases: &[Gathered], seed: Seed) -> Vec<Together> {
    let mut held = Vec::new();
    for (phase, gathered) in phases.iter().enumerate() {
        let varying = gathered.series.iter().filter(|series| series.varies());
        held.extend(varying.map(|series| (phase, Held::of(series, gathered, seed))));
    }
    let tested = |held: &(usize, Held)| held.1.p;
    let p_values: Vec<f64> = held.iter().filter_map(tested).collect();
    let mut adjusted = correct::benjamini_hochberg(&p_values).into_iter();
    let correlated: Vec<f64> = held
        .iter()
        .filter_map(|(_, held)| held.within.map(|(_, p)| p))
        .collect();
    let mut correlations = correct::benjamini_hochberg(&correlated).into_iter();
    let mut found: Vec<Together> = phases.iter().map(empty).collect();
    for (phase, one) in held {
        let together = &mut found[phase];
        let p_adjusted = one.p.and_then(|_| adjusted.next());
        let within = one.within.and_then(|(tau, _)| {
            let p_adjusted = correlations.next()?;
            Some(Within { tau, p_adjusted })
        });
        let moved = MovedCounter {
            p_adjusted,
            within,
            ..one.counter
        };
        match p_adjusted {
            Some(p) => {
                together.tested += 1;
                if p <= LEVEL && one.change >= SMALLEST_CHANGE {
                    together.moved.push(moved);
                }
            }
            None if one.change >= LARGE_CHANGE => together.differing.push(moved),
            None => {}
        }
    }
    for together in &mut found {
        let clearest = |moved: &MovedCounter| std::cmp::Reverse(ordered(moved.over_noise));
        together.moved.sort_by_key(clearest);
        let largest = |moved: &MovedCounter| std::cmp::Reverse(ordered(Some(size(moved))));
        together.differing.sort_by_key(largest);
    }
    tell_blocks_needed(&mut found, p_values.len());
    found
}

fn empty(gathered: &Gathered) -> Together {
    Together {
        seen: gathered.series.len() as u32,
        method: gathered.method(),
        repetitions: gathered.repetitions() as u32,
        ..Together::default()
    }
}

/// A pattern of signs of n blocks has the chance 2^(1 - n), and one test among `tests`
/// needs 5 % over their number.
fn tell_blocks_needed(found: &mut [Together], tests: usize) {
    if tests == 0 {
        return;
    }
    let needed = (2.0 * tests as f64 / LEVEL).log2().ceil() as u32;
    for together in found {
        let is_paired = together.method == Some(Method::Paired);
        together.blocks_needed =
            (is_paired && together.repetitions < needed).then_some(needed.max(FEWEST_BLOCKS));
    }
}

/// A float as something that sorts.
fn ordered(value: Option<f64>) -> u64 {
    // Floats that are not negative sort as their bits do.
    value.unwrap_or(0.0).max(0.0).to_bits()
}

/// How large a difference is, for those of which no noise is known.
fn size(moved: &MovedCounter) -> f64 {
    match moved.ratio() {
        Some(ratio) => ratio.ln().abs(),
        None => f64::MAX,
    }
}

impl Series {
    fn varies(&self) -> bool {
        let mut values = self.a.iter().chain(&self.b);
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    /// Both sides as they are held against each other: logarithms where all are above 0.
    fn transformed(&self) -> (Vec<f64>, Vec<f64>, f64) {
        let is_positive = self.a.iter().chain(&self.b).all(|&value| value > 0.0);
        if is_positive {
            let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
            return (logs(&self.a), logs(&self.b), 1.0);
        }
        let all = self.a.iter().chain(&self.b).map(|value| value.abs());
        let scale = all.sum::<f64>() / (self.a.len() + self.b.len()) as f64;
        (self.a.clone(), self.b.clone(), scale)
    }
}

/// One counter held against itself on the other side.
struct Held {
    counter: MovedCounter,
    /// By how much it moved, as a share.
    change: f64,
    p: Option<f64>,
    /// Kendall's tau with the score, and its p-value.
    within: Option<(f64, f64)>,
}

impl Held {
    fn of(series: &Series, gathered: &Gathered, seed: Seed) -> Self {
        let (a, b, scale) = series.transformed();
        let differences = block_differences(&gathered.blocks, &a, &b);
        let method = gathered.method();
        let (effect, noise, p) = if differences.is_empty() {
            let noise = deviation(&a).zip(deviation(&b)).map(|(a, b)| a.hypot(b));
            let tested = method == Some(Method::Unpaired);
            let p = tested.then(|| rank_sum::p_two_sided(&a, &b));
            (rank_sum::hodges_lehmann(&a, &b), noise, p)
        } else {
            let tested = method == Some(Method::Paired);
            let p = tested.then(|| p_alone(&differences, seed));
            let typical = signed_rank::hodges_lehmann(&differences);
            (typical, deviation(&differences), p)
        };
        let change = effect.unwrap_or(0.0).abs() / scale;
        let least = LEAST_NOISE * scale;
        Self {
            counter: MovedCounter {
                name: series.name,
                group: series.group,
                unit: series.unit,
                per: series.per,
                a: quantiles::median(&series.a).unwrap_or_default(),
                b: quantiles::median(&series.b).unwrap_or_default(),
                over_noise: noise.map(|noise| change * scale / noise.max(least)),
                p_adjusted: None,
                within: None,
            },
            change,
            p,
            within: within((&a, &b), &gathered.score),
        }
    }
}

/// B less A in each block, several runs of a side averaged.
fn block_differences(blocks: &[(Vec<usize>, Vec<usize>)], a: &[f64], b: &[f64]) -> Vec<f64> {
    let mean = |values: &[f64], members: &[usize]| -> f64 {
        members.iter().map(|&run| values[run]).sum::<f64>() / members.len() as f64
    };
    let each = blocks.iter();
    each.map(|(of_a, of_b)| mean(b, of_b) - mean(a, of_a))
        .collect()
}

/// The rank correlation of counter and score, each less its median on its side.
fn within(
    (a, b): (&[f64], &[f64]),
    (score_a, score_b): &(Vec<f64>, Vec<f64>),
) -> Option<(f64, f64)> {
    let mut points = residuals(score_a, a)?;
    points.extend(residuals(score_b, b)?);
    if points.len() < FEWEST_WITHIN {
        return None;
    }
    points.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Runs of one score are one point, since their order says nothing.
    let by_score: Vec<f64> = points
        .chunk_by(|x, y| x.0 == y.0)
        .map(|same| same.iter().map(|point| point.1).sum::<f64>() / same.len() as f64)
        .collect();
    let found = trend::trend(&by_score)?;
    Some((found.tau, found.p))
}

/// Score and counter of each run of a side, less their medians.
fn residuals(score: &[f64], counter: &[f64]) -> Option<Vec<(f64, f64)>> {
    let (of_score, of_counter) = (quantiles::median(score)?, quantiles::median(counter)?);
    let both = score.iter().zip(counter);
    Some(
        both.map(|(score, counter)| (score - of_score, counter - of_counter))
            .collect(),
    )
}

#[cfg(test)]
mod tests;
