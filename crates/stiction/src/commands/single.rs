//! A single configuration in blocks: shown as its own command shows it.

use stiction_core::Session;
use stiction_report::{Judged, json};
use stiction_runner::blocks::CONFIGURATION;

use super::Desk;
use super::blocked::Ready;
use super::measure::Measured;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints it, and gives the code to end with.
///
/// # Errors
/// When it cannot be printed.
pub(super) fn conclude(
    only: &Ready,
    measured: &Measured,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let text = if desk.console.json {
        json::session(&Judged::examine(&measured.session))
    } else {
        let own = own_session(&measured.session);
        (only.meant.report)(&own, desk.console.style())
    };
    measured.conclude(&text, desk)
}

/// The session as the workload alone would have had it: without the configuration's name,
/// and with its own parameters.
fn own_session(session: &Session) -> Session {
    let mut own = session.clone();
    for trial in &mut own.trials {
        trial.cell = std::mem::take(&mut trial.cell).without(CONFIGURATION);
    }
    if let Some(plan) = &mut own.header.plan {
        let parameters = plan.parameters["configurations"][0]["parameters"].take();
        plan.parameters = parameters;
    }
    own
}
