//! Several configurations in blocks: one trial of each cell of each configuration, close
//! in time, in an order that is drawn.

mod decide;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use stiction_core::{Cell, Level, Plan, PlannedTrial, Seed};
use stiction_suite::{CommandLine, SuiteError};

use crate::ground;
use crate::study::{Part, Turn};

pub use decide::{BlocksSoFar, Decide, Decision, EveryBlock};
pub use order::BlockOrder;

/// The factor whose levels are the configurations' names.
pub const CONFIGURATION: &str = "configuration";

/// Most blocks of a session.
pub const BLOCKS_MAX: u32 = 1000;

/// In how many blocks, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// How many at most; a [`Decide`] may end it sooner. From 1 to [`BLOCKS_MAX`].
    pub count: u32,
    /// The order inside each.
    pub order: BlockOrder,
    /// What ends it sooner, for the reader of the plan: parameters by name.
    pub stop: serde_json::Value,
    /// Whether it measures the noise of one configuration, by running it twice in each.
    pub is_calibration: bool,
}

/// The plan of all blocks, and whose turn each of its trials is.
///
/// Each configuration's own plan loses its repetitions: the blocks are the repetitions.
/// In one block all configurations have the same seeds, in the next others.
///
/// A factor that has one level in each configuration, and not the same in all, is what
/// these are about: their parameters tell it, and the session's cells leave it out, so
/// that what answers to each other has one cell.
pub(crate) fn arrange(
    parts: &mut [Part<'_>],
    blocks: &Blocks,
    seed: Seed,
) -> Result<(Plan, Vec<Turn>), SuiteError> {
    check(parts, blocks)?;
    let mut pool: Vec<(usize, Cell)> = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        let cells = distinct_cells(&part.plan);
        part.plan.trials = (0..blocks.count)
            .flat_map(|block| {
                let cells = cells.iter().cloned();
                cells.map(move |cell| PlannedTrial::new(cell, block))
            })
            .collect();
        pool.extend(cells.into_iter().map(|cell| (number, cell)));
    }
    let told_apart = told_apart_by_part(&pool, parts);
    let mut turns = Vec::new();
    for block in 0..blocks.count {
        for place in blocks.order.of_block(block, pool.len(), seed) {
            let (part, cell) = &pool[place];
            let name = parts[*part].configuration.name.as_str();
            let factors = told_apart[*part].iter();
            let common = factors.fold(cell.clone(), |cell, factor| cell.without(factor));
            let settings = parts[*part].configuration.settings();
            let common = settings.fold(common, |cell, setting| {
                cell.with(&setting.factor, setting.level.as_str())
            });
            let at = parts[*part].configuration.at.iter();
            let common = at.fold(common, |cell, (factor, level)| {
                cell.with(factor, level.clone())
            });
            turns.push(Turn {
                planned: PlannedTrial {
                    block: Some(block),
                    ..PlannedTrial::new(common.with(CONFIGURATION, name), block)
                },
                part: *part,
                inner: PlannedTrial::new(cell.clone(), block),
            });
        }
    }
    let plan = Plan {
        workload: benchmarks(parts),
        parameters: parameters(parts, blocks),
        seed,
        preparation: stiction_core::Preparation::default(),
        trials: turns.iter().map(|turn| turn.planned.clone()).collect(),
    };
    Ok((plan, turns))
}

fn check(parts: &[Part<'_>], blocks: &Blocks) -> Result<(), SuiteError> {
    let refuse = |option, problem: String| Err(SuiteError::Option { option, problem });
    if !(1..=BLOCKS_MAX).contains(&blocks.count) {
        return refuse("blocks", format!("give 1 to {BLOCKS_MAX}"));
    }
    if parts.is_empty() {
        return refuse("configuration", "there is none".to_owned());
    }
    for (number, part) in parts.iter().enumerate() {
        let name = &part.configuration.name;
        if name.trim().is_empty() {
            return refuse("name", "a configuration's name is empty".to_owned());
        }
        // It stands in tables, in lines of CSV and on the command line of `compare`.
        if name.contains(char::is_control) {
            let problem = format!("{name:?} has control characters");
            return refuse("name", problem);
        }
        let at = &part.configuration.at;
        let same = |other: &&Part<'_>| other.configuration.at == *at;
        let mut others = parts[..number].iter().filter(same);
        if others
            .clone()
            .any(|other| other.configuration.name == *name)
        {
            return refuse("name", format!("two configurations are called {name}"));
        }
        if let Some(first) = others.next()
            && part.plan.workload != first.plan.workload
        {
            let problem = format!(
                "{} runs {} and {name} {}: what is compared has to be one workload",
                first.configuration.name, first.plan.workload, part.plan.workload
            );
            return refuse("workload", problem);
        }
        let alterations = part.configuration.alterations;
        let places = part.configuration.places;
        if let Some(problem) = alterations.and_then(|some| ground::problem(some, places)) {
            return refuse("factors", problem);
        }
        let cells = || part.plan.trials.iter().map(|trial| &trial.cell);
        let settings = part.configuration.settings();
        let settings = settings.map(|setting| setting.factor.as_str());
        for factor in settings.chain(at.iter().map(|(factor, _)| factor)) {
            if cells().any(|cell| cell.get(factor).is_some()) {
                let problem = format!("{factor} is varied by the benchmark itself");
                return refuse("factors", problem);
            }
        }
    }
    Ok(())
}

fn distinct_cells(plan: &Plan) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for trial in &plan.trials {
        if !cells.contains(&trial.cell) {
            cells.push(trial.cell.clone());
        }
    }
    cells
}

