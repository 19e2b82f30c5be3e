//! How far runs of one configuration lie apart: the noise that a table shows of
//! itself whenever a configuration stands in it twice.

use std::collections::BTreeMap;

use stiction_core::{Better, Cell, Metric, PhaseKind, Session};

use crate::change::{Scale, is_percent_of_baseline};
use crate::compare;
use crate::estimate::quantiles::{DEVIATION_OF_MEDIAN_DISTANCE, median};
use crate::estimate::{plan, student};

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

impl Floor {
    /// Half the width of the 95 % interval that `blocks` blocks have with this noise,
    /// percent; `None` of fewer than two.
    #[must_use]
    pub fn percent(&self, blocks: u32) -> Option<f64> {
        floor_percent(self.deviation, blocks)
    }
}

/// Half the width of the 95 % interval of `blocks` log differences with the standard
/// deviation `deviation`, percent: `qt(0.975, n - 1) * deviation / sqrt(n)`. `None` of fewer
/// than two.
pub(crate) fn floor_percent(deviation: f64, blocks: u32) -> Option<f64> {
    let freedom = f64::from(blocks.checked_sub(1).filter(|&freedom| freedom > 0)?);
    let half = student::t_quantile(0.975, freedom) * deviation / f64::from(blocks).sqrt();
    Some(half.exp_m1() * 100.0)
}

/// The noise that configurations of the session show which its plan states twice, under
/// two names: their differences are noise alone.
#[must_use]
pub fn floors(session: &Session) -> Vec<Floor> {
    let mut found = Vec::new();
    for (first, second) in stated_twice(session) {
        let of = |name: &str| values_by_block(session, name);
        let (of_first, of_second) = (of(&first), of(&second));
        for (key, values) in of_first {
            let Some(others) = of_second.get(&key) else {
                continue;
            };
            let blocks = values.iter();
            let differences: Vec<f64> = blocks
                .filter_map(|(block, value)| Some((others.get(block)? / value).ln()))
                .collect();
            let deviation = robust_deviation(&differences);
            if let Some(deviation) =
                deviation.filter(|_| differences.len() >= plan::FEWEST_BLOCKS as usize)
            {
                let (cell, phase, metric) = key;
                found.push(Floor {
                    cell,
                    phase: phase.to_owned(),
                    metric: metric.to_owned(),
                    deviation,
                    blocks: differences.len() as u32,
                    from: format!("{first} and {second} are one configuration"),
                });
            }
        }
    }
    found
}

/// Whether the session is one configuration against itself, run to learn the noise.
#[must_use]
pub fn is_calibration(session: &Session) -> bool {
    let plan = session.header.plan.as_ref();
    let marked = plan.and_then(|plan| plan.parameters.get("calibration")?.as_bool());
    marked.unwrap_or(false)
}

/// The noise that a calibration found.
#[must_use]
pub fn calibrated(session: &Session) -> Vec<Floor> {
    let from = format!("calibration {}", session.header.id);
    let named = |floor| Floor {
        from: from.clone(),
        ..floor
    };
    floors(session).into_iter().map(named).collect()
}

/// Whether two sessions were measured on the same machine and in places that are alike:
/// nothing that is known of both differs but paths and the tool.
#[must_use]
pub fn is_of_same_place(session: &Session, other: &Session) -> bool {
    let found = compare::difference(&session.header.environment, &other.header.environment, None);
    let passing = |key: &str| key.ends_with(".path") || key.starts_with("tool.");
    found
        .differs
        .iter()
        .all(|difference| passing(&difference.key))
}

/// Configurations that are the same but for their names, each with the first like it.
fn stated_twice(session: &Session) -> Vec<(String, String)> {
    let plan = session.header.plan.as_ref();
    let all = plan.map(|plan| compare::stated_by_name(&plan.parameters));
    let all = all.unwrap_or_default();
    let mut pairs = Vec::new();
    for (index, (name, stated)) in all.iter().enumerate() {
        let alike = all[..index].iter().find(|(_, other)| other == stated);
        pairs.extend(alike.map(|(first, _)| (first.clone(), name.clone())));
    }
    pairs
}

/// A cell without its configuration, a phase and the name of a metric.
type Figure<'s> = (Cell, &'s str, &'s str);

/// The values above 0 of one configuration, by block.
fn values_by_block<'s>(
    session: &'s Session,
    name: &str,
) -> BTreeMap<Figure<'s>, BTreeMap<u32, f64>> {
    let mut found: BTreeMap<Figure<'s>, BTreeMap<u32, f64>> = BTreeMap::new();
    for trial in &session.trials {
        let of_name = trial.cell.get("configuration").map(ToString::to_string);
        let Some(block) = trial.block.filter(|_| of_name.as_deref() == Some(name)) else {
            continue;
        };
        let measured = trial.phases.iter().filter(|p| p.kind == PhaseKind::Measure);
        for phase in measured.filter(|phase| phase.has_numbers()) {
            for measurement in phase.measurements.iter().filter(|m| m.value > 0.0) {
                let cell = trial.cell.clone().without("configuration");
                let key = (cell, phase.name.as_str(), &*measurement.metric.name);
                found
                    .entry(key)
                    .or_default()
                    .insert(block, measurement.value);
            }
        }
    }
    found
}

/// The standard deviation that the median distance from the median stands for, were the
/// noise normal; the plain one where more than half are equal. `None` of fewer than two.
#[must_use]
pub fn robust_deviation(differences: &[f64]) -> Option<f64> {
    let plain = plan::deviation(differences)?;
    let middle = median(differences)?;
    let distances: Vec<f64> = differences.iter().map(|d| (d - middle).abs()).collect();
    let robust = DEVIATION_OF_MEDIAN_DISTANCE * median(&distances)?;
    Some(if robust > 0.0 { robust } else { plain })
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
