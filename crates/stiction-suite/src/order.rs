//! The order in which trials run.

use stiction_core::{Cell, Plan, PlannedTrial, Seed};

use crate::shuffle::shuffled;

/// The seed of a trial, by its place in the plan: its random numbers differ from those
/// of the others.
pub(crate) fn trial_seed(plan: &Plan, trial: &PlannedTrial) -> Seed {
    let place = plan.trials.iter().position(|planned| planned == trial);
    plan.seed.stream(place.unwrap_or(plan.trials.len()) as u64)
}

/// All runs of a cell before the next cell, as old drivers do.
pub(crate) fn runs_within_cells(cells: &[Cell], runs: u32) -> Vec<PlannedTrial> {
    cells
        .iter()
        .flat_map(|cell| (0..runs).map(|repetition| PlannedTrial::new(cell.clone(), repetition)))
        .collect()
}

/// Every cell once, in random order, before any cell again: drift over the session
/// then falls on all cells alike.
pub(crate) fn cells_within_runs(cells: &[Cell], runs: u32, seed: Seed) -> Vec<PlannedTrial> {
    (0..runs)
        .flat_map(|repetition| {
            shuffled(cells.to_vec(), seed.stream(repetition.into()))
                .into_iter()
                .map(move |cell| PlannedTrial::new(cell, repetition))
        })
        .collect()
}
