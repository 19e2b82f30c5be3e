//! The one figure of a phase that its counters are held against.

use stiction_core::{Better, Metric, Phase, metrics};

use crate::compare::{Comparison, Estimate, Row};
use crate::estimate::quantiles::median;
use crate::verdict::Verdict;

/// The figures that a phase is known by, the first that it has.
const USUAL: [Metric; 3] = [metrics::RATE, metrics::OPERATION_RATE, metrics::ELAPSED];

/// The figure of a phase that its counters are held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// What it is.
    pub metric: Metric,
    /// A's value: the median of one side's runs, or as the comparison has it.
    pub a: f64,
    /// B's; `None` where there is one side.
    pub b: Option<f64>,
    /// By how much B's differs, percent of A's.
    pub change_percent: Option<f64>,
    /// The estimate, where there were enough blocks.
    pub estimate: Option<Estimate>,
    /// The verdict of the comparison.
    pub verdict: Option<Verdict>,
}

impl Score {
    /// Of one side.
    pub(super) fn of_one(phases: &[&Phase]) -> Option<Self> {
        let metric = metric_of(phases.first()?)?.clone();
        let values: Vec<f64> = phases.iter().filter_map(|one| one.value(&metric)).collect();
        Some(Self {
            a: median(&values)?,
            metric,
            b: None,
            change_percent: None,
            estimate: None,
            verdict: None,
        })
    }

    /// Of a comparison's row.
    pub(super) fn of_row(row: &Row) -> Option<Self> {
        Some(Self {
            metric: row.metric.clone(),
            a: row.a.as_ref()?.value,
            b: Some(row.b.as_ref()?.value),
            change_percent: row.change.as_ref().map(|change| change.value),
            estimate: row.estimate,
            verdict: row.verdict.clone(),
        })
    }

    /// B's over A's.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let b = self.b?;
        (self.a > 0.0 && b > 0.0).then(|| b / self.a)
    }

    /// Whether B is the worse side, by its value; `None` where neither is.
    #[must_use]
    pub fn is_b_worse(&self) -> Option<bool> {
        let b = self.b.filter(|b| *b != self.a)?;
        match self.metric.better {
            Better::More => Some(b < self.a),
            Better::Less => Some(b > self.a),
            Better::Neither => None,
        }
    }

    /// Whether the comparison found that it moved, whatever its size; `None` where it could
    /// not tell.
    #[must_use]
    pub fn has_moved(&self) -> Option<bool> {
        match self.verdict.as_ref()? {
            Verdict::Worse | Verdict::Better | Verdict::SlightlyWorse | Verdict::SlightlyBetter => {
                Some(true)
            }
            Verdict::Same => Some(false),
            _ => None,
        }
    }
}

/// The figure that a phase is known by: one that a user's command told, else a rate or a
/// time, else the first with a better side.
fn metric_of(phase: &Phase) -> Option<&Metric> {
    let all = || phase.measurements.iter().map(|one| &one.metric);
    let own = all().find(|metric| is_own(metric));
    let usual = || {
        USUAL
            .iter()
            .find_map(|usual| all().find(|one| one.name == usual.name))
    };
    own.or_else(usual)
        .or_else(|| all().find(|metric| metric.better != Better::Neither))
}

fn is_own(metric: &Metric) -> bool {
    metric.better != Better::Neither && metrics::by_name(&metric.name).is_none()
}

/// The row of the score of each phase of each cell.
pub(super) fn rows(comparison: &Comparison) -> impl Iterator<Item = &Row> {
    let rank = |row: &Row| {
        let usual = USUAL.iter().position(|usual| usual.name == row.metric.name);
        match usual {
            _ if is_own(&row.metric) => 0,
            Some(place) => 1 + place,
            None if row.metric.better == Better::Neither => 6,
            None => 5,
        }
    };
    comparison
        .rows
        .iter()
        .enumerate()
        .filter_map(move |(place, row)| {
            let mut same = comparison
                .rows
                .iter()
                .enumerate()
                .filter(|(_, other)| other.cell == row.cell && other.phase == row.phase);
            let better = same.any(|(other, one)| (rank(one), other) < (rank(row), place));
            (!better && row.a.is_some() && row.b.is_some()).then_some(row)
        })
}

/// The score of each run, as logarithms where all are above 0.
pub(super) fn of_runs(metric: &Metric, phases: &[&Phase]) -> Vec<f64> {
    let values: Vec<f64> = phases
        .iter()
        .map(|phase| phase.value(metric).unwrap_or(f64::NAN))
        .collect();
    if values.iter().all(|&value| value > 0.0) {
        values.into_iter().map(f64::ln).collect()
    } else {
        values
    }
}
