//! `stiction ioping`.

use stiction_core::parse_duration_ns;
use stiction_report::Judged;
use stiction_report::ioping::{ioping, ioping_text};
use stiction_suite::{Ioping, IopingOptions, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::optional_bytes;
use crate::arguments::IopingArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size or time that does not read.
pub(super) fn meant(typed: &IopingArguments) -> Result<Meant, Failure> {
    let classic = typed.classic;
    Ok(Meant::new(
        Ioping {
            options: options(typed)?,
        },
        vec![Place::Directory(typed.directory.clone())],
        &typed.recording,
        command(typed),
        move |session, style| match classic {
            true => ioping_text(session),
            false => ioping(&Judged::examine(session), style),
        },
    ))
}

fn options(typed: &IopingArguments) -> Result<IopingOptions, Failure> {
    let interval_ns = match typed.interval.as_deref() {
        Some("0") => Some(0),
        interval => interval.map(parse_duration_ns).transpose()?,
    };
    Ok(IopingOptions {
        requests: typed.count,
        request_bytes: optional_bytes(typed.size.as_ref(), 1)?,
        file_bytes: optional_bytes(typed.file_size.as_ref(), 1)?,
        interval_ns,
        writes: typed.write,
        sequential: typed.sequential,
        cached: typed.cached,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &IopingArguments) -> Vec<String> {
    Recorded::new("ioping")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--count", typed.count)
        .value("--size", typed.size.as_ref())
        .value("--file-size", typed.file_size.as_ref())
        .value("--interval", typed.interval.as_ref())
        .value("--runs", typed.runs)
        .switch("--write", typed.write)
        .switch("--sequential", typed.sequential)
        .switch("--cached", typed.cached)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
