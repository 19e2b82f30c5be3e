//! `stiction sync-methods`.

use stiction_core::parse_duration_ns;
use stiction_report::Judged;
use stiction_report::sync_methods::{pg_test_fsync, sync_methods};
use stiction_suite::{Place, SyncMethods, SyncMethodsOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use crate::arguments::SyncMethodsArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a time that does not read.
pub(super) fn meant(typed: &SyncMethodsArguments) -> Result<Meant, Failure> {
    let seconds = typed.seconds.as_deref();
    let options = SyncMethodsOptions {
        classic: typed.classic,
        test_ns: seconds.map(parse_duration_ns).transpose()?,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    };
    let classic = typed.classic;
    Ok(Meant::new(
        SyncMethods { options },
        vec![Place::Directory(typed.directory.clone())],
        &typed.recording,
        command(typed),
        move |session, style| match classic {
            true => pg_test_fsync(session),
            false => sync_methods(&Judged::examine(session), style),
        },
    ))
}

fn command(typed: &SyncMethodsArguments) -> Vec<String> {
    Recorded::new("sync-methods")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--seconds", typed.seconds.as_ref())
        .value("--runs", typed.runs)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
