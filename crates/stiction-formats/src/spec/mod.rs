//! What is to be run in blocks, as a person writes it: TOML.
//!
//! [`read`] takes a text apart and says what is wrong with it at line and column; what the
//! words in it mean is for whoever knows the commands.

mod example;
mod factors;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::words::{self, WordsError};

pub use example::EXAMPLE;
pub use factors::{COMBINATIONS_MAX, Combination, FactorText, LevelText};
pub use toml::Spanned;

/// A text that is no specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct SpecError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
}

/// What is to be run. All but the configurations may be left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The measuring command that all configurations run, such as `tiobench`; without
    /// it each configuration has a command of its own.
    pub workload: Option<Spanned<String>>,
    /// Arguments of the workload in all configurations.
    pub arguments: Option<Spanned<Line>>,
    /// Figures to read from what commands say.
    #[serde(default)]
    pub metrics: Vec<Spanned<String>>,
    /// Whether commands are lines for a shell.
    #[serde(default)]
    pub shell: bool,
    /// Untimed runs before each timed one.
    pub warmup: Option<u32>,
    /// Whether caches are dropped before each timed run.
    #[serde(default)]
    pub drop_caches: bool,
    /// Whether commands run in an empty directory of their own.
    #[serde(default)]
    pub fresh_directory: bool,
    /// Whether a code other than 0 is no failure.
    #[serde(default)]
    pub ignore_failure: bool,
    /// After how long a command is killed: `10m`.
    pub limit: Option<Spanned<String>>,
    /// Where, unless a configuration says otherwise.
    pub directory: Option<String>,
    /// Carried out before every trial.
    pub prepare: Option<String>,
    /// Carried out after every trial.
    pub conclude: Option<String>,
    /// How many blocks, at most.
    pub blocks: Option<u32>,
    /// `random` or `abba`.
    pub order: Option<Spanned<String>>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
    /// No block is begun that would not end in this time: `20m`.
    pub budget: Option<Spanned<String>>,
    /// Whether to stop when it is precise, or to how many percent.
    pub until_precise: Option<Precise>,
    /// Whether to look at 8, 12, 16, 24 and 32 blocks, and stop when it is decided.
    #[serde(default)]
    pub looks: bool,
    /// What the session is called.
    pub label: Option<String>,
    /// Settings of the machine, each with its levels: every combination is a
    /// configuration.
    pub factors: Option<Spanned<BTreeMap<String, FactorText>>>,
    /// Combinations that are left out: those at all the levels of one of these.
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, FactorText>>,
    /// Size of the space that settings of a device or a filesystem are tried on: `2GiB`.
    pub scratch_size: Option<Spanned<String>>,
    /// The configurations, the baseline first; where there are factors, what is run in
    /// each combination.
    #[serde(default)]
    pub configuration: Vec<SpecConfiguration>,
}

/// One configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecConfiguration {
    /// Its name.
    pub name: Spanned<String>,
    /// Arguments of the workload, beside those of all.
    pub arguments: Option<Spanned<Line>>,
    /// Where it runs.
    pub directory: Option<String>,
    /// The command that is timed.
    pub command: Option<Spanned<Line>>,
    /// Carried out before each of its trials, in place of that of all.
    pub prepare: Option<String>,
    /// Carried out after each of its trials, in place of that of all.
    pub conclude: Option<String>,
}

/// Words, as one line or as a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "this is neither a text nor a list of texts")]
pub enum Line {
    /// A line, split as a shell would.
    Text(String),
    /// The words themselves.
    Words(Vec<String>),
}

impl Line {
    /// The words.
    ///
    /// # Errors
    /// When the line cannot be split.
    pub fn words(&self) -> Result<Vec<String>, WordsError> {
        match self {
            Self::Text(text) => words::split(text),
            Self::Words(words) => Ok(words.clone()),
        }
    }
}

/// `true`, `false` or a number of percent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "this is neither true, false nor a number of percent"
)]
pub enum Precise {
    /// Whether to stop when precise, to half the smallest effect of interest.
    Switch(bool),
    /// To so many percent.
    Percent(f64),
}

/// A specification with its text, for messages.
#[derive(Clone, Debug)]
pub struct SpecFile {
    file: String,
    text: String,
    /// What it says.
    pub spec: Spec,
}

/// Reads a specification; `file` is for messages.
///
/// # Errors
/// With line and column, when the text is no TOML, a key is unknown or missing, or a
/// value is of another kind.
pub fn read(file: &str, text: &str) -> Result<SpecFile, SpecError> {
    let parsed = toml::from_str::<Spec>(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        at(file, text, start, error.message())
    })?;
    let read = SpecFile {
        file: file.to_owned(),
        text: text.to_owned(),
        spec: parsed,
    };
    let spec = &read.spec;
    match (&spec.factors, spec.configuration.len()) {
        (None, 0) => Err(at(
            file,
            text,
            0,
            "there is no [[configuration]] and no [factors]",
        )),
        (Some(factors), 2..) => {
            let problem = "with [factors] there is one [[configuration]] at most";
            Err(read.problem(factors, problem))
        }
        (None, _) if !spec.exclude.is_empty() => Err(at(
            file,
            text,
            0,
            "[[exclude]] says nothing without [factors]",
        )),
        _ => Ok(read),
    }
}

