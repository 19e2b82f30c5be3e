//! `stiction quick`.

use stiction_report::Judged;
use stiction_suite::{Place, Quick, QuickOptions};

use super::recorded::Recorded;
use super::{Desk, measure};
use crate::arguments::QuickArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Measures a directory and prints the screen.
pub(super) fn run(typed: &QuickArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let options = QuickOptions {
        seconds: typed.seconds,
        size_bytes: typed.size,
        may_fill: typed.recording.may_fill,
    };
    let places = [Place::Directory(typed.directory.clone())];
    let style = desk.console.style();
    measure::run_and_print(
        &Quick { options },
        &places,
        &typed.recording,
        command(typed),
        desk,
        |session| stiction_report::quick(&Judged::examine(session), style),
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
