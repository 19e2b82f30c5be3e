//! Sessions to series: one for each figure on each key, one point for each unit.

use std::collections::{BTreeMap, HashMap};

use stiction_core::{
    Digest, Metric, MetricClass, Phase, PhaseKind, PhaseOutcome, Session, SessionId, Trial,
    TrialOutcome, Unit,
};

use super::key::{Context, Key, Place};
use crate::verdict::Effects;

/// What one point stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointUnit {
    /// One start of the machine, or one label within it: what runs within one share more
    /// than runs of different ones, and do not count as so many.
    Boot,
    /// One session: right where nothing that is fixed at boot differs between them.
    Session,
}

/// Which series are made, and how.
#[derive(Clone, Debug)]
pub struct SeriesOptions {
    /// What a point is.
    pub unit: PointUnit,
    /// Labels, oldest first, that give the order, such as the hashes of commits; sessions
    /// with none of them are left out. By time where there are none.
    pub order: Option<Vec<String>>,
    /// The smallest effects of interest: a class without one has no series.
    pub effects: Effects,
}

impl Default for SeriesOptions {
    /// Boots, by time, and the usual classes.
    fn default() -> Self {
        Self {
            unit: PointUnit::Boot,
            order: None,
            effects: Effects::default(),
        }
    }
}

/// One point of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The geometric mean of its runs, in the metric's unit; `None` when each of them
    /// failed or gave 0.
    pub value: Option<f64>,
    /// Runs behind the value.
    pub runs: usize,
    /// Its sessions, oldest first; never empty.
    pub sessions: Vec<SessionId>,
    /// When the first of them began.
    pub started: jiff::Timestamp,
    /// What they are called.
    pub label: Option<String>,
    /// The boot, where it is known.
    pub boot: Option<Digest>,
    /// Why runs have no value, a sentence each.
    pub failures: Vec<String>,
}

impl Point {
    /// The session that it is named by: its first.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.sessions[0]
    }
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is of.
    pub key: Key,
    /// Its points, oldest first.
    pub points: Vec<Point>,
    /// Whether it is the first figure of its phase that can be judged: the one to look at
    /// before all others.
    pub is_main: bool,
    /// Sessions that have its figure and are not among the labels that give the order.
    pub unplaced: usize,
}

/// The figures of one series as they are met, session by session.
struct Draft {
    metric: Metric,
    is_main: bool,
    /// The place of the session, and the value or why there is none.
    runs: Vec<(usize, Result<f64, String>)>,
}

/// Everything of one context: its series by phase and metric, and its failed trials.
#[derive(Default)]
struct Gathered {
    series: Vec<(String, Draft)>,
    index: HashMap<(String, String, Unit), usize>,
    failed: Vec<(usize, String)>,
}

/// The series in `sessions`, in any order and with or without what was recorded. Metrics
/// that are described and not judged have none.
#[must_use]
pub fn series(sessions: &[Session], options: &SeriesOptions) -> Vec<Series> {
    let mut by_time: Vec<&Session> = sessions.iter().collect();
    by_time.sort_by_key(|session| (session.header.started, session.header.id.clone()));
    let mut contexts: BTreeMap<Context, Gathered> = BTreeMap::new();
    for (number, session) in by_time.iter().enumerate() {
        let place = Place::of(session);
        for trial in &session.trials {
            let context = place.context(&trial.cell, trial.targets.as_deref());
            contexts
                .entry(context)
                .or_default()
                .take(number, trial, &options.effects);
        }
    }
    let mut all = Vec::new();
    for (context, gathered) in contexts {
        all.extend(gathered.finish(&context, &by_time, options));
    }
    all
}

impl Gathered {
    fn take(&mut self, session: usize, trial: &Trial, effects: &Effects) {
        if let TrialOutcome::Failed { message } = &trial.outcome {
            self.failed.push((session, format!("it failed: {message}")));
        }
        for phase in &trial.phases {
            if phase.kind == PhaseKind::Measure {
                self.take_phase(session, phase, effects);
            }
        }
    }

