//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Plan, Seed};
use stiction_engine::{BLOCK_BYTES_MAX, DEPTH_MAX};

use super::options::{ParallelOptions, ParallelParameters, Targets, Ways};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;
use crate::sizing;

const MIB: u64 = 1 << 20;
/// Over all targets.
const TOTAL_BYTES: u64 = 2048 * MIB;
const QUICK_TOTAL_BYTES: u64 = 64 * MIB;
/// What the disk test of 2002 wrote to each disk, and how.
const CLASSIC_BYTES: u64 = 12 * 1024 * MIB;
pub(super) const CLASSIC_WRITE_BYTES: u64 = MIB;
const CLASSIC_READ_BYTES: u64 = 4096;
/// Repetitions in the default mode.
const RUNS: u32 = 3;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &ParallelOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options, environment)?;
    let parameters = parameters(options, environment)?;
    let total: u64 = parameters.sizes_bytes.iter().sum();
    let cell = Cell::new()
        .with("threads", parameters.sizes_bytes.len() as u64)
        .with("block_size_bytes", parameters.block_size_bytes)
        .with("file_size_bytes", total);
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

fn check(options: &ParallelOptions, environment: &Environment) -> Result<(), SuiteError> {
    let writes = !matches!(options.ways, Some(Ways::Read));
    refuse(&[
        (
            environment.targets.is_empty(),
            "target",
            "name a directory, file or device for each worker",
        ),
        (
            matches!(options.targets, Targets::Existing(_)) && options.ways.is_some() && writes,
            "write",
            "files and devices that are there are only read: name directories to write in, or \
             grant devices with --scratch",
        ),
        (
            options.size_bytes == Some(0),
            "size",
            "0 bytes: there would be nothing to move",
        ),
        (
            options
                .block_size_bytes
                .is_some_and(|bytes| !(1..=BLOCK_BYTES_MAX).contains(&bytes)),
            "block",
            "give 1 byte to 1 GiB",
        ),
        (
            !(1..=DEPTH_MAX).contains(&options.depth),
            "depth",
            "give 1 to 4096",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])
}

fn parameters(
    options: &ParallelOptions,
    environment: &Environment,
) -> Result<ParallelParameters, SuiteError> {
    let classic = options.classic;
    let block_size_bytes =
        options
            .block_size_bytes
            .unwrap_or(if classic { CLASSIC_READ_BYTES } else { MIB });
    let ways = options.ways.unwrap_or(match options.targets {
        Targets::Existing(_) => Ways::Read,
        Targets::Directories | Targets::Devices(_) => Ways::Both,
    });
    Ok(ParallelParameters {
        classic,
        ways,
        sizes_bytes: sizes(options, block_size_bytes, environment)?,
        targets: options.targets.clone(),
        block_size_bytes,
        access: options.access,
        depth: options.depth,
        direct: options.direct,
        duration_ns: options.duration_ns,
        drop_caches: !classic,
        may_fill: options.may_fill,
    })
}

/// Bytes of each target, in whole operations of either way.
fn sizes(
    options: &ParallelOptions,
    block_size_bytes: u64,
    environment: &Environment,
) -> Result<Vec<u64>, SuiteError> {
    let targets = environment.targets.len() as u64;
    let step = if options.classic {
        block_size_bytes.max(CLASSIC_WRITE_BYTES)
    } else {
        block_size_bytes
    };
    let total = if options.quick {
        QUICK_TOTAL_BYTES
    } else {
        TOTAL_BYTES
    };
    let usual = match (options.size_bytes, options.classic && !options.quick) {
        (Some(bytes), _) => bytes,
        (None, true) => CLASSIC_BYTES,
        (None, false) if options.targets == Targets::Directories => {
            let all = sizing::choose(None, total, environment, options.may_fill);
            all.map_err(SuiteError::Refused)?.file_bytes / targets
        }
        (None, false) => total / targets,
    };
    let each: Vec<u64> = match &options.targets {
        Targets::Directories => vec![usual; environment.targets.len()],
        Targets::Existing(lengths) | Targets::Devices(lengths) => {
            lengths.iter().map(|&length| length.min(usual)).collect()
        }
    };
    let whole: Vec<u64> = each.iter().map(|bytes| bytes / step * step).collect();
    if whole.contains(&0) {
        return Err(SuiteError::option(
            "block",
            "an operation is larger than a target: give smaller blocks, or a larger size",
        ));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Access, Filesystem, TargetStack};

    fn machine(targets: usize) -> Environment {
        let target = TargetStack {
            path: "/mnt".to_owned(),
            filesystem: Some(Filesystem {
                size_bytes: 1 << 40,
                available_bytes: 1 << 40,
                ..Filesystem::default()
            }),
            layers: Vec::new(),
            missing: Vec::new(),
        };
        Environment {
            targets: vec![target; targets],
            ..Environment::default()
        }
    }

    fn options(targets: Targets) -> ParallelOptions {
        ParallelOptions {
            classic: false,
            targets,
            ways: None,
            size_bytes: None,
            block_size_bytes: None,
            access: Access::Sequential,
            depth: 1,
            direct: false,
            duration_ns: None,
            runs: None,
            quick: false,
            may_fill: false,
        }
    }

    fn planned(options: &ParallelOptions, targets: usize) -> ParallelParameters {
        let plan = plan(options, Seed(1), &machine(targets)).unwrap();
        serde_json::from_value(plan.parameters).unwrap()
    }

    #[test]
    fn directories_share_and_files_are_read_to_their_ends() {
        let shared = planned(&options(Targets::Directories), 8);
        assert_eq!(shared.sizes_bytes, [256 * MIB; 8]);
        assert_eq!(shared.ways, Ways::Both);
        let lengths = vec![10 * MIB + 5, 5 << 30];
        let existing = planned(&options(Targets::Existing(lengths)), 2);
        assert_eq!(existing.sizes_bytes, [10 * MIB, 1024 * MIB]);
        assert_eq!(existing.ways, Ways::Read);
    }

    /// 12 GB on each of 8 disks, in writes of 1 MiB, read in 4 KiB.
    #[test]
    fn the_disk_test_of_2002_is_planned_as_it_was() {
        let classic = ParallelOptions {
            classic: true,
            ..options(Targets::Directories)
        };
        let planned = planned(&classic, 8);
        assert_eq!(planned.sizes_bytes, [12 << 30; 8]);
        assert_eq!(planned.block_size_bytes, 4096);
        assert!(!planned.drop_caches);
        let writes = crate::parallel::job(&planned, stiction_core::Action::Write, Seed(1));
        let blocks: u64 = (0..8).map(|worker| writes.blocks(worker)).sum();
        assert_eq!(blocks, 98_304, "as its report says");
    }

    #[test]
    fn what_is_there_is_not_written() {
        let asked = ParallelOptions {
            ways: Some(Ways::Both),
            ..options(Targets::Existing(vec![MIB]))
        };
        let refused = plan(&asked, Seed(1), &machine(1)).unwrap_err();
        assert!(matches!(
            refused,
            SuiteError::Option {
                option: "write",
                ..
            }
        ));
    }
}
