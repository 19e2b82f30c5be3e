//! One side of a comparison: sessions, or the parts of them that have a label.

use std::collections::BTreeSet;

use stiction_core::{Cell, Level, Provenance, Session, Setting, Trial};

use super::environment::configuration;
use crate::AnalysisError;

/// The factor whose levels are the configurations of a session in blocks.
const CONFIGURATION: &str = "configuration";

/// One side of a comparison: the trials of one or several sessions.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// What the reader calls it: the session's label or id, or the level chosen.
    pub name: String,
    /// The factor and level that chose the trials, the same in all of its sessions.
    pub(super) chosen: Option<(String, Level)>,
    /// In the order of time.
    pub(super) trials: Vec<SideTrial<'a>>,
    /// In the order of time, each once.
    sessions: Vec<&'a Session>,
}

/// A trial of a side, its cell without the factor that chose the side.
#[derive(Clone, Debug)]
pub(super) struct SideTrial<'a> {
    pub(super) cell: Cell,
    pub(super) session: &'a Session,
    /// Its place in the session, in the order in which trials ran.
    pub(super) place: usize,
    pub(super) trial: &'a Trial,
}

impl<'a> Side<'a> {
    /// A whole session.
    #[must_use]
    pub fn whole(session: &'a Session) -> Self {
        let header = &session.header;
        let name = header.label.clone();
        Self {
            name: name.unwrap_or_else(|| header.id.to_string()),
            chosen: None,
            trials: trials(session, |cell| Some(cell.clone())),
            sessions: vec![session],
        }
    }

    /// The trials of `session` in whose cells `factor` is at `level`.
    #[must_use]
    pub fn at_level(session: &'a Session, factor: &str, level: &Level) -> Self {
        let rest = rest(session, factor);
        Self {
            name: level.to_string(),
            chosen: Some((factor.to_owned(), level.clone())),
            trials: trials(session, |cell| {
                (cell.get(factor) == Some(level)).then(|| rest(cell))
            }),
            sessions: vec![session],
        }
    }

    /// The part of `session` that `label` means: `kernel=2.5.59`, or `2.5.59` alone
    /// where only one factor has such a level. Upper and lower case are the same
    /// where that leaves one meaning.
    ///
    /// # Errors
    /// When no factor has that level, or several have.
    pub fn labelled(session: &'a Session, label: &str) -> Result<Self, AnalysisError> {
        let levels = levels(session);
        let exact = |text: &str, label: &str| text == label;
        let folded = |text: &str, label: &str| text.eq_ignore_ascii_case(label);
        let matching = |same: &dyn Fn(&str, &str) -> bool| -> Vec<&(String, Level)> {
            levels
                .iter()
                .filter(|(factor, level)| {
                    let level = level.to_string();
                    same(&level, label) || same(&format!("{factor}={level}"), label)
                })
                .collect()
        };
        let mut found = matching(&exact);
        if found.is_empty() {
            found = matching(&folded);
        }
        match found[..] {
            [(factor, level)] => Ok(Self::at_level(session, factor, level)),
            [] => Err(AnalysisError::NoSuchLabel {
                label: label.to_owned(),
                known: named(levels.iter()),
            }),
            _ => Err(AnalysisError::AmbiguousLabel {
                label: label.to_owned(),
                meanings: named(found.into_iter()),
            }),
        }
    }

    /// A side for each level that `factor` has in `session`, in order of appearance.
    ///
    /// # Errors
    /// When the factor has fewer than two levels there.
    pub fn of_each_level(session: &'a Session, factor: &str) -> Result<Vec<Self>, AnalysisError> {
        let all = levels(session);
        let of_factor: Vec<&Level> = all
            .iter()
            .filter(|(name, _)| name == factor)
            .map(|(_, level)| level)
            .collect();
        if of_factor.len() < 2 {
            return Err(AnalysisError::NoFactor {
                factor: factor.to_owned(),
                known: named(all.iter()),
            });
        }
        let sides = of_factor.into_iter();
        Ok(sides
            .map(|level| Self::at_level(session, factor, level))
            .collect())
    }

