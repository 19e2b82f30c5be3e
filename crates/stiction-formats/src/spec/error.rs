//! What is wrong with a specification, and where.

use crate::nearest::nearest;

/// A text that is no specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}{}", shown(*line, *column, quoted))]
pub struct SpecError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
    /// The line itself; empty where the problem is of the whole file.
    pub quoted: String,
}

/// Longest line that is shown below a problem, characters.
const SHOWN_MAX: usize = 100;

/// The line, and a mark below the place.
fn shown(line: usize, column: usize, quoted: &str) -> String {
    let length = quoted.chars().count();
    if quoted.trim().is_empty() || length > SHOWN_MAX || column > length + 1 {
        return String::new();
    }
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    // Tabs stay tabs, so that the mark stands below whatever a terminal makes of them.
    let before = quoted.chars().take(column - 1);
    let before: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!("\n  {number} | {quoted}\n  {margin} | {before}^")
}

impl SpecError {
    /// A problem at a byte of the text; of the whole file where that is `None`.
    pub(super) fn at(file: &str, text: &str, start: Option<usize>, problem: &str) -> Self {
        let start = start.map(|start| start.min(text.len()));
        let before = text.get(..start.unwrap_or(0)).unwrap_or(text);
        let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
        let lines = problem.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let quoted = text[line_begins..].lines().next().unwrap_or_default();
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_begins..].chars().count() + 1,
            problem: lines.join("; "),
            quoted: start.map_or_else(String::new, |_| quoted.trim_end().to_owned()),
        }
    }

    /// What the reader of TOML found, with the key that was meant.
    pub(super) fn of_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let message = error.message();
        let start = error.span().map(|span| span.start);
        let problem = match meant(message) {
            Some(problem) => problem,
            None => message.to_owned(),
        };
        Self::at(file, text, start, &problem)
    }
}

/// What is said of a key that is not known: serde lists all that there are.
fn meant(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let (unknown, rest) = rest.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let said = format!("there is no key `{unknown}` here");
    Some(match nearest(unknown, known.iter().copied()) {
        Some(near) => format!("{said}; did you mean `{near}`?"),
        None if known.is_empty() => said,
        None => format!("{said}; there are {}", known.join(", ")),
    })
}
