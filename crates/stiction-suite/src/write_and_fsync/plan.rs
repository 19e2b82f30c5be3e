//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Data, Environment, Plan, Seed, SyncKind};
use stiction_engine::{BLOCK_BYTES_MAX, WORKERS_MAX};

use super::jobs::{CLASSIC_CUT_BYTES, file_bytes};
use super::options::{SyncPolicy, WriteAmount, WriteAndFsyncOptions, WriteAndFsyncParameters};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::runs_within_cells;
use crate::sizing;

const MIB: u64 = 1 << 20;
/// Total over all files where no amount is asked for.
const TOTAL_BYTES: u64 = 1024 * MIB;
const QUICK_TOTAL_BYTES: u64 = 64 * MIB;
/// Repetitions in the default mode.
const RUNS: u32 = 3;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &WriteAndFsyncOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let parameters = parameters(options, environment)?;
    let too_large = || SuiteError::option("size", "more than a file offset can hold");
    let file_bytes = file_bytes(&parameters).ok_or_else(too_large)?;
    if file_bytes == 0 {
        return Err(SuiteError::option(
            "chunk",
            "a write is larger than what is to be written to a file: give smaller writes, or more",
        ));
    }
    let total = file_bytes.checked_mul(parameters.files.into());
    let total = total.and_then(|bytes| i64::try_from(bytes).ok());
    let cell = Cell::new()
        .with("threads", parameters.files)
        .with("block_size_bytes", parameters.chunk_bytes)
        .with("file_size_bytes", total.ok_or_else(too_large)?);
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

fn check(options: &WriteAndFsyncOptions) -> Result<(), SuiteError> {
    let not_whole = |bytes: u64| !bytes.is_multiple_of(CLASSIC_CUT_BYTES);
    refuse(&[
        (
            matches!(
                options.amount,
                Some(WriteAmount::Bytes(0) | WriteAmount::Writes(0))
            ),
            "size",
            "0: there would be nothing to write",
        ),
        (
            options.classic && options.amount.is_none() && !options.quick,
            "size",
            "the old program must be told how much to write: give MiB (-m) or writes (--count)",
        ),
        (
            options.classic
                && matches!(options.amount, Some(WriteAmount::Bytes(bytes)) if not_whole(bytes)),
            "size",
            "the old program writes whole MiB",
        ),
        (
            options
                .chunk_bytes
                .is_some_and(|bytes| !(1..=BLOCK_BYTES_MAX).contains(&bytes)),
            "chunk",
            "give 1 byte to 1 GiB",
        ),
        (
            matches!(options.sync, Some(SyncPolicy::Every { writes: 0, .. })),
            "sync-every",
            "0: give 1 or more",
        ),
        (
            options
                .files
                .is_some_and(|files| !(1..=WORKERS_MAX).contains(&(files as usize))),
            "files",
            "give 1 to 65536",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
        (
            options.direct && options.dontcache,
            "dontcache",
            "direct I/O passes the page cache by: choose one",
        ),
    ])
}

fn parameters(
    options: &WriteAndFsyncOptions,
    environment: &Environment,
) -> Result<WriteAndFsyncParameters, SuiteError> {
    let places = u32::try_from(environment.targets.len()).unwrap_or(u32::MAX);
    let files = options.files.unwrap_or(places.max(1));
    let chunk_bytes = options.chunk_bytes.unwrap_or(MIB);
    let amount = match options.amount {
        Some(amount) => amount,
        None => WriteAmount::Bytes(automatic_bytes(options, files, chunk_bytes, environment)?),
    };
    let classic = options.classic;
    Ok(WriteAndFsyncParameters {
        classic,
        amount,
        chunk_bytes,
        sync: options.sync.unwrap_or(if classic {
            SyncPolicy::Never
        } else {
            SyncPolicy::AtEnd(SyncKind::Fsync)
        }),
        files,
        before: options.before,
        direct: options.direct,
        write_sync: options.write_sync,
        dontcache: options.dontcache,
        buffer_offset_bytes: options.buffer_offset_bytes,
        pause_ns: options.pause_ns,
        data: options
            .data
            .unwrap_or(if classic { Data::Zeros } else { Data::Unique }),
        may_fill: options.may_fill,
    })
}

/// An equal share of what fits, in whole writes; in classic mode in whole MiB.
fn automatic_bytes(
    options: &WriteAndFsyncOptions,
    files: u32,
    chunk_bytes: u64,
    environment: &Environment,
) -> Result<u64, SuiteError> {
    let at_most = if options.quick {
        QUICK_TOTAL_BYTES
    } else {
        TOTAL_BYTES
    };
    let sizing = sizing::choose(None, at_most, environment, options.may_fill)
        .map_err(SuiteError::Refused)?;
    let share = sizing.file_bytes / u64::from(files);
    let step = if options.classic {
        CLASSIC_CUT_BYTES
    } else {
        chunk_bytes
    };
    Ok((share / step).max(1).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option_of(options: &WriteAndFsyncOptions) -> &'static str {
        match plan(options, Seed(1), &Environment::default()) {
            Err(SuiteError::Option { option, .. }) => option,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_old_program_wants_an_amount_and_syncs_nothing() {
        let classic = WriteAndFsyncOptions {
            classic: true,
            ..WriteAndFsyncOptions::default()
        };
        assert_eq!(option_of(&classic), "size");
        let sized = WriteAndFsyncOptions {
            amount: Some(WriteAmount::Bytes(4000 * MIB)),
            ..classic
        };
        let plan = plan(&sized, Seed(1), &Environment::default()).unwrap();
        assert_eq!(plan.trials.len(), 1);
        let parameters: WriteAndFsyncParameters = serde_json::from_value(plan.parameters).unwrap();
        assert_eq!(parameters.sync, SyncPolicy::Never);
        assert_eq!(
            (parameters.data, parameters.chunk_bytes),
            (Data::Zeros, MIB)
        );
    }

    #[test]
    fn the_default_is_durable_and_repeated() {
        let options = WriteAndFsyncOptions::default();
        let plan = plan(&options, Seed(1), &Environment::default()).unwrap();
        assert_eq!(plan.trials.len(), 3);
        let cell = &plan.trials[0].cell;
        assert_eq!(cell.integer("file_size_bytes"), Some(1 << 30));
        let parameters: WriteAndFsyncParameters = serde_json::from_value(plan.parameters).unwrap();
        assert_eq!(parameters.sync, SyncPolicy::AtEnd(SyncKind::Fsync));
        assert_eq!(parameters.data, Data::Unique);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let with = |change: fn(&mut WriteAndFsyncOptions)| {
            let mut options = WriteAndFsyncOptions::default();
            change(&mut options);
            option_of(&options)
        };
        assert_eq!(with(|o| o.amount = Some(WriteAmount::Writes(0))), "size");
        assert_eq!(with(|o| o.amount = Some(WriteAmount::Bytes(5))), "chunk");
        assert_eq!(
            with(|o| o.amount = Some(WriteAmount::Writes(u64::MAX))),
            "size"
        );
        assert_eq!(with(|o| o.chunk_bytes = Some(0)), "chunk");
        assert_eq!(with(|o| o.files = Some(0)), "files");
        assert_eq!(with(|o| o.runs = Some(0)), "runs");
        assert_eq!(
            with(|o| (o.direct, o.dontcache) = (true, true)),
            "dontcache"
        );
    }
}
