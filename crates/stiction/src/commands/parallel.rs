//! `stiction parallel`.

use stiction_core::Access;
use stiction_report::Judged;
use stiction_report::ext3_tools::{disk_test, parallel};
use stiction_suite::parallel::{Targets, Ways};
use stiction_suite::{Parallel, ParallelOptions, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::{optional_bytes, optional_duration_ns};
use super::{scratch, time_read};
use crate::arguments::ParallelArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size that does not read, or targets that cannot be had.
pub(super) fn meant(typed: &ParallelArguments) -> Result<Meant, Failure> {
    let (places, targets) = places(typed)?;
    let classic = typed.classic;
    Ok(Meant::new(
        Parallel {
            options: options(typed, targets)?,
        },
        places,
        &typed.recording,
        command(typed),
        move |session, style| match classic {
            true => disk_test(session),
            false => parallel(&Judged::examine(session), style),
        },
    ))
}

/// The places, all of one kind.
fn places(typed: &ParallelArguments) -> Result<(Vec<Place>, Targets), Failure> {
    if !typed.scratch.is_empty() {
        let held = scratch::named(&typed.scratch)?
            .into_iter()
            .map(|device| scratch::held(device, typed.wipe_signature.as_ref()))
            .collect::<Result<Vec<Place>, Failure>>()?;
        let lengths = held.iter().filter_map(|place| match place {
            Place::Device(device) => Some(device.length_bytes()),
            Place::Directory(_) | Place::File(_) => None,
        });
        let lengths = lengths.collect();
        return Ok((held, Targets::Devices(lengths)));
    }
    let mut places = Vec::new();
    let mut lengths = Vec::new();
    for target in &typed.targets {
        let (place, length) = time_read::place(target)?;
        places.push(place);
        lengths.extend(length);
    }
    match lengths.len() {
        0 => Ok((places, Targets::Directories)),
        count if count == places.len() => Ok((places, Targets::Existing(lengths))),
        _ => Err(Failure::new(
            "directories, which files are made in, and files and devices, which are only read, \
             do not mix in one run",
        )
        .advise("Name targets of one kind.")),
    }
}

fn options(typed: &ParallelArguments, targets: Targets) -> Result<ParallelOptions, Failure> {
    Ok(ParallelOptions {
        classic: typed.classic,
        targets,
        ways: match (typed.write, typed.read) {
            (true, _) => Some(Ways::Write),
            (false, true) => Some(Ways::Read),
            (false, false) => None,
        },
        size_bytes: optional_bytes(typed.size.as_ref(), 1 << 20)?,
        block_size_bytes: optional_bytes(typed.block.as_ref(), 1)?,
        access: if typed.random {
            Access::RandomPermutation
        } else {
            Access::Sequential
        },
        depth: typed.depth,
        direct: typed.direct,
        duration_ns: optional_duration_ns(typed.seconds.as_ref())?,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &ParallelArguments) -> Vec<String> {
    Recorded::new("parallel")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--size", typed.size.as_ref())
        .value("--block", typed.block.as_ref())
        .value("--seconds", typed.seconds.as_ref())
        .value("--runs", typed.runs)
        .switch("--write", typed.write)
        .switch("--read", typed.read)
        .switch("--random", typed.random)
        .value("--depth", (typed.depth > 1).then_some(typed.depth))
        .switch("--direct", typed.direct)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
