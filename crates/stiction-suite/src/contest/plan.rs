//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Memory, Plan, Seed, SkipCode, SkipReason, format_bytes};

use super::build::{BuildSize, ROUNDS_QUICK};
use super::loads::{Load, memory};
use super::options::{ContestOptions, ContestParameters, JobWanted, TimedJob};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::{cells_within_runs, runs_within_cells};
use crate::room::{memory_bytes as machine_memory_bytes, room_bytes};

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

/// Appends of `fsync-append`, and the size of one.
const APPENDS: u32 = 1000;
const QUICK_APPENDS: u32 = 20;
const APPEND_BYTES: u32 = 4096;

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
    let mut loads = options.loads.clone();
    if loads.is_empty() {
        loads.extend(LOADS);
        loads.extend(options.has_other.then_some(Load::IoOther));
    }
    let cpus = environment.cpu.as_ref().map_or(1, |cpu| cpu.allowed.max(1));
    // The others do one thing after the other.
    let slots = match options.job {
        JobWanted::SmallReads | JobWanted::FsyncAppend => 1,
        _ => options.slots.unwrap_or(4 * cpus),
    };
    let (memory_bytes, memory_cut) = memory_size(options, environment)?;
    // Space on the disk has nothing to do with it.
    let whole = if memory_cut {
        machine_memory_bytes(environment).unwrap_or(memory_bytes)
    } else {
        memory_bytes
    };
    let touched_bytes = memory::touched_bytes(whole);
    let pages_of_file = loads.contains(&Load::Memory) && {
        let room = memory_room(touched_bytes, environment);
        room.map_err(|message| SuiteError::option("loads", message))?
    };
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
        touched_bytes,
        pages_of_file,
        dirty_limit_bytes: dirty_limit_bytes(environment),
        load_data: options.load_data,
        load_rate_bytes_per_s: options.load_rate_bytes_per_s,
        processes: options.processes.unwrap_or(4 * cpus),
        clients: if options.quick { 4 } else { 16 } * cpus,
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
        preparation: stiction_core::Preparation::default(),
        trials: if options.classic {
            runs_within_cells(&cells, runs)
        } else {
            cells_within_runs(&cells, runs, seed)
        },
    })
}

/// How many of the places are written to.
pub(super) fn places_written(plan: &Plan) -> usize {
    let is_other = |cell: &Cell| {
        cell.get("load")
            .is_some_and(|load| *load == Load::IoOther.name().into())
    };
    if plan.trials.iter().any(|trial| is_other(&trial.cell)) {
        2
    } else {
        1
    }
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
        (
            options.loads.contains(&Load::IoOther) && !options.has_other,
            "loads",
            "io-other writes to another directory: name it by --other-dir",
        ),
        (
            options.load_rate_bytes_per_s == Some(0),
            "load-rate",
            "0: give 1 byte a second or more",
        ),
        (
            options.load_rate_bytes_per_s.is_some()
                && !options.loads.is_empty()
                && options
                    .loads
                    .iter()
                    .any(|load| load.runs() && !load.moves_bytes()),
            "load-rate",
            "only loads that move bytes keep a rate: io, io-halfmem, io-other, read, ctar, xtar",
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
        JobWanted::SmallReads => TimedJob::SmallReads(build_size(options, seed, cpus)),
        JobWanted::FsyncAppend => TimedJob::FsyncAppend {
            appends: if options.quick {
                QUICK_APPENDS
            } else {
                APPENDS
            },
            append_bytes: APPEND_BYTES,
        },
        JobWanted::Compile { config, goal } => TimedJob::Compile {
            config: config.clone(),
            goal: goal.clone(),
        },
        JobWanted::Command(command) => TimedJob::Command {
            command: command.clone(),
        },
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
fn memory_size(
    options: &ContestOptions,
    environment: &Environment,
) -> Result<(u64, bool), SuiteError> {
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
    let Some(all) = machine_memory_bytes(environment) else {
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

/// Whether the memory that is touched has to be pages of a file; refuses to touch more
/// than there is where the kernel could only answer by ending processes.
///
/// Under a memory limit pages of a file leave memory while all other programs keep theirs.
/// Without one they would push out everybody's pages and be no load of its own.
fn memory_room(touched: u64, environment: &Environment) -> Result<bool, String> {
    let swap = environment
        .memory
        .as_ref()
        .map_or(0, |memory| memory.swap_bytes);
    let there = machine_memory_bytes(environment).unwrap_or(0);
    if swap > 0 || touched <= there / 10 * 9 {
        return Ok(false);
    }
    let machine = environment
        .memory
        .as_ref()
        .map_or(0, |memory| memory.total_bytes);
    if environment
        .limits
        .memory_bytes
        .is_some_and(|limit| limit < machine)
    {
        return Ok(true);
    }
    Err(format!(
        "mem touches {}, there are {} of memory and no swap: the kernel would end \
         processes. Add swap, run it under a memory limit, or give a smaller --memory",
        format_bytes(touched),
        format_bytes(there)
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn environment(swap_bytes: u64, limit_bytes: Option<u64>) -> Environment {
        let mut environment = Environment {
            memory: Some(Memory {
                total_bytes: 24 * GIB,
                swap_bytes,
                ..Memory::default()
            }),
            ..Environment::default()
        };
        environment.limits.memory_bytes = limit_bytes;
        environment
    }

    #[test]
    fn more_memory_than_there_is_needs_swap_or_a_limit() {
        let room = |touched, swap, limit| memory_room(touched, &environment(swap, limit));
        assert_eq!(room(26 * GIB, GIB, None), Ok(false));
        assert_eq!(room(20 * GIB, 0, None), Ok(false));
        assert!(room(26 * GIB, 0, None).unwrap_err().contains("no swap"));
        assert_eq!(room(2 * GIB, 0, Some(GIB)), Ok(true));
        // What limits nothing is none.
        assert!(room(26 * GIB, 0, Some(48 * GIB)).is_err());
    }
}
