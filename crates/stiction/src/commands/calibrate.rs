//! `stiction calibrate`: a benchmark against itself.

use stiction_analysis::Effects;
use stiction_analysis::calibration::calibration;
use stiction_core::{Cell, Conditions, SessionOutcome};
use stiction_report::json;

use super::Desk;
use super::ab::joined;
use super::benchmark::{self, Named};
use super::blocked::{Blocked, Ready};
use super::run::recorded;
use crate::arguments::{CalibrateArguments, ShownArguments};
use crate::exit::Exit;
use crate::failure::Failure;

/// The two names of one configuration.
const NAMES: [&str; 2] = ["A", "A again"];

/// Runs it and prints how far equal things lie apart.
pub(super) fn run(typed: &CalibrateArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for name in NAMES {
        let named = Named {
            words: &typed.benchmark,
            whose: "the benchmark",
        };
        let meant = match benchmark::meant(&named, desk)? {
            Ok(meant) => meant,
            Err(exit) => return Ok(exit),
        };
        all.push(Ready {
            name: name.to_owned(),
            at: Cell::new(),
            varied: Vec::new(),
            meant,
            alterations: None,
            conditions: Conditions::default(),
            prepare: None,
            conclude: None,
        });
    }
    let mut command = recorded("calibrate", &typed.blocking).words();
    command.extend(all[0].meant.command.iter().skip(1).cloned());
    let recording = joined(&typed.recording, &all[0].meant.recording);
    let blocked = Blocked {
        all,
        blocking: typed.blocking.clone(),
        recording,
        shown: ShownArguments::default(),
        command,
        effects: Effects::default(),
        is_calibration: true,
    };
    let Some(measured) = blocked.measure(desk)? else {
        return Ok(Exit::Done);
    };
    let found = match calibration(&measured.session) {
        Err(_) if measured.outcome() == Some(SessionOutcome::Interrupted) => {
            let message = "it was interrupted before both had run, and there is nothing to tell";
            return Err(Failure::new(message).ending_with(Exit::Interrupted));
        }
        found => found?,
    };
    let text = if desk.console.json {
        json::calibration(&found)
    } else {
        stiction_report::calibration(&found, desk.console.style())
    };
    measured.conclude(&text, desk)
}
