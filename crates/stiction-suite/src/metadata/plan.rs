//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Plan, Seed};
use stiction_engine::WORKERS_MAX;

use super::options::{MetadataOptions, MetadataParameters};
use super::tree::{DIRECTORIES_MAX, Shape};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;

const FILES: u64 = 20_000;
const QUICK_FILES: u64 = 400;
const FILES_MAX: u64 = 100_000_000;
const WORKERS_USUAL_MAX: u32 = 4;
const DEPTH: u32 = 2;
const BRANCH: u32 = 4;
/// Deeper paths are longer than the kernel takes.
const DEPTH_MAX: u32 = 200;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &MetadataOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    let cpus = environment.cpu.as_ref().map_or(1, |cpu| cpu.online.max(1));
    let workers = options.workers.unwrap_or(cpus.min(WORKERS_USUAL_MAX));
    let usual = if options.quick { QUICK_FILES } else { FILES };
    let files = options.files.unwrap_or(usual);
    let shape = Shape {
        depth: options.depth.unwrap_or(DEPTH),
        branch: options.branch.unwrap_or(BRANCH),
        leaves: options.leaves,
    };
    refuse(&[
        (
            !(1..=WORKERS_MAX).contains(&(workers as usize)),
            "threads",
            "give 1 to 65536",
        ),
        (
            !(u64::from(workers)..=FILES_MAX).contains(&files),
            "files",
            "give at least one for each thread, and at most 100000000",
        ),
        (shape.depth > DEPTH_MAX, "depth", "give 0 to 200"),
        (shape.branch == 0, "branch", "0: give at least 1"),
        (
            shape.directories() > DIRECTORIES_MAX,
            "depth",
            "the tree would have more than a million directories: give a smaller depth or branch",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])?;
    let parameters = MetadataParameters {
        files_per_worker: files / u64::from(workers),
        file_bytes: options.file_bytes.unwrap_or(0),
        workers,
        depth: shape.depth,
        branch: shape.branch,
        leaves: shape.leaves,
        shared: options.shared,
        shift: options.shift,
        sync: options.sync,
        may_fill: options.may_fill,
    };
    let cell = Cell::new()
        .with("threads", workers)
        .with("files", parameters.files_per_worker * u64::from(workers));
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        preparation: stiction_core::Preparation::default(),
        trials: runs_within_cells(&[cell], options.runs.unwrap_or(1)),
    })
}
