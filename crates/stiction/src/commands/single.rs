//! A single configuration in blocks: shown as the commands of its workloads show it.

use stiction_core::Session;
use stiction_report::{Judged, json};
use stiction_runner::blocks::CONFIGURATION;

use super::Desk;
use super::blocked::Ready;
use super::measure::Measured;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints what each part came to, and gives the code to end with.
///
/// # Errors
/// When it cannot be printed.
pub(super) fn conclude(
    all: &[Ready],
    measured: &Measured,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let style = desk.console.style();
    let text = if desk.console.json {
        json::session(&Judged::examine(&measured.session))
    } else if !measured.has_run() && all.len() > 1 {
        stiction_report::show(&Judged::examine(&measured.session), style)
    } else {
        let of_part = |(number, one): (usize, &Ready)| {
            let own = own_session(&measured.session, number, one);
            let report = (one.meant.report)(&own, style);
            match one.at.is_empty() {
                true => report,
                false => format!("{}\n\n{report}", one.at),
            }
        };
        let mut reports: Vec<String> = all.iter().enumerate().map(of_part).collect();
        let gaps = stiction_report::coverage(&measured.session, style);
        reports.extend(Some(gaps).filter(|gaps| !gaps.is_empty() && all.len() > 1));
        reports.join("\n")
    };
    measured.conclude(&text, desk)
}

/// The session as one part's workload alone would have had it: its trials, without what
/// tells the part apart from others, and with its own parameters.
fn own_session(session: &Session, number: usize, part: &Ready) -> Session {
    let mut own = session.clone();
    let name = part.name.as_str().into();
    own.trials.retain(|trial| {
        let cell = &trial.cell;
        let mut at = part.at.iter();
        cell.get(CONFIGURATION) == Some(&name)
            && at.all(|(factor, level)| cell.get(factor) == Some(level))
    });
    for trial in &mut own.trials {
        let cell = std::mem::take(&mut trial.cell).without(CONFIGURATION);
        let at = part.at.iter();
        trial.cell = at.fold(cell, |cell, (factor, _)| cell.without(factor));
    }
    if let Some(plan) = &mut own.header.plan {
        let parameters = plan.parameters["configurations"][number]["parameters"].take();
        plan.parameters = parameters;
        part.meant.workload.name().clone_into(&mut plan.workload);
    }
    own
}
