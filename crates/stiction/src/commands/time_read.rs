//! `stiction time-read`.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use stiction_core::MapAdvice;
use stiction_report::Judged;
use stiction_report::ext3_tools::{TimeLayout as Layout, time_read, times};
use stiction_suite::time_read::CacheState;
use stiction_suite::{Place, TimeRead, TimeReadOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::optional_bytes;
use crate::arguments::{TimeLayout, TimeReadArguments};
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size that does not read, or a file that cannot be read.
pub(super) fn meant(typed: &TimeReadArguments) -> Result<Meant, Failure> {
    let (place, existing_bytes) = place(&typed.target)?;
    let layout = time_layout(typed.time, typed.classic);
    Ok(Meant::new(
        TimeRead {
            options: options(typed, existing_bytes)?,
        },
        vec![place],
        &typed.recording,
        command(typed),
        move |session, style| match layout {
            None => time_read(&Judged::examine(session), style),
            Some(layout) => times(session, layout),
        },
    ))
}

/// The layout that was asked for; zsh's for the old programs.
pub(super) fn time_layout(asked: Option<TimeLayout>, classic: bool) -> Option<Layout> {
    match asked.or(classic.then_some(TimeLayout::Zsh))? {
        TimeLayout::Zsh => Some(Layout::Zsh),
        TimeLayout::Bash => Some(Layout::Bash),
        TimeLayout::Gnu => Some(Layout::Gnu),
    }
}

/// A directory to make a file in, or a file or device of the user's with its length.
pub(super) fn place(target: &Path) -> Result<(Place, Option<u64>), Failure> {
    if target.is_dir() {
        return Ok((Place::Directory(target.to_owned()), None));
    }
    // Where the end is says the length of devices too. A pipe is refused later, and must
    // not be waited for.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(at_once)
        .open(target);
    let length = opened.and_then(|mut file| file.seek(SeekFrom::End(0)));
    let bytes = length.map_err(|error| {
        Failure::new(format!("cannot read {}: {error}", target.display()))
            .advise("Name a file to read, or a directory to make one in.")
    })?;
    Ok((Place::File(target.to_owned()), Some(bytes)))
}

fn options(
    typed: &TimeReadArguments,
    existing_bytes: Option<u64>,
) -> Result<TimeReadOptions, Failure> {
    let unit = if typed.kib { 1 << 10 } else { 1 };
    Ok(TimeReadOptions {
        classic: typed.classic,
        existing_bytes,
        size_bytes: optional_bytes(typed.size.as_ref(), 1 << 20)?,
        buffer_bytes: optional_bytes(typed.buffer.as_ref(), unit)?,
        hop_bytes: optional_bytes(typed.hop.as_ref(), unit)?,
        distance_bytes: optional_bytes(typed.distance.as_ref(), 1 << 20)?,
        mmap: typed.mmap,
        direct: typed.direct,
        advice: match (typed.random, typed.sequential) {
            (true, _) => Some(MapAdvice::Random),
            (false, true) => Some(MapAdvice::Sequential),
            (false, false) => None,
        },
        buffer_offsets_bytes: typed.align.clone(),
        cache: match (typed.cached, typed.as_it_is) {
            (true, _) => Some(CacheState::Warm),
            (false, true) => Some(CacheState::AsItIs),
            (false, false) => None,
        },
        passes: typed.passes,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &TimeReadArguments) -> Vec<String> {
    Recorded::new("time-read")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--size", typed.size.as_ref())
        .value("--buffer", typed.buffer.as_ref())
        .value("--hop", typed.hop.as_ref())
        .switch("-k", typed.kib)
        .value("--distance", typed.distance.as_ref())
        .value("--passes", typed.passes)
        .value("--runs", typed.runs)
        .switch("--mmap", typed.mmap)
        .switch("--direct", typed.direct)
        .switch("--random", typed.random)
        .switch("--sequential", typed.sequential)
        .list("--align", &typed.align)
        .switch("--cached", typed.cached)
        .switch("--as-it-is", typed.as_it_is)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn options(words: &str) -> TimeReadOptions {
        let words = format!("stiction time-read {words}");
        let parsed = Arguments::try_parse_from(words.split_whitespace()).unwrap();
        let Command::TimeRead(typed) = parsed.command else {
            panic!("{words}");
        };
        super::options(&typed, None).unwrap()
    }

    #[test]
    fn the_old_letters_mean_what_they_meant() {
        let meant = options("--classic -b 8192 -h 8192 -n 100 -o -a 4 x");
        assert_eq!(
            (meant.buffer_bytes, meant.hop_bytes),
            (Some(8192), Some(8192))
        );
        assert_eq!(meant.distance_bytes, Some(100 << 20));
        assert!(meant.direct);
        assert_eq!(meant.buffer_offsets_bytes, [4]);
        let meant = options("-k -b 8 -h 64 -mr x");
        assert_eq!(
            (meant.buffer_bytes, meant.hop_bytes),
            (Some(8 << 10), Some(64 << 10))
        );
        assert_eq!((meant.mmap, meant.advice), (true, Some(MapAdvice::Random)));
    }
}
