//! How far runs of one configuration lie apart when it is measured against itself.

use stiction_core::{Cell, Metric, Session};

use crate::AnalysisError;
use crate::compare::{CompareOptions, Row, Side, compare};
use crate::estimate::quantiles::median;
use crate::history::divisive::serial_correlation;
use crate::noise::{floor_percent, robust_deviation};

/// The factor whose two levels are the one configuration.
const CONFIGURATION: &str = "configuration";

/// What a configuration against itself came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Every metric of every cell that is judged in comparisons.
    pub rows: Vec<Calibrated>,
}

/// The noise of one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The cell.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// Its median over all runs, in its unit.
    pub typical: f64,
    /// Blocks of two runs each.
    pub blocks: u32,
    /// Robust standard deviation of the log differences inside blocks.
    pub deviation: f64,
    /// Half the width of the 95 % interval that so many blocks have with this noise,
    /// percent: `qt(0.975, n - 1) * deviation / sqrt(n)`. Smaller effects cannot be told
    /// from none.
    pub floor_percent: f64,
    /// The smallest effect of interest that comparisons judge by, percent.
    pub effect_percent: f64,
    /// Correlation of each difference with the next; `None` of fewer than three blocks or
    /// where all are equal. Blocks that follow each other should have none: beyond
    /// `2 / sqrt(n)` something goes on for longer than a block.
    pub autocorrelation: Option<f64>,
}

impl Calibrated {
    /// Whether so many blocks could show that two sides are the same.
    #[must_use]
    pub fn can_show_same(&self) -> bool {
        self.floor_percent < self.effect_percent
    }

    /// Whether differences follow each other more than chance has them (Bartlett's bound
    /// for white noise).
    #[must_use]
    pub fn is_autocorrelated(&self) -> bool {
        let bound = 2.0 / f64::from(self.blocks).sqrt();
        self.autocorrelation
            .is_some_and(|correlation| correlation.abs() > bound)
    }
}

/// The noise that a session of one configuration under two names shows.
///
/// # Errors
/// When the session has no two configurations.
pub fn calibration(session: &Session) -> Result<Calibration, AnalysisError> {
    let sides = Side::of_each_level(session, CONFIGURATION)?;
    let comparison = compare(&sides[0], &sides[1], &CompareOptions::default());
    Ok(Calibration {
        rows: comparison.rows.iter().filter_map(calibrated).collect(),
    })
}

fn calibrated(row: &Row) -> Option<Calibrated> {
    let effect_percent = row.effect_percent?;
    let blocks = row.blocks.len() as u32;
    let positive = |value: f64| value > 0.0;
    let all_positive = row
        .blocks
        .iter()
        .all(|block| positive(block.a) && positive(block.b));
    if !all_positive {
        return None;
    }
    let differences: Vec<f64> = row
        .blocks
        .iter()
        .map(|block| (block.b / block.a).ln())
        .collect();
    let values: Vec<f64> = row.blocks.iter().flat_map(|b| [b.a, b.b]).collect();
    let deviation = robust_deviation(&differences)?;
    Some(Calibrated {
        cell: row.cell.clone(),
        phase: row.phase.clone(),
        metric: row.metric.clone(),
        typical: median(&values)?,
        blocks,
        deviation,
        floor_percent: floor_percent(deviation, blocks)?,
        effect_percent,
        autocorrelation: lag_one(&differences),
    })
}

/// The lag-1 autocorrelation as NIST defines it (Engineering Statistics Handbook, 1.3.5.12):
/// the sum of products of neighbours' distances from the mean over the sum of squares.
fn lag_one(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let some_differ = residuals.iter().any(|&residual| residual != 0.0);
    some_differ.then(|| serial_correlation(&residuals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{
        Environment, Measurement, Phase, PhaseKind, Plan, Provenance, RECORD_FORMAT_VERSION, Seed,
        SessionHeader, SessionId, Trial, metrics,
    };

    /// By hand: mean 2, distances -1 0 1 0; squares 2; products 0 + 0 + 0 = 0; and for
    /// 1 2 3: distances -1 0 1, products 0; for 0 1 0 1 0 1: each product -0.25, of 1.5.
    #[test]
    fn the_correlation_of_neighbours_is_that_of_the_handbook() {
        assert_eq!(lag_one(&[1.0, 2.0, 3.0, 2.0]), Some(0.0));
        let alternating = lag_one(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
        assert!((alternating - -5.0 / 6.0).abs() < 1e-12);
        assert_eq!(lag_one(&[1.0, 1.0, 1.0]), None);
        assert_eq!(lag_one(&[1.0, 2.0]), None);
    }

    fn session(pairs: &[(f64, f64)]) -> Session {
        let started = "2002-11-30T10:59:12Z".parse().unwrap();
        let one = |name: &str| serde_json::json!({ "name": name, "places": [0] });
        let mut trials = Vec::new();
        for (block, (a, b)) in (0..).zip(pairs) {
            // A goes first in every other block.
            let mut both = [("A", a), ("A again", b)];
            if block % 2 == 1 {
                both.reverse();
            }
            for (name, &value) in both {
                let cell = Cell::new()
                    .with("configuration", name)
                    .with("threads", 4u32);
                let mut phase = Phase::new("write", PhaseKind::Measure);
                phase.measurements = vec![Measurement::new(metrics::RATE, value, 1)];
                trials.push(Trial {
                    block: Some(block),
                    phases: vec![phase],
                    ..Trial::new(cell, block)
                });
            }
        }
        Session {
            header: SessionHeader {
                format_version: RECORD_FORMAT_VERSION,
                id: SessionId::new(started, 7),
                started,
                label: None,
                command: Vec::new(),
                provenance: Provenance::Measured,
                plan: Some(Plan {
                    workload: "tiobench".to_owned(),
                    parameters: serde_json::json!({ "configurations": [one("A"), one("A again")] }),
                    seed: Seed(1),
                    preparation: stiction_core::Preparation::default(),
                    trials: Vec::new(),
                }),
                environment: Environment::default(),
                caveats: Vec::new(),
                invocation: None,
            },
            trials,
            end: None,
            resumptions: Vec::new(),
        }
    }

    /// Differences of +-0.02 and +-0.01 around 0: their median distance is 0.015.
    #[test]
    fn the_floor_follows_from_the_spread() {
        let signs = [0.02, -0.01, 0.01, -0.02, 0.02, -0.02, 0.01, -0.01];
        let pairs: Vec<(f64, f64)> = signs
            .iter()
            .map(|d: &f64| (100.0, 100.0 * d.exp()))
            .collect();
        let found = calibration(&session(&pairs)).unwrap();
        let [row] = &found.rows[..] else {
            panic!("{found:?}");
        };
        assert_eq!((row.blocks, row.effect_percent), (8, 3.0));
        assert!((row.deviation - 1.4826 * 0.015).abs() < 1e-9, "{row:?}");
        // qt(.975, 7) = 2.364624 by R.
        let half: f64 = 2.364_624 * row.deviation / 8f64.sqrt();
        assert!((row.floor_percent - half.exp_m1() * 100.0).abs() < 1e-4);
        assert!(row.can_show_same());
        assert_eq!(row.cell.to_string(), "threads=4");
    }

    #[test]
    fn a_session_without_configurations_is_refused() {
        let mut session = session(&[(1.0, 1.0)]);
        for trial in &mut session.trials {
            trial.cell = Cell::new();
        }
        assert!(calibration(&session).is_err());
    }
}
