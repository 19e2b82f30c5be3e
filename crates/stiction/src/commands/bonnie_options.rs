//! What the words of `stiction bonnie` mean.

use std::collections::BTreeSet;

use stiction_core::parse_size_bytes;
use stiction_suite::BonnieOptions;
use stiction_suite::bonnie::{BonnieMode, BonniePhase, BonnieProgram, FileAmount, FileKind};

use crate::arguments::{BonnieArguments, BonnieClassic, BonniePhaseWord};
use crate::failure::Failure;

/// The options as the workload takes them.
///
/// # Errors
/// For a size or a list of them that does not read.
pub(super) fn meant(typed: &BonnieArguments) -> Result<BonnieOptions, Failure> {
    let size = typed.size.as_deref().map(Size::parse).transpose()?;
    let size = size.unwrap_or_default();
    let per_char = typed.per_char.as_deref().map(mebibytes).transpose()?;
    let mut skip = skipped(&typed.skip);
    if per_char == Some(0) {
        skip.extend([BonniePhase::Putc, BonniePhase::Getc]);
    }
    Ok(BonnieOptions {
        mode: match typed.classic {
            Some(classic) => BonnieMode::Classic(program(classic)),
            None => BonnieMode::Default,
        },
        quick: typed.quick,
        machine: typed.machine.clone(),
        size_bytes: size.bytes,
        chunk_bytes: typed.chunk.or(size.chunk_bytes),
        per_char_bytes: per_char.filter(|&bytes| bytes > 0),
        seeks: typed.seeks.or(size.seeks),
        seekers: typed.seekers.or(size.seekers),
        files: typed.files.as_deref().map(files).transpose()?,
        skip,
        concurrency: typed.concurrency,
        direct: typed.direct,
        sync_each: typed.sync_each,
        runs: typed.runs,
        may_fill: typed.recording.may_fill,
    })
}

/// The program that is meant.
pub(super) fn program(classic: BonnieClassic) -> BonnieProgram {
    match classic {
        BonnieClassic::Bonnie => BonnieProgram::Bonnie,
        BonnieClassic::Bonnie64 => BonnieProgram::Bonnie64,
        BonnieClassic::V103e => BonnieProgram::PlusPlus103,
        BonnieClassic::V196 => BonnieProgram::PlusPlus196,
        BonnieClassic::V200a => BonnieProgram::PlusPlus200,
    }
}

fn skipped(words: &[BonniePhaseWord]) -> BTreeSet<BonniePhase> {
    let phases = |word: &BonniePhaseWord| match word {
        BonniePhaseWord::PerChar => vec![BonniePhase::Putc, BonniePhase::Getc],
        BonniePhaseWord::PutBlock => vec![BonniePhase::PutBlock],
        BonniePhaseWord::GetBlock => vec![BonniePhase::GetBlock],
        BonniePhaseWord::Rewrite => vec![BonniePhase::Rewrite],
        BonniePhaseWord::Seeks => vec![BonniePhase::Seeks],
        BonniePhaseWord::Sequential => vec![BonniePhase::CreateSequential],
        BonniePhaseWord::Random => vec![BonniePhase::CreateRandom],
    };
    words.iter().flat_map(phases).collect()
}

/// `SIZE[:CHUNK[:SEEKS[:SEEKERS]]]`; parts that are left empty are not asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Size {
    bytes: Option<u64>,
    chunk_bytes: Option<u64>,
    seeks: Option<u64>,
    seekers: Option<u32>,
}

impl Size {
    fn parse(text: &str) -> Result<Self, Failure> {
        let parts: Vec<&str> = text.split(':').collect();
        let part = |place: usize| parts.get(place).copied().filter(|part| !part.is_empty());
        if parts.len() > 4 {
            return Err(not_a("size", text, "SIZE[:CHUNK[:SEEKS[:SEEKERS]]]"));
        }
        Ok(Self {
            bytes: part(0).map(mebibytes).transpose()?,
            chunk_bytes: part(1).map(parse_size_bytes).transpose()?,
            // A k is 1024 here too.
            seeks: part(2).map(parse_size_bytes).transpose()?,
            seekers: part(3)
                .map(|part| {
                    part.parse()
                        .map_err(|_| not_a("size", text, "a count of seekers"))
                })
                .transpose()?,
        })
    }
}

