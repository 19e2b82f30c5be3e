//! From what was asked to a plan: refusals, and every default filled in.

use stiction_core::{Cell, Data, Environment, Plan, Seed};

use super::options::{BonnieMode, BonnieOptions, BonniePhase, BonnieProgram, FileAmount, FileKind};
use super::parameters::{BonnieParameters, FileWork, Naming, PerChar, SeekAmount, Updates};
use crate::SuiteError;
use crate::order::runs_within_cells;
use crate::room::memory_bytes;
use crate::sizing;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Length of a recording interval.
const INTERVAL_NS: u64 = 100_000_000;
/// Size that the default mode chooses at most, and in a hurry.
const SIZE_BYTES_MAX: u64 = 2048 * MIB;
const QUICK_SIZE_BYTES_MAX: u64 = 256 * MIB;
/// Time of the seeks in the default mode, and in a hurry.
const SEEKS_NS: u64 = 5_000_000_000;
const QUICK_SEEKS_NS: u64 = 1_000_000_000;
/// What the default mode moves a byte at a time: it is the CPU's time, and enough of it.
const PER_CHAR_BYTES: u64 = 32 * MIB;
/// What Bonnie++ moves a byte at a time since 1.92.
const PLUS_PLUS_PER_CHAR_BYTES: u64 = 3 * MIB;
/// More workers than that are a mistake; Bonnie++ allows 200.
const WORKERS_MAX: u32 = 1024;

/// The plan for these options on this machine.
pub(super) fn plan(
    options: &BonnieOptions,
    seed: Seed,
    environment: &Environment,
) -> Result<Plan, SuiteError> {
    check(options)?;
    let parameters = parameters(options, environment)?;
    if parameters.phases.is_empty() {
        return Err(SuiteError::option(
            "skip",
            "every phase is left out: nothing remains to run",
        ));
    }
    let trials = runs_within_cells(&[cell(&parameters)], parameters.runs);
    Ok(Plan {
        workload: super::NAME.to_owned(),
        parameters: serde_json::to_value(parameters)?,
        seed,
        preparation: stiction_core::Preparation::default(),
        trials,
    })
}

/// What a figure of bonnie depends on, in the words that its tables have for it.
fn cell(parameters: &BonnieParameters) -> Cell {
    let mut cell = Cell::new();
    if parameters.phases.iter().any(|phase| !phase.is_of_files()) {
        cell = cell
            .with("file_size_bytes", parameters.size_bytes)
            .with("block_size_bytes", parameters.chunk_bytes)
            .with("threads", parameters.concurrency);
    }
    match parameters.files {
        Some(files) => cell.with("files", files_text(&files)),
        None => cell,
    }
}

/// The files as Bonnie++'s tables write them: thousands (of 1024), greatest and least
/// size, directories.
fn files_text(files: &FileWork) -> String {
    let sizes = match files.file {
        FileKind::Regular {
            bytes_min: 0,
            bytes_max: 0,
        } => String::new(),
        FileKind::Regular {
            bytes_min: 0,
            bytes_max,
        } => format!(":{bytes_max}"),
        FileKind::Regular {
            bytes_min,
            bytes_max,
        } => format!(":{bytes_max}:{bytes_min}"),
        FileKind::HardLink => ":link".to_owned(),
        FileKind::SymbolicLink => ":symlink".to_owned(),
    };
    let directories = match files.directories {
        1 => String::new(),
        several => format!("/{several}"),
    };
    let count = if files.count.is_multiple_of(KIB) {
        (files.count / KIB).to_string()
    } else {
        format!("{:.3}", files.count as f64 / KIB as f64)
    };
    format!("{count}{sizes}{directories}")
}

