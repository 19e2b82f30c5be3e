//! Factors with their levels, and the combinations that they make.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// Most combinations of one specification.
pub const COMBINATIONS_MAX: usize = 200;

/// A level, as it is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
pub(super) fn flat(factors: &BTreeMap<String, FactorText>) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (name, factor) in factors {
        match factor {
            FactorText::Levels(levels) => {
                let levels = levels.iter().map(ToString::to_string);
                all.push((name.clone(), levels.collect()));
            }
            FactorText::Level(level) => all.push((name.clone(), vec![level.to_string()])),
            FactorText::Inner(inner) => {
                let inner = flat(inner).into_iter();
                all.extend(inner.map(|(rest, levels)| (format!("{name}.{rest}"), levels)));
            }
        }
    }
    all
}

/// Every combination of the levels but those that a rule of `exclude` leaves out: one
/// whose factors all are at the levels that it names.
///
/// # Errors
/// What is wrong with the factors or the rules, in words.
pub(super) fn combinations(
    factors: &[(String, Vec<String>)],
    exclude: &[Vec<(String, Vec<String>)>],
) -> Result<Vec<Combination>, String> {
    for (name, levels) in factors {
        if levels.is_empty() {
            return Err(format!("{name} has no level"));
        }
        if let Some(level) = repeated(levels) {
            return Err(format!("{name} has the level `{level}` twice"));
        }
    }
    for (name, levels) in exclude.iter().flatten() {
        let known = factors.iter().find(|(factor, _)| factor == name);
        let (_, known) = known.ok_or_else(|| format!("[[exclude]]: there is no factor {name}"))?;
        if let Some(level) = levels.iter().find(|level| !known.contains(level)) {
            return Err(format!("[[exclude]]: {name} has no level `{level}`"));
        }
    }
    let count = factors.iter().map(|(_, levels)| levels.len());
    let count = count.fold(1, usize::saturating_mul);
    // Before they are made: ten factors of ten levels are too many for any memory.
    if count > COMBINATIONS_MAX {
        return Err(format!(
            "its levels make {count} combinations; {COMBINATIONS_MAX} are the most"
        ));
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
    let is_left_out = |one: &Combination| {
        exclude.iter().any(|rule| {
            let mut names = rule.iter();
            names.all(|(name, levels)| one.iter().any(|(n, l)| n == name && levels.contains(l)))
        })
    };
    all.retain(|one| !is_left_out(one));
    if all.is_empty() {
        return Err("[[exclude]] leaves no combination".to_owned());
    }
    Ok(all)
}

/// What a combination is called: the levels of the factors that vary, with their names
/// where there are several.
pub(super) fn name(combination: &Combination, factors: &[(String, Vec<String>)]) -> String {
    let varies = |name: &String| {
        let factor = factors.iter().find(|(factor, _)| factor == name);
        factor.is_some_and(|(_, levels)| levels.len() > 1)
    };
    let varying: Vec<_> = combination
        .iter()
        .filter(|(name, _)| varies(name))
        .collect();
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
    let mut numbered = levels.iter().enumerate();
    let twice = numbered.find(|(number, level)| levels[..*number].contains(level));
    twice.map(|(_, level)| level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, levels: &[&str]) -> (String, Vec<String>) {
        let levels = levels.iter().map(|&level| level.to_owned());
        (name.to_owned(), levels.collect())
    }

    #[test]
    fn every_combination_comes_once_and_rules_take_some_away() {
        let factors = [
            factor("filesystem", &["ext2", "ext4", "xfs"]),
            factor("scheduler", &["none", "bfq"]),
        ];
        let all = combinations(&factors, &[]).unwrap();
        let names: Vec<String> = all.iter().map(|one| name(one, &factors)).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], "filesystem=ext2 scheduler=none");
        assert_eq!(names[5], "filesystem=xfs scheduler=bfq");

        let rule = vec![
            factor("filesystem", &["ext2", "xfs"]),
            factor("scheduler", &["bfq"]),
        ];
        let left = combinations(&factors, &[rule]).unwrap();
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
        let all = combinations(&factors, &[]).unwrap();
        let names: Vec<String> = all.iter().map(|one| name(one, &factors)).collect();
        assert_eq!(names, ["none", "bfq"]);
        let factors = [factor("mount_options", &["", "noatime"])];
        let all = combinations(&factors, &[]).unwrap();
        assert_eq!(name(&all[0], &factors), "mount_options=");
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
            let error = combinations(&factors, &exclude).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let levels: Vec<String> = (0..10).map(|level| level.to_string()).collect();
        let many: Vec<_> = (0..40).map(|n| (format!("f{n}"), levels.clone())).collect();
        let error = combinations(&many, &[]).unwrap_err();
        assert!(error.contains("200 are the most"), "{error}");
    }
}