/// The benchmarks of all parts, each once.
fn benchmarks(parts: &[Part<'_>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for part in parts {
        if !names.contains(&part.plan.workload.as_str()) {
            names.push(&part.plan.workload);
        }
    }
    names.join("+")
}

/// For each part the factors that only tell it apart from the others that are measured at
/// the same workload and target.
fn told_apart_by_part(pool: &[(usize, Cell)], parts: &[Part<'_>]) -> Vec<Vec<String>> {
    let at = |number: usize| &parts[number].configuration.at;
    let of_part = |number: usize| {
        let group: Vec<usize> = (0..parts.len())
            .filter(|&other| at(other) == at(number))
            .collect();
        let own: Vec<(usize, Cell)> = pool
            .iter()
            .filter_map(|(part, cell)| {
                let place = group.iter().position(|member| member == part)?;
                Some((place, cell.clone()))
            })
            .collect();
        factors_told_apart(&own, group.len())
    };
    (0..parts.len()).map(of_part).collect()
}

/// The factors that have one level, or none, in each of `count` parts, and not the same in
/// all.
fn factors_told_apart(pool: &[(usize, Cell)], count: usize) -> Vec<String> {
    let names = pool.iter().flat_map(|(_, cell)| cell.iter());
    let mut names: Vec<&str> = names.map(|(factor, _)| factor).collect();
    names.sort_unstable();
    names.dedup();
    let levels = |factor: &str, part: usize| -> Vec<Option<Level>> {
        let own = pool.iter().filter(|(number, _)| *number == part);
        let mut levels: Vec<_> = own.map(|(_, cell)| cell.get(factor).cloned()).collect();
        levels.dedup();
        levels
    };
    let tells_apart = |factor: &&str| {
        let all: Vec<_> = (0..count).map(|part| levels(factor, part)).collect();
        all.iter().all(|levels| levels.len() == 1) && all.iter().any(|levels| *levels != all[0])
    };
    let names = names.into_iter().filter(tells_apart);
    names.map(str::to_owned).collect()
}

/// What the plan tells of its configurations: enough to run them again.
fn parameters(parts: &[Part<'_>], blocks: &Blocks) -> serde_json::Value {
    let configurations: Vec<_> = parts
        .iter()
        .map(|part| {
            let configuration = part.configuration;
            let mut told = json!({
                "name": configuration.name,
                "command": configuration.command.join(" "),
                "parameters": part.plan.parameters,
                "places": part.places,
                "prepare": configuration.prepare.as_ref().map(CommandLine::text),
                "conclude": configuration.conclude.as_ref().map(CommandLine::text),
            });
            let settings = configuration.settings();
            let settings: BTreeMap<_, _> = settings.map(|one| (&one.factor, &one.level)).collect();
            if !settings.is_empty() {
                told["settings"] = json!(settings);
            }
            if let Some(alterations) = configuration.alterations {
                told["scratch_bytes"] = json!(alterations.scratch_bytes());
                if let Some(device) = alterations.granted() {
                    told["scratch_device"] = json!(device.path());
                }
            }
            if !configuration.at.is_empty() {
                told["at"] = json!(configuration.at);
                told["workload"] = json!(part.plan.workload);
            }
            told
        })
        .collect();
    let settings = parts.iter().flat_map(|part| part.configuration.settings());
    let factors: BTreeSet<&str> = settings.map(|one| one.factor.as_str()).collect();
    let mut told = json!({
        "configurations": configurations,
        "order": blocks.order,
        "blocks": blocks.count,
        "stop": blocks.stop,
        "calibration": blocks.is_calibration,
    });
    if !factors.is_empty() {
        told["factors"] = json!(factors);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tells_configurations_apart_is_found() {
        let cell = |threads: u32, block: u32| {
            Cell::new()
                .with("threads", threads)
                .with("block_size_bytes", block)
        };
        let pool = [
            (0, cell(1, 4096)),
            (0, cell(8, 4096)),
            (1, cell(1, 65_536)),
            (1, cell(8, 65_536)),
        ];
        assert_eq!(factors_told_apart(&pool, 2), ["block_size_bytes"]);
        let same = [(0, cell(1, 4096)), (1, cell(1, 4096))];
        assert!(factors_told_apart(&same, 2).is_empty());
        // Both sizes in both, and one configuration that has a factor more.
        let pool = [(0, cell(1, 4096)), (1, cell(1, 4096).with("load", "io"))];
        assert_eq!(factors_told_apart(&pool, 2), ["load"]);
    }
}
