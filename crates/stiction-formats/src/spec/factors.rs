//! Factors with their levels, and the combinations that they make.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::nearest::nearest;

/// Most combinations of one specification.
pub const COMBINATIONS_MAX: usize = 200;

/// A level, as it is written.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a level is a text, a number, true or false")]
pub enum LevelText {
    /// `"mq-deadline"`.
    Text(String),
    /// `128`.
    Number(i64),
    /// `true`.
    Switch(bool),
}

impl fmt::Display for LevelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
        }
    }
}

/// What stands behind a factor's name.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "give a list of levels, such as [\"none\", \"mq-deadline\"]"
)]
pub enum FactorText {
    /// Its levels.
    Levels(Vec<LevelText>),
    /// One level, the same in all combinations.
    Level(LevelText),
    /// The factors whose names go on behind a dot: `sysctl.vm.dirty_ratio`.
    Inner(BTreeMap<String, Self>),
}

/// One level of each factor, by the factor's name.
pub type Combination = Vec<(String, String)>;

/// Factors and their levels in the order in which they vary, the names flat.
pub(super) fn flat<'f>(
    factors: impl Iterator<Item = (&'f String, &'f FactorText)>,
) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (name, factor) in factors {
        match factor {
            FactorText::Levels(levels) => {
                let levels = levels.iter().map(ToString::to_string);
                all.push((name.clone(), levels.collect()));
            }
            FactorText::Level(level) => all.push((name.clone(), vec![level.to_string()])),
            FactorText::Inner(inner) => {
                let inner = flat(inner.iter()).into_iter();
                all.extend(inner.map(|(rest, levels)| (format!("{name}.{rest}"), levels)));
            }
        }
    }
    all
}

/// Factors whose levels are no part of a combination: which workload ran, and where.
pub(super) const BESIDE: [&str; 2] = ["workload", "target"];

/// What changes the product of all levels.
pub(super) struct Rules<'r> {
    /// Combinations more.
    pub(super) include: &'r [Vec<(String, Vec<String>)>],
    /// Combinations that are left out: those at all the levels of one of these.
    pub(super) exclude: &'r [Vec<(String, Vec<String>)>],
    /// The levels of [`BESIDE`].
    pub(super) beside: &'r [(String, Vec<String>)],
}