    /// All of `parts` as one side: sessions that repeat one another. A session that
    /// several parts are of counts once for each of its trials. `None` of no parts.
    #[must_use]
    pub fn joined(name: &str, parts: Vec<Self>) -> Option<Self> {
        let chosen = parts.first()?.chosen.clone();
        let same = parts.iter().all(|part| part.chosen == chosen);
        let mut joined = Self {
            name: name.to_owned(),
            chosen: chosen.filter(|_| same),
            trials: Vec::new(),
            sessions: Vec::new(),
        };
        let mut sessions = BTreeSet::new();
        let mut trials = BTreeSet::new();
        for part in parts {
            let new = |session: &&'a Session| sessions.insert(&session.header.id);
            joined
                .sessions
                .extend(part.sessions.into_iter().filter(new));
            let new =
                |trial: &SideTrial<'a>| trials.insert((&trial.session.header.id, trial.place));
            joined.trials.extend(part.trials.into_iter().filter(new));
        }
        joined.sessions.sort_by_key(|&session| begun(session));
        joined
            .trials
            .sort_by_key(|trial| (begun(trial.session), trial.place));
        Some(joined)
    }

    /// Its sessions, in the order of time.
    #[must_use]
    pub fn sessions(&self) -> &[&'a Session] {
        &self.sessions
    }

    /// Whether stiction measured all of it.
    pub(super) fn is_measured(&self) -> bool {
        let measured = |session: &&Session| session.header.provenance == Provenance::Measured;
        self.sessions.iter().all(measured)
    }

    /// The cells that its sessions planned for it, each without the factor that chose it
    /// and what that says.
    pub(super) fn planned(&self) -> BTreeSet<Cell> {
        let of_session = |session: &&'a Session| -> Vec<Cell> {
            let plan = session.header.plan.as_ref();
            let cells = plan.into_iter().flat_map(|plan| &plan.trials);
            let cells = cells.map(|trial| &trial.cell);
            match &self.chosen {
                None => cells.cloned().collect(),
                Some((factor, level)) => {
                    let own = cells.filter(|cell| cell.get(factor) == Some(level));
                    let rest = rest(session, factor);
                    own.map(rest).collect()
                }
            }
        };
        self.sessions.iter().flat_map(of_session).collect()
    }

    /// Whether `factor` is one of those that were crossed with the one that chose this
    /// side: then it is no other name of it, though each side may have one level of it
    /// where combinations were left out.
    pub(super) fn is_crossed_with(&self, factor: &str) -> bool {
        self.chosen.as_ref().is_some_and(|(chosen, _)| {
            let mut settings = self.sessions.iter().map(|session| settings(session));
            settings.any(|all| all.contains(&factor) && all.contains(&chosen.as_str()))
        })
    }

    /// Whether it is the configuration of `other` once more, under another name.
    #[must_use]
    pub fn is_once_more(&self, other: &Self) -> bool {
        let bare = |side: &Self| {
            let mut told = side.configuration()?.clone();
            let fields = told.as_object_mut()?;
            fields.remove("name");
            Some(told)
        };
        self.name != other.name && bare(self).is_some_and(|own| Some(own) == bare(other))
    }

    /// Whether the trials of both, of one session each, are the same.
    pub(super) fn is_same_trials(&self, other: &Self) -> bool {
        let places = |side: &Self| -> Vec<usize> { side.trials.iter().map(|t| t.place).collect() };
        !self.trials.is_empty() && places(self) == places(other)
    }

    /// What was set on the machine for its trials, as its first trial has it.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let first = self.trials.first().map(|one| &one.trial.settings);
        let applied = first.into_iter().flatten();
        applied.map(|one| one.asked.clone()).collect()
    }

    /// What the plan of its first session says of its configuration; `None` where no
    /// configuration chose it.
    pub(crate) fn configuration(&self) -> Option<&'a serde_json::Value> {
        let trial = self.trials.first()?;
        let plan = trial.session.header.plan.as_ref()?;
        let name = trial.trial.cell.get(CONFIGURATION)?.to_string();
        configuration(&plan.parameters, &name, &trial.trial.cell)
    }

    /// The factor that chose it.
    pub(super) fn factor(&self) -> Option<&str> {
        self.chosen.as_ref().map(|(factor, _)| factor.as_str())
    }
}

