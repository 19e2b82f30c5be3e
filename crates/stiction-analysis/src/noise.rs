//! How far runs of one configuration lie apart: the noise that a table shows of
//! itself whenever a configuration stands in it twice.

use std::collections::BTreeMap;

use stiction_core::{Better, Cell, Metric, PhaseKind, Session};

use crate::change::{Scale, is_percent_of_baseline};

/// Several runs of one metric in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// The cell.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// Each run's value, in the order of the session.
    pub values: Vec<f64>,
    /// How far the highest lies above the lowest: in percent of the lowest, or in
    /// points for percentages of a baseline.
    pub spread: f64,
    /// In what `spread` is told.
    pub scale: Scale,
}

/// The noise of one metric of one cell, as runs of one configuration against itself
/// showed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// The cell, without the factors that tell sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// Name of the metric.
    pub metric: String,
    /// Robust standard deviation of the log differences of one configuration's runs in
    /// a block.
    pub deviation: f64,
    /// A/A blocks that it rests on.
    pub blocks: u32,
    /// Where it is from: `calibration k3f9`, `a and b are the same configuration`.
    pub from: String,
}

/// Every metric that has several runs in one cell of the session, in order of
/// appearance. Metrics without a better side are left out, and so are runs from 0,
/// of which no percentage follows.
#[must_use]
pub fn repeats(session: &Session) -> Vec<Repeat> {
    let mut found: Vec<Repeat> = Vec::new();
    // A session may hold a hundred thousand figures: none is searched for among all.
    let mut places: BTreeMap<(&Cell, &str, &str), usize> = BTreeMap::new();
    for trial in &session.trials {
        let measured = trial.phases.iter().filter(|p| p.kind == PhaseKind::Measure);
        for phase in measured.filter(|phase| phase.has_numbers()) {
            for measurement in &phase.measurements {
                let metric = &measurement.metric;
                if metric.better == Better::Neither {
                    continue;
                }
                let key = (&trial.cell, phase.name.as_str(), &*metric.name);
                let place = *places.entry(key).or_insert_with(|| {
                    found.push(Repeat {
                        cell: trial.cell.clone(),
                        phase: phase.name.clone(),
                        metric: metric.clone(),
                        values: Vec::new(),
                        spread: 0.0,
                        scale: Scale::Percent,
                    });
                    found.len() - 1
                });
                found[place].values.push(measurement.value);
            }
        }
    }
    found.retain(|repeat| repeat.values.len() > 1);
    found.into_iter().filter_map(measured).collect()
}

fn measured(repeat: Repeat) -> Option<Repeat> {
    let values = || repeat.values.iter().copied();
    let lowest = values().fold(f64::INFINITY, f64::min);
    let highest = values().fold(f64::NEG_INFINITY, f64::max);
    let (spread, scale) = if is_percent_of_baseline(&repeat.metric) {
        (highest - lowest, Scale::Points)
    } else if lowest > 0.0 {
        ((highest / lowest - 1.0) * 100.0, Scale::Percent)
    } else {
        return None;
    };
    Some(Repeat {
        spread,
        scale,
        ..repeat
    })
}

/// For each metric of each phase the repeat that lies widest apart, in any cell: what is
/// smaller is noise for sure. In order of appearance.
#[must_use]
pub fn widest(repeats: &[Repeat]) -> Vec<&Repeat> {
    let mut widest: Vec<&Repeat> = Vec::new();
    for repeat in repeats {
        let same = |other: &&mut &Repeat| other.is_of(&repeat.phase, &repeat.metric);
        match widest.iter_mut().find(same) {
            Some(other) if other.spread < repeat.spread => *other = repeat,
            Some(_) => {}
            None => widest.push(repeat),
        }
    }
    widest
}

impl Repeat {
    /// Whether it is of that metric in that phase.
    pub(crate) fn is_of(&self, phase: &str, metric: &Metric) -> bool {
        self.phase == phase && self.metric.name == metric.name
    }
}