/// `NUM[:MAX[:MIN[:DIRS[:CHUNK]]]]`.
fn files(text: &str) -> Result<FileAmount, Failure> {
    let parts: Vec<&str> = text.split(':').collect();
    let part = |place: usize| parts.get(place).copied().filter(|part| !part.is_empty());
    let form = "NUM[:MAX[:MIN[:DIRS[:CHUNK]]]]";
    if parts.len() > 5 {
        return Err(not_a("files", text, form));
    }
    let (number, unit) = match part(0).map(|part| (part, part.strip_suffix(['m', 'M']))) {
        Some((_, Some(number))) => (number, 1 << 20),
        Some((number, None)) => (number, 1 << 10),
        None => return Err(not_a("files", text, form)),
    };
    let count = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| not_a("files", text, form))?;
    let size = |place| part(place).map_or(Ok(0), parse_size_bytes);
    Ok(FileAmount {
        count,
        kind: match part(1) {
            Some("-1") => FileKind::HardLink,
            Some("-2") => FileKind::SymbolicLink,
            _ => FileKind::Regular {
                bytes_min: size(2)?,
                bytes_max: size(1)?,
            },
        },
        directories: part(3)
            .map_or(Ok(1), str::parse)
            .map_err(|_| not_a("files", text, form))?,
        piece_bytes: part(4).map(parse_size_bytes).transpose()?,
    })
}

fn not_a(option: &str, text: &str, form: &str) -> Failure {
    Failure::new(format!("--{option} `{text}`: this is not {form}"))
}

/// A bare number is MiB, as in all Bonnies.
fn mebibytes(text: &str) -> Result<u64, Failure> {
    match text.trim().parse::<u64>() {
        Ok(number) => number
            .checked_mul(1 << 20)
            .ok_or_else(|| Failure::new(format!("`{text}` MiB is too large"))),
        Err(_) => Ok(parse_size_bytes(text)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser as _;

    const MIB: u64 = 1 << 20;

    fn options(words: &str) -> Result<BonnieOptions, Failure> {
        let words = ["stiction", "bonnie"]
            .into_iter()
            .chain(words.split_whitespace());
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Bonnie(typed) => meant(&typed),
            _ => unreachable!("the command is bonnie"),
        }
    }

    #[test]
    fn sizes_are_read_as_bonnie_plus_plus_reads_them() {
        let meant = options("-s 300:16k:4k:10 -n 8:20000:100:4:4k").unwrap();
        assert_eq!(meant.size_bytes, Some(300 * MIB));
        assert_eq!(meant.chunk_bytes, Some(16 << 10));
        assert_eq!((meant.seeks, meant.seekers), (Some(4096), Some(10)));
        assert_eq!(
            meant.files,
            Some(FileAmount {
                count: 8192,
                kind: FileKind::Regular {
                    bytes_min: 100,
                    bytes_max: 20_000
                },
                directories: 4,
                piece_bytes: Some(4096),
            })
        );
        let meant = options("-s 2G::500 -n 1m:-1 --chunk 64K").unwrap();
        assert_eq!(meant.size_bytes, Some(2048 * MIB));
        assert_eq!((meant.chunk_bytes, meant.seeks), (Some(65_536), Some(500)));
        let files = meant.files.unwrap();
        assert_eq!((files.count, files.kind), (1 << 20, FileKind::HardLink));
        assert_eq!(options("-n 0").unwrap().files.unwrap().count, 0);
    }

    #[test]
    fn fast_leaves_bytes_out_and_with_a_size_keeps_them() {
        let fast = options("-f -s 300").unwrap();
        let expected = BTreeSet::from([BonniePhase::Putc, BonniePhase::Getc]);
        assert_eq!((fast.skip, fast.per_char_bytes), (expected, None));
        let sized = options("-f 3").unwrap();
        assert_eq!(sized.per_char_bytes, Some(3 * MIB));
        assert!(sized.skip.is_empty());
    }

    #[test]
    fn classic_is_the_last_version_unless_said() {
        let mode = |words: &str| options(words).unwrap().mode;
        assert_eq!(mode(""), BonnieMode::Default);
        assert_eq!(
            mode("--classic"),
            BonnieMode::Classic(BonnieProgram::PlusPlus200)
        );
        assert_eq!(
            mode("--classic=bonnie"),
            BonnieMode::Classic(BonnieProgram::Bonnie)
        );
    }

    #[test]
    fn what_does_not_read_is_refused() {
        for words in [
            "-s x",
            "-s 1:2:3:4:5",
            "-s 1:::x",
            "-n x",
            "-n 1:::x",
            "-n 1:2:3:4:5:6",
        ] {
            assert!(options(words).is_err(), "{words}");
        }
    }
}
