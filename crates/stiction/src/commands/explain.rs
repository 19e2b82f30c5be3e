//! `stiction explain`.

use stiction_analysis::compare::{CompareOptions, Side};
use stiction_analysis::explain::{Explanation, explain, explain_one, most_different};
use stiction_report::{ExplainShown, json};

use super::sides::{OwnedSide, Sides};
use super::{Desk, store};
use crate::arguments::ExplainArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Explains where the time of one side went, or how two differ.
pub(super) fn run(typed: &ExplainArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let sides = Sides::find_or_one(&archive, desk.state.root(), &typed.sides)?;
    let taken_back = match &typed.taken_back {
        Some(named) => Some(sides.further(&archive, named)?),
        None => None,
    };
    let taken_back = taken_back.as_ref().map(OwnedSide::side).transpose()?;
    let (baseline, candidates) = sides.borrowed()?;
    // Its verdicts are those of `stiction compare`.
    let options = sides.options(&archive, &typed.sides)?;
    let explanation = explained(&baseline, &candidates, taken_back.as_ref(), &options)?;
    let exit = match explanation.phases[..] {
        [] => Exit::NothingToJudge,
        _ => Exit::Done,
    };
    let text = if desk.console.json {
        json::explanation(&explanation)
    } else {
        let shown = ExplainShown { all: typed.all };
        stiction_report::explain(&explanation, shown, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(exit)
}

/// Of several candidates the one that differs most is taken, but for the baseline once more:
/// that is a side where the change was taken back.
fn explained(
    baseline: &Side<'_>,
    candidates: &[Side<'_>],
    taken_back: Option<&Side<'_>>,
    options: &CompareOptions,
) -> Result<Explanation, Failure> {
    let Some((place, candidate)) = most_different(baseline, candidates, options) else {
        if taken_back.is_some() {
            return Err(Failure::new(
                "--taken-back: there is one side, and no change to take back",
            ));
        }
        return Ok(explain_one(baseline));
    };
    let again = candidates
        .iter()
        .enumerate()
        .find(|(other, side)| *other != place && side.is_once_more(baseline));
    let again = again.map(|(_, side)| side);
    let explanation = explain(baseline, candidate, taken_back.or(again), options);
    let others = candidates
        .iter()
        .enumerate()
        .filter(|(other, side)| {
            let is_back = taken_back
                .or(again)
                .is_some_and(|back| back.name == side.name);
            *other != place && !is_back
        })
        .map(|(_, side)| side.name.clone());
    Ok(Explanation {
        others: others.collect(),
        ..explanation
    })
}
