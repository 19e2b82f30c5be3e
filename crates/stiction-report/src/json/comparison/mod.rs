//! Candidates against a baseline, as JSON.

mod candidate;
mod row;
mod table;

use serde::Serialize;
use stiction_analysis::Outcome;
use stiction_analysis::compare::{Control, Family, Matrix, Setup};
use stiction_core::SessionId;

use super::document_of_version;
use candidate::{CandidateView, candidate};
use table::{TableView, table};

pub(crate) use row::{better_key, method_key, verdict_key};

/// Version of the form: from 2 on a document has any number of candidates.
const SCHEMA_VERSION: u32 = 2;

#[derive(Serialize)]
struct MatrixView<'a> {
    outcome: &'static str,
    baseline: &'a str,
    family: FamilyView,
    #[serde(skip_serializing_if = "Option::is_none")]
    column_factor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_factor: Option<&'a str>,
    setup: SetupView<'a>,
    candidates: Vec<CandidateView<'a>>,
    tables: Vec<TableView<'a>>,
}

/// What was judged together.
#[derive(Serialize)]
struct FamilyView {
    control: &'static str,
    judged_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks_count_lowest: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks_count_highest: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_percent_highest: Option<f64>,
    seed: u64,
}

#[derive(Serialize)]
struct SetupView<'a> {
    common: Vec<FactView<'a>>,
    commands: Vec<CommandView<'a>>,
}

#[derive(Serialize)]
struct FactView<'a> {
    key: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct CommandView<'a> {
    session: &'a SessionId,
    command: &'a [String],
}

/// Every candidate with every row, its verdict and all reasons, and the tables over the
/// cells. Schema `stiction-comparison`.
#[must_use]
pub fn comparison(matrix: &Matrix) -> String {
    let view = MatrixView {
        outcome: outcome(matrix.outcome()),
        baseline: &matrix.baseline,
        family: family(&matrix.family),
        column_factor: matrix.projection.column.as_deref(),
        row_factor: matrix.projection.row.as_deref(),
        setup: setup(&matrix.setup),
        candidates: matrix.comparisons.iter().map(candidate).collect(),
        tables: matrix.tables.iter().map(table).collect(),
    };
    document_of_version(SCHEMA_VERSION, "stiction-comparison", view)
}

fn family(family: &Family) -> FamilyView {
    FamilyView {
        control: match family.control {
            Control::AnyFalseAlarm => "any_false_alarm",
            Control::ShareOfFalse => "share_of_false",
        },
        judged_count: family.judged,
        blocks_count_lowest: family.blocks.map(|(lowest, _)| lowest),
        blocks_count_highest: family.blocks.map(|(_, highest)| highest),
        visible_percent_lowest: family.visible_percent.map(|(lowest, _)| lowest),
        visible_percent_highest: family.visible_percent.map(|(_, highest)| highest),
        seed: family.seed.0,
    }
}

fn setup(setup: &Setup) -> SetupView<'_> {
    let facts = setup.common.iter().map(|fact| FactView {
        key: &fact.key,
        value: &fact.value,
    });
    let commands = setup.commands.iter();
    SetupView {
        common: facts.collect(),
        commands: commands
            .map(|(session, command)| CommandView { session, command })
            .collect(),
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NoRegression => "no_regression",
        Outcome::Regression => "regression",
        Outcome::CannotTell => "cannot_tell",
        Outcome::NotComparable => "not_comparable",
    }
}
