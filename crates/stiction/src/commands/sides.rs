//! Which sessions the typed names of sides mean, and how they are to be judged.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::rc::Rc;

use stiction_analysis::compare::{CompareOptions, Control, Side, levels};
use stiction_analysis::mixed::directions_apart;
use stiction_analysis::noise::{self, Floor};
use stiction_core::{Level, Seed, Session, SessionId};
use stiction_store::{Archive, Filter, Resolution};

use super::baseline;
use super::operand::{is_path, session_or_file};
use crate::arguments::SidesArguments;
use crate::failure::Failure;

/// The factor that tells the configurations of `run` and `ab` apart.
const CONFIGURATION: &str = "configuration";

/// For how long the noise that a calibration found is taken for granted, days.
const CALIBRATION_DAYS: i64 = 30;

/// Sessions of a workload that are looked through for calibrations.
const CALIBRATIONS_AMONG: u32 = 200;

/// The sides of a comparison, with the sessions that they are of.
pub(super) struct Sides {
    baseline: OwnedSide,
    candidates: Vec<OwnedSide>,
    /// The factor whose levels they are, where one made them.
    column: Option<String>,
}

/// One side, and the sessions that it is of.
#[derive(Clone)]
pub(super) struct OwnedSide {
    name: Option<String>,
    parts: Vec<(Rc<Session>, Choice)>,
}

/// Which trials of a session belong to a side.
#[derive(Clone)]
enum Choice {
    Whole,
    Label(String),
    Level(String, Level),
}

/// A session as it is judged: reads and writes of a mix have figures of their own.
fn judged(session: Session) -> Rc<Session> {
    Rc::new(directions_apart(session))
}

impl OwnedSide {
    fn one(session: Rc<Session>, choice: Choice) -> Self {
        Self {
            name: None,
            parts: vec![(session, choice)],
        }
    }

    pub(super) fn side(&self) -> Result<Side<'_>, Failure> {
        let mut parts = Vec::new();
        for (session, choice) in &self.parts {
            parts.push(match choice {
                Choice::Whole => Side::whole(session),
                Choice::Label(label) => Side::labelled(session, label)?,
                Choice::Level(factor, level) => Side::at_level(session, factor, level),
            });
        }
        let name = self.name.clone();
        let name = name.or_else(|| parts.first().map(|part| part.name.clone()));
        Side::joined(&name.unwrap_or_default(), parts)
            .ok_or_else(|| Failure::new("a side of no sessions"))
    }
}

impl Sides {
    /// What was typed.
    ///
    /// # Errors
    /// When a name means nothing or too much, or there is nothing to compare.
    pub(super) fn find(
        archive: &Archive,
        directory: &Path,
        typed: &SidesArguments,
    ) -> Result<Self, Failure> {
        let operands = &typed.operands;
        if let Some(column) = &typed.column {
            return Self::by_column(archive, operands, column);
        }
        if let Some(name) = &typed.baseline {
            let parts = baseline::sessions(archive, directory, name)?.into_iter();
            let whole = |session| (judged(session), Choice::Whole);
            return Ok(Self {
                baseline: OwnedSide {
                    name: Some(name.clone()),
                    parts: parts.map(whole).collect(),
                },
                candidates: each(archive, operands)?,
                column: None,
            });
        }
        match &operands[..] {
            [only] => Self::inside_one(archive, only, typed.factor.as_deref()),
            [first, labels @ ..] if labels.len() > 1 => {
                Self::labels_or_sides(archive, first, labels)
            }
            _ => Self::of(each(archive, operands)?, None),
        }
    }

    /// As [`find`](Self::find), or one side alone: a session without configurations.
    ///
    /// # Errors
    /// When a name means nothing or too much.
    pub(super) fn find_or_one(
        archive: &Archive,
        directory: &Path,
        typed: &SidesArguments,
    ) -> Result<Self, Failure> {
        let is_alone = typed.column.is_none() && typed.baseline.is_none();
        if let ([only], true, None) = (&typed.operands[..], is_alone, &typed.factor) {
            let one = chosen(archive, only)?;
            let configurations = |(session, choice): &(Rc<Session>, Choice)| {
                matches!(choice, Choice::Whole)
                    && Side::of_each_level(session, CONFIGURATION).is_ok()
            };
            if !one.parts.iter().any(configurations) {
                return Ok(Self {
                    baseline: one,
                    candidates: Vec::new(),
                    column: None,
                });
            }
        }
        Self::find(archive, directory, typed)
    }

