//! `stiction compare`.

use stiction_analysis::Outcome;
use stiction_analysis::compare::{CompareOptions, Control, Matrix, matrix};
use stiction_report::{JunitRules, Shown, json};

use super::sides::Sides;
use super::{Desk, store};
use crate::arguments::{CompareArguments, ComparisonLayout, ShownArguments};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Holds candidates against a baseline.
pub(super) fn run(typed: &CompareArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let sides = Sides::find(&archive, desk.state.root(), &typed.sides)?;
    let (baseline, candidates) = sides.borrowed()?;
    let mut options: CompareOptions = sides.options(&archive, &typed.sides)?;
    if typed.browse {
        options.control = Control::ShareOfFalse;
    }
    let matrix = matrix(&baseline, &candidates, &options);
    show(&matrix, &typed.shown, JunitRules::default(), desk)?;
    Ok(exit(matrix.outcome()))
}

/// Prints what sides came to, laid out as was asked for.
pub(super) fn show(
    matrix: &Matrix,
    typed: &ShownArguments,
    rules: JunitRules,
    desk: &Desk<'_>,
) -> Result<(), Failure> {
    desk.console.data(&text(matrix, typed, rules, desk.console))
}

/// What sides came to, laid out as was asked for.
pub(super) fn text(
    matrix: &Matrix,
    typed: &ShownArguments,
    rules: JunitRules,
    console: &Console,
) -> String {
    let shown = Shown {
        all: typed.all,
        why: typed.why,
    };
    match typed.layout {
        _ if console.json => json::comparison(matrix),
        ComparisonLayout::Text => stiction_report::comparison(matrix, shown, console.style()),
        ComparisonLayout::Mail => stiction_report::mail(matrix, shown),
        ComparisonLayout::Markdown => stiction_report::markdown(matrix, shown),
        ComparisonLayout::Csv => stiction_report::csv(matrix),
        ComparisonLayout::Osdl => stiction_report::osdl(matrix),
        ComparisonLayout::Junit => stiction_report::junit(matrix, rules),
    }
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
