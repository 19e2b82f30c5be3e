//! `stiction ladder`.

use stiction_core::Access;
use stiction_report::Judged;
use stiction_report::ext3_tools::{block_lines, ladder};
use stiction_suite::{Ladder, LadderOptions, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::{optional_bytes, optional_duration_ns};
use super::time_read;
use crate::arguments::LadderArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size or time that does not read, or a target that cannot be had.
pub(super) fn meant(typed: &LadderArguments) -> Result<Meant, Failure> {
    let (file, existing_bytes) = time_read::place(&typed.target)?;
    let mut places = vec![file];
    let device_bytes = match typed.device.as_deref().map(time_read::place).transpose()? {
        Some((Place::Directory(path), _)) => {
            return Err(Failure::new(format!(
                "{} is a directory, not a device",
                path.display()
            )));
        }
        Some((device, bytes)) => {
            places.push(device);
            bytes
        }
        None => None,
    };
    let classic = typed.classic;
    Ok(Meant::new(
        Ladder {
            options: options(typed, existing_bytes, device_bytes)?,
        },
        places,
        &typed.recording,
        command(typed),
        move |session, style| match classic {
            true => block_lines(session),
            false => ladder(&Judged::examine(session), style),
        },
    ))
}

fn options(
    typed: &LadderArguments,
    existing_bytes: Option<u64>,
    device_bytes: Option<u64>,
) -> Result<LadderOptions, Failure> {
    Ok(LadderOptions {
        classic: typed.classic,
        existing_bytes,
        device_bytes,
        size_bytes: optional_bytes(typed.size.as_ref(), 1 << 20)?,
        block_size_bytes: optional_bytes(typed.block.as_ref(), 1)?,
        access: if typed.random {
            Access::RandomPermutation
        } else {
            Access::Sequential
        },
        depth: typed.depth,
        rung_ns: optional_duration_ns(typed.seconds.as_ref())?,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &LadderArguments) -> Vec<String> {
    Recorded::new("ladder")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--size", typed.size.as_ref())
        .value("--block", typed.block.as_ref())
        .switch("--random", typed.random)
        .value("--depth", typed.depth)
        .value("--seconds", typed.seconds.as_ref())
        .value("--runs", typed.runs)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
