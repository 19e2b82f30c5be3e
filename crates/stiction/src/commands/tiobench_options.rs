//! What the words of `stiction tiobench` mean.

use std::collections::BTreeSet;

use stiction_core::{Access, WriteSync, parse_size_bytes};
use stiction_suite::TiobenchOptions;
use stiction_suite::tiobench::{
    DirectoryUse, FileSize, RandomAmount, RawLayout, TiobenchMode, TiobenchPhase,
};

use super::sizes::{optional_duration_ns, size_bytes};
use crate::arguments::{Classic, Layout, RandomOrder, TiobenchArguments};
use crate::failure::Failure;

/// The options as the workload takes them.
///
/// # Errors
/// For a size, a time or a phase that does not read.
pub(super) fn meant(typed: &TiobenchArguments) -> Result<TiobenchOptions, Failure> {
    Ok(TiobenchOptions {
        mode: match typed.classic {
            Some(how) => TiobenchMode::Classic {
                as_was: how == Classic::AsWas,
            },
            None => TiobenchMode::Default,
        },
        sizes: sizes(typed)?,
        quick: typed.quick,
        threads: typed.threads.clone(),
        block_sizes_bytes: typed
            .block
            .iter()
            .map(|text| parse_size_bytes(text).map_err(Failure::from))
            .collect::<Result<_, _>>()?,
        random: typed
            .random
            .map(RandomAmount::Total)
            .or(typed.random_per_thread.map(RandomAmount::PerThread)),
        random_access: typed.random_order.map(|order| match order {
            RandomOrder::EachBlockOnce => Access::RandomPermutation,
            RandomOrder::Independent => Access::RandomIndependent,
        }),
        runs: typed.runs,
        identifier: typed.identifier.clone(),
        directory_use: if typed.targets.len() > 1 || !typed.scratch.is_empty() {
            DirectoryUse::Spread
        } else {
            DirectoryUse::InTurn
        },
        skip: typed
            .skip
            .iter()
            .map(|text| phase(text))
            .collect::<Result<BTreeSet<_>, _>>()?,
        one_writer_at_a_time: typed.sequential_writing,
        write_sync: if typed.sync {
            WriteSync::Sync
        } else {
            WriteSync::None
        },
        direct: typed.direct,
        mmap: typed.mmap,
        raw: RawLayout {
            gap_bytes: typed.offset_gap.as_deref().map_or(Ok(0), mebibytes)?,
            gap_first: typed.offset_first,
        },
        verify: typed.check_consistency,
        flush_caches: typed.flush_caches,
        timeout_ns: optional_duration_ns(typed.timeout.as_ref())?,
        may_fill: typed.recording.may_fill,
    })
}

/// The report that `--classic` prints.
pub(super) fn layout(typed: &TiobenchArguments) -> Layout {
    match typed.layout {
        Some(layout) => layout,
        None if typed.terse => Layout::Terse,
        None => Layout::V033,
    }
}

fn sizes(typed: &TiobenchArguments) -> Result<Vec<FileSize>, Failure> {
    if let Some(each) = &typed.file_size {
        return Ok(vec![FileSize::PerThread(mebibytes(each)?)]);
    }
    typed
        .size
        .iter()
        .map(|text| mebibytes(text).map(FileSize::Total))
        .collect()
}

/// A bare number is MiB, as it always was in tiobench.
fn mebibytes(text: &str) -> Result<u64, Failure> {
    size_bytes(text, 1 << 20)
}

/// A phase by tiotest's number or by name.
fn phase(text: &str) -> Result<TiobenchPhase, Failure> {
    let name = text.trim().replace('-', "_");
    let by_number = name
        .parse::<usize>()
        .ok()
        .and_then(|n| TiobenchPhase::ALL.get(n).copied());
    by_number
        .or_else(|| {
            TiobenchPhase::ALL
                .into_iter()
                .find(|phase| phase.name() == name)
        })
        .ok_or_else(|| {
            Failure::new(format!("--skip `{text}`: no such phase"))
                .advise("The phases are 0 write, 1 random-write, 2 read, 3 random-read.")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser as _;

    fn options(words: &str) -> Result<TiobenchOptions, Failure> {
        let words = ["stiction", "tiobench"]
            .into_iter()
            .chain(words.split_whitespace());
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Tiobench(typed) => meant(&typed),
            _ => unreachable!("the command is tiobench"),
        }
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn bare_sizes_are_mebibytes_and_bare_blocks_are_bytes() {
        let meant = options("--size 2643 --block 4096,128K --numruns 5").unwrap();
        assert_eq!(meant.sizes, [FileSize::Total(2643 * MIB)]);
        assert_eq!(meant.block_sizes_bytes, [4096, 131_072]);
        assert_eq!(meant.runs, Some(5));
        assert_eq!(
            options("--size 4G").unwrap().sizes,
            [FileSize::Total(4096 * MIB)]
        );
    }

    #[test]
    fn the_old_letters_mean_what_they_meant() {
        let meant = options("-f 10 -b 4096 -t 4 -r 1000 -k 1 -k 3 -W -S -c").unwrap();
        assert_eq!(meant.sizes, [FileSize::PerThread(10 * MIB)]);
        assert_eq!(meant.threads, [4]);
        assert_eq!(meant.random, Some(RandomAmount::PerThread(1000)));
        assert_eq!(
            meant.skip,
            BTreeSet::from([TiobenchPhase::RandomWrite, TiobenchPhase::RandomRead])
        );
        assert!(meant.one_writer_at_a_time && meant.verify);
        assert_eq!(meant.write_sync, WriteSync::Sync);
    }

    #[test]
    fn classic_is_corrected_unless_asked() {
        assert_eq!(
            options("--classic").unwrap().mode,
            TiobenchMode::Classic { as_was: false }
        );
        assert_eq!(
            options("--classic=as-was").unwrap().mode,
            TiobenchMode::Classic { as_was: true }
        );
        assert_eq!(options("").unwrap().mode, TiobenchMode::Default);
    }

    /// tiotest's `-d` and 0.4's `--target` use all at once, the driver's `--dir` one
    /// after another.
    #[test]
    fn several_directories_are_used_as_their_option_always_did() {
        assert_eq!(
            options("--dir a --dir b").unwrap().directory_use,
            DirectoryUse::InTurn
        );
        assert_eq!(
            options("-d a -d b").unwrap().directory_use,
            DirectoryUse::Spread
        );
        assert_eq!(
            options("--target a --target b").unwrap().directory_use,
            DirectoryUse::Spread
        );
    }

    #[test]
    fn the_order_of_random_offsets_can_be_chosen() {
        assert_eq!(options("").unwrap().random_access, None);
        let independent = options("--random-order independent").unwrap();
        assert_eq!(independent.random_access, Some(Access::RandomIndependent));
    }

    #[test]
    fn a_phase_that_is_none_is_refused() {
        assert!(options("-k 4").is_err());
        assert!(options("--skip random-read").is_ok());
    }

    /// The driver of 0.4 took `--dir` for an abbreviation of `--directio` and then wrote
    /// into the current directory.
    #[test]
    fn options_are_never_abbreviated() {
        for words in ["--direc /x", "--thread 4", "--num 3"] {
            let words = ["stiction", "tiobench"]
                .into_iter()
                .chain(words.split_whitespace());
            assert!(Arguments::try_parse_from(words).is_err());
        }
    }
}