/// Refuses what cannot be meant.
fn check(options: &BonnieOptions) -> Result<(), SuiteError> {
    let chunk = options.chunk_bytes.unwrap_or(8 * KIB);
    let seekers = options.seekers.unwrap_or(1);
    let concurrency = options.concurrency.unwrap_or(1);
    let files = options.files;
    let refusals = [
        (
            !chunk.is_power_of_two() || !(256..=MIB * 16).contains(&chunk),
            "chunk",
            "give a power of two from 256 bytes to 16M",
        ),
        (
            !(1..=WORKERS_MAX).contains(&seekers),
            "seekers",
            "give 1 to 1024",
        ),
        (
            !(1..=WORKERS_MAX).contains(&concurrency),
            "concurrency",
            "give 1 to 1024",
        ),
        (
            options.seeks == Some(0),
            "seeks",
            "0: to leave the seeks out, skip them",
        ),
        (options.runs == Some(0), "runs", "0: give at least 1"),
        (
            files.is_some_and(|files| !(1..=99_999).contains(&files.directories)),
            "files",
            "give 1 to 99999 directories",
        ),
        (
            files.is_some_and(|files| files.piece_bytes == Some(0)),
            "files",
            "a chunk of 0 bytes writes nothing",
        ),
        (
            files.is_some_and(
                |files| matches!(files.kind, FileKind::Regular { bytes_min, bytes_max } if bytes_min > bytes_max),
            ),
            "files",
            "the least size is above the greatest",
        ),
    ];
    match refusals.iter().find(|(applies, ..)| *applies) {
        Some(&(_, option, problem)) => Err(SuiteError::option(option, problem)),
        None => Ok(()),
    }
}

fn parameters(
    options: &BonnieOptions,
    environment: &Environment,
) -> Result<BonnieParameters, SuiteError> {
    let classic = match options.mode {
        BonnieMode::Classic(program) => Some(program),
        BonnieMode::Default => None,
    };
    let chunk_bytes = options.chunk_bytes.unwrap_or(match classic {
        Some(BonnieProgram::Bonnie64) => 16 * KIB,
        _ => 8 * KIB,
    });
    let concurrency = options.concurrency.unwrap_or(1);
    let size_bytes = size_bytes(options, classic, environment)?;
    let whole = chunk_bytes * u64::from(concurrency);
    let size_bytes = size_bytes / whole * whole;
    let files = files(options, classic, chunk_bytes);
    let phases = phases(options, classic, size_bytes, files.is_some());
    let since_1_90 = classic.is_some_and(BonnieProgram::is_since_1_90);
    Ok(BonnieParameters {
        variant: options.mode,
        machine: options.machine.clone().unwrap_or_default(),
        phases,
        chunk_bytes,
        concurrency,
        per_char: if since_1_90 {
            PerChar::SystemCall
        } else {
            PerChar::Buffer
        },
        per_char_bytes: per_char_bytes(options, classic, size_bytes),
        size_bytes,
        seeks: seeks(options, classic),
        seekers: options.seekers.unwrap_or(match classic {
            Some(program) if !program.is_since_1_90() => 3,
            _ => 5,
        }),
        updates: if since_1_90 {
            Updates::TenthAtRandom
        } else {
            Updates::EveryTenth
        },
        files,
        sync_at_end: match classic {
            Some(program) => since_1_90 || program == BonnieProgram::Bonnie64 || options.sync_each,
            None => true,
        },
        sync_each: options.sync_each,
        direct: options.direct,
        data: if classic.is_some() {
            Data::Zeros
        } else {
            Data::Unique
        },
        drop_caches: classic.is_none(),
        interval_ns: INTERVAL_NS,
        runs: options
            .runs
            .unwrap_or(if classic.is_some() || options.quick {
                1
            } else {
                3
            }),
        may_fill: options.may_fill,
    })
}

/// The size in one file phases: as asked, as the program chose it, or as fits.
fn size_bytes(
    options: &BonnieOptions,
    classic: Option<BonnieProgram>,
    environment: &Environment,
) -> Result<u64, SuiteError> {
    if options.size_bytes == Some(0) {
        return Ok(0);
    }
    let asked = options.size_bytes.or_else(|| {
        classic.map(|program| {
            if program.is_plus_plus() {
                plus_plus_bytes(memory_bytes(environment))
            } else {
                100 * MIB
            }
        })
    });
    let at_most = if options.quick {
        QUICK_SIZE_BYTES_MAX
    } else {
        SIZE_BYTES_MAX
    };
    sizing::choose(asked, at_most, environment, options.may_fill)
        .map(|sizing| sizing.file_bytes)
        .map_err(SuiteError::Refused)
}

/// The size that Bonnie++ chooses: twice the memory, 300 MiB at least, and a whole GiB
/// where more than half of the last one would be used.
fn plus_plus_bytes(memory: Option<u64>) -> u64 {
    let mib = (memory.unwrap_or(0) / MIB).saturating_mul(2).max(300);
    let mib = if mib % 1024 > 512 {
        mib.next_multiple_of(1024)
    } else {
        mib
    };
    mib * MIB
}

