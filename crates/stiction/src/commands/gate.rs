//! `stiction gate`.

use stiction_analysis::Strictness;
use stiction_analysis::compare::{CompareOptions, matrix};
use stiction_report::{JunitRules, junit};

use super::sides::Sides;
use super::{Desk, compare, store};
use crate::arguments::GateArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Judges, and ends with the answer.
pub(super) fn run(typed: &GateArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let sides = Sides::find(&archive, desk.state.root(), &typed.sides)?;
    let (baseline, candidates) = sides.borrowed()?;
    let options = CompareOptions {
        classes: typed.classes.iter().copied().map(Into::into).collect(),
        ..sides.options(&archive, &typed.sides)?
    };
    let matrix = matrix(&baseline, &candidates, &options);
    let strictness = match (typed.strict, typed.lenient) {
        (true, _) => Strictness::Strict,
        (_, true) => Strictness::Lenient,
        _ => Strictness::Plain,
    };
    let (outcome, said) = matrix.outcome().gated(strictness);
    let rules = JunitRules {
        cannot_tell_fails: typed.strict,
    };
    if let Some(file) = &typed.junit {
        output::write(file, &junit(&matrix, rules))?;
    }
    compare::show(&matrix, &typed.shown, rules, desk)?;
    if let Some(said) = said {
        desk.console.say(&format!("stiction: {said}"));
    }
    Ok(compare::exit(outcome))
}
