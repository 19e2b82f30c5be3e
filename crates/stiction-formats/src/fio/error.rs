//! Where something stands in a job file, and what was wrong there.

use std::fmt;
use std::sync::Arc;

/// A place in a job file or on a command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Name of the file as the caller gave it; `None` for the command line.
    pub file: Option<Arc<str>>,
    /// Line in the file, or argument of the command line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

impl Place {
    /// The line of index `line` and the character of index `column`, both from 0.
    pub(crate) fn at(file: Option<Arc<str>>, line: usize, column: usize) -> Self {
        let from_one = |index: usize| u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        Self {
            file,
            line: from_one(line),
            column: from_one(column),
        }
    }

    /// The same line, further to the right.
    pub(crate) fn moved(&self, characters: usize) -> Self {
        let characters = u32::try_from(characters).unwrap_or(u32::MAX);
        Self {
            column: self.column.saturating_add(characters),
            ..self.clone()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}:{}", self.line, self.column),
            None => write!(f, "argument {}, character {}", self.line, self.column),
        }
    }
}

/// Why a job file cannot be run as it stands. Each names its place and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FioError {
    /// The line is neither a section, an option, a comment nor an include.
    #[error("{place}: {what}; {advice}")]
    Syntax {
        /// Where.
        place: Place,
        /// What stands there.
        what: String,
        /// What to write instead.
        advice: String,
    },
    /// fio has no option of this name.
    #[error("{place}: `{name}` is no option of fio{}", nearest_text(nearest.as_deref()))]
    UnknownOption {
        /// Where the name stands.
        place: Place,
        /// The name as written.
        name: String,
        /// A name that differs little.
        nearest: Option<String>,
    },
    /// The option is known and stiction does not do what it asks for.
    #[error("{place}: `{name}` cannot be honoured: {reason}; remove it or run this job with fio")]
    Refused {
        /// Where the name stands.
        place: Place,
        /// The option, or option and value.
        name: String,
        /// Why.
        reason: String,
    },
    /// The value does not fit its option.
    #[error("{place}: {option}={value}: {what}; {advice}")]
    Value {
        /// Where the value stands.
        place: Place,
        /// The option's name.
        option: String,
        /// The value as written, after substitutions.
        value: String,
        /// What is wrong with it.
        what: String,
        /// What to write instead.
        advice: String,
    },
    /// A file that is to be included could not be read, or includes itself.
    #[error("{place}: cannot include {file}: {reason}")]
    Include {
        /// Where the include line stands.
        place: Place,
        /// The file as written.
        file: String,
        /// Why.
        reason: String,
    },
    /// A `${NAME}` has no value.
    #[error("{place}: the environment variable {name} is not set; set it before the run")]
    Variable {
        /// Where the reference stands.
        place: Place,
        /// The variable.
        name: String,
    },
    /// Settings that are right alone and contradict each other.
    #[error("{place}: {what}; {advice}")]
    Conflict {
        /// Where the later of them stands.
        place: Place,
        /// What contradicts what.
        what: String,
        /// Which to change.
        advice: String,
    },
    /// A job text of our own does not read.
    #[error("{file}:{line}: {what}; compare it with what `convert` writes")]
    Text {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// There is no job.
    #[error("{file} has no job: {reason}")]
    NoJob {
        /// The file, or `the command line`.
        file: String,
        /// What was found instead.
        reason: String,
    },
}

fn nearest_text(nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; look it up in fio's manual, or remove it".to_owned(),
    }
}

impl FioError {
    /// Where it is, unless it is about the whole file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { place, .. }
            | Self::UnknownOption { place, .. }
            | Self::Refused { place, .. }
            | Self::Value { place, .. }
            | Self::Include { place, .. }
            | Self::Variable { place, .. }
            | Self::Conflict { place, .. } => Some(place),
            Self::Text { .. } | Self::NoJob { .. } => None,
        }
    }
}