/// A combination of levels, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecCombination {
    /// Its name.
    pub name: String,
    /// One level of each factor.
    pub levels: Combination,
}

impl SpecFile {
    /// The combinations of the factors' levels, the baseline first; none without factors.
    ///
    /// # Errors
    /// When they make no sense.
    pub fn combinations(&self) -> Result<Vec<SpecCombination>, SpecError> {
        let Some(spanned) = &self.spec.factors else {
            return Ok(Vec::new());
        };
        let factors = factors::flat(spanned.as_ref());
        if factors.is_empty() {
            return Err(self.problem(spanned, "[factors] is empty"));
        }
        let exclude: Vec<_> = self.spec.exclude.iter().map(factors::flat).collect();
        let all = factors::combinations(&factors, &exclude)
            .map_err(|problem| self.problem(spanned, &problem))?;
        let named = all.into_iter().map(|levels| SpecCombination {
            name: factors::name(&levels, &factors),
            levels,
        });
        Ok(named.collect())
    }

    /// A problem with `value`, at its place.
    pub fn problem<T>(&self, value: &Spanned<T>, problem: &str) -> SpecError {
        at(&self.file, &self.text, value.span().start, problem)
    }
}

fn at(file: &str, text: &str, start: usize, problem: &str) -> SpecError {
    let before = text.get(..start).unwrap_or(text);
    let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
    SpecError {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_begins..].chars().count() + 1,
        problem: problem.lines().collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_reads() {
        let file = read("example", EXAMPLE).unwrap();
        assert_eq!(file.spec.configuration.len(), 2);
        assert_eq!(file.spec.workload.unwrap().as_ref(), "tiobench");
        // What is only commented out is spelled as it is read.
        let all: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |all, line| all + line + "\n");
        let file = read("example", &all).unwrap();
        assert_eq!(file.spec.blocks, Some(10));
        assert_eq!(file.spec.until_precise, Some(Precise::Percent(1.5)));
        assert_eq!(file.spec.metrics.len(), 1);
    }

    #[test]
    fn lines_and_lists_are_words() {
        let text = "workload = 'quick'\narguments = ['a b']\n[[configuration]]\nname = 'x'\n\
                    arguments = \"--size '1 M'\"\n";
        let spec = read("s", text).unwrap().spec;
        assert_eq!(spec.arguments.unwrap().as_ref().words().unwrap(), ["a b"]);
        let own = spec.configuration[0].arguments.as_ref().unwrap();
        assert_eq!(own.as_ref().words().unwrap(), ["--size", "1 M"]);
    }

    #[test]
    fn factors_are_levels_by_name_and_names_may_have_dots() {
        let text = "[factors]\nfilesystem = 'ext4'\nread_ahead_kb = [128, 4096]\n\
                    sysctl.vm.dirty_ratio = [5, 20]\n\
                    [[exclude]]\nread_ahead_kb = 4096\nsysctl.vm.dirty_ratio = [5]\n";
        let all = read("s", text).unwrap().combinations().unwrap();
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let expected = [
            "read_ahead_kb=128 sysctl.vm.dirty_ratio=5",
            "read_ahead_kb=128 sysctl.vm.dirty_ratio=20",
            "read_ahead_kb=4096 sysctl.vm.dirty_ratio=20",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            all[0].levels[0],
            ("filesystem".to_owned(), "ext4".to_owned())
        );
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        for (text, place, problem) in [
            ("workload = \n", "s:1:12", "string"),
            ("block = 5\n", "s:1:1", "unknown field `block`"),
            (
                "[[configuration]]\nname = 'a'\ncomand = 'x'\n",
                "s:3:1",
                "unknown field `comand`",
            ),
            (
                "[[configuration]]\ncommand = 'x'\n",
                "s:1:1",
                "missing field `name`",
            ),
            ("blocks = 'many'\n", "s:1:10", "invalid type"),
            (
                "blocks = 3\n",
                "s:1:1",
                "no [[configuration]] and no [factors]",
            ),
            (
                "[factors]\nscheduler = 1.5\n",
                "s:2:13",
                "give a list of levels",
            ),
            (
                "[[configuration]]\nname = 'a'\n[[exclude]]\na = 1\n",
                "s:1:1",
                "says nothing without [factors]",
            ),
            ("configuration = []\n", "s:1:1", "no [[configuration]]"),
            (
                "\narguments = 5\n[[configuration]]\nname = 'a'\n",
                "s:2:13",
                "neither a text nor a list",
            ),
            ("blocks = 3\nblocks = 4\n", "s:2:1", "duplicate key"),
        ] {
            let error = read("s", text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{place}: ")) && error.contains(problem),
                "{text}: {error}"
            );
        }
        let text = "[factors]\na = ['1', '1']\n";
        let error = read("s", text).unwrap().combinations().unwrap_err();
        assert_eq!(error.to_string(), "s:1:1: a has the level `1` twice");
        let file = read("s", "order = 'x'\n[[configuration]]\nname = 'a'\n").unwrap();
        let order = file.spec.order.clone().unwrap();
        let error = file.problem(&order, "no such order");
        assert_eq!(error.to_string(), "s:1:9: no such order");
    }
}
