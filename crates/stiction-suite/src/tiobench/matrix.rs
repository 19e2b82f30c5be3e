//! From options to a plan: every default filled in, every trial listed.

use stiction_core::{Cell, Environment, Plan, Seed};

use super::jobs::Shape;
use super::options::{DirectoryUse, FileSize, TiobenchMode, TiobenchOptions};
use super::parameters::TiobenchParameters;
use super::resolve::{automatic_bytes, check, parameters};
use crate::SuiteError;
use crate::order::{cells_within_runs, runs_within_cells};

/// More trials than this are a mistake.
const TRIALS_MAX: usize = 100_000;

/// Largest total size that is chosen for a quick run.
const QUICK_BYTES: u64 = 256 << 20;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &TiobenchOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options, environment)?;
    let parameters = parameters(options, environment);
    let cells = cells(options, &parameters, environment)?;
    let count = cells.len().saturating_mul(parameters.runs as usize);
    if count > TRIALS_MAX {
        return Err(SuiteError::option(
            "numruns",
            format!("{count} trials are more than the {TRIALS_MAX} that one session may hold"),
        ));
    }
    let trials = match parameters.variant {
        TiobenchMode::Classic { .. } => runs_within_cells(&cells, parameters.runs),
        TiobenchMode::Default => cells_within_runs(&cells, parameters.runs, seed),
    };
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        preparation: stiction_core::Preparation::default(),
        trials,
    })
}

/// Every combination, in the driver's order: directory, size, block, threads.
fn cells(
    options: &TiobenchOptions,
    parameters: &TiobenchParameters,
    environment: &Environment,
) -> Result<Vec<Cell>, SuiteError> {
    let or = |given: &[u64], usual: &[u64]| {
        if given.is_empty() {
            usual.to_vec()
        } else {
            given.to_vec()
        }
    };
    let threads: Vec<u64> = options
        .threads
        .iter()
        .map(|&threads| threads.into())
        .collect();
    let usual: &[u64] = if options.quick {
        &[1, 4]
    } else {
        &[1, 2, 4, 8]
    };
    let threads = or(&threads, usual);
    let blocks = or(&options.block_sizes_bytes, &[4096]);
    let sizes = if options.sizes.is_empty() {
        let bytes = automatic_bytes(parameters, environment)?;
        let most = if options.quick { QUICK_BYTES } else { bytes };
        vec![FileSize::Total(bytes.min(most))]
    } else {
        options.sizes.clone()
    };
    let mut cells: Vec<Cell> = Vec::new();
    for directory in directory_levels(parameters) {
        for size in &sizes {
            for &block in &blocks {
                for &threads in &threads {
                    let cell = cell(directory, *size, block, threads)?;
                    if !cells.contains(&cell) {
                        cells.push(cell);
                    }
                }
            }
        }
    }
    if !cells.iter().any(|cell| fits(parameters, cell)) {
        return Err(SuiteError::option(
            "block",
            "every block size asked for is larger than a thread's share of the size; give a larger size, smaller blocks or fewer threads",
        ));
    }
    Ok(cells)
}

/// The levels of the factor `directory`: none of them unless places are used in turn.
fn directory_levels(parameters: &TiobenchParameters) -> Vec<Option<&str>> {
    if parameters.places.len() > 1 && parameters.directory_use == DirectoryUse::InTurn {
        parameters
            .places
            .iter()
            .map(|name| Some(name.as_str()))
            .collect()
    } else {
        vec![None]
    }
}

fn cell(
    directory: Option<&str>,
    size: FileSize,
    block: u64,
    threads: u64,
) -> Result<Cell, SuiteError> {
    let total = u32::try_from(threads)
        .ok()
        .and_then(|threads| size.total_bytes(threads))
        .and_then(|bytes| i64::try_from(bytes).ok())
        .ok_or_else(|| SuiteError::option("size", "more than a file offset can hold"))?;
    let cell = Cell::new()
        .with("threads", threads)
        .with("block_size_bytes", block)
        .with("file_size_bytes", total);
    Ok(match directory {
        Some(directory) => cell.with("directory", directory),
        None => cell,
    })
}

