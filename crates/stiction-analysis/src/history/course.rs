//! What a series came to: its levels, the changes between them, and its newest point.

use std::ops::Range;

use stiction_core::{Annotation, Better, MetricClass, Seed};

use super::divisive::{Rule, change_points, serial_correlation};
use super::prediction;
use super::series::Series;
use super::shift;
use crate::estimate::plan::deviation;
use crate::estimate::rank_sum;
use crate::verdict::Effects;

/// How a series is judged.
#[derive(Clone, Debug)]
pub struct CourseOptions {
    /// The smallest changes that count.
    pub effects: Effects,
    /// What counts as a change.
    pub rule: Rule,
    /// Of the random orders.
    pub seed: Seed,
}

impl Default for CourseOptions {
    fn default() -> Self {
        Self {
            effects: Effects::default(),
            rule: Rule::default(),
            seed: Seed(1),
        }
    }
}

/// A stretch of a series at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Its points, by index.
    pub points: Range<usize>,
    /// The geometric mean of those with a value, in the metric's unit; `None` without any.
    pub level: Option<f64>,
    /// The deviation of their logarithms, as a share: 0.02 is about 2 %. `None` below two.
    pub spread: Option<f64>,
}

/// A change of the level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first point after it.
    pub at: usize,
    /// By how much the values changed, as a share of the old level, with the metric's own
    /// sign: -0.1 is 10 % less.
    pub size: f64,
    /// The interval that covers the size with 95 %, where there are points enough.
    pub interval: Option<(f64, f64)>,
    /// Whether it is for the worse; `None` where neither is better.
    pub is_worse: Option<bool>,
    /// The p-value of the change, for the series of noise; of no use for anything else.
    pub p: f64,
    /// Consecutive points that stayed together for it.
    pub block_length: usize,
    /// Whether it rests on fewer than five points after it.
    pub provisional: bool,
}

/// What is said of the newest point alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// Where it was to lie, in the metric's unit.
    pub expected: (f64, f64),
    /// Points that this rests on.
    pub points: usize,
    /// How far from their mean it is, as a share.
    pub size: f64,
    /// Whether it is worse; `None` where neither is better.
    pub is_worse: Option<bool>,
}

/// A place where a person's word cuts the series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesCut {
    /// Index of the first point after it.
    pub at: usize,
    /// The note.
    pub annotation: Annotation,
}

/// Where a series stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The newest point has no value.
    Failed,
    /// The level has changed, and nobody has said that it is known.
    Changed,
    /// It seems to have changed: fewer than five points are at the new level.
    Provisional,
    /// The newest point lies where it was not to.
    Flagged,
    /// Nothing has changed.
    Steady,
    /// Too few points to tell.
    TooFew,
}

impl State {
    /// Every state, what calls for action first.
    pub const ALL: [Self; 6] = [
        Self::Failed,
        Self::Changed,
        Self::Provisional,
        Self::Flagged,
        Self::Steady,
        Self::TooFew,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "FAILED",
            Self::Changed => "changed",
            Self::Provisional => "provisional",
            Self::Flagged => "flagged",
            Self::Steady => "steady",
            Self::TooFew => "too few",
        }
    }
}

/// A series and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The series.
    pub series: Series,
    /// Where it stands.
    pub state: State,
    /// Its stretches, oldest first.
    pub stretches: Vec<Stretch>,
    /// The changes between them that are no cuts, oldest first.
    pub changes: Vec<LevelChange>,
    /// Changes that the test found and that are smaller than the effect of interest.
    pub smaller: usize,
    /// The cuts, oldest first.
    pub cuts: Vec<SeriesCut>,
    /// The smallest effect of interest, as a share.
    pub effect: f64,
    /// What is said of the newest point, where it is not as expected.
    pub flag: Option<Flag>,
    /// The correlation of neighbours within the stretches.
    pub serial_correlation: f64,
}

