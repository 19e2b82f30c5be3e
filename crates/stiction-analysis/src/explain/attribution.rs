//! What may be said of a difference between two sides.
//!
//! Where one thing alone was changed, and which side came first was drawn, the difference
//! goes with that thing. By which way it acts is another question: a counter that moved too
//! is consistent with a way and does not show it. A third side that takes the change back
//! shows whether the effect goes with it.

use stiction_core::Cell;

use super::score;
use crate::compare::{self, CompareOptions, Comparison, Row, RunOrder, Side};
use crate::verdict::Verdict;

/// Of an effect that is so small a part of the first one it is said that it went.
const WENT: f64 = 1.0 / 3.0;
/// From this part on it is said that it stayed.
const STAYED: f64 = 2.0 / 3.0;

/// What may be said of a difference between two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// What differs between the sides: settings and parameters of their plans, else facts
    /// of their machines that nobody set. None: the sides are one configuration.
    pub things: Vec<String>,
    /// How the runs of the sides lie in time.
    pub order: RunOrder,
    /// What became of the effect on a third side.
    pub taken_back: Option<TakenBack>,
}

impl Attribution {
    /// The one thing that differs, where the order of the runs was drawn: the difference
    /// goes with it.
    #[must_use]
    pub fn one_thing(&self) -> Option<&str> {
        match &self.things[..] {
            [one] if self.order == RunOrder::Interleaved => Some(one),
            _ => None,
        }
    }
}

/// What became of the effect where the change was taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBack {
    /// Name of the third side.
    pub name: String,
    /// Phase by phase.
    pub phases: Vec<TakenBackPhase>,
}

/// What became of the effect in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBackPhase {
    /// The cell.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// How far B is from A, percent.
    pub b_percent: f64,
    /// How far the third side is from A, percent.
    pub back_percent: f64,
    /// What that comes to.
    pub fate: Fate,
    /// Whether the third side differs from B beyond noise.
    pub is_sure: bool,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// At most a third of it is left.
    Went,
    /// Something in between.
    Partly,
    /// At least two thirds are left.
    Stayed,
}

pub(super) fn attribution(
    a: &Side<'_>,
    b: &Side<'_>,
    taken_back: Option<&Side<'_>>,
    comparison: &Comparison,
    options: &CompareOptions,
) -> Attribution {
    Attribution {
        things: things(comparison),
        order: comparison.replication.order,
        taken_back: taken_back.map(|back| TakenBack {
            name: back.name.clone(),
            phases: fates(a, b, back, comparison, options),
        }),
    }
}

/// What differs. What follows from a setting that the plan names, or from the factor that
/// the sides were chosen by, is no thing of its own.
fn things(comparison: &Comparison) -> Vec<String> {
    let mut things: Vec<String> = Vec::new();
    let mut add = |thing: String| {
        if !things.contains(&thing) {
            things.push(thing);
        }
    };
    for parameter in &comparison.parameters {
        let key = &parameter.key;
        add(key.strip_prefix("settings.").unwrap_or(key).to_owned());
    }
    let is_planned = !comparison.parameters.is_empty();
    for factor in &comparison.factors {
        let is_said = matches!(factor.factor.as_str(), "configuration" | "directory");
        if !(is_planned && is_said) {
            add(factor.factor.clone());
        }
    }
    for difference in comparison.environment.unnamed() {
        let key = difference.key.as_str();
        let is_name = key == "target.path" || key.ends_with(".size");
        if !(is_name || key == "tool.version" && difference.a == difference.b) {
            add(key.to_owned());
        }
    }
    // Configurations that differ in nothing that was written down.
    let only_named = things == ["configuration"];
    if only_named { Vec::new() } else { things }
}

/// What became of the effect, phase by phase.
fn fates(
    a: &Side<'_>,
    b: &Side<'_>,
    back: &Side<'_>,
    comparison: &Comparison,
    options: &CompareOptions,
) -> Vec<TakenBackPhase> {
    let from_a = compare::compare(a, back, options);
    let from_b = compare::compare(b, back, options);
    let same = |row: &Row, others: &Comparison| -> Option<Row> {
        let mut rows = others.rows.iter();
        rows.find(|other| {
            other.cell == row.cell && other.phase == row.phase && other.metric == row.metric
        })
        .cloned()
    };
    let ratio = |row: &Row| row.change.as_ref()?.ratio().filter(|ratio| *ratio > 0.0);
    score::rows(comparison)
        .filter_map(|row| {
            let (of_a, of_b) = (same(row, &from_a)?, same(row, &from_b)?);
            let (effect, left) = (ratio(row)?, ratio(&of_a)?);
            let part = left.ln() / effect.ln();
            if !part.is_finite() {
                return None;
            }
            let fate = if part.abs() <= WENT {
                Fate::Went
            } else if part >= STAYED {
                Fate::Stayed
            } else {
                Fate::Partly
            };
            Some(TakenBackPhase {
                cell: row.cell.clone(),
                phase: row.phase.clone(),
                b_percent: 100.0 * (effect - 1.0),
                back_percent: 100.0 * (left - 1.0),
                fate,
                is_sure: is_apart(&of_b),
            })
        })
        .collect()
}

fn is_apart(row: &Row) -> bool {
    matches!(
        row.verdict,
        Some(Verdict::Worse | Verdict::Better | Verdict::SlightlyWorse | Verdict::SlightlyBetter)
    )
}
