//! `stiction compare`.

use stiction_analysis::Outcome;
use stiction_analysis::compare::{CompareOptions, Control, Matrix, Side, matrix};
use stiction_core::Session;
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
    if is_read_by_a_person(&typed.shown, desk.console) {
        let sides = std::iter::once(&baseline).chain(&candidates);
        let gaps = coverage(sides.flat_map(Side::sessions).copied(), desk.console);
        if !gaps.is_empty() {
            desk.console.data(&gaps)?;
        }
    }
    show(&matrix, &typed.shown, JunitRules::default(), desk)?;
    Ok(exit(matrix.outcome()))
}

/// Whether what is printed is the usual report, which more may be added to.
pub(super) fn is_read_by_a_person(typed: &ShownArguments, console: &Console) -> bool {
    !console.json && typed.layout == ComparisonLayout::Text
}

/// What did not run in sessions of blocks, each of them once, and why: what stands before
/// a comparison, the last line of which is the answer.
pub(super) fn coverage<'s>(
    sessions: impl Iterator<Item = &'s Session>,
    console: &Console,
) -> String {
    let mut seen = Vec::new();
    let mut text = String::new();
    for session in sessions {
        let is_in_blocks = session.trials.iter().any(|trial| trial.block.is_some());
        if !is_in_blocks || seen.contains(&&session.header.id) {
            continue;
        }
        seen.push(&session.header.id);
        let own = stiction_report::coverage(session, console.style());
        if !own.is_empty() {
            text += &own;
            text += "\n";
        }
    }
    text
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
