//! `stiction quick`.

use stiction_report::{Judged, json};
use stiction_suite::{Place, Quick, QuickOptions};

use super::{Desk, measure};
use crate::arguments::QuickArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// Measures a directory and prints the screen.
pub(super) fn run(typed: &QuickArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let options = QuickOptions {
        seconds: typed.seconds,
        size_bytes: typed.size,
        may_fill: typed.recording.may_fill,
    };
    let places = [Place::Directory(typed.directory.clone())];
    let command = command(typed);
    let measured = measure::run(
        &Quick { options },
        &places,
        &typed.recording,
        command,
        Talk::default(),
        desk,
    )?;
    let judged = Judged::examine(&measured.session);
    let text = if desk.console.json {
        json::session(&judged)
    } else {
        stiction_report::quick(&judged, desk.console.style())
    };
    measured.conclude(&text, desk)
}

/// The command as it is recorded: what was chosen, without the path, which the
/// environment has.
fn command(typed: &QuickArguments) -> Vec<String> {
    let mut words = vec!["stiction".to_owned(), "quick".to_owned()];
    words.push(format!("--seconds={}", typed.seconds));
    words.extend(typed.size.map(|bytes| format!("--size={bytes}")));
    words.extend(typed.recording.may_fill.then(|| "--may-fill".to_owned()));
    words
}
