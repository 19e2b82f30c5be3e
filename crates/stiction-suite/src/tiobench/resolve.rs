//! From what was asked to what is meant: refusals, and every default filled in.

use stiction_core::{Access, BackendKind, Data, Environment, TargetStack, Timing};
use stiction_engine::{BLOCK_BYTES_MAX, WORKERS_MAX};

use super::amounts::{classic_automatic_bytes, default_automatic_bytes};
use super::options::{
    FileSize, RandomAmount, RawLayout, TiobenchMode, TiobenchOptions, TiobenchPhase,
};
use super::parameters::TiobenchParameters;
use crate::SuiteError;
use crate::error::refuse;
use crate::room::{memory_bytes, room_bytes};

/// Length of a recording interval: short enough to see a token bucket at work.
const INTERVAL_NS: u64 = 100_000_000;
/// Time of a random phase in the default mode.
const RANDOM_NS: u64 = 5_000_000_000;
/// The same of a quick run.
const RANDOM_QUICK_NS: u64 = 1_000_000_000;
/// Random operations over all threads in classic mode.
const CLASSIC_RANDOM: u64 = 4000;
/// Repetitions of a cell in the default mode.
const RUNS: u32 = 3;
/// Buffered random writes that a thread of the default mode may leave unwritten. It
/// bounds the sync at the end, which nothing can interrupt: 256 seeks are about two
/// seconds of a rotating disk.
const RANDOM_WRITES_PER_SYNC: u64 = 256;

/// Refuses what cannot be meant, before anything is made.
pub(super) fn check(
    options: &TiobenchOptions,
    environment: &Environment,
) -> Result<(), SuiteError> {
    check_amounts(options)?;
    let targets = &environment.targets;
    let devices = targets.iter().filter(|target| is_device(target)).count();
    refuse(&[
        (
            options.skip.len() == TiobenchPhase::ALL.len(),
            "skip",
            "all four phases are left out: nothing remains to run",
        ),
        (
            options.quick && options.mode != TiobenchMode::Default,
            "quick",
            "0.3.3 had no such thing: choose a size and threads, or leave the classic mode",
        ),
        (
            options.mmap && options.direct,
            "mmap",
            "a mapping goes through the page cache, which direct I/O avoids: choose one",
        ),
        (
            options.random_access == Some(Access::Sequential),
            "random-order",
            "sequential is not an order of the random phases",
        ),
        (
            devices > 0 && devices < targets.len(),
            "dir",
            "directories and raw devices cannot be mixed in one run",
        ),
        (
            devices == 0 && options.raw != RawLayout::default(),
            "offset-gap",
            "gaps between regions are for raw devices; files have none",
        ),
        (
            devices > 0 && options.mmap,
            "mmap",
            "raw devices are read and written, not mapped",
        ),
    ])
}

/// Sizes and counts of which nothing can be made, or too much.
fn check_amounts(options: &TiobenchOptions) -> Result<(), SuiteError> {
    let zero_size = |size| matches!(size, FileSize::Total(0) | FileSize::PerThread(0));
    refuse(&[
        (
            options.sizes.iter().copied().any(zero_size),
            "size",
            "0 bytes: there would be nothing to write or read",
        ),
        (
            !options
                .threads
                .iter()
                .all(|&threads| (1..=WORKERS_MAX).contains(&(threads as usize))),
            "threads",
            "give 1 to 65536",
        ),
        (
            !options
                .block_sizes_bytes
                .iter()
                .all(|block| (1..=BLOCK_BYTES_MAX).contains(block)),
            "block",
            "give 1 byte to 1 GiB",
        ),
        (
            matches!(
                options.random,
                Some(
                    RandomAmount::Total(0) | RandomAmount::PerThread(0) | RandomAmount::Duration(0)
                )
            ),
            "random",
            "0: to leave the random phases out, skip them",
        ),
        (options.runs == Some(0), "numruns", "0: give at least 1"),
    ])
}

/// Whether a place was observed to be a raw device.
fn is_device(target: &TargetStack) -> bool {
    target.filesystem.is_none() && !target.layers.is_empty()
}

/// Every choice but the matrix.
pub(super) fn parameters(
    options: &TiobenchOptions,
    environment: &Environment,
) -> TiobenchParameters {
    let classic = matches!(options.mode, TiobenchMode::Classic { .. });
    let buffered = !options.direct && options.write_sync == Default::default();
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
            RandomAmount::Duration(if options.quick {
                RANDOM_QUICK_NS
            } else {
                RANDOM_NS
            })
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
        runs: options
            .runs
            .unwrap_or(if classic || options.quick { 1 } else { RUNS }),
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

/// The size to use when none is asked for: one for all places, so that they compare.
pub(super) fn automatic_bytes(
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
                memory.filter(|_| filesystem.lives_in_memory()),
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
