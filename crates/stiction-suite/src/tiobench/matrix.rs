//! From options to a plan: every default filled in, every trial listed.

use stiction_core::{
    Access, BackendKind, Cell, Data, Environment, Plan, PlannedTrial, Seed, TargetStack, Timing,
};

use super::amounts::{
    classic_automatic_bytes, classic_file_bytes, default_automatic_bytes, even_file_bytes,
};
use super::options::{
    DirectoryUse, FileSize, RandomAmount, TiobenchMode, TiobenchOptions, TiobenchPhase,
};
use super::parameters::TiobenchParameters;
use crate::SuiteError;
use crate::room::{lives_in_memory, memory_bytes, room_bytes};

/// More threads than this are refused before anything is made.
const THREADS_MAX: u32 = 65_536;
/// Larger blocks are refused before anything is made.
const BLOCK_SIZE_BYTES_MAX: u64 = 1 << 30;
/// More trials than this are a mistake.
const TRIALS_MAX: usize = 100_000;
/// Length of a recording interval: short enough to see a token bucket at work.
const INTERVAL_NS: u64 = 100_000_000;
/// Time of a random phase in the default mode.
const RANDOM_NS: u64 = 5_000_000_000;
/// Random operations over all threads in classic mode.
const CLASSIC_RANDOM: u64 = 4000;
/// Repetitions of a cell in the default mode.
const RUNS: u32 = 3;
/// Buffered random writes that a thread of the default mode may leave unwritten. It
/// bounds the sync at the end, which nothing can interrupt: 256 seeks are about two
/// seconds of a rotating disk.
const RANDOM_WRITES_PER_SYNC: u64 = 256;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &TiobenchOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options, environment)?;
    let parameters = parameters(options, environment);
    let cells = cells(options, &parameters, environment)?;
    let trials = match parameters.variant {
        TiobenchMode::Classic { .. } => runs_within_cells(&cells, parameters.runs),
        TiobenchMode::Default => cells_within_runs(&cells, parameters.runs, seed),
    };
    if trials.len() > TRIALS_MAX {
        return Err(SuiteError::option(
            "numruns",
            format!(
                "{} trials are more than the {TRIALS_MAX} that one session may hold",
                trials.len()
            ),
        ));
    }
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        trials,
    })
}

/// Refuses what cannot be meant, before anything is made.
fn check(options: &TiobenchOptions, environment: &Environment) -> Result<(), SuiteError> {
    let refuse = |option, problem: String| Err(SuiteError::option(option, problem));
    for size in &options.sizes {
        if matches!(size, FileSize::Total(0) | FileSize::PerThread(0)) {
            return refuse(
                "size",
                "0 bytes: there would be nothing to write or read".to_owned(),
            );
        }
    }
    for &threads in &options.threads {
        if threads == 0 || threads > THREADS_MAX {
            return refuse("threads", format!("{threads}: give 1 to {THREADS_MAX}"));
        }
    }
    for &block in &options.block_sizes_bytes {
        if block == 0 || block > BLOCK_SIZE_BYTES_MAX {
            return refuse(
                "block",
                format!("{block} bytes: give 1 to {BLOCK_SIZE_BYTES_MAX} (1 GiB)"),
            );
        }
    }
    if matches!(
        options.random,
        Some(RandomAmount::Total(0) | RandomAmount::PerThread(0) | RandomAmount::Duration(0))
    ) {
        return refuse(
            "random",
            "0: to leave the random phases out, skip them".to_owned(),
        );
    }
    if options.runs == Some(0) {
        return refuse("numruns", "0: give at least 1".to_owned());
    }
    if options.skip.len() == TiobenchPhase::ALL.len() {
        return refuse(
            "skip",
            "all four phases are left out: nothing remains to run".to_owned(),
        );
    }
    if options.mmap && options.direct {
        return refuse(
            "mmap",
            "a mapping goes through the page cache, which direct I/O avoids: choose one".to_owned(),
        );
    }
    if options.random_access == Some(Access::Sequential) {
        return refuse(
            "random-order",
            "sequential is not an order of the random phases".to_owned(),
        );
    }
    check_places(options, environment)
}

fn check_places(options: &TiobenchOptions, environment: &Environment) -> Result<(), SuiteError> {
    let devices = environment
        .targets
        .iter()
        .filter(|target| is_device(target))
        .count();
    if devices > 0 && devices < environment.targets.len() {
        return Err(SuiteError::option(
            "dir",
            "directories and raw devices cannot be mixed in one run",
        ));
    }
    if devices == 0 && options.raw != Default::default() {
        return Err(SuiteError::option(
            "offset",
            "gaps between regions are for raw devices; files have none",
        ));
    }
    if devices > 0 && options.mmap {
        return Err(SuiteError::option(
            "mmap",
            "raw devices are read and written, not mapped",
        ));
    }
    Ok(())
}

/// Whether a place was observed to be a raw device.
fn is_device(target: &TargetStack) -> bool {
    target.filesystem.is_none() && !target.layers.is_empty()
}

