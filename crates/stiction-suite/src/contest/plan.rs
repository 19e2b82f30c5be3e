//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Memory, Plan, Seed, SkipCode, SkipReason};

use super::build::{BuildSize, ROUNDS_QUICK};
use super::loads::Load;
use super::options::{ContestOptions, ContestParameters, JobWanted, TimedJob};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::{cells_within_runs, runs_within_cells};
use crate::room::{memory_bytes, room_bytes};

/// Repetitions in the default mode.
const RUNS: u32 = 3;
/// For how long a load is measured alone.
const ALONE_NS: u64 = 5_000_000_000;
const QUICK_ALONE_NS: u64 = 200_000_000;
/// What the loads of a quick run take for the memory.
const QUICK_MEMORY_BYTES: u64 = 16 << 20;
/// Less memory than this is no load.
const MEMORY_BYTES_MIN: u64 = 1 << 20;
/// Files are at most this many parts of what the loads take for the memory: the largest
/// one, and what is being written beside it.
const PARTS: u64 = 2;
/// What the kernel takes where a setting cannot be read (vm.dirty_ratio).
const DIRTY_RATIO: u64 = 20;

/// The loads of a run that does not name any.
const LOADS: [Load; 6] = [
    Load::None,
    Load::Cacherun,
    Load::Process,
    Load::Io,
    Load::Read,
    Load::List,
];

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &ContestOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let loads = match &options.loads[..] {
        [] => LOADS.to_vec(),
        named => named.to_vec(),
    };
    let cpus = environment.cpu.as_ref().map_or(1, |cpu| cpu.allowed.max(1));
    let slots = options.slots.unwrap_or(4 * cpus);
    let (memory_bytes, memory_cut) = memory(options, environment)?;
    let alone_ns = if options.classic {
        0
    } else if options.quick {
        QUICK_ALONE_NS
    } else {
        ALONE_NS
    };
    let parameters = ContestParameters {
        classic: options.classic,
        timed: timed(options, seed, cpus),
        slots,
        memory_bytes,
        memory_cut,
        dirty_limit_bytes: dirty_limit_bytes(environment),
        processes: options.processes.unwrap_or(4 * cpus),
        list_files: if options.quick { 500 } else { 12_000 },
        alone_ns: options.alone_ns.unwrap_or(alone_ns),
        may_fill: options.may_fill,
    };
    let cells: Vec<Cell> = loads
        .iter()
        .map(|load| Cell::new().with("load", load.name()))
        .collect();
    let single = options.classic || options.quick;
    let runs = options.runs.unwrap_or(if single { 1 } else { RUNS });
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        trials: if options.classic {
            runs_within_cells(&cells, runs)
        } else {
            cells_within_runs(&cells, runs, seed)
        },
    })
}

/// How many of the places are written to.
pub(super) fn places_written(plan: &Plan) -> usize {
    let _all_are_written = plan;
    1
}

fn check(options: &ContestOptions) -> Result<(), SuiteError> {
    let repeated =
        (1..options.loads.len()).any(|at| options.loads[..at].contains(&options.loads[at]));
    refuse(&[
        (repeated, "loads", "name each load once; --runs repeats all"),
        (
            !options
                .slots
                .is_none_or(|slots| (1..=4096).contains(&slots)),
            "jobs",
            "give 1 to 4096",
        ),
        (
            !options
                .units
                .is_none_or(|units| (1..=1_000_000).contains(&units)),
            "units",
            "give 1 to 1000000",
        ),
        (
            !options
                .processes
                .is_none_or(|processes| (2..=1000).contains(&processes)),
            "processes",
            "give 2 to 1000",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
        (
            options
                .memory_bytes
                .is_some_and(|bytes| bytes < MEMORY_BYTES_MIN),
            "memory",
            "give 1 MiB or more",
        ),
    ])
}

fn timed(options: &ContestOptions, seed: Seed, cpus: u32) -> TimedJob {
    match &options.job {
        JobWanted::Buildsim => TimedJob::Buildsim(build_size(options, seed, cpus)),
    }
}

fn build_size(options: &ContestOptions, seed: Seed, cpus: u32) -> BuildSize {
    let whole = BuildSize {
        units: options.units.unwrap_or(64 * cpus),
        rounds: options.rounds.unwrap_or(ROUNDS_QUICK),
        processes: if options.full_fidelity { 24 } else { 6 },
        ..BuildSize::of_linux(seed)
    };
    if options.quick {
        BuildSize {
            units: options.units.unwrap_or(4 * cpus),
            rounds: options.rounds.unwrap_or(ROUNDS_QUICK).min(ROUNDS_QUICK),
            headers: 60,
            headers_of_unit: 20,
            memory_bytes: 4 << 20,
            ..whole
        }
    } else {
        whole
    }
}

/// What the loads take for the memory, and whether it had to be less than there is.
fn memory(options: &ContestOptions, environment: &Environment) -> Result<(u64, bool), SuiteError> {
    let room = environment
        .targets
        .first()
        .and_then(|target| target.filesystem.as_ref())
        .map_or(u64::MAX, |filesystem| {
            room_bytes(filesystem, options.may_fill)
        });
    if let Some(bytes) = options.memory_bytes {
        return Ok((bytes, false));
    }
    if options.quick {
        return Ok((QUICK_MEMORY_BYTES, false));
    }
    let Some(all) = memory_bytes(environment) else {
        return Err(SuiteError::option(
            "memory",
            "the size of the memory is not known; give it",
        ));
    };
    let bytes = all.min(room / PARTS);
    if bytes < MEMORY_BYTES_MIN {
        return Err(SuiteError::Refused(SkipReason::new(
            SkipCode::NoSpace,
            "there is no space for the files of the loads; free some, or choose another directory",
        )));
    }
    Ok((bytes, bytes < all))
}

/// vm.dirty_bytes, or vm.dirty_ratio percent of the memory.
fn dirty_limit_bytes(environment: &Environment) -> u64 {
    let Some(memory) = &environment.memory else {
        return u64::MAX;
    };
    let setting = |memory: &Memory, name: &str| {
        let named = memory
            .writeback
            .iter()
            .find(|(known, _)| known.ends_with(name));
        named.and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    match setting(memory, "dirty_bytes") {
        Some(bytes) if bytes > 0 => bytes,
        _ => memory.total_bytes / 100 * setting(memory, "dirty_ratio").unwrap_or(DIRTY_RATIO),
    }
}
