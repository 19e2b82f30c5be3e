//! `stiction pagecache`.

use stiction_report::Judged;
use stiction_report::ext3_tools::{disk_test, pagecache};
use stiction_suite::{Pagecache, PagecacheOptions, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::{optional_bytes, optional_duration_ns};
use crate::arguments::PagecacheArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size or time that does not read.
pub(super) fn meant(typed: &PagecacheArguments) -> Result<Meant, Failure> {
    let directories = typed.directories.iter().cloned();
    let classic = typed.classic;
    Ok(Meant::new(
        Pagecache {
            options: options(typed)?,
        },
        directories.map(Place::Directory).collect(),
        &typed.recording,
        command(typed),
        move |session, style| match classic {
            true => disk_test(session),
            false => pagecache(&Judged::examine(session), style),
        },
    ))
}

fn options(typed: &PagecacheArguments) -> Result<PagecacheOptions, Failure> {
    Ok(PagecacheOptions {
        classic: typed.classic,
        workers: typed.workers,
        size_bytes: optional_bytes(typed.size.as_ref(), 1 << 20)?,
        block_size_bytes: optional_bytes(typed.block.as_ref(), 1)?,
        phase_ns: optional_duration_ns(typed.seconds.as_ref())?,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &PagecacheArguments) -> Vec<String> {
    Recorded::new("pagecache")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--workers", typed.workers)
        .value("--size", typed.size.as_ref())
        .value("--block", typed.block.as_ref())
        .value("--seconds", typed.seconds.as_ref())
        .value("--runs", typed.runs)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
