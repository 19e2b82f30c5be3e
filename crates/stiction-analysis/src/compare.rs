//! Sides, cell by cell and metric by metric.
//!
//! Cells are matched by their factors, phases by name, measurements by metric. Each
//! row carries both values, the change with the precision that the printed digits
//! allow, and a [`Verdict`](crate::Verdict). What cannot be held against each other is
//! listed, not dropped.
//!
//! ```text
//! Side, Side --pairing--> pairs --design--> blocks --judge--> evidence or a refusal
//!                                                               | all candidates
//!                                    Row, Estimate <--settle-- one family
//! ```

mod comparison;
pub mod decide;
mod design;
mod draft;
mod environment;
mod gathered;
mod judge;
mod matched;
mod matrix;
mod options;
mod order;
mod pairing;
mod remark;
mod remarks;
mod replication;
mod restated;
mod settle;
mod side;
mod summarise;
mod summary;
mod tails;
mod work;

pub use crate::change::{Change, Favours, Scale, SideValue};
pub use comparison::{BlockValues, Comparison, Doubt, Estimate, Method, Row};
pub(crate) use environment::stated_by_name;
pub use environment::{Difference, EnvironmentDifference, difference, stated_of};
pub(crate) use matched::{Matched, alone, matched};
pub use matrix::{Fact, Family, Matrix, Projection, Setup};
pub use options::{CompareOptions, Control};
pub use pairing::{SideFactor, Unmatched};
pub use remark::{Remark, RemarkCode};
pub use replication::{Replication, RunOrder, Unit};
pub use side::{Side, levels};
pub use summary::{AtCell, Counts, EqualRange, Summary, SummaryTable};
pub use tails::{Shift, ShiftPoint, StallCounts, Stalls};
pub(crate) use work::flat_parameters;

use crate::noise::{self, Floor};
use draft::{Drafted, draft};

/// Holds `b` against `a`.
#[must_use]
pub fn compare(a: &Side<'_>, b: &Side<'_>, options: &CompareOptions) -> Comparison {
    let mut all = judged(a, std::slice::from_ref(b), options);
    all.remove(0)
}

/// Holds each of `candidates` against `baseline`, all judged as one family.
#[must_use]
pub fn matrix(baseline: &Side<'_>, candidates: &[Side<'_>], options: &CompareOptions) -> Matrix {
    let comparisons = judged(baseline, candidates, options);
    let projection = summarise::projection(baseline, candidates, &comparisons, options);
    let all: Vec<&Side<'_>> = std::iter::once(baseline).chain(candidates).collect();
    Matrix {
        baseline: baseline.name.clone(),
        tables: summarise::tables(baseline, candidates, &comparisons, &projection),
        family: family(&comparisons, options),
        projection,
        setup: setup(&all),
        comparisons,
    }
}

/// The comparisons of all candidates, their rows settled together.
fn judged(a: &Side<'_>, candidates: &[Side<'_>], options: &CompareOptions) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let mut floors = Vec::new();
    let mut counts = Vec::new();
    let mut drafts = Vec::new();
    for candidate in candidates {
        let Drafted { comparison, rows } = draft(a, candidate, options);
        floors.push(floors_of(a, candidate, &comparison));
        counts.push(rows.len());
        drafts.extend(rows);
        comparisons.push(comparison);
    }
    let mut rows = settle::settle(drafts, options).into_iter();
    let candidates = candidates.iter().zip(&floors).zip(counts);
    for (comparison, ((candidate, floors), count)) in comparisons.iter_mut().zip(candidates) {
        let of_one = summarise::is_same_configuration(a, candidate);
        let own = rows.by_ref().take(count);
        comparison.rows = own
            .map(|row| {
                if of_one {
                    settle::of_one_configuration(row)
                } else {
                    row
                }
            })
            .map(|row| remarks::finished(row, floors, options))
            .collect();
    }
    comparisons
}

/// The noise that configurations which stand in the sessions twice show, by cells as rows
/// have them.
fn floors_of(a: &Side<'_>, b: &Side<'_>, comparison: &Comparison) -> Vec<Floor> {
    let mut floors: Vec<Floor> = Vec::new();
    let mut seen = Vec::new();
    for session in a.sessions().iter().chain(b.sessions()) {
        if !seen.contains(&&session.header.id) {
            seen.push(&session.header.id);
            floors.extend(noise::floors(session));
        }
    }
    let strip = |floor: Floor| {
        let factors = comparison.factors.iter();
        let cell = factors.fold(floor.cell, |cell, side| cell.without(&side.factor));
        Floor { cell, ..floor }
    };
    floors.into_iter().map(strip).collect()
}

fn family(comparisons: &[Comparison], options: &CompareOptions) -> Family {
    let rows = || comparisons.iter().flat_map(|comparison| &comparison.rows);
    let estimates: Vec<&Estimate> = rows().filter_map(|row| row.estimate.as_ref()).collect();
    let blocks = || estimates.iter().map(|estimate| estimate.blocks);
    let visible = || estimates.iter().map(|estimate| estimate.visible_percent);
    let quietest = visible().min_by(f64::total_cmp);
    Family {
        control: options.control,
        judged: estimates.len() as u32,
        blocks: blocks().min().zip(blocks().max()),
        visible_percent: quietest.zip(visible().max_by(f64::total_cmp)),
        seed: options.seed,
    }
}

fn setup(sides: &[&Side<'_>]) -> Setup {
    let mut commands = Vec::new();
    for session in sides.iter().flat_map(|side| side.sessions()) {
        let header = &session.header;
        let known = commands.iter().any(|(id, _)| *id == header.id);
        if !known && !header.command.is_empty() {
            commands.push((header.id.clone(), header.command.clone()));
        }
    }
    Setup {
        common: environment::common(sides),
        commands,
    }
}
