//! A calibration as JSON.

use serde::Serialize;
use stiction_analysis::calibration::{Calibrated, Calibration};
use stiction_core::Cell;

use super::document;

#[derive(Serialize)]
struct CalibrationView<'a> {
    rows: Vec<RowView<'a>>,
}

#[derive(Serialize)]
struct RowView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    metric: &'a str,
    /// In the unit that the metric's name says.
    typical: f64,
    blocks_count: u32,
    deviation_log: f64,
    floor_percent: f64,
    effect_percent: f64,
    lag_1_autocorrelation: Option<f64>,
    can_show_same: bool,
}

/// The calibration as JSON.
#[must_use]
pub fn calibration(calibration: &Calibration) -> String {
    let view = CalibrationView {
        rows: calibration.rows.iter().map(row).collect(),
    };
    document("stiction-calibration", view)
}

fn row(row: &Calibrated) -> RowView<'_> {
    RowView {
        cell: &row.cell,
        phase: &row.phase,
        metric: &row.metric.name,
        typical: row.typical,
        blocks_count: row.blocks,
        deviation_log: row.deviation,
        floor_percent: row.floor_percent,
        effect_percent: row.effect_percent,
        lag_1_autocorrelation: row.autocorrelation,
        can_show_same: row.can_show_same(),
    }
}
