//! What the rules of verdicts have to keep to, and do, as JSON.

use serde::Serialize;
use stiction_analysis::selftest::{Figure, Limit, Row, Size};
use stiction_core::Seed;

use super::document;

#[derive(Serialize)]
struct SelftestView<'a> {
    size: &'static str,
    seed: Seed,
    /// Whether all properties hold.
    holds: bool,
    properties: Vec<PropertyView<'a>>,
}

#[derive(Serialize)]
struct PropertyView<'a> {
    property: &'a str,
    /// Which side of the bound is right.
    side: &'static str,
    /// The bound as it is stated for the full size.
    stated: Amount,
    /// The bound for so many replicates.
    bound: Amount,
    /// The worst case; null when there is none.
    measured: Option<Amount>,
    replicates: u32,
    holds: bool,
    cases: Vec<CaseView<'a>>,
}

#[derive(Serialize)]
struct CaseView<'a> {
    case: &'a str,
    measured: Amount,
}

/// A number under its unit.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Amount {
    Percent(f64),
    Blocks(f64),
}

impl Amount {
    fn of(figure: Figure, value: f64) -> Self {
        match figure {
            Figure::Share | Figure::Size => Self::Percent(100.0 * value),
            Figure::Blocks => Self::Blocks(value),
        }
    }
}

/// Each property with its bound and all of its cases. Schema `stiction-selftest`.
#[must_use]
pub fn selftest(rows: &[Row], size: Size, seed: Seed) -> String {
    document(
        "stiction-selftest",
        SelftestView {
            size: match size {
                Size::Quick => "quick",
                Size::Full => "full",
            },
            seed,
            holds: rows.iter().all(Row::holds),
            properties: rows.iter().map(property).collect(),
        },
    )
}

fn property(row: &Row) -> PropertyView<'_> {
    let amount = |value| Amount::of(row.bound.figure, value);
    PropertyView {
        property: row.property,
        side: match row.limit {
            Limit::AtMost(_) => "at_most",
            Limit::AtLeast(_) => "at_least",
        },
        stated: amount(row.bound.limit.value()),
        bound: amount(row.limit.value()),
        measured: row.worst().map(|worst| amount(worst.value)),
        replicates: row.replicates,
        holds: row.holds(),
        cases: row
            .readings
            .iter()
            .map(|reading| CaseView {
                case: &reading.case,
                measured: amount(reading.value),
            })
            .collect(),
    }
}
