//! `stiction quick`.

use stiction_report::Judged;
use stiction_suite::{Place, Quick, QuickOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use crate::arguments::QuickArguments;

/// What the words mean.
pub(super) fn meant(typed: &QuickArguments) -> Meant {
    let options = QuickOptions {
        seconds: typed.seconds,
        size_bytes: typed.size,
        may_fill: typed.recording.may_fill,
    };
    Meant::new(
        Quick { options },
        vec![Place::Directory(typed.directory.clone())],
        &typed.recording,
        command(typed),
        |session, style| stiction_report::quick(&Judged::examine(session), style),
    )
}

/// The command as it is recorded: what was chosen, without the path, which the
/// environment has.
fn command(typed: &QuickArguments) -> Vec<String> {
    Recorded::new("quick")
        .value("--seconds", Some(typed.seconds))
        .value("--size", typed.size)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
