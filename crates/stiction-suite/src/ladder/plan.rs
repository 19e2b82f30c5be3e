//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Access, Cell, Environment, Plan, Seed};
use stiction_engine::{BLOCK_BYTES_MAX, DEPTH_MAX};

use super::options::{LadderOptions, LadderParameters, Rung};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;
use crate::sizing;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 256 * MIB;
const QUICK_FILE_BYTES: u64 = 32 * MIB;
const SEQUENTIAL_BLOCK_BYTES: u64 = 128 << 10;
const RANDOM_BLOCK_BYTES: u64 = 4096;
/// Time that a rung of a slow disk may take.
const RUNG_NS: u64 = 20_000_000_000;
const QUICK_RUNG_NS: u64 = 1_000_000_000;
/// Repetitions.
const RUNS: u32 = 3;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &LadderOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let parameters = parameters(options, environment)?;
    let cell = Cell::new()
        .with("block_size_bytes", parameters.block_size_bytes)
        .with("file_size_bytes", parameters.file_bytes);
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

fn check(options: &LadderOptions) -> Result<(), SuiteError> {
    refuse(&[
        (
            options
                .block_size_bytes
                .is_some_and(|bytes| !(1..=BLOCK_BYTES_MAX).contains(&bytes)),
            "block",
            "give 1 byte to 1 GiB",
        ),
        (
            options
                .depth
                .is_some_and(|depth| !(1..=DEPTH_MAX).contains(&depth)),
            "depth",
            "give 1 to 4096",
        ),
        (
            options.size_bytes == Some(0) || options.rung_ns == Some(0),
            "size",
            "0: there would be nothing to read",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])
}

fn parameters(
    options: &LadderOptions,
    environment: &Environment,
) -> Result<LadderParameters, SuiteError> {
    let block_size_bytes = options.block_size_bytes.unwrap_or(match options.access {
        Access::Sequential => SEQUENTIAL_BLOCK_BYTES,
        Access::RandomPermutation | Access::RandomIndependent => RANDOM_BLOCK_BYTES,
    });
    let at_most = if options.quick {
        QUICK_FILE_BYTES
    } else {
        FILE_BYTES
    };
    let wanted = match options.existing_bytes {
        Some(bytes) => bytes.min(options.size_bytes.unwrap_or(at_most)),
        None => {
            sizing::choose(options.size_bytes, at_most, environment, options.may_fill)
                .map_err(SuiteError::Refused)?
                .file_bytes
        }
    };
    // The same offsets at each rung, the raw device's included.
    let common = wanted.min(options.device_bytes.unwrap_or(u64::MAX));
    let file_bytes = common / block_size_bytes * block_size_bytes;
    if file_bytes == 0 {
        return Err(SuiteError::option(
            "block",
            "a read is larger than the file: give smaller reads, or a larger file",
        ));
    }
    let mut rungs = Rung::ALL.to_vec();
    rungs.retain(|&rung| rung != Rung::Device || options.device_bytes.is_some());
    Ok(LadderParameters {
        classic: options.classic,
        is_existing: options.existing_bytes.is_some(),
        rungs,
        file_bytes,
        block_size_bytes,
        access: options.access,
        depth: options.depth.unwrap_or(1),
        rung_ns: options.rung_ns.unwrap_or(if options.quick {
            QUICK_RUNG_NS
        } else {
            RUNG_NS
        }),
        may_fill: options.may_fill,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(options: &LadderOptions) -> LadderParameters {
        let plan = plan(options, Seed(1), &Environment::default()).unwrap();
        serde_json::from_value(plan.parameters).unwrap()
    }

    #[test]
    fn file_and_device_are_read_to_the_shorter_ones_end() {
        let options = LadderOptions {
            existing_bytes: Some(100 * MIB + 7),
            device_bytes: Some(64 * MIB + 512),
            ..LadderOptions::default()
        };
        let parameters = planned(&options);
        assert_eq!(parameters.file_bytes, 64 * MIB);
        assert_eq!(parameters.rungs, Rung::ALL);
        let without = LadderOptions {
            device_bytes: None,
            ..options
        };
        let parameters = planned(&without);
        assert_eq!(parameters.file_bytes, 100 * MIB);
        assert!(!parameters.rungs.contains(&Rung::Device));
    }

    #[test]
    fn random_reads_are_small() {
        let block = |access| {
            let options = LadderOptions {
                access,
                ..LadderOptions::default()
            };
            planned(&options).block_size_bytes
        };
        assert_eq!(block(Access::Sequential), 128 << 10);
        assert_eq!(block(Access::RandomPermutation), 4096);
    }
}
