//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Plan, Seed};

use super::options::{Generated, TreeMoveOptions, TreeMoveParameters};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;

/// Rounds of `testo`.
const CLASSIC_ROUNDS: u32 = 5;
/// Repetitions in the default mode.
const RUNS: u32 = 3;
const QUICK: Generated = Generated {
    files: 400,
    directories: 25,
    bytes: 4 << 20,
};
/// More files than this are a mistake.
const FILES_MAX: u32 = 10_000_000;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &TreeMoveOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options, environment)?;
    let generated = (!options.copies_tree).then(|| {
        options.generated.unwrap_or(if options.quick {
            QUICK
        } else {
            Generated::KERNEL_OF_2002
        })
    });
    let parameters = TreeMoveParameters {
        classic: options.classic,
        generated,
        rounds: options
            .rounds
            .unwrap_or(if options.classic && !options.quick {
                CLASSIC_ROUNDS
            } else {
                1
            }),
        order: options.order,
        same_filesystem: options.same_filesystem,
        settles: !options.classic,
        may_fill: options.may_fill,
    };
    let cell = generated.map_or_else(Cell::new, |tree| {
        Cell::new()
            .with("files", tree.files)
            .with("file_size_bytes", tree.bytes)
    });
    let single = options.classic || options.quick;
    let runs = options.runs.unwrap_or(if single { 1 } else { RUNS });
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        preparation: stiction_core::Preparation::default(),
        trials: runs_within_cells(&[cell], runs),
    })
}

fn check(options: &TreeMoveOptions, environment: &Environment) -> Result<(), SuiteError> {
    let places = if options.copies_tree { 3 } else { 2 };
    refuse(&[
        (
            environment.targets.len() != places,
            "to",
            "name two directories, to move from and to",
        ),
        (
            options
                .generated
                .is_some_and(|tree| !(1..=FILES_MAX).contains(&tree.files)),
            "files",
            "give 1 to 10000000",
        ),
        (
            options
                .generated
                .is_some_and(|tree| tree.directories > FILES_MAX),
            "directories",
            "give 0 to 10000000",
        ),
        (options.rounds == Some(0), "rounds", "0: give at least 1"),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])
}