/// Every choice but the matrix.
fn parameters(options: &TiobenchOptions, environment: &Environment) -> TiobenchParameters {
    let classic = matches!(options.mode, TiobenchMode::Classic { .. });
    let buffered = !options.direct && !options.mmap && options.write_sync == Default::default();
    TiobenchParameters {
        variant: options.mode,
        identifier: options.identifier.clone().unwrap_or_else(|| {
            environment
                .kernel
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), |kernel| kernel.release.clone())
        }),
        places: distinct_names(&environment.targets),
        directory_use: options.directory_use,
        phases: TiobenchPhase::ALL
            .into_iter()
            .filter(|phase| !options.skip.contains(phase))
            .collect(),
        random: options.random.unwrap_or(if classic {
            RandomAmount::Total(CLASSIC_RANDOM)
        } else {
            RandomAmount::Duration(RANDOM_NS)
        }),
        random_access: options.random_access.unwrap_or(if classic {
            Access::RandomIndependent
        } else {
            Access::RandomPermutation
        }),
        random_writes_per_sync: (!classic && buffered).then_some(RANDOM_WRITES_PER_SYNC),
        one_writer_at_a_time: options.one_writer_at_a_time,
        write_sync: options.write_sync,
        direct: options.direct,
        backend: if options.mmap {
            BackendKind::Mmap
        } else {
            BackendKind::Psync
        },
        raw: options.raw,
        data: match (options.verify, classic) {
            (true, _) => Data::Stamped,
            (false, true) => Data::Zeros,
            (false, false) => Data::Unique,
        },
        verify: options.verify,
        drop_caches: options.flush_caches || !classic,
        interval_ns: INTERVAL_NS,
        timing: Timing::Exact,
        runs: options.runs.unwrap_or(if classic { 1 } else { RUNS }),
        timeout_ns: options.timeout_ns,
        may_fill: options.may_fill,
    }
}

/// The places' paths; one that reads like an earlier one gets its number behind it.
fn distinct_names(targets: &[TargetStack]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(targets.len());
    for (index, target) in targets.iter().enumerate() {
        let name = if names.contains(&target.path) {
            format!("{} #{}", target.path, index + 1)
        } else {
            target.path.clone()
        };
        names.push(name);
    }
    names
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
    let threads = or(&threads, &[1, 2, 4, 8]);
    let blocks = or(&options.block_sizes_bytes, &[4096]);
    let sizes = if options.sizes.is_empty() {
        vec![FileSize::Total(automatic_bytes(parameters, environment)?)]
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
    let number = |factor| {
        cell.integer(factor)
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0)
    };
    let threads = u32::try_from(number("threads")).unwrap_or(u32::MAX);
    file_bytes(
        parameters.variant,
        number("file_size_bytes"),
        threads,
        number("block_size_bytes"),
    ) >= number("block_size_bytes")
}

/// Bytes of each thread's file.
pub(super) fn file_bytes(
    variant: TiobenchMode,
    total_bytes: u64,
    threads: u32,
    block_size_bytes: u64,
) -> u64 {
    match variant {
        TiobenchMode::Classic { .. } => classic_file_bytes(total_bytes, threads),
        TiobenchMode::Default => even_file_bytes(total_bytes, threads, block_size_bytes),
    }
}

/// The size to use when none is asked for: one for all places, so that they compare.
fn automatic_bytes(
    parameters: &TiobenchParameters,
    environment: &Environment,
) -> Result<u64, SuiteError> {
    let memory = memory_bytes(environment);
    if matches!(parameters.variant, TiobenchMode::Classic { .. }) {
        return Ok(classic_automatic_bytes(memory));
    }
    let smallest = environment
        .targets
        .iter()
        .map(|target| match &target.filesystem {
            Some(filesystem) => default_automatic_bytes(
                room_bytes(filesystem, parameters.may_fill),
                memory.filter(|_| lives_in_memory(filesystem)),
            ),
            None => target.layers.first().map_or(u64::MAX, |layer| {
                default_automatic_bytes(layer.size_bytes, None)
            }),
        })
        .min()
        .unwrap_or(u64::MAX);
    match smallest {
        0 => Err(SuiteError::option(
            "size",
            "less than 2 MiB may be written here: free some space, or give a size",
        )),
        u64::MAX => Ok(default_automatic_bytes(u64::MAX, None)),
        bytes => Ok(bytes),
    }
}

/// All runs of a cell before the next cell, as the driver does.
fn runs_within_cells(cells: &[Cell], runs: u32) -> Vec<PlannedTrial> {
    cells
        .iter()
        .flat_map(|cell| {
            (0..runs).map(|repetition| PlannedTrial {
                cell: cell.clone(),
                repetition,
            })
        })
        .collect()
}

/// Every cell once, in random order, before any cell again: drift over the session
/// then falls on all cells alike.
fn cells_within_runs(cells: &[Cell], runs: u32, seed: Seed) -> Vec<PlannedTrial> {
    (0..runs)
        .flat_map(|repetition| {
            let mut order = cells.to_vec();
            shuffle(&mut order, seed.stream(repetition.into()));
            order
                .into_iter()
                .map(move |cell| PlannedTrial { cell, repetition })
        })
        .collect()
}

/// Fisher and Yates's shuffle.
fn shuffle<T>(items: &mut [T], seed: Seed) {
    for last in (1..items.len()).rev() {
        let draw = seed.stream(last as u64).0;
        let chosen = (u128::from(draw) * (last as u128 + 1)) >> 64;
        items.swap(last, chosen as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stiction_core::{Filesystem, Memory};

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
            raw: super::super::RawLayout {
                gap_bytes: 1,
                gap_first: false,
            },
            ..default()
        };
        assert_eq!(refused(&raw), "offset");
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
