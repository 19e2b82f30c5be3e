//! What is to be run in blocks, as a person writes it: TOML.
//!
//! [`read`] takes a text apart and says what is wrong with it at line and column; what the
//! words in it mean is for whoever knows the commands.

mod error;
mod example;
mod factors;
mod preparation;
mod schema;
mod workload;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::words::{self, WordsError};

pub use error::SpecError;
pub use example::EXAMPLE;
pub use factors::{COMBINATIONS_MAX, Combination, FactorText, LevelText};
pub use preparation::{Asked, SpecPreparation};
pub use schema::schema;
pub use toml::Spanned;
pub use workload::{JobValue, SpecWorkload, Workloads};

/// What is to be run. All but the configurations may be left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A specification for `stiction run`")]
pub struct Spec {
    /// What all configurations run: a measuring command such as `tiobench`, or tables
    /// `[[workload]]`. Without it each configuration has a command of its own.
    #[schemars(with = "Option<Workloads>")]
    pub workload: Option<Spanned<Workloads>>,
    /// Arguments of the only workload in all configurations.
    #[schemars(with = "Option<Line>")]
    pub arguments: Option<Spanned<Line>>,
    /// Figures to read from what commands say.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
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
    #[schemars(with = "Option<String>")]
    pub limit: Option<Spanned<String>>,
    /// Where, unless a configuration says otherwise.
    pub directory: Option<String>,
    /// Several directories: everything is run in each, and the factor `target` tells
    /// them apart.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub targets: Vec<Spanned<String>>,
    /// Carried out before every trial.
    pub prepare: Option<String>,
    /// Carried out after every trial.
    pub conclude: Option<String>,
    /// How many blocks, at most.
    pub blocks: Option<u32>,
    /// `random` or `abba`.
    #[schemars(with = "Option<String>")]
    pub order: Option<Spanned<String>>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
    /// No block is begun that would not end in this time: `20m`.
    #[schemars(with = "Option<String>")]
    pub budget: Option<Spanned<String>>,
    /// Whether to stop when it is precise, or to how many percent.
    pub until_precise: Option<Precise>,
    /// Whether to look at 8, 12, 16, 24 and 32 blocks, and stop when it is decided.
    #[serde(default)]
    pub looks: bool,
    /// What the session is called.
    pub label: Option<String>,
    /// What is done before trials.
    #[schemars(with = "Option<SpecPreparation>")]
    pub preparation: Option<Spanned<SpecPreparation>>,
    /// How much is watched: `none`, `light` or `full`.
    #[schemars(with = "Option<String>")]
    pub witness: Option<Spanned<String>>,
    /// Settings of the machine, each with its levels: every combination is a
    /// configuration.
    #[schemars(with = "Option<BTreeMap<String, FactorText>>")]
    pub factors: Option<Spanned<BTreeMap<Spanned<String>, FactorText>>>,
    /// Combinations more; a factor that is not named is at its first level.
    #[serde(default)]
    pub include: Vec<BTreeMap<String, FactorText>>,
    /// Combinations that are left out: those at all the levels of one of these, which may
    /// name a `workload` and a `target`, too.
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, FactorText>>,
    /// Whether settings of the whole machine may be changed while trials run.
    #[serde(default)]
    pub global_settings: bool,
    /// Size of the space that settings of a device or a filesystem are tried on: `2GiB`.
    #[schemars(with = "Option<String>")]
    pub scratch_size: Option<Spanned<String>>,
    /// The device that they are tried on instead, all of which may be destroyed.
    #[schemars(with = "Option<ScratchText>")]
    pub scratch: Option<Spanned<ScratchText>>,
    /// The configurations, the baseline first; where there are factors, what is run in
    /// each combination.
    #[serde(default)]
    pub configuration: Vec<SpecConfiguration>,
}

/// A device that is handed over: `{ device = "/dev/sdx", serial = "S4EWNX0R" }`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScratchText {
    /// The device node.
    pub device: String,
    /// Its serial number, as the device itself gives it.
    pub serial: String,
}

/// One configuration.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecConfiguration {
    /// Its name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Arguments of the workload, beside those of all.
    #[schemars(with = "Option<Line>")]
    pub arguments: Option<Spanned<Line>>,
    /// Where it runs.
    pub directory: Option<String>,
    /// The command that is timed.
    #[schemars(with = "Option<Line>")]
    pub command: Option<Spanned<Line>>,
    /// Carried out before each of its trials, in place of that of all.
    pub prepare: Option<String>,
    /// Carried out after each of its trials, in place of that of all.
    pub conclude: Option<String>,
}

