//! One side of a comparison: a session, or the part of one that has a label.

use stiction_core::{Cell, Level, Session, Trial};

use crate::AnalysisError;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// What the reader calls it: the session's label or id, or the level chosen.
    pub name: String,
    pub(super) session: &'a Session,
    /// The factor and level that chose the trials out of the session.
    pub(super) chosen: Option<(String, Level)>,
    pub(super) trials: Vec<SideTrial<'a>>,
}

/// A trial of a side, its cell without the factor that chose the side.
#[derive(Clone, Debug)]
pub(super) struct SideTrial<'a> {
    pub(super) cell: Cell,
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
            session,
            chosen: None,
            trials: trials(session, |cell| Some(cell.clone())),
        }
    }

    /// The trials of `session` in whose cells `factor` is at `level`.
    fn at_level(session: &'a Session, factor: &str, level: &Level) -> Self {
        Self {
            name: level.to_string(),
            session,
            chosen: Some((factor.to_owned(), level.clone())),
            trials: trials(session, |cell| {
                (cell.get(factor) == Some(level)).then(|| cell.clone().without(factor))
            }),
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
}

/// Every factor and level that occurs in the session's cells, in order of appearance.
#[must_use]
pub fn levels(session: &Session) -> Vec<(String, Level)> {
    let mut levels: Vec<(String, Level)> = Vec::new();
    for trial in &session.trials {
        for (factor, level) in trial.cell.iter() {
            let known = levels.iter().any(|(f, l)| f == factor && l == level);
            if !known {
                levels.push((factor.to_owned(), level.clone()));
            }
        }
    }
    levels
}

fn named<'a>(levels: impl Iterator<Item = &'a (String, Level)>) -> Vec<String> {
    levels
        .map(|(factor, level)| format!("{factor}={level}"))
        .collect()
}

fn trials(session: &Session, choose: impl Fn(&Cell) -> Option<Cell>) -> Vec<SideTrial<'_>> {
    let numbered = session.trials.iter().enumerate();
    numbered
        .filter_map(|(place, trial)| {
            let cell = choose(&trial.cell)?;
            Some(SideTrial { cell, place, trial })
        })
        .collect()
}