/// Every combination of the levels but those that a rule of `exclude` leaves out, and then
/// those of `include`, in which a factor that is not named is at its first level. Rules
/// that name a workload or a target say nothing of a combination alone.
///
/// # Errors
/// What is wrong with the factors or the rules, in words.
pub(super) fn combinations(
    factors: &[(String, Vec<String>)],
    rules: &Rules<'_>,
) -> Result<Vec<Combination>, String> {
    for (name, levels) in factors {
        if levels.is_empty() {
            return Err(format!("{name} has no level"));
        }
        if let Some(level) = repeated(levels) {
            return Err(format!("{name} has the level `{level}` twice"));
        }
        if BESIDE.contains(&name.as_str()) {
            return Err(format!(
                "{name} is a factor by [[workload]] and `targets`, and is not set here"
            ));
        }
    }
    check(factors, rules)?;
    let mut all = product(factors)?;
    all.retain(|one| {
        let alone = rules.exclude.iter().filter(|rule| !names_beside(rule));
        !alone.into_iter().any(|rule| fits(rule, one))
    });
    for rule in rules.include {
        let mut levels: Vec<(String, Vec<String>)> = factors
            .iter()
            .map(|(name, levels)| (name.clone(), levels[..1].to_vec()))
            .collect();
        for (name, own) in rule {
            let of_factor = levels.iter_mut().find(|(known, _)| known == name);
            *of_factor.ok_or_else(|| no_factor("include", name, factors))? =
                (name.clone(), own.clone());
        }
        for one in product(&levels)? {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        if all.len() > COMBINATIONS_MAX {
            // Before there are more: a file has room for a hundred thousand rules.
            return Err(format!(
                "its levels and [[include]] make more than {COMBINATIONS_MAX} combinations"
            ));
        }
    }
    match all.len() {
        0 => Err("[[exclude]] leaves no combination".to_owned()),
        _ => Ok(all),
    }
}

/// Whether `levels`, with those of [`BESIDE`] among them, are at all levels of a rule.
pub(super) fn fits(rule: &[(String, Vec<String>)], levels: &[(String, String)]) -> bool {
    let mut names = rule.iter();
    names.all(|(name, own)| levels.iter().any(|(n, l)| n == name && own.contains(l)))
}

/// Whether a rule names a workload or a target.
pub(super) fn names_beside(rule: &[(String, Vec<String>)]) -> bool {
    let mut names = rule.iter();
    names.any(|(name, _)| BESIDE.contains(&name.as_str()))
}

fn check(factors: &[(String, Vec<String>)], rules: &Rules<'_>) -> Result<(), String> {
    for (name, levels) in rules.exclude.iter().flatten() {
        let mut all = factors.iter().chain(rules.beside);
        let known = all.find(|(factor, _)| factor == name);
        let (_, known) = known.ok_or_else(|| no_factor("exclude", name, factors))?;
        let included = || rules.include.iter().flatten();
        let is_known = |level: &&String| {
            known.contains(level) || included().any(|(n, all)| n == name && all.contains(level))
        };
        if let Some(level) = levels.iter().find(|level| !is_known(level)) {
            return Err(format!("[[exclude]]: {name} has no level `{level}`"));
        }
    }
    for (name, levels) in rules.include.iter().flatten() {
        if levels.is_empty() {
            return Err(format!("[[include]]: {name} has no level"));
        }
    }
    Ok(())
}

fn no_factor(table: &str, name: &str, factors: &[(String, Vec<String>)]) -> String {
    let known = factors.iter().map(|(name, _)| name.as_str());
    let said = format!("[[{table}]]: there is no factor {name}");
    match nearest(name, known) {
        Some(near) => format!("{said}; did you mean `{near}`?"),
        None => said,
    }
}

fn too_many(count: usize) -> String {
    format!("its levels make {count} combinations; {COMBINATIONS_MAX} are the most")
}

fn product(factors: &[(String, Vec<String>)]) -> Result<Vec<Combination>, String> {
    let count = factors.iter().map(|(_, levels)| levels.len());
    let count = count.fold(1, usize::saturating_mul);
    // Before they are made: ten factors of ten levels are too many for any memory.
    if count > COMBINATIONS_MAX {
        return Err(too_many(count));
    }
    let mut all: Vec<Combination> = vec![Vec::new()];
    for (name, levels) in factors {
        let longer = all.iter().flat_map(|one| {
            levels.iter().map(|level| {
                let mut one = one.clone();
                one.push((name.clone(), level.clone()));
                one
            })
        });
        all = longer.collect();
    }
    Ok(all)
}

/// What a combination is called: its levels of the factors that vary in `all`, with their
/// names where there are several.
pub(super) fn name(combination: &Combination, all: &[Combination]) -> String {
    let varies = |(name, level): &&(String, String)| {
        let others = all.iter().flatten();
        let mut others = others.filter(|(other, _)| other == name);
        others.any(|(_, other)| other != level)
    };
    let varying: Vec<_> = combination.iter().filter(varies).collect();
    match &varying[..] {
        [(_, level)] if !level.is_empty() => level.clone(),
        [] => words(combination.iter()),
        several => words(several.iter().copied()),
    }
}

fn words<'c>(levels: impl Iterator<Item = &'c (String, String)>) -> String {
    let words = levels.map(|(name, level)| format!("{name}={level}"));
    words.collect::<Vec<_>>().join(" ")
}

