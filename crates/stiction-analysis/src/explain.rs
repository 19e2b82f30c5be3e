//! Why two sides differ, as far as what stood beside them tells; and where the time of one
//! went.
//!
//! What is found here moved together, and is consistent with one reading or another. That
//! one thing made another is never said: that takes an intervention, a third arm that takes
//! the change back. Which run that would be is the last thing told.
//!
//! ```text
//! Side, Side --compare--> what differs, the score of each phase
//!            --matched--> time, identities, counters, layout, functions of each phase
//!                                          --> readings --> the next run
//! ```

mod attribution;
mod check;
mod counter;
mod counters;
mod lie;
mod next;
mod phase;
mod reading;
mod score;
mod surroundings;
mod symbols;
mod time;
mod together;

pub use attribution::{Attribution, Fate, TakenBack, TakenBackPhase};
pub use check::{Check, Identity};
pub use counter::{Counter, Group, Per};
pub use counters::counters;
pub use lie::{Lie, LieChange};
pub use next::NextRun;
pub use phase::PhaseExplanation;
pub use reading::{Reading, Theme};
pub use score::Score;
pub use surroundings::Likely;
pub use symbols::{SymbolChange, Symbols};
pub use time::{Part, TimeSplit};
pub use together::{MovedCounter, Together, Within};

use crate::compare::{self, CompareOptions, Comparison, Side};
use surroundings::Work;

/// Why two sides differ, or where the time of one went.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// A's name.
    pub a: String,
    /// B's name; `None` where there is one side.
    pub b: Option<String>,
    /// Other candidates that there were, and were not taken.
    pub others: Vec<String>,
    /// What may be said of the difference; `None` where there is one side.
    pub attribution: Option<Attribution>,
    /// What differs between machines and plans, what usually weighs most first.
    pub differs: Vec<Likely>,
    /// The phases, in A's order.
    pub phases: Vec<PhaseExplanation>,
    /// What to run next, the most telling first.
    pub next: Vec<NextRun>,
    /// What the reader should know before the rest, a sentence each.
    pub notes: Vec<String>,
}

/// Explains where the time of one side went.
#[must_use]
pub fn explain_one(side: &Side<'_>) -> Explanation {
    let phases: Vec<PhaseExplanation> = compare::alone(side)
        .iter()
        .map(|matched| phase::of_one(matched, cpus(side)))
        .collect();
    Explanation {
        a: side.name.clone(),
        b: None,
        others: Vec::new(),
        attribution: None,
        differs: Vec::new(),
        next: next::of_one(side, &phases),
        phases,
        notes: Vec::new(),
    }
}

/// Explains how `b` differs from `a`. `taken_back` is a third side, where what makes `b` of
/// `a` was taken back.
#[must_use]
pub fn explain(
    a: &Side<'_>,
    b: &Side<'_>,
    taken_back: Option<&Side<'_>>,
    options: &CompareOptions,
) -> Explanation {
    let comparison = compare::compare(a, b, options);
    let matched = compare::matched(a, b);
    let mut phases = phase::of_both(&matched, &comparison, (cpus(a), cpus(b)), options.seed);
    let runs = matched.iter().flat_map(|one| one.a.iter().chain(&one.b));
    let work = Work::of(runs.copied());
    let differs = surroundings::likely(&comparison, work);
    let attribution = attribution::attribution(a, b, taken_back, &comparison, options);
    reading::read(&mut phases);
    Explanation {
        a: comparison.a.clone(),
        b: Some(comparison.b.clone()),
        others: Vec::new(),
        next: next::of_both(a, b, &attribution, &differs, &phases),
        attribution: Some(attribution),
        differs,
        phases,
        notes: comparison.notes.clone(),
    }
}

/// Which of several candidates to explain: the one whose score differs most from the
/// baseline's.
#[must_use]
pub fn most_different<'s, 'a>(
    a: &Side<'a>,
    candidates: &'s [Side<'a>],
    options: &CompareOptions,
) -> Option<(usize, &'s Side<'a>)> {
    let apart = |candidate: &Side<'a>| -> f64 {
        let comparison = compare::compare(a, candidate, options);
        let ratios = score::rows(&comparison).filter_map(|row| row.change.as_ref()?.ratio());
        ratios
            .filter(|ratio| *ratio > 0.0)
            .map(|ratio| ratio.ln().abs())
            .fold(0.0, f64::max)
    };
    let all = candidates.iter().enumerate();
    let weighed = all.map(|(place, candidate)| (place, candidate, apart(candidate)));
    // The first of equals.
    let most = weighed.reduce(|best, next| if next.2 > best.2 { next } else { best })?;
    Some((most.0, most.1))
}

/// CPUs that were online, where all of a side's sessions say the same.
fn cpus(side: &Side<'_>) -> Option<u32> {
    let of = |session: &stiction_core::Session| {
        let cpu = session.header.environment.cpu.as_ref()?;
        Some(cpu.online)
    };
    let mut all = side.sessions().iter().map(|session| of(session));
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// The comparison's row of the score of a phase.
fn score_row<'c>(
    comparison: &'c Comparison,
    matched: &compare::Matched<'_>,
) -> Option<&'c compare::Row> {
    let mut rows = score::rows(comparison);
    rows.find(|row| row.cell == matched.cell && row.phase == matched.phase)
}

#[cfg(test)]
mod tests;