/// Judges one series. `annotations` may be about others too.
#[must_use]
pub fn course(series: Series, annotations: &[Annotation], options: &CourseOptions) -> Course {
    let class = series.key.metric.class;
    let effect = options.effects.of(class).unwrap_or(f64::INFINITY);
    let margin = effect.ln_1p();
    let logs = Logs::of(&series);
    let cuts = cuts(&series, annotations);
    let mut found = Found::default();
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut.at).collect();
    bounds.push(series.points.len());
    let mut from = 0;
    for to in bounds {
        found.look(&logs, from..to, to == series.points.len(), margin, options);
        from = to;
    }
    let better = series.key.metric.better;
    let changes: Vec<LevelChange> = found
        .changes
        .iter()
        .map(|change| change.told(&logs, better))
        .collect();
    let stretches: Vec<Stretch> = found.stretches.iter().map(|s| logs.stretch(s)).collect();
    let last = stretches.last().map(|last| last.points.clone());
    let flag = last.and_then(|last| flag(&logs, last, margin, better));
    let serial_correlation = serial_correlation(&logs.residuals(&found.stretches));
    Course {
        state: state(&series, &changes, flag.as_ref()),
        stretches,
        changes,
        smaller: found.smaller,
        cuts,
        effect,
        flag,
        serial_correlation,
        series,
    }
}

/// The effect that counts for a class, for those who list series without judging them.
#[must_use]
pub fn is_judged(class: MetricClass) -> bool {
    Effects::default().of(class).is_some()
}

fn state(series: &Series, changes: &[LevelChange], flag: Option<&Flag>) -> State {
    let newest_failed = series.points.last().is_some_and(|p| p.value.is_none());
    if newest_failed {
        return State::Failed;
    }
    match changes.last() {
        Some(change) if !change.provisional => State::Changed,
        Some(_) => State::Provisional,
        None if flag.is_some() => State::Flagged,
        None => {
            let valued = series.points.iter().filter(|p| p.value.is_some()).count();
            if valued > prediction::FEWEST {
                State::Steady
            } else {
                State::TooFew
            }
        }
    }
}

/// Where the annotations cut the series: before the first point that began no earlier.
fn cuts(series: &Series, annotations: &[Annotation]) -> Vec<SeriesCut> {
    let id = series.key.id();
    let ours = annotations
        .iter()
        .filter(|note| note.series.as_ref().is_none_or(|named| *named == id));
    let mut cuts: Vec<SeriesCut> = ours
        .filter_map(|annotation| {
            let holds = |point: &super::series::Point| point.sessions.contains(&annotation.session);
            let points = &series.points;
            let at = points.iter().position(holds).or_else(|| {
                points
                    .iter()
                    .position(|point| point.started >= annotation.at)
            })?;
            let annotation = annotation.clone();
            (at > 0).then_some(SeriesCut { at, annotation })
        })
        .collect();
    cuts.sort_by_key(|cut| cut.at);
    cuts
}

/// The logarithms of the points that have values, and where these stand in the series.
struct Logs {
    values: Vec<f64>,
    places: Vec<usize>,
}

impl Logs {
    fn of(series: &Series) -> Self {
        let valued = series.points.iter().enumerate();
        let valued = valued.filter_map(|(place, point)| Some((point.value?.ln(), place)));
        let (values, places) = valued.unzip();
        Self { values, places }
    }

    /// The range of our values whose points lie in `points`.
    fn within(&self, points: &Range<usize>) -> Range<usize> {
        let at = |place: usize| self.places.partition_point(|&other| other < place);
        at(points.start)..at(points.end)
    }

    fn stretch(&self, points: &Range<usize>) -> Stretch {
        let values = &self.values[self.within(points)];
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        Stretch {
            points: points.clone(),
            level: (n > 0.0).then(|| mean.exp()),
            spread: deviation(values),
        }
    }

    /// What the level of each stretch leaves over.
    fn residuals(&self, stretches: &[Range<usize>]) -> Vec<f64> {
        let of = |stretch: &Range<usize>| {
            let values = &self.values[self.within(stretch)];
            // Less the first, so that equal values leave nothing over and not rounding.
            let first = values.first().copied().unwrap_or(0.0);
            let sum: f64 = values.iter().map(|value| value - first).sum();
            let mean = sum / values.len() as f64;
            let residuals = values.iter().map(|value| value - first - mean);
            residuals.collect::<Vec<_>>()
        };
        stretches.iter().flat_map(of).collect()
    }
}

/// A change between two stretches, on logarithms.
struct Between {
    before: Range<usize>,
    after: Range<usize>,
    p: f64,
    block_length: usize,
    provisional: bool,
}

