//! `stiction compare`.

use stiction_analysis::Outcome;
use stiction_analysis::compare::{CompareOptions, Control, Matrix, matrix};
use stiction_report::json;

use super::sides::Sides;
use super::{Desk, store};
use crate::arguments::CompareArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Holds candidates against a baseline.
pub(super) fn run(typed: &CompareArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let sides = Sides::find(&archive, desk.state.root(), &typed.sides)?;
    let (baseline, candidates) = sides.borrowed()?;
    let mut options: CompareOptions = sides.options(&archive, &typed.sides)?;
    if typed.browse {
        options.control = Control::ShareOfFalse;
    }
    let matrix = matrix(&baseline, &candidates, &options);
    show(&matrix, desk)?;
    Ok(exit(matrix.outcome()))
}

/// Prints what sides came to.
pub(super) fn show(matrix: &Matrix, desk: &Desk<'_>) -> Result<(), Failure> {
    let each: Vec<String> = matrix
        .comparisons
        .iter()
        .map(|comparison| {
            if desk.console.json {
                json::comparison(comparison)
            } else {
                stiction_report::comparison(comparison, desk.console.style())
            }
        })
        .collect();
    desk.console.data(&each.join("\n"))
}

/// The code that says it.
pub(super) fn exit(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::NoRegression => Exit::Done,
        Outcome::Regression => Exit::Regression,
        Outcome::CannotTell => Exit::CannotTell,
        Outcome::NotComparable => Exit::NothingToJudge,
    }
}