    /// A further side: a configuration or label of the baseline's session where it has one of
    /// that name, else what an operand of that name means.
    ///
    /// # Errors
    /// When it means nothing.
    pub(super) fn further(&self, archive: &Archive, named: &OsStr) -> Result<OwnedSide, Failure> {
        if let ([(session, _)], Some(label)) = (&self.baseline.parts[..], named.to_str())
            && Side::labelled(session, label).is_ok()
        {
            let choice = Choice::Label(label.to_owned());
            return Ok(OwnedSide::one(Rc::clone(session), choice));
        }
        chosen(archive, named)
    }

    fn of(mut sides: Vec<OwnedSide>, column: Option<String>) -> Result<Self, Failure> {
        if sides.len() < 2 {
            return Err(
                Failure::new("there is one side, and nothing to compare it with")
                    .advise("Give a second session, or a factor with several levels by --factor."),
            );
        }
        Ok(Self {
            baseline: sides.remove(0),
            candidates: sides,
            column,
        })
    }

    /// The levels of a factor of one session.
    fn inside_one(archive: &Archive, only: &OsStr, factor: Option<&str>) -> Result<Self, Failure> {
        let session = judged(session_or_file(archive, only)?);
        let factor = factor.unwrap_or(CONFIGURATION);
        // The error names the levels that there are.
        Side::of_each_level(&session, factor).map_err(|error| {
            let failure = Failure::from(error);
            match factor_of_several(&session) {
                Some(other) => failure.advise(format!(
                    "--factor {other} makes its levels the sides; or name two of them."
                )),
                None => failure,
            }
        })?;
        let sides = levels(&session)
            .into_iter()
            .filter(|(name, _)| name == factor)
            .map(|(name, level)| OwnedSide::one(Rc::clone(&session), Choice::Level(name, level)));
        Self::of(sides.collect(), Some(factor.to_owned()))
    }

    /// A session and labels inside it, where all of them are labels there or else none is
    /// a session.
    fn labels_or_sides(
        archive: &Archive,
        first: &OsStr,
        labels: &[OsString],
    ) -> Result<Self, Failure> {
        let within = session_or_file(archive, first).map(judged);
        let sides = within.as_ref().ok().map(|session| {
            let inside = labels.iter().map(|label| {
                let label = label.to_string_lossy().into_owned();
                Side::labelled(session, &label)?;
                Ok(OwnedSide::one(Rc::clone(session), Choice::Label(label)))
            });
            inside.collect::<Result<Vec<_>, Failure>>()
        });
        let not_inside = match sides {
            Some(Ok(sides)) => return Self::of(sides, None),
            Some(Err(failure)) => Some(failure),
            None => None,
        };
        let first = chosen(archive, first)?;
        match each(archive, labels) {
            Ok(others) => Self::of(std::iter::once(first).chain(others).collect(), None),
            Err(failure) => Err(not_inside.unwrap_or(failure)),
        }
    }

    /// A side of each level of `column` over all sessions, in order of appearance.
    fn by_column(archive: &Archive, operands: &[OsString], column: &str) -> Result<Self, Failure> {
        let mut sides: Vec<OwnedSide> = Vec::new();
        for (session, choice) in each(archive, operands)?
            .into_iter()
            .flat_map(|side| side.parts)
        {
            let in_cells: Vec<Level> = levels(&session)
                .into_iter()
                .filter(|(factor, _)| factor == column)
                .map(|(_, level)| level)
                .collect();
            let found: Vec<(String, Choice)> = if in_cells.is_empty() {
                let Some(level) = level_of(&session, column) else {
                    let id = &session.header.id;
                    return Err(Failure::new(format!(
                        "nothing says which {column} {id} is of"
                    )));
                };
                vec![(level, choice)]
            } else {
                let of_level =
                    |level: Level| (level.to_string(), Choice::Level(column.to_owned(), level));
                in_cells.into_iter().map(of_level).collect()
            };
            for (name, choice) in found {
                let part = (Rc::clone(&session), choice);
                match sides
                    .iter_mut()
                    .find(|side| side.name.as_ref() == Some(&name))
                {
                    Some(side) => side.parts.push(part),
                    None => sides.push(OwnedSide {
                        name: Some(name),
                        parts: vec![part],
                    }),
                }
            }
        }
        Self::of(sides, Some(column.to_owned()))
    }

