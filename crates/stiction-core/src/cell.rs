//! Where a trial stands in a matrix: one level of each factor.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The value of a factor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A number: threads, a block size in bytes, a size in bytes.
    Integer(i64),
    /// A name: a kernel, a filesystem, a scheduler.
    Text(String),
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => f.pad(&value.to_string()),
            Self::Text(text) => f.pad(text),
        }
    }
}

impl From<&str> for Level {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Level {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Level {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Level {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u64> for Level {
    /// Numbers beyond `i64::MAX` keep their digits as text.
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::Text(value.to_string()), Self::Integer)
    }
}

/// One level for each factor of a matrix, in the order of the factors' names.
///
/// Factors that stiction's own benchmarks and importers use: `kernel`,
/// `filesystem`, `directory`, `threads`, `block_size_bytes`, `file_size_bytes`
/// (total over all threads), `files` and `seekers` (of Bonnie++), `load`,
/// `configuration`, `options`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell(BTreeMap<String, Level>);

impl Cell {
    /// A cell without factors.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This cell with `factor` at `level`.
    #[must_use]
    pub fn with(mut self, factor: &str, level: impl Into<Level>) -> Self {
        self.0.insert(factor.to_owned(), level.into());
        self
    }

    /// This cell without `factor`.
    #[must_use]
    pub fn without(mut self, factor: &str) -> Self {
        self.0.remove(factor);
        self
    }

    /// The level of `factor`, if the cell has that factor.
    #[must_use]
    pub fn get(&self, factor: &str) -> Option<&Level> {
        self.0.get(factor)
    }

    /// The integer level of `factor`, if it has one.
    #[must_use]
    pub fn integer(&self, factor: &str) -> Option<i64> {
        match self.get(factor) {
            Some(Level::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// Factors and their levels, by name of the factor.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Level)> {
        self.0
            .iter()
            .map(|(factor, level)| (factor.as_str(), level))
    }

    /// Whether the cell has no factor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Cell {
    /// `block_size_bytes=4096 threads=8`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (factor, level)) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{factor}={level}")?;
        }
        Ok(())
    }
}