/// Whether a thread's file holds at least one block.
fn fits(parameters: &TiobenchParameters, cell: &Cell) -> bool {
    Shape::of(parameters, cell).is_some_and(|shape| shape.file_bytes >= shape.block_size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use stiction_core::{Data, Filesystem, Memory, TargetStack};

    use super::super::options::{RandomAmount, RawLayout, TiobenchPhase};

    const MIB: u64 = 1 << 20;

    fn machine(paths: &[&str]) -> Environment {
        let target = |path: &&str| TargetStack {
            path: (*path).to_owned(),
            filesystem: Some(Filesystem {
                size_bytes: 100 << 30,
                available_bytes: 50 << 30,
                ..Filesystem::default()
            }),
            layers: Vec::new(),
            missing: Vec::new(),
        };
        Environment {
            memory: Some(Memory {
                total_bytes: 1 << 30,
                ..Memory::default()
            }),
            targets: paths.iter().map(target).collect(),
            ..Environment::default()
        }
    }

    fn classic() -> TiobenchOptions {
        TiobenchOptions {
            mode: TiobenchMode::Classic { as_was: false },
            ..TiobenchOptions::default()
        }
    }

    fn of(plan: &Plan, factor: &str) -> Vec<i64> {
        let trials = plan.trials.iter();
        trials
            .filter_map(|trial| trial.cell.integer(factor))
            .collect()
    }

    fn refused(options: &TiobenchOptions) -> &'static str {
        match plan(options, Seed(1), &machine(&["."])) {
            Err(SuiteError::Option { option, .. }) => option,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_classic_plan_is_the_drivers() {
        let plan = plan(&classic(), Seed(1), &machine(&["."])).unwrap();
        assert_eq!(of(&plan, "threads"), [1, 2, 4, 8]);
        assert_eq!(of(&plan, "block_size_bytes"), [4096; 4]);
        let size = i64::try_from(2000 * MIB).unwrap();
        assert_eq!(
            of(&plan, "file_size_bytes"),
            [size; 4],
            "twice 1 GiB, clamped"
        );
        assert!(
            plan.trials
                .iter()
                .all(|trial| trial.cell.get("directory").is_none())
        );
        let parameters: TiobenchParameters = serde_json::from_value(plan.parameters).unwrap();
        assert_eq!(parameters.random, RandomAmount::Total(4000));
        assert_eq!(parameters.data, Data::Zeros);
        assert!(!parameters.drop_caches);
    }

    /// Directory, size, block, threads, runs: from the outermost to the innermost.
    #[test]
    fn the_classic_loops_nest_as_the_drivers_did() {
        let options = TiobenchOptions {
            sizes: vec![FileSize::Total(10 * MIB), FileSize::Total(20 * MIB)],
            threads: vec![1, 2],
            block_sizes_bytes: vec![4096, 131_072],
            runs: Some(2),
            ..classic()
        };
        let plan = plan(&options, Seed(1), &machine(&["/a", "/b"])).unwrap();
        assert_eq!(plan.trials.len(), 2 * 2 * 2 * 2 * 2);
        let text: Vec<String> = plan
            .trials
            .iter()
            .map(|trial| format!("{} {}", trial.cell, trial.repetition))
            .collect();
        let cell = |directory, size: u64, block, threads, run| {
            format!(
                "block_size_bytes={block} directory={directory} file_size_bytes={} threads={threads} {run}",
                size * MIB
            )
        };
        assert_eq!(text[0], cell("/a", 10, 4096, 1, 0));
        assert_eq!(text[1], cell("/a", 10, 4096, 1, 1));
        assert_eq!(text[2], cell("/a", 10, 4096, 2, 0));
        assert_eq!(text[4], cell("/a", 10, 131_072, 1, 0));
        assert_eq!(text[8], cell("/a", 20, 4096, 1, 0));
        assert_eq!(text[16], cell("/b", 10, 4096, 1, 0));
    }

    #[test]
    fn the_default_plan_runs_every_cell_before_any_again() {
        let plan = plan(&TiobenchOptions::default(), Seed(7), &machine(&["."])).unwrap();
        let threads = of(&plan, "threads");
        assert_eq!(threads.len(), 12);
        for (run, block) in threads.chunks(4).enumerate() {
            let repetitions: BTreeSet<u32> = plan.trials[4 * run..4 * run + 4]
                .iter()
                .map(|trial| trial.repetition)
                .collect();
            assert_eq!(repetitions, BTreeSet::from([run as u32]));
            assert_eq!(
                block.iter().copied().collect::<BTreeSet<_>>(),
                BTreeSet::from([1, 2, 4, 8])
            );
        }
    }

    #[test]
    fn a_plan_follows_from_its_seed() {
        let plan = |seed| plan(&TiobenchOptions::default(), Seed(seed), &machine(&["."])).unwrap();
        assert_eq!(plan(3).digest(), plan(3).digest());
        let orders: BTreeSet<Vec<i64>> = (0..20).map(|seed| of(&plan(seed), "threads")).collect();
        assert!(orders.len() > 10, "{} orders of 20 seeds", orders.len());
    }

    /// tiotest's `-f` is for each thread, so the total grows with the threads.
    #[test]
    fn a_size_for_each_thread_is_kept() {
        let options = TiobenchOptions {
            sizes: vec![FileSize::PerThread(10 * MIB)],
            ..classic()
        };
        let plan = plan(&options, Seed(1), &machine(&["."])).unwrap();
        let mib: Vec<i64> = of(&plan, "file_size_bytes")
            .iter()
            .map(|bytes| bytes >> 20)
            .collect();
        assert_eq!(mib, [10, 20, 40, 80]);
    }

    #[test]
    fn directories_that_read_alike_stay_apart() {
        let plan = plan(&classic(), Seed(1), &machine(&["/a", "/a"])).unwrap();
        let parameters: TiobenchParameters = serde_json::from_value(plan.parameters).unwrap();
        assert_eq!(parameters.places, ["/a", "/a #2"]);
        let spread = TiobenchOptions {
            directory_use: DirectoryUse::Spread,
            ..classic()
        };
        let plan = super::plan(&spread, Seed(1), &machine(&["/a", "/b"])).unwrap();
        assert_eq!(plan.trials.len(), 4);
        assert!(plan.trials[0].cell.get("directory").is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let default = TiobenchOptions::default;
        let sizes = |sizes| TiobenchOptions { sizes, ..default() };
        assert_eq!(refused(&sizes(vec![FileSize::Total(0)])), "size");
        assert_eq!(refused(&sizes(vec![FileSize::PerThread(u64::MAX)])), "size");
        let threads = |threads| TiobenchOptions {
            threads,
            ..default()
        };
        assert_eq!(refused(&threads(vec![0])), "threads");
        assert_eq!(refused(&threads(vec![1_000_000])), "threads");
        let block = TiobenchOptions {
            block_sizes_bytes: vec![8 * MIB],
            ..sizes(vec![FileSize::Total(4 * MIB)])
        };
        assert_eq!(refused(&block), "block");
        let skip = TiobenchOptions {
            skip: TiobenchPhase::ALL.into(),
            ..default()
        };
        assert_eq!(refused(&skip), "skip");
        let raw = TiobenchOptions {
            raw: RawLayout {
                gap_bytes: 1,
                gap_first: false,
            },
            ..default()
        };
        assert_eq!(refused(&raw), "offset-gap");
        let mapped = TiobenchOptions {
            mmap: true,
            direct: true,
            ..default()
        };
        assert_eq!(refused(&mapped), "mmap");
        let runs = TiobenchOptions {
            runs: Some(0),
            ..default()
        };
        assert_eq!(refused(&runs), "numruns");
        let random = TiobenchOptions {
            random: Some(RandomAmount::Total(0)),
            ..default()
        };
        assert_eq!(refused(&random), "random");
    }

    /// A matrix may hold cells that cannot run; they become skipped trials.
    #[test]
    fn one_cell_that_fits_is_enough() {
        let options = TiobenchOptions {
            sizes: vec![FileSize::Total(4 * MIB)],
            block_sizes_bytes: vec![4096, 8 * MIB],
            ..TiobenchOptions::default()
        };
        let plan = plan(&options, Seed(1), &machine(&["."])).unwrap();
        assert_eq!(plan.trials.len(), 4 * 2 * 3);
    }
}