/// Words, as one line or as a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
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
    let parsed =
        toml::from_str::<Spec>(text).map_err(|error| SpecError::of_toml(file, text, &error))?;
    let read = SpecFile {
        file: file.to_owned(),
        text: text.to_owned(),
        spec: parsed,
    };
    read.check()?;
    Ok(read)
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
    fn check(&self) -> Result<(), SpecError> {
        let spec = &self.spec;
        let whole = |problem: &str| Err(SpecError::at(&self.file, &self.text, None, problem));
        match (&spec.factors, spec.configuration.len(), &spec.workload) {
            (None, 0, None) => {
                return whole("there is no [[configuration]], no [factors] and no workload");
            }
            (Some(factors), 2.., _) => {
                let problem = "with [factors] there is one [[configuration]] at most";
                return Err(self.problem(factors, problem));
            }
            _ => {}
        }
        let has_rules = !(spec.exclude.is_empty() && spec.include.is_empty());
        let varies =
            spec.factors.is_some() || self.workloads().len() > 1 || !spec.targets.is_empty();
        if has_rules && !varies {
            return whole("[[include]] and [[exclude]] say nothing without [factors]");
        }
        if !spec.include.is_empty() && spec.factors.is_none() {
            return whole("[[include]] says nothing without [factors]");
        }
        if spec.factors.is_none() {
            let exclude = flat_all(&spec.exclude);
            let rules = factors::Rules {
                include: &[],
                exclude: &exclude,
                beside: &self.beside(),
            };
            if let Err(problem) = factors::combinations(&[], &rules) {
                return whole(&problem);
            }
        }
        let mut targets = BTreeSet::new();
        for target in &spec.targets {
            if !targets.insert(target.as_ref()) {
                return Err(self.problem(target, "this target is named twice"));
            }
        }
        self.check_workloads()
    }

    fn check_workloads(&self) -> Result<(), SpecError> {
        let all = self.workloads();
        let mut names = BTreeSet::new();
        for one in all {
            if !names.insert(one.name.as_ref()) {
                return Err(self.problem(&one.name, "two workloads have this name"));
            }
            let ways = [
                one.run.is_some(),
                one.fio.is_some(),
                one.job.is_some(),
                one.command.is_some(),
            ];
            if ways.into_iter().filter(|&way| way).count() != 1 {
                let problem = "a workload has one of `run`, `fio`, `job` and `command`";
                return Err(self.problem(&one.name, problem));
            }
            if let (Some(arguments), true) =
                (&one.arguments, one.job.is_some() || one.command.is_some())
            {
                let problem = "`arguments` are those of `run` and `fio`";
                return Err(self.problem(arguments, problem));
            }
        }
        if let (Some(arguments), true) = (&self.spec.arguments, !all.is_empty()) {
            let problem = "where there are [[workload]], each has its own arguments";
            return Err(self.problem(arguments, problem));
        }
        Ok(())
    }

    /// The workloads in full; none where one is only named.
    #[must_use]
    pub fn workloads(&self) -> &[SpecWorkload] {
        match self.spec.workload.as_ref().map(Spanned::as_ref) {
            Some(Workloads::Several(all)) => all,
            _ => &[],
        }
    }

    /// The combinations of the factors' levels, the baseline first; none without factors.
    ///
    /// # Errors
    /// When they make no sense.
    pub fn combinations(&self) -> Result<Vec<SpecCombination>, SpecError> {
        let Some(spanned) = &self.spec.factors else {
            return Ok(Vec::new());
        };
        let factors = factors::flat(
            spanned
                .as_ref()
                .iter()
                .map(|(key, one)| (key.as_ref(), one)),
        );
        if factors.is_empty() {
            return Err(self.problem(spanned, "[factors] is empty"));
        }
        let (include, exclude) = (flat_all(&self.spec.include), flat_all(&self.spec.exclude));
        let rules = factors::Rules {
            include: &include,
            exclude: &exclude,
            beside: &self.beside(),
        };
        let all = factors::combinations(&factors, &rules)
            .map_err(|problem| self.problem(spanned, &problem))?;
        let named = all.iter().map(|levels| SpecCombination {
            name: factors::name(levels, &all),
            levels: levels.clone(),
        });
        Ok(named.collect())
    }

    /// Whether a rule of `[[exclude]]` leaves a workload, a target, or both of them out
    /// of a combination. What there is only one of has an empty name.
    #[must_use]
    pub fn leaves_out(&self, combination: &Combination, workload: &str, target: &str) -> bool {
        let mut levels = combination.clone();
        levels.push(("workload".to_owned(), workload.to_owned()));
        levels.push(("target".to_owned(), target.to_owned()));
        let rules = flat_all(&self.spec.exclude);
        rules
            .iter()
            .any(|rule| factors::names_beside(rule) && factors::fits(rule, &levels))
    }

    /// The levels of the factors that are beside those of a combination.
    fn beside(&self) -> Vec<(String, Vec<String>)> {
        let workloads = self.workloads().iter();
        let workloads = workloads.map(|one| one.name.as_ref().clone()).collect();
        let targets = self.spec.targets.iter();
        let targets = targets.map(|one| one.as_ref().clone()).collect();
        vec![
            ("workload".to_owned(), workloads),
            ("target".to_owned(), targets),
        ]
    }

    /// A problem with `value`, at its place.
    pub fn problem<T>(&self, value: &Spanned<T>, problem: &str) -> SpecError {
        SpecError::at(&self.file, &self.text, Some(value.span().start), problem)
    }

    /// A problem with a factor, at the place of its name.
    #[must_use]
    pub fn problem_of_factor(&self, factor: &str, problem: &str) -> SpecError {
        let all = self.spec.factors.iter().flat_map(|all| all.as_ref().keys());
        let of_factor = |key: &&Spanned<String>| {
            let rest = factor.strip_prefix(key.as_ref().as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let start = all.into_iter().find(of_factor).map(|key| key.span().start);
        SpecError::at(&self.file, &self.text, start, problem)
    }
}

fn flat_all(rules: &[BTreeMap<String, FactorText>]) -> Vec<Vec<(String, Vec<String>)>> {
    rules
        .iter()
        .map(|rule| factors::flat(rule.iter()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_reads() {
        let file = read("example", EXAMPLE).unwrap();
        let names: Vec<String> = file
            .combinations()
            .unwrap()
            .into_iter()
            .map(|one| one.name)
            .collect();
        let expected = [
            "filesystem=ext4 mount_options=",
            "filesystem=ext4 mount_options=noatime",
            "filesystem=xfs mount_options=",
        ];
        assert_eq!(names, expected);
        assert_eq!(file.workloads().len(), 2);
        // What is only commented out is spelled as it is read.
        let all: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |all, line| all + line + "\n");
        let file = read("example", &all).unwrap();
        assert_eq!(file.spec.blocks, Some(10));
        assert_eq!(file.spec.until_precise, Some(Precise::Percent(1.5)));
        assert_eq!(file.spec.metrics.len(), 1);
        assert_eq!(file.workloads().len(), 3);
        assert_eq!(file.combinations().unwrap().len(), 2 * 3 + 1);
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
            (
                "block = 5\n",
                "s:1:1",
                "no key `block` here; did you mean `blocks`?",
            ),
            (
                "[[configuration]]\nname = 'a'\ncomand = 'x'\n",
                "s:3:1",
                "did you mean `command`?",
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
                "no [[configuration]], no [factors] and no workload",
            ),
            (
                "[factors]\nscheduler = 1.5\n",
                "s:2:13",
                "give a list of levels",
            ),
            (
                "[[configuration]]\nname = 'a'\n[[exclude]]\na = 1\n",
                "s:1:1",
                "say nothing without [factors]",
            ),
            ("configuration = []\n", "s:1:1", "no [[configuration]]"),
            (
                "[[workload]]\nname = 'a'\n",
                "s:2:8",
                "one of `run`, `fio`, `job`",
            ),
            (
                "[[workload]]\nname = 'a'\nrun = 'quick'\nargs = 'x'\n",
                "s:4:1",
                "no key `args` here",
            ),
            (
                "[[workload]]\nname = 'a'\n[workload.job]\nrw = [1]\n",
                "s:4:6",
                "the value of an option is",
            ),
            ("workload = 5\n", "s:1:12", "the name of a benchmark"),
            (
                "targets = ['/a', '/a']\nworkload = 'quick'\n",
                "s:1:18",
                "named twice",
            ),
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
        assert_eq!(
            error.to_string(),
            "s:1:1: a has the level `1` twice\n  1 | [factors]\n    | ^"
        );
        let file = read("s", "order = 'x'\n[[configuration]]\nname = 'a'\n").unwrap();
        let order = file.spec.order.clone().unwrap();
        let error = file.problem(&order, "no such order");
        assert_eq!(
            error.to_string(),
            "s:1:9: no such order\n  1 | order = 'x'\n    |         ^"
        );
    }
}
