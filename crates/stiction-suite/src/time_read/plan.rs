//! From options to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Environment, MapAdvice, Plan, Seed};
use stiction_engine::BLOCK_BYTES_MAX;

use super::options::{CacheState, TimeReadOptions, TimeReadParameters};
use crate::SuiteError;
use crate::error::refuse;
use crate::order::{cells_within_runs, runs_within_cells};
use crate::sizing;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 256 * MIB;
const QUICK_FILE_BYTES: u64 = 64 * MIB;
const BUFFER_BYTES: u64 = 8192;
/// What the old program advances by, whatever the buffer.
const CLASSIC_HOP_BYTES: u64 = 4096;
/// Buffers begin closer to the start of a page than this.
const OFFSET_BYTES_MAX: u32 = 65_535;
/// Repetitions in the default mode.
const RUNS: u32 = 3;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &TimeReadOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let parameters = parameters(options, environment)?;
    let cells = cells(options, &parameters)?;
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

fn check(options: &TimeReadOptions) -> Result<(), SuiteError> {
    let out_of_range =
        |bytes: Option<u64>| bytes.is_some_and(|bytes| !(1..=BLOCK_BYTES_MAX).contains(&bytes));
    refuse(&[
        (
            out_of_range(options.buffer_bytes),
            "buffer",
            "give 1 byte to 1 GiB",
        ),
        (
            out_of_range(options.hop_bytes),
            "hop",
            "give 1 byte to 1 GiB",
        ),
        (
            options.distance_bytes == Some(0),
            "distance",
            "0: there would be nothing to read",
        ),
        (
            options.existing_bytes.is_some() && options.size_bytes.is_some(),
            "size",
            "the file is there and is not changed: name a directory to have one made",
        ),
        (
            options.mmap && options.direct,
            "mmap",
            "a mapping goes through the page cache, which direct I/O avoids: choose one",
        ),
        (
            options.mmap && options.buffer_bytes.is_some(),
            "buffer",
            "a mapping is touched at each hop, without a buffer: choose one",
        ),
        (
            !options.mmap && options.advice.is_some(),
            "advice",
            "advice is for a mapping: ask for --mmap",
        ),
        (
            options.direct && options.cache == Some(CacheState::Warm),
            "cached",
            "direct I/O passes the page cache by: choose one",
        ),
        (
            options
                .buffer_offsets_bytes
                .iter()
                .any(|&bytes| bytes > OFFSET_BYTES_MAX),
            "align",
            "give 0 to 65535 bytes",
        ),
        (options.passes == Some(0), "passes", "0: give at least 1"),
        (options.runs == Some(0), "runs", "0: give at least 1"),
    ])
}

fn parameters(
    options: &TimeReadOptions,
    environment: &Environment,
) -> Result<TimeReadParameters, SuiteError> {
    let buffer_bytes = options.buffer_bytes.unwrap_or(BUFFER_BYTES);
    let hops_by_page = options.classic || options.mmap;
    let hop_bytes = options.hop_bytes.unwrap_or(if hops_by_page {
        CLASSIC_HOP_BYTES
    } else {
        buffer_bytes
    });
    let file_bytes = match options.existing_bytes {
        Some(bytes) => bytes,
        None => {
            let at_most = if options.quick {
                QUICK_FILE_BYTES
            } else {
                FILE_BYTES
            };
            sizing::choose(options.size_bytes, at_most, environment, options.may_fill)
                .map_err(SuiteError::Refused)?
                .file_bytes
        }
    };
    Ok(TimeReadParameters {
        classic: options.classic,
        is_existing: options.existing_bytes.is_some(),
        file_bytes,
        buffer_bytes,
        hop_bytes,
        distance_bytes: options.distance_bytes,
        mmap: options.mmap,
        direct: options.direct,
        advice: options.advice.unwrap_or(MapAdvice::None),
        cache: options.cache.unwrap_or(if options.classic {
            CacheState::AsItIs
        } else {
            CacheState::Cold
        }),
        passes: options.passes.unwrap_or(1),
        may_fill: options.may_fill,
    })
}

/// A cell for each place of the buffer.
fn cells(
    options: &TimeReadOptions,
    parameters: &TimeReadParameters,
) -> Result<Vec<Cell>, SuiteError> {
    let size = i64::try_from(parameters.file_bytes)
        .map_err(|_| SuiteError::option("size", "more than a file offset can hold"))?;
    let block = if parameters.mmap {
        parameters.hop_bytes
    } else {
        parameters.buffer_bytes
    };
    let cell = Cell::new()
        .with("block_size_bytes", block)
        .with("file_size_bytes", size);
    if options.buffer_offsets_bytes.is_empty() {
        return Ok(vec![cell]);
    }
    let mut cells: Vec<Cell> = Vec::new();
    for &offset in &options.buffer_offsets_bytes {
        let cell = cell.clone().with("buffer_offset_bytes", offset);
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(options: &TimeReadOptions) -> (TimeReadParameters, Plan) {
        let plan = plan(options, Seed(1), &Environment::default()).unwrap();
        let parameters = serde_json::from_value(plan.parameters.clone()).unwrap();
        (parameters, plan)
    }

    #[test]
    fn only_the_old_program_hops_by_4096() {
        let classic = |classic, buffer_bytes| {
            let options = TimeReadOptions {
                classic,
                buffer_bytes,
                ..TimeReadOptions::default()
            };
            let (parameters, plan) = planned(&options);
            (
                parameters.buffer_bytes,
                parameters.hop_bytes,
                plan.trials.len(),
            )
        };
        assert_eq!(classic(true, None), (8192, 4096, 1));
        assert_eq!(classic(false, None), (8192, 8192, 3));
        assert_eq!(classic(true, Some(65_536)), (65_536, 4096, 1));
        assert_eq!(classic(false, Some(65_536)), (65_536, 65_536, 3));
    }

    #[test]
    fn alignments_are_cells_once_each() {
        let options = TimeReadOptions {
            buffer_offsets_bytes: vec![0, 8, 8, 32],
            cache: Some(CacheState::Warm),
            runs: Some(2),
            ..TimeReadOptions::default()
        };
        let (_, plan) = planned(&options);
        assert_eq!(plan.trials.len(), 6);
        let offsets = |run: u32| {
            let of_run = plan.trials.iter().filter(|trial| trial.repetition == run);
            let mut offsets: Vec<_> = of_run
                .filter_map(|trial| trial.cell.integer("buffer_offset_bytes"))
                .collect();
            offsets.sort_unstable();
            offsets
        };
        assert_eq!(offsets(0), [0, 8, 32]);
        assert_eq!(offsets(1), [0, 8, 32]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let with = |change: fn(&mut TimeReadOptions)| {
            let mut options = TimeReadOptions::default();
            change(&mut options);
            match plan(&options, Seed(1), &Environment::default()) {
                Err(SuiteError::Option { option, .. }) => option,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(with(|o| o.hop_bytes = Some(0)), "hop");
        assert_eq!(with(|o| (o.mmap, o.direct) = (true, true)), "mmap");
        assert_eq!(with(|o| o.advice = Some(MapAdvice::Random)), "advice");
        assert_eq!(with(|o| o.distance_bytes = Some(0)), "distance");
        assert_eq!(with(|o| o.buffer_offsets_bytes = vec![70_000]), "align");
        assert_eq!(
            with(|o| (o.existing_bytes, o.size_bytes) = (Some(5), Some(5))),
            "size"
        );
    }
}