/// By which sessions are put in order: their beginning, and their id where two began at
/// once.
pub(super) fn begun(session: &Session) -> (i128, &str) {
    let header = &session.header;
    (header.started.as_nanosecond(), header.id.as_str())
}

/// Every factor and level that occurs in the session's cells, factor by factor in order of
/// appearance. Where blocks were run in an order that was drawn, levels come in the order
/// in which the configurations were given, and numbers from the least on.
#[must_use]
pub fn levels(session: &Session) -> Vec<(String, Level)> {
    let given = configurations(session);
    let place = |trial: &&Trial| match trial.cell.get(CONFIGURATION) {
        Some(Level::Text(own)) => given.iter().position(|name| name == own),
        _ => None,
    };
    let mut trials: Vec<&Trial> = session.trials.iter().collect();
    trials.sort_by_key(place);
    let mut factors: Vec<(&str, Vec<&Level>)> = Vec::new();
    for (factor, level) in trials.into_iter().flat_map(|trial| trial.cell.iter()) {
        match factors.iter_mut().find(|(known, _)| *known == factor) {
            Some((_, known)) if known.contains(&level) => {}
            Some((_, known)) => known.push(level),
            None => factors.push((factor, vec![level])),
        }
    }
    if session.trials.iter().any(|trial| trial.block.is_some()) {
        for (_, levels) in &mut factors {
            if levels
                .iter()
                .all(|level| matches!(level, Level::Integer(_)))
            {
                levels.sort_unstable();
            }
        }
    }
    let each = |(factor, levels): (&str, Vec<&Level>)| {
        let of_factor = levels.into_iter();
        let pairs = of_factor.map(|level| (factor.to_owned(), level.clone()));
        pairs.collect::<Vec<_>>()
    };
    factors.into_iter().flat_map(each).collect()
}

/// The names of the configurations, as the plan has them.
fn configurations(session: &Session) -> Vec<&str> {
    let plan = session.header.plan.as_ref();
    let all = plan.and_then(|plan| plan.parameters.get("configurations")?.as_array());
    let names = all.into_iter().flatten();
    names.filter_map(|one| one.get("name")?.as_str()).collect()
}

fn named<'a>(levels: impl Iterator<Item = &'a (String, Level)>) -> Vec<String> {
    // The levels of one factor stand together, whatever order they were seen in.
    let mut grouped: Vec<(&str, Vec<String>)> = Vec::new();
    for (factor, level) in levels {
        let said = format!("{factor}={level}");
        match grouped.iter_mut().find(|(known, _)| known == factor) {
            Some((_, levels)) => levels.push(said),
            None => grouped.push((factor, vec![said])),
        }
    }
    grouped.into_iter().flat_map(|(_, levels)| levels).collect()
}

/// The factors that say nothing beside `factor`: of a session whose configurations are
/// combinations of settings of the machine, those settings beside the configuration, and
/// the configuration beside any of them.
fn implied_by(session: &Session, factor: &str) -> Vec<String> {
    let settings = settings(session);
    if factor == CONFIGURATION {
        settings.into_iter().map(str::to_owned).collect()
    } else if settings.contains(&factor) {
        vec![CONFIGURATION.to_owned()]
    } else {
        Vec::new()
    }
}

/// The factors of which the session's configurations are combinations.
fn settings(session: &Session) -> Vec<&str> {
    let plan = session.header.plan.as_ref();
    let settings = plan.and_then(|plan| plan.parameters.get("factors")?.as_array());
    let settings = settings.into_iter().flatten();
    settings.filter_map(|name| name.as_str()).collect()
}

/// A cell of the session without `factor`, and without what that says.
fn rest(session: &Session, factor: &str) -> impl Fn(&Cell) -> Cell {
    let gone = [vec![factor.to_owned()], implied_by(session, factor)].concat();
    move |cell| {
        gone.iter()
            .fold(cell.clone(), |cell, name| cell.without(name))
    }
}

fn trials(session: &Session, choose: impl Fn(&Cell) -> Option<Cell>) -> Vec<SideTrial<'_>> {
    let numbered = session.trials.iter().enumerate();
    numbered
        .filter_map(|(place, trial)| {
            let cell = choose(&trial.cell)?;
            Some(SideTrial {
                cell,
                session,
                place,
                trial,
            })
        })
        .collect()
}
