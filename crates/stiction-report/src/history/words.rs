//! What a series is called, and what is said of it.

use stiction_analysis::history::{Course, Flag, Key, LevelChange, Point, State};
use stiction_core::{SessionId, Unit};

use crate::cell::cell_text;
use crate::figure::{change, label, measured};
use crate::page::Role;
use crate::text::counted;

/// `tiobench write rate, 4 threads`.
pub(super) fn what(key: &Key) -> String {
    let context = &key.context;
    let name = format!("{} {} {}", context.workload, key.phase, label(&key.metric));
    if context.cell.is_empty() {
        return name;
    }
    format!("{name}, {}", cell_text(&context.cell))
}

/// The machine and the place in a line.
pub(super) fn about(key: &Key) -> String {
    let facts = key.context.machine.iter();
    let told = facts.map(|(name, value)| match name.as_str() {
        "cpu" | "tool" | "target device" | "target filesystem" => value.clone(),
        name => format!("{name} {value}"),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// What stands before a series: `X` for worse, `+` for better, `!` for failed, `?` for what
/// is not known to be either.
pub(super) fn mark(course: &Course) -> char {
    match (course.state, is_worse(course)) {
        (State::Failed, _) => '!',
        (State::Steady | State::TooFew, _) => ' ',
        (_, Some(true)) => 'X',
        (_, Some(false)) => '+',
        (_, None) => '?',
    }
}

/// Whether what is said of the series is for the worse.
pub(super) fn is_worse(course: &Course) -> Option<bool> {
    match course.state {
        State::Changed | State::Provisional => course.changes.last()?.is_worse,
        State::Flagged => course.flag.as_ref()?.is_worse,
        State::Failed | State::Steady | State::TooFew => None,
    }
}

pub(super) fn role(course: &Course) -> Role {
    match mark(course) {
        'X' | '!' => Role::Bad,
        '+' => Role::Good,
        '?' => Role::Doubt,
        _ => Role::Text,
    }
}

/// The newest value, with its unit.
pub(super) fn last_value(course: &Course) -> String {
    let newest = course.series.points.last();
    newest.map_or_else(String::new, |point| value_text(course, point))
}

pub(super) fn value_text(course: &Course, point: &Point) -> String {
    let unit = course.series.key.metric.unit;
    point
        .value
        .map_or_else(|| "FAILED".to_owned(), |value| measured(unit, value))
}

/// `changed -12.1 % at k3f9`.
pub(super) fn state_words(course: &Course) -> String {
    let word = course.state.as_str();
    match (course.state, course.changes.last(), &course.flag) {
        (State::Changed | State::Provisional, Some(last), _) => {
            let at = course.series.points[last.at].session();
            format!("{word} {} at {}", change(last.size * 100.0), at.tail())
        }
        (State::Flagged, _, Some(flag)) => {
            format!("{word} {}", change(flag.size * 100.0))
        }
        (State::TooFew, ..) => counted(course.series.points.len(), "point"),
        _ => word.to_owned(),
    }
}

/// `-20.1 % (-21.0 % to -19.2 %)`.
pub(super) fn size_words(of: &LevelChange) -> String {
    let size = change(of.size * 100.0);
    match of.interval {
        Some((low, high)) => {
            let (low, high) = (change(low * 100.0), change(high * 100.0));
            format!("{size} ({low} to {high})")
        }
        None => format!("{size} (too few points for an interval)"),
    }
}

/// A p-value, never as 0.
pub(super) fn p_words(p: f64) -> String {
    let text = format!("{p:.3}");
    format!("p {}", text.trim_start_matches('0'))
}

pub(super) fn direction(is_worse: Option<bool>) -> &'static str {
    match is_worse {
        Some(true) => "worse",
        Some(false) => "better",
        None => "different",
    }
}

/// Where the newest point was to lie.
pub(super) fn flag_words(unit: Unit, flag: &Flag) -> String {
    let (lowest, highest) = flag.expected;
    format!(
        "{} from the mean of the {} before it, {}; 99 of 100 new points lie from {} to {}",
        change(flag.size * 100.0),
        counted(flag.points, "point"),
        direction(flag.is_worse),
        measured(unit, lowest),
        measured(unit, highest)
    )
}

/// A session by its id and what it is called.
pub(super) fn session_words(id: &SessionId, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{id} ({label})"),
        None => id.to_string(),
    }
}

/// `2 changed for the worse, 1 flagged, 45 steady`.
pub(super) fn summary(courses: &[Course]) -> String {
    let mut parts = Vec::new();
    for state in State::ALL {
        let of_state = || courses.iter().filter(move |course| course.state == state);
        let mut part = |count: usize, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        let count = |worse| {
            of_state()
                .filter(|course| is_worse(course) == worse)
                .count()
        };
        match state {
            State::Failed => part(of_state().count(), "FAILED"),
            State::Steady => part(of_state().count(), "steady"),
            State::TooFew => part(of_state().count(), "with too few points"),
            State::Changed | State::Provisional | State::Flagged => {
                let word = match state {
                    State::Provisional => "provisionally changed",
                    other => other.as_str(),
                };
                part(count(Some(true)), &format!("{word} for the worse"));
                part(count(Some(false)), &format!("{word} for the better"));
                part(count(None), word);
            }
        }
    }
    parts.join(", ")
}