    /// The baseline, and the candidates.
    ///
    /// # Errors
    /// When a label means nothing, or several things.
    pub(super) fn borrowed(&self) -> Result<(Side<'_>, Vec<Side<'_>>), Failure> {
        let candidates = self.candidates.iter().map(OwnedSide::side);
        Ok((self.baseline.side()?, candidates.collect::<Result<_, _>>()?))
    }

    /// How they are to be judged.
    ///
    /// # Errors
    /// When the store cannot be searched for calibrations.
    pub(super) fn options(
        &self,
        archive: &Archive,
        typed: &SidesArguments,
    ) -> Result<CompareOptions, Failure> {
        // A factor of one session's cells says how the sides were chosen. One of
        // the environment is what alone may differ.
        let column = self.column.clone().filter(|column| column != "label");
        let named = typed.factor.clone().or(column);
        Ok(CompareOptions {
            factor: named,
            allow: typed.allow.clone(),
            effects: typed.mei.unwrap_or_default(),
            accept_batched: typed.accept_batched,
            control: Control::AnyFalseAlarm,
            row: typed.row.clone(),
            floors: self.floors(archive)?,
            seed: Seed(typed.seed),
            ..CompareOptions::default()
        })
    }

    /// The noise that calibrations of the same workload on the same machine found in the
    /// month before.
    fn floors(&self, archive: &Archive) -> Result<Vec<Floor>, Failure> {
        let mut floors = Vec::new();
        let mut looked: Vec<&str> = Vec::new();
        for (session, _) in &self.baseline.parts {
            let Some(plan) = &session.header.plan else {
                continue;
            };
            if looked.contains(&plan.workload.as_str()) {
                continue;
            }
            looked.push(&plan.workload);
            let month = jiff::SignedDuration::from_hours(24 * CALIBRATION_DAYS);
            let filter = Filter {
                workload: Some(plan.workload.clone()),
                since: session.header.started.checked_sub(month).ok(),
                limit: Some(CALIBRATIONS_AMONG),
                ..Filter::default()
            };
            // Latest first: what is found first counts.
            for calibration in archive.figures(&filter)?.iter().rev() {
                if noise::is_calibration(calibration)
                    && noise::is_of_same_place(calibration, session)
                {
                    floors.extend(noise::calibrated(calibration));
                }
            }
        }
        Ok(floors)
    }
}

/// What a session is of, where its cells do not say.
fn level_of(session: &Session, factor: &str) -> Option<String> {
    let header = &session.header;
    let environment = &header.environment;
    match factor {
        "kernel" => environment
            .kernel
            .as_ref()
            .map(|kernel| kernel.release.clone()),
        "filesystem" => {
            let stacks = environment.targets.iter();
            let kinds: Vec<&str> = stacks
                .filter_map(|stack| Some(stack.filesystem.as_ref()?.kind.as_str()))
                .collect();
            (!kinds.is_empty()).then(|| kinds.join("+"))
        }
        "host" => environment.host_name.clone(),
        "label" => header.label.clone(),
        other => environment.stated.get(other).cloned(),
    }
}

fn each(archive: &Archive, operands: &[OsString]) -> Result<Vec<OwnedSide>, Failure> {
    let sides = operands.iter().map(|operand| chosen(archive, operand));
    sides.collect()
}

/// One side: a session, all of one label or of a pattern, a file, `SESSION/LABEL`, or
/// several of these with commas in between.
fn chosen(archive: &Archive, operand: &OsStr) -> Result<OwnedSide, Failure> {
    let failure = match term(archive, operand) {
        Ok(side) => return Ok(side),
        Err(failure) => failure,
    };
    let listed = operand.to_str().filter(|text| text.contains(','));
    let Some(listed) = listed.filter(|_| !is_path(operand)) else {
        return Err(failure);
    };
    let mut parts = Vec::new();
    for text in listed.split(',') {
        parts.extend(term(archive, OsStr::new(text))?.parts);
    }
    Ok(OwnedSide {
        name: Some(listed.to_owned()),
        parts,
    })
}

