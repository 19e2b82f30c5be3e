//! Which trial of one side answers to which of the other.

use std::collections::{BTreeMap, BTreeSet};

use stiction_core::{Cell, Level, Phase, PhaseKind, PhaseOutcome, Session, Trial, TrialOutcome};

use super::side::{Side, SideTrial};

/// Factors that say how much work is done and how. Sides at different levels of
/// these did different work; they are never taken for the subject of a comparison
/// unless the user names one.
const PARAMETERS: &[&str] = &[
    "threads",
    "block_size_bytes",
    "file_size_bytes",
    "load",
    "command",
    "jobs",
    "workload",
];

/// A factor that has one level on each side, and not the same: what the comparison
/// is about, or what differs along with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideFactor {
    /// The factor.
    pub factor: String,
    /// Its level on A's side; `None` where cells lack the factor.
    pub a: Option<Level>,
    /// Its level on B's side.
    pub b: Option<Level>,
}

/// Finds the factors that tell the two sides apart as a whole.
pub(super) fn side_factors(a: &Side<'_>, b: &Side<'_>) -> Vec<SideFactor> {
    let mut found: Vec<SideFactor> = Vec::new();
    if let (Some((factor, level_a)), Some((other, level_b))) = (&a.chosen, &b.chosen)
        && factor == other
    {
        found.push(SideFactor {
            factor: factor.clone(),
            a: Some(level_a.clone()),
            b: Some(level_b.clone()),
        });
    }
    let factors: BTreeSet<&str> = [a, b]
        .into_iter()
        .flat_map(|side| &side.trials)
        .flat_map(|trial| trial.cell.iter().map(|(factor, _)| factor))
        .filter(|factor| !PARAMETERS.contains(factor))
        .filter(|factor| !a.is_crossed_with(factor))
        .collect();
    for factor in factors {
        if let (Some(a), Some(b)) = (only_level(a, factor), only_level(b, factor))
            && a != b
        {
            found.push(SideFactor {
                factor: factor.to_owned(),
                a: a.cloned(),
                b: b.cloned(),
            });
        }
    }
    found
}

/// The level, or the absence, of `factor` that all trials of the side share.
fn only_level<'a>(side: &'a Side<'_>, factor: &str) -> Option<Option<&'a Level>> {
    let mut levels = side.trials.iter().map(|trial| trial.cell.get(factor));
    let first = levels.next()?;
    levels.all(|level| level == first).then_some(first)
}

/// The runs of one phase of one cell on both sides.
pub(super) struct Pair<'a> {
    pub(super) cell: Cell,
    pub(super) phase: String,
    pub(super) a: Vec<Run<'a>>,
    pub(super) b: Vec<Run<'a>>,
    /// Why a trial of A, or of B, in this cell may lack the phase; a trial that was
    /// interrupted counts only where no other has the phase.
    pub(super) trouble: (Option<Trouble>, Option<Trouble>),
}

/// Why a trial may lack a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It was never tried, for this reason.
    Skipped(String),
    /// It did not come to its end.
    CutOff(String),
}

/// One phase of one trial.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) phase: &'a Phase,
    pub(super) trial: &'a Trial,
    pub(super) session: &'a Session,
    /// Of its trial in the session.
    pub(super) place: usize,
}

/// A cell or phase that only one side has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase; `None` when the other side lacks the whole cell.
    pub phase: Option<String>,
    /// Whether it is A that has it.
    pub in_a: bool,
    /// Why the other side has nothing to hold against it.
    pub reason: String,
}

/// The pairs, in A's order, and what could not be paired.
pub(super) fn pairs<'a>(
    a: &Side<'a>,
    b: &Side<'a>,
    factors: &[SideFactor],
) -> (Vec<Pair<'a>>, Vec<Unmatched>) {
    let strip = |cell: &Cell| {
        factors
            .iter()
            .fold(cell.clone(), |cell, side| cell.without(&side.factor))
    };
    let by_cell = |side: &Side<'a>| -> BTreeMap<Cell, Vec<SideTrial<'a>>> {
        let mut found: BTreeMap<Cell, Vec<SideTrial<'a>>> = BTreeMap::new();
        for trial in &side.trials {
            let trials = found.entry(strip(&trial.cell)).or_default();
            trials.push(trial.clone());
        }
        found
    };
    let (all_a, all_b) = (by_cell(a), by_cell(b));
    let planned =
        |side: &Side<'a>| -> BTreeSet<Cell> { side.planned().iter().map(strip).collect() };
    let (planned_a, planned_b) = (planned(a), planned(b));
    let mut pairs = Vec::new();
    let mut unmatched = Vec::new();
    let in_order: Vec<Cell> = [a, b]
        .into_iter()
        .flat_map(|side| side.trials.iter().map(|trial| strip(&trial.cell)))
        .collect();
    let none = Vec::new();
    for cell in distinct(in_order.iter()) {
        let trials_a = all_a.get(cell).unwrap_or(&none);
        let trials_b = all_b.get(cell).unwrap_or(&none);
        let never_ran = |trials: &Vec<SideTrial<'a>>, planned: &BTreeSet<Cell>| {
            (trials.is_empty() && planned.contains(cell))
                .then(|| Trouble::CutOff("it was planned, and never ran".to_owned()))
        };
        let missing = (
            never_ran(trials_a, &planned_a),
            never_ran(trials_b, &planned_b),
        );
        let is_there = |trials: &[SideTrial<'a>], missing: &Option<Trouble>| {
            !trials.is_empty() || missing.is_some()
        };
        if is_there(trials_a, &missing.0) && is_there(trials_b, &missing.1) {
            let trouble = (
                missing.0.or_else(|| any_trouble(trials_a)),
                missing.1.or_else(|| any_trouble(trials_b)),
            );
            pair_phases(
                cell,
                (trials_a, trials_b),
                &trouble,
                &mut pairs,
                &mut unmatched,
            );
        } else {
            let in_a = trials_b.is_empty();
            let name = if in_a { &b.name } else { &a.name };
            unmatched.push(Unmatched {
                cell: cell.clone(),
                phase: None,
                in_a,
                reason: format!("{name} has no such cell"),
            });
        }
    }
    (pairs, unmatched)
}

