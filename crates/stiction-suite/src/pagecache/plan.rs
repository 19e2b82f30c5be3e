//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, Plan, Seed};
use stiction_engine::WORKERS_MAX;

use super::options::{PagecacheOptions, PagecacheParameters};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;
use crate::room::memory_bytes;
use crate::sizing;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 200 * MIB;
const QUICK_FILE_BYTES: u64 = 16 * MIB;
const PHASE_NS: u64 = 2_000_000_000;
const QUICK_PHASE_NS: u64 = 200_000_000;
/// Passes of the test of 2002.
const CLASSIC_PASSES: u32 = 10;
/// Share of the memory that the files may take, so that nothing pushes them out.
const MEMORY_PART: u64 = 4;
const BLOCK_BYTES_MIN: u64 = 64;
const BLOCK_BYTES_MAX: u64 = MIB;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &PagecacheOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let parameters = parameters(options, environment)?;
    let total = parameters
        .file_bytes
        .saturating_mul(parameters.workers.into());
    let cell = Cell::new()
        .with("threads", parameters.workers)
        .with("block_size_bytes", parameters.block_size_bytes)
        .with("file_size_bytes", total);
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        preparation: stiction_core::Preparation::default(),
        trials: runs_within_cells(&[cell], options.runs.unwrap_or(1)),
    })
}

fn check(options: &PagecacheOptions) -> Result<(), SuiteError> {
    refuse(&[
        (
            options
                .workers
                .is_some_and(|workers| !(1..=WORKERS_MAX).contains(&(workers as usize))),
            "workers",
            "give 1 to 65536",
        ),
        (
            options
                .block_size_bytes
                .is_some_and(|bytes| !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&bytes)),
            "block",
            "give 64 bytes to 1 MiB",
        ),
        (
            options.phase_ns == Some(0),
            "seconds",
            "0: there would be nothing to read",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])
}

fn parameters(
    options: &PagecacheOptions,
    environment: &Environment,
) -> Result<PagecacheParameters, SuiteError> {
    let classic = options.classic;
    let places = u32::try_from(environment.targets.len()).unwrap_or(1).max(1);
    let workers = options.workers.unwrap_or(places);
    let usual = if options.quick {
        QUICK_FILE_BYTES
    } else {
        FILE_BYTES
    };
    let memory = memory_bytes(environment).map_or(u64::MAX, |bytes| bytes / MEMORY_PART);
    let each_at_most = usual.min(memory / u64::from(workers));
    let sizing = sizing::choose(
        options.size_bytes,
        each_at_most,
        environment,
        options.may_fill,
    );
    let file_bytes = sizing.map_err(SuiteError::Refused)?.file_bytes;
    if file_bytes.saturating_mul(workers.into()) > memory {
        return Err(SuiteError::option(
            "size",
            "the files would take more than a quarter of the memory, and might not stay in it: \
             give smaller files, or fewer workers",
        ));
    }
    let by_time = !classic;
    let phase_ns = options.phase_ns.unwrap_or(if options.quick {
        QUICK_PHASE_NS
    } else {
        PHASE_NS
    });
    Ok(PagecacheParameters {
        classic,
        workers,
        file_bytes,
        block_size_bytes: options.block_size_bytes.unwrap_or(4096),
        phase_ns: by_time.then_some(phase_ns),
        passes: classic.then_some(CLASSIC_PASSES),
        may_fill: options.may_fill,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::Memory;

    fn machine(memory_bytes: u64) -> Environment {
        Environment {
            memory: Some(Memory {
                total_bytes: memory_bytes,
                ..Memory::default()
            }),
            ..Environment::default()
        }
    }

    #[test]
    fn files_stay_in_a_quarter_of_the_memory() {
        let with = |workers, size_bytes, memory| {
            let options = PagecacheOptions {
                workers: Some(workers),
                size_bytes,
                ..PagecacheOptions::default()
            };
            let plan = plan(&options, Seed(1), &machine(memory))?;
            let parameters: PagecacheParameters = serde_json::from_value(plan.parameters)?;
            Ok::<_, SuiteError>(parameters.file_bytes)
        };
        assert_eq!(with(8, None, 16 << 30).unwrap(), 200 * MIB);
        assert_eq!(with(8, None, 1 << 30).unwrap(), 32 * MIB);
        let refused = with(8, Some(200 * MIB), 1 << 30).unwrap_err();
        assert!(matches!(refused, SuiteError::Option { option: "size", .. }));
    }
}
