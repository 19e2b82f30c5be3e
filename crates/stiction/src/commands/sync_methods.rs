//! `stiction sync-methods`.

use stiction_core::parse_duration_ns;
use stiction_report::sync_methods::{pg_test_fsync, sync_methods};
use stiction_report::{Judged, json};
use stiction_suite::{Place, SyncMethods, SyncMethodsOptions};

use super::recorded::Recorded;
use super::{Desk, measure};
use crate::arguments::SyncMethodsArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// Measures and prints.
pub(super) fn run(typed: &SyncMethodsArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let seconds = typed.seconds.as_deref();
    let workload = SyncMethods {
        options: SyncMethodsOptions {
            classic: typed.classic,
            test_ns: seconds.map(parse_duration_ns).transpose()?,
            runs: typed.runs,
            quick: typed.quick,
            may_fill: typed.recording.may_fill,
        },
    };
    let places = [Place::Directory(typed.directory.clone())];
    let measured = measure::run(
        &workload,
        &places,
        &typed.recording,
        command(typed),
        Talk::default(),
        desk,
    )?;
    let session = &measured.session;
    let text = match typed.classic {
        _ if desk.console.json => json::session(&Judged::examine(session)),
        true => pg_test_fsync(session),
        false => sync_methods(&Judged::examine(session), desk.console.style()),
    };
    measured.conclude(&text, desk)
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