/// Pairs the measured phases of one cell.
fn pair_phases<'a>(
    cell: &Cell,
    (a, b): (&[SideTrial<'a>], &[SideTrial<'a>]),
    trouble: &(Option<Trouble>, Option<Trouble>),
    pairs: &mut Vec<Pair<'a>>,
    unmatched: &mut Vec<Unmatched>,
) {
    let (all_a, all_b) = (runs(a), runs(b));
    for name in distinct(all_a.iter().chain(&all_b).map(|run| &run.phase.name)) {
        let of = |runs: &[Run<'a>]| -> Vec<Run<'a>> {
            let here = runs.iter().filter(|run| run.phase.name == *name);
            here.copied().collect()
        };
        let pair = Pair {
            cell: cell.clone(),
            phase: name.clone(),
            a: of(&all_a),
            b: of(&all_b),
            trouble: trouble.clone(),
        };
        // A phase is absent because its trial failed first, or because it was never
        // part of the other side's work. Only the former is a failure.
        let never_there = (pair.a.is_empty() && trouble.0.is_none())
            || (pair.b.is_empty() && trouble.1.is_none());
        if never_there {
            unmatched.push(Unmatched {
                cell: cell.clone(),
                phase: Some(name.clone()),
                in_a: pair.b.is_empty(),
                reason: format!("the other side has no phase `{name}` in this cell"),
            });
        } else {
            pairs.push(pair);
        }
    }
}

fn runs<'a>(trials: &[SideTrial<'a>]) -> Vec<Run<'a>> {
    let of_trial = |trial: &SideTrial<'a>| {
        let (place, session, trial) = (trial.place, trial.session, trial.trial);
        let measured = trial.phases.iter().filter(|p| p.kind == PhaseKind::Measure);
        measured.map(move |phase| Run {
            phase,
            trial,
            session,
            place,
        })
    };
    trials.iter().flat_map(of_trial).collect()
}

/// Why some of these trials may lack phases, if one did not end as planned. One that was
/// tried tells more than one that was not.
fn any_trouble(trials: &[SideTrial<'_>]) -> Option<Trouble> {
    let all = || {
        let outcomes = trials.iter().map(|side| &side.trial.outcome);
        outcomes.filter_map(|outcome| match outcome {
            TrialOutcome::Completed => None,
            TrialOutcome::Interrupted => {
                Some(Trouble::CutOff("the trial was interrupted".to_owned()))
            }
            TrialOutcome::Skipped(reason) => Some(Trouble::Skipped(reason.detail.clone())),
            TrialOutcome::Failed { message } => {
                Some(Trouble::CutOff(format!("the trial failed: {message}")))
            }
        })
    };
    let is_cut_off = |trouble: &Trouble| matches!(trouble, Trouble::CutOff(_));
    all().find(is_cut_off).or_else(|| all().next())
}

/// Why a phase has no number, if it has none.
pub(super) fn without_number(phase: &Phase) -> Option<String> {
    match &phase.outcome {
        PhaseOutcome::Failed { message } => Some(format!("it failed: {message}")),
        PhaseOutcome::Skipped(reason) => Some(format!("it was skipped: {}", reason.detail)),
        PhaseOutcome::Completed | PhaseOutcome::EndedEarly => None,
    }
}

/// The distinct items, in order of appearance.
pub(super) fn distinct<'t, T: Ord>(items: impl Iterator<Item = &'t T>) -> Vec<&'t T> {
    let mut seen: BTreeSet<&T> = BTreeSet::new();
    items.filter(|&item| seen.insert(item)).collect()
}