    fn take_phase(&mut self, session: usize, phase: &Phase, effects: &Effects) {
        if let PhaseOutcome::Failed { message } = &phase.outcome {
            let message = format!("{} failed: {message}", phase.name);
            self.failed.push((session, message));
            return;
        }
        let mut is_main = true;
        for measurement in &phase.measurements {
            let metric = &measurement.metric;
            if effects.of(metric.class).is_none() {
                continue;
            }
            let value = measurement.value;
            if value == 0.0 && metric.class == MetricClass::Cpu {
                // CPU time is counted in ticks: less than one may read 0, and is no failure.
                continue;
            }
            let key = (phase.name.clone(), metric.name.to_string(), metric.unit);
            let place = *self.index.entry(key).or_insert_with(|| {
                let draft = Draft {
                    metric: metric.clone(),
                    is_main,
                    runs: Vec::new(),
                };
                self.series.push((phase.name.clone(), draft));
                self.series.len() - 1
            });
            is_main = false;
            let run = if value.is_finite() && value > 0.0 {
                Ok(value)
            } else {
                Err(format!(
                    "{} is {value}, which has no logarithm",
                    metric.name
                ))
            };
            self.series[place].1.runs.push((session, run));
        }
    }

    fn finish(
        self,
        context: &Context,
        sessions: &[&Session],
        options: &SeriesOptions,
    ) -> Vec<Series> {
        let failed = self.failed;
        let finished = self.series.into_iter().map(|(phase, draft)| {
            let mut runs = draft.runs;
            // A trial that failed in another phase may have this one's figure all the same.
            let without = failed.iter().filter(|(session, _)| {
                let has = |(other, _): &(usize, _)| other == session;
                !runs.iter().any(has)
            });
            let without: Vec<_> = without.map(|(s, why)| (*s, Err(why.clone()))).collect();
            runs.extend(without);
            runs.sort_by_key(|(session, _)| *session);
            let (points, unplaced) = points(runs, sessions, options);
            Series {
                key: Key {
                    context: context.clone(),
                    phase,
                    metric: draft.metric,
                },
                points,
                is_main: draft.is_main,
                unplaced,
            }
        });
        finished
            .filter(|series| !series.points.is_empty())
            .collect()
    }
}

/// The points in their order, and how many sessions have none.
fn points(
    runs: Vec<(usize, Result<f64, String>)>,
    sessions: &[&Session],
    options: &SeriesOptions,
) -> (Vec<Point>, usize) {
    let mut drafts: Vec<(Point, f64)> = Vec::new();
    let mut index: HashMap<(Option<&Digest>, Option<&str>), usize> = HashMap::new();
    for (number, run) in runs {
        let header = &sessions[number].header;
        let boot = header.environment.kernel.as_ref();
        let boot = boot.and_then(|kernel| kernel.boot.as_ref());
        let label = header.label.as_deref();
        let is_last = |place: &usize| drafts[*place].0.sessions.last() == Some(&header.id);
        let known = match (options.unit, boot) {
            (PointUnit::Boot, Some(_)) => index.get(&(boot, label)).copied(),
            _ => drafts.len().checked_sub(1).filter(is_last),
        };
        let place = known.unwrap_or_else(|| {
            index.insert((boot, label), drafts.len());
            let point = Point {
                value: None,
                runs: 0,
                sessions: Vec::new(),
                started: header.started,
                label: header.label.clone(),
                boot: boot.cloned(),
                failures: Vec::new(),
            };
            drafts.push((point, 0.0));
            drafts.len() - 1
        });
        let (point, logs) = &mut drafts[place];
        if point.sessions.last() != Some(&header.id) {
            point.sessions.push(header.id.clone());
        }
        match run {
            Ok(value) => {
                point.runs += 1;
                *logs += value.ln();
            }
            Err(why) => point.failures.push(why),
        }
    }
    let points = drafts.into_iter().map(|(mut point, logs)| {
        point.value = (point.runs > 0).then(|| (logs / point.runs as f64).exp());
        point
    });
    match &options.order {
        None => (points.collect(), 0),
        Some(labels) => in_order(points.collect(), labels),
    }
}

/// Hashes may be cut short, to no fewer digits than this.
const SHORTEST_HASH: usize = 7;

/// The points in the order of their labels, and the sessions whose label is not listed.
fn in_order(points: Vec<Point>, labels: &[String]) -> (Vec<Point>, usize) {
    let rank = |label: &str| {
        labels.iter().position(|listed| {
            let cut = label.len().min(listed.len()) >= SHORTEST_HASH
                && (listed.starts_with(label) || label.starts_with(listed.as_str()));
            listed == label || cut
        })
    };
    let mut placed: Vec<(usize, Point)> = Vec::new();
    let mut unplaced = 0;
    for point in points {
        match point.label.as_deref().and_then(rank) {
            Some(rank) => placed.push((rank, point)),
            None => unplaced += point.sessions.len(),
        }
    }
    placed.sort_by_key(|(rank, point)| (*rank, point.started));
    (
        placed.into_iter().map(|(_, point)| point).collect(),
        unplaced,
    )
}