fn repeated(levels: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    levels.iter().find(|level| !seen.insert(*level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, levels: &[&str]) -> (String, Vec<String>) {
        let levels = levels.iter().map(|&level| level.to_owned());
        (name.to_owned(), levels.collect())
    }

    fn all_of(
        factors: &[(String, Vec<String>)],
        exclude: &[Vec<(String, Vec<String>)>],
    ) -> Result<Vec<Combination>, String> {
        let rules = Rules {
            include: &[],
            exclude,
            beside: &[],
        };
        combinations(factors, &rules)
    }

    #[test]
    fn every_combination_comes_once_and_rules_take_some_away() {
        let factors = [
            factor("filesystem", &["ext2", "ext4", "xfs"]),
            factor("scheduler", &["none", "bfq"]),
        ];
        let all = all_of(&factors, &[]).unwrap();
        let names: Vec<String> = all.iter().map(|one| name(one, &all)).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], "filesystem=ext2 scheduler=none");
        assert_eq!(names[5], "filesystem=xfs scheduler=bfq");

        let rule = vec![
            factor("filesystem", &["ext2", "xfs"]),
            factor("scheduler", &["bfq"]),
        ];
        let left = all_of(&factors, &[rule]).unwrap();
        assert_eq!(left.len(), 4);
        assert!(
            left.iter()
                .all(|one| one[0].1 == "ext4" || one[1].1 == "none")
        );
    }

    #[test]
    fn a_single_factor_s_combinations_are_called_by_its_levels() {
        let factors = [
            factor("filesystem", &["ext4"]),
            factor("scheduler", &["none", "bfq"]),
        ];
        let all = all_of(&factors, &[]).unwrap();
        let names: Vec<String> = all.iter().map(|one| name(one, &all)).collect();
        assert_eq!(names, ["none", "bfq"]);
        let factors = [factor("mount_options", &["", "noatime"])];
        let all = all_of(&factors, &[]).unwrap();
        assert_eq!(name(&all[0], &all), "mount_options=");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let two = [factor("a", &["1", "2"])];
        for (factors, exclude, problem) in [
            (vec![factor("a", &[])], vec![], "a has no level"),
            (vec![factor("a", &["1", "1"])], vec![], "`1` twice"),
            (two.to_vec(), vec![vec![factor("b", &["1"])]], "no factor b"),
            (
                two.to_vec(),
                vec![vec![factor("a", &["3"])]],
                "no level `3`",
            ),
            (
                two.to_vec(),
                vec![vec![factor("a", &["1", "2"])]],
                "leaves no combination",
            ),
        ] {
            let error = all_of(&factors, &exclude).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let levels: Vec<String> = (0..10).map(|level| level.to_string()).collect();
        let many: Vec<_> = (0..40).map(|n| (format!("f{n}"), levels.clone())).collect();
        let error = all_of(&many, &[]).unwrap_err();
        assert!(error.contains("200 are the most"), "{error}");
        // A file of 16 MiB holds as many; looking each up among all before it would take
        // minutes.
        let long: Vec<String> = (0..100_000).map(|level| level.to_string()).collect();
        let error = all_of(&[("a".to_owned(), long)], &[]).unwrap_err();
        assert!(error.contains("200 are the most"), "{error}");
        let include: Vec<_> = (0..10_000)
            .map(|level| vec![("a".to_owned(), vec![level.to_string()])])
            .collect();
        let rules = Rules {
            include: &include,
            exclude: &[],
            beside: &[],
        };
        let error = combinations(&[factor("a", &["x"])], &rules).unwrap_err();
        assert!(error.contains("more than 200"), "{error}");
    }

    /// One factor at a time: the baseline, and each other level by itself.
    #[test]
    fn what_is_included_takes_first_levels_where_it_names_none() {
        let factors = [
            factor("filesystem", &["ext4"]),
            factor("scheduler", &["none"]),
        ];
        let include = [
            vec![factor("scheduler", &["bfq", "none"])],
            vec![factor("filesystem", &["xfs"])],
        ];
        let rules = Rules {
            include: &include,
            exclude: &[],
            beside: &[],
        };
        let all = combinations(&factors, &rules).unwrap();
        let names: Vec<String> = all.iter().map(|one| name(one, &all)).collect();
        let expected = [
            "filesystem=ext4 scheduler=none",
            "filesystem=ext4 scheduler=bfq",
            "filesystem=xfs scheduler=none",
        ];
        assert_eq!(names, expected);
        let rules = Rules {
            include: &[vec![factor("sheduler", &["bfq"])]],
            ..rules
        };
        let error = combinations(&factors, &rules).unwrap_err();
        assert!(error.contains("did you mean `scheduler`?"), "{error}");
    }
}