impl Between {
    /// The values before and after.
    fn sides<'a>(&self, logs: &'a Logs) -> (&'a [f64], &'a [f64]) {
        let of = |range: &Range<usize>| &logs.values[range.clone()];
        (of(&self.before), of(&self.after))
    }

    /// How far the one side lies from the other, as a difference of logarithms.
    fn size(&self, logs: &Logs) -> f64 {
        let (before, after) = self.sides(logs);
        rank_sum::hodges_lehmann(before, after).unwrap_or(0.0)
    }

    fn told(&self, logs: &Logs, better: Better) -> LevelChange {
        let size = self.size(logs);
        let (before, after) = self.sides(logs);
        let interval = shift::interval(before, after);
        LevelChange {
            at: logs.places[self.after.start],
            size: size.exp_m1(),
            interval: interval.map(|(low, high)| (low.exp_m1(), high.exp_m1())),
            is_worse: is_worse(size, better),
            p: self.p,
            block_length: self.block_length,
            provisional: self.provisional,
        }
    }
}

fn is_worse(size: f64, better: Better) -> Option<bool> {
    match better {
        Better::More => Some(size < 0.0),
        Better::Less => Some(size > 0.0),
        Better::Neither => None,
    }
}

/// What the pieces between cuts came to, in order.
#[derive(Default)]
struct Found {
    changes: Vec<Between>,
    stretches: Vec<Range<usize>>,
    smaller: usize,
}

impl Found {
    /// Looks for changes among the points of one piece.
    fn look(
        &mut self,
        logs: &Logs,
        points: Range<usize>,
        is_newest: bool,
        margin: f64,
        options: &CourseOptions,
    ) {
        let values = logs.within(&points);
        let rule = Rule {
            // Only the newest end of the series has a newest change.
            fewest_newest: if is_newest {
                options.rule.fewest_newest
            } else {
                options.rule.fewest
            },
            ..options.rule
        };
        let found = change_points(&logs.values[values.clone()], &rule, options.seed);
        let mut changes: Vec<Between> = found
            .iter()
            .map(|change| Between {
                before: values.start..values.start,
                after: values.start + change.at..values.end,
                p: change.p,
                block_length: change.block_length,
                provisional: change.provisional,
            })
            .collect();
        // The smallest goes first: what remains is then between larger stretches, and two
        // small steps in one direction can come to a large one.
        loop {
            bound(&mut changes, &values);
            let sizes = changes.iter().map(|change| change.size(logs).abs());
            let smallest = sizes.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            match smallest {
                Some((place, size)) if size < margin => {
                    changes.remove(place);
                    self.smaller += 1;
                }
                _ => break,
            }
        }
        let mut start = points.start;
        for change in &changes {
            let at = logs.places[change.after.start];
            self.stretches.push(start..at);
            start = at;
        }
        self.stretches.push(start..points.end);
        self.changes.extend(changes);
    }
}

/// Lets each change reach from the one before it to the one after it.
fn bound(changes: &mut [Between], values: &Range<usize>) {
    let starts: Vec<usize> = changes.iter().map(|change| change.after.start).collect();
    for (place, change) in changes.iter_mut().enumerate() {
        let before = place.checked_sub(1).map_or(values.start, |p| starts[p]);
        let end = starts.get(place + 1).copied().unwrap_or(values.end);
        change.before = before..starts[place];
        change.after = starts[place]..end;
    }
}

/// The newest point against those of its stretch before it. The one before it does not
/// count where enough are left: of two strange points the first would excuse the second.
fn flag(logs: &Logs, stretch: Range<usize>, margin: f64, better: Better) -> Option<Flag> {
    let values = logs.within(&stretch);
    let (&newest, before) = logs.values[values].split_last()?;
    let kept = before.len().saturating_sub(1).max(prediction::FEWEST);
    let before = &before[..kept.min(before.len())];
    let (lowest, highest) = prediction::next(before)?;
    let mean = before.iter().sum::<f64>() / before.len() as f64;
    let away = newest - mean;
    let is_outside = newest < lowest || newest > highest;
    (is_outside && away.abs() >= margin).then(|| Flag {
        expected: (lowest.exp(), highest.exp()),
        points: before.len(),
        size: away.exp_m1(),
        is_worse: is_worse(away, better),
    })
}

#[cfg(test)]
mod tests;