fn per_char_bytes(options: &BonnieOptions, classic: Option<BonnieProgram>, size_bytes: u64) -> u64 {
    let usual = match classic {
        Some(program) if program.is_since_1_90() => PLUS_PLUS_PER_CHAR_BYTES,
        Some(_) => size_bytes,
        None => PER_CHAR_BYTES,
    };
    options.per_char_bytes.unwrap_or(usual).min(size_bytes)
}

fn seeks(options: &BonnieOptions, classic: Option<BonnieProgram>) -> SeekAmount {
    match (options.seeks, classic) {
        (Some(count), _) => SeekAmount::Count(count),
        (None, Some(program)) if program.is_plus_plus() => SeekAmount::Count(8192),
        (None, Some(_)) => SeekAmount::Count(4000),
        (None, None) if options.quick => SeekAmount::Duration(QUICK_SEEKS_NS),
        (None, None) => SeekAmount::Duration(SEEKS_NS),
    }
}

/// What the file phases work on; `None` where the program had none, or they are left out.
fn files(
    options: &BonnieOptions,
    classic: Option<BonnieProgram>,
    chunk_bytes: u64,
) -> Option<FileWork> {
    if classic.is_some_and(|program| !program.is_plus_plus()) {
        return None;
    }
    let amount = options.files.unwrap_or(FileAmount {
        count: if options.quick { 2 * KIB } else { 16 * KIB },
        kind: FileKind::Regular {
            bytes_min: 0,
            bytes_max: 0,
        },
        directories: 1,
        piece_bytes: None,
    });
    let all_skipped = BonniePhase::ALL
        .iter()
        .filter(|phase| {
            matches!(
                phase,
                BonniePhase::CreateSequential | BonniePhase::CreateRandom
            )
        })
        .all(|phase| options.skip.contains(phase));
    if amount.count == 0 || all_skipped {
        return None;
    }
    let directories = u64::from(amount.directories);
    Some(FileWork {
        count: amount.count,
        file: amount.kind,
        directories: amount.directories,
        files_per_directory: match classic {
            // One too many for each but the last, as the program has it.
            Some(_) => amount.count / directories + 1,
            None => amount.count.div_ceil(directories),
        },
        piece_bytes: amount.piece_bytes.unwrap_or(chunk_bytes),
        naming: match classic {
            Some(BonnieProgram::PlusPlus103) => Naming::Decimal,
            _ => Naming::Hexadecimal,
        },
        sync_at_end: !matches!(
            classic,
            Some(BonnieProgram::PlusPlus103 | BonnieProgram::PlusPlus196)
        ),
    })
}