fn term(archive: &Archive, operand: &OsStr) -> Result<OwnedSide, Failure> {
    if let Some(text) = operand.to_str() {
        let sessions = of_one_label(archive, text)?;
        if !sessions.is_empty() {
            let whole = |session| (judged(session), Choice::Whole);
            return Ok(OwnedSide {
                name: Some(text.to_owned()),
                parts: sessions.into_iter().map(whole).collect(),
            });
        }
    }
    let failure = match session_or_file(archive, operand) {
        Ok(session) => return Ok(OwnedSide::one(judged(session), Choice::Whole)),
        Err(failure) => failure,
    };
    let split = operand.to_str().and_then(|text| text.split_once('/'));
    match split {
        Some((name, label)) if !is_path(operand) => {
            let side = term(archive, OsStr::new(name))?;
            let labelled = |(session, _)| (session, Choice::Label(label.to_owned()));
            let several = side.parts.len() > 1;
            Ok(OwnedSide {
                name: several.then(|| label.to_owned()),
                parts: side.parts.into_iter().map(labelled).collect(),
            })
        }
        _ => Err(failure),
    }
}

/// The sessions that carry the label `text`, or one that it is a pattern for, where that
/// is several; a single one has a name of its own.
fn of_one_label(archive: &Archive, text: &str) -> Result<Vec<Session>, Failure> {
    let is_pattern = text.contains(['*', '?']);
    if !is_pattern && matches!(archive.resolve(text)?, Resolution::One(_)) {
        return Ok(Vec::new());
    }
    let label = (!is_pattern).then(|| text.to_owned());
    let listed = archive.list(&Filter {
        label,
        ..Filter::default()
    })?;
    let fits = |label: &Option<String>| {
        let label = label.as_deref();
        label.is_some_and(|label| label == text || (is_pattern && fits(text, label)))
    };
    let ids: Vec<SessionId> = listed
        .into_iter()
        .filter(|summary| fits(&summary.label))
        .map(|summary| summary.id)
        .collect();
    let sessions = ids.iter().map(|id| Ok(archive.get(id)?));
    sessions.collect()
}

/// Whether `pattern` fits the whole of `text`: `*` is any characters, `?` one.
fn fits(pattern: &str, text: &str) -> bool {
    let mut pattern_rest = pattern.chars();
    match pattern_rest.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = pattern_rest.as_str();
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| fits(rest, &text[at..]))
        }
        Some(wanted) => {
            let mut text_rest = text.chars();
            let next = text_rest.next();
            next.is_some_and(|next| wanted == '?' || wanted == next)
                && fits(pattern_rest.as_str(), text_rest.as_str())
        }
    }
}

/// The first factor with several levels in the session.
fn factor_of_several(session: &Session) -> Option<String> {
    let all = levels(session);
    let mut factors = all.iter().map(|(factor, _)| factor);
    // Of different workloads nothing is compared.
    factors
        .find(|factor| {
            factor.as_str() != "workload"
                && all.iter().filter(|(other, _)| other == *factor).count() > 1
        })
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_labels() {
        for (pattern, text, wanted) in [
            ("nightly-*", "nightly-2026", true),
            ("nightly-*", "tonightly-2026", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a*b*c", "a-b-b-c", true),
            ("é*", "été", true),
            ("e*", "été", false),
            ("?t*", "été", true),
        ] {
            assert_eq!(fits(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_whole() {
        let top = tempfile::tempdir().unwrap();
        let (archive, _) = Archive::open(&top.path().join("store")).unwrap();
        let empty = top.path().join("mail.txt");
        std::fs::write(&empty, "no table").unwrap();
        for operand in [
            "./nothing.txt",
            "/nothing/mail.txt",
            empty.to_str().unwrap(),
        ] {
            let failure = chosen(&archive, OsStr::new(operand)).err().unwrap();
            assert!(failure.to_string().contains(operand), "{failure}");
        }
        let failure = chosen(&archive, OsStr::new("k3f9/2.5.59")).err().unwrap();
        assert!(failure.to_string().contains("`k3f9`"), "{failure}");
    }
}