/// The phases in the order of the program: Bonnie rewrites what was written by bytes
/// before it writes in blocks, Bonnie++ goes by its report.
fn phases(
    options: &BonnieOptions,
    classic: Option<BonnieProgram>,
    size_bytes: u64,
    has_files: bool,
) -> Vec<BonniePhase> {
    let mut order = BonniePhase::ALL;
    if classic.is_some_and(|program| !program.is_plus_plus()) {
        order.swap(1, 2);
    }
    let skipped = |phase: BonniePhase| options.skip.contains(&phase);
    order
        .into_iter()
        .filter(|phase| {
            let is_there = if phase.is_of_files() {
                has_files
            } else {
                size_bytes > 0
            };
            is_there && !skipped(*phase) && !phase.maker().is_some_and(skipped)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use stiction_core::{Filesystem, Memory, TargetStack};

    fn machine(memory_mib: u64) -> Environment {
        Environment {
            memory: Some(Memory {
                total_bytes: memory_mib * MIB,
                ..Memory::default()
            }),
            targets: vec![TargetStack {
                path: ".".to_owned(),
                filesystem: Some(Filesystem {
                    size_bytes: 400 << 30,
                    available_bytes: 300 << 30,
                    ..Filesystem::default()
                }),
                layers: Vec::new(),
                missing: Vec::new(),
            }],
            ..Environment::default()
        }
    }

    fn planned(options: &BonnieOptions) -> BonnieParameters {
        parameters(options, &machine(24_105)).unwrap()
    }

    fn classic(program: BonnieProgram) -> BonnieOptions {
        BonnieOptions {
            mode: BonnieMode::Classic(program),
            ..BonnieOptions::default()
        }
    }

    /// The test vectors of the specification.
    #[test]
    fn sizes_are_those_of_bonnie_plus_plus() {
        assert_eq!(plus_plus_bytes(Some(24_105 * MIB)), 48_210 * MIB);
        assert_eq!(plus_plus_bytes(Some(257 * MIB)), 1024 * MIB);
        assert_eq!(plus_plus_bytes(Some(64 * MIB)), 300 * MIB);
        assert_eq!(plus_plus_bytes(Some(256 * MIB)), 512 * MIB);
    }

    #[test]
    fn each_program_has_its_own_amounts_and_order() {
        use BonniePhase::{GetBlock, Getc, PutBlock, Putc, Rewrite, Seeks};
        let bonnie = planned(&classic(BonnieProgram::Bonnie));
        assert_eq!(
            bonnie.phases,
            [Putc, Rewrite, PutBlock, Getc, GetBlock, Seeks]
        );
        assert_eq!(
            (bonnie.size_bytes, bonnie.chunk_bytes),
            (100 * MIB, 8 * KIB)
        );
        assert_eq!((bonnie.seekers, bonnie.seeks), (3, SeekAmount::Count(4000)));
        assert_eq!(bonnie.per_char_bytes, 100 * MIB);
        assert!(!bonnie.sync_at_end && bonnie.files.is_none() && !bonnie.drop_caches);

        let sixty_four = planned(&classic(BonnieProgram::Bonnie64));
        assert_eq!(sixty_four.chunk_bytes, 16 * KIB);
        assert!(sixty_four.sync_at_end);

        let old = planned(&classic(BonnieProgram::PlusPlus103));
        assert_eq!(old.phases, BonniePhase::ALL);
        assert_eq!((old.seekers, old.seeks), (3, SeekAmount::Count(8192)));
        assert_eq!(old.per_char_bytes, old.size_bytes);
        assert_eq!((old.per_char, old.sync_at_end), (PerChar::Buffer, false));

        let new = planned(&classic(BonnieProgram::PlusPlus200));
        assert_eq!(new.size_bytes, 48_210 * MIB);
        assert_eq!(
            (new.per_char, new.per_char_bytes),
            (PerChar::SystemCall, 3 * MIB)
        );
        assert_eq!((new.seekers, new.sync_at_end), (5, true));
        let files = new.files.unwrap();
        assert_eq!(
            (files.count, files.directories, files.sync_at_end),
            (16_384, 1, true)
        );
    }

    #[test]
    fn what_makes_the_files_takes_its_readers_with_it() {
        let options = BonnieOptions {
            skip: BTreeSet::from([BonniePhase::CreateRandom, BonniePhase::Putc]),
            ..classic(BonnieProgram::PlusPlus200)
        };
        let phases = planned(&options).phases;
        assert!(!phases.iter().any(|phase| phase.is_random()), "{phases:?}");
        assert_eq!(phases.len(), 8);
        let none = BonnieOptions {
            size_bytes: Some(0),
            ..options
        };
        assert_eq!(planned(&none).phases.len(), 3);
    }

    #[test]
    fn a_cell_has_the_words_of_the_tables() {
        let options = BonnieOptions {
            size_bytes: Some(300 * MIB),
            files: Some(FileAmount {
                count: 8 * KIB,
                kind: FileKind::Regular {
                    bytes_min: 100,
                    bytes_max: 20_000,
                },
                directories: 4,
                piece_bytes: None,
            }),
            ..classic(BonnieProgram::PlusPlus200)
        };
        assert_eq!(
            cell(&planned(&options)).to_string(),
            "block_size_bytes=8192 file_size_bytes=314572800 files=8:20000:100/4 threads=1"
        );
        let files = planned(&options).files.unwrap();
        assert_eq!(files.files_per_directory, 2049, "one too many, as it was");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |options: BonnieOptions| match plan(&options, Seed(1), &machine(1024)) {
            Err(SuiteError::Option { option, .. }) => option,
            other => panic!("{other:?}"),
        };
        let options = BonnieOptions::default;
        let chunk = |bytes| BonnieOptions {
            chunk_bytes: Some(bytes),
            ..options()
        };
        assert_eq!(refused(chunk(3000)), "chunk");
        assert_eq!(refused(chunk(128)), "chunk");
        assert_eq!(
            refused(BonnieOptions {
                seekers: Some(0),
                ..options()
            }),
            "seekers"
        );
        assert_eq!(
            refused(BonnieOptions {
                skip: BonniePhase::ALL.into_iter().collect(),
                ..options()
            }),
            "skip"
        );
    }
}
