//! `stiction selftest`.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use stiction_analysis::selftest::{PROPERTIES, Property, Row, SEED, Size};
use stiction_core::Seed;
use stiction_report::json;

use crate::arguments::{SelftestArguments, SelftestCommand, SizeWord, StatsArguments};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Tests what was asked for.
pub(super) fn run(typed: &SelftestArguments, console: &Console) -> Result<Exit, Failure> {
    match &typed.command {
        SelftestCommand::Stats(typed) => stats(typed, console),
    }
}

/// Measures the properties, as many at a time as there are CPUs.
fn stats(typed: &StatsArguments, console: &Console) -> Result<Exit, Failure> {
    let only = typed.only.as_deref().unwrap_or("").to_lowercase();
    let chosen = PROPERTIES
        .iter()
        .filter(|property| property.name.to_lowercase().contains(&only));
    let chosen: Vec<&Property> = chosen.collect();
    if chosen.is_empty() {
        let failure = Failure::new(format!("no property has `{only}` in its name"));
        return Err(failure.advise("without --only all of them are shown with their names"));
    }
    let size = match typed.size {
        SizeWord::Quick => Size::Quick,
        SizeWord::Full => Size::Full,
    };
    let seed = typed.seed.map_or(SEED, Seed);
    let rows = measured(&chosen, size, seed);
    let text = if console.json {
        json::selftest(&rows, size, seed)
    } else {
        stiction_report::selftest(&rows, size, seed, typed.cases, console.style())
    };
    console.data(&text)?;
    Ok(exit_of(&rows))
}

/// A row for each property, in their order. Each thread takes the next one that is left.
fn measured(properties: &[&Property], size: Size, seed: Seed) -> Vec<Row> {
    let rows: Vec<OnceLock<Row>> = properties.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        properties.get(index).zip(rows.get(index))
    };
    let work = || {
        while let Some((property, row)) = take() {
            row.get_or_init(|| property.measure(size, seed));
        }
    };
    let cpus = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    std::thread::scope(|scope| {
        for _ in 0..cpus.get().min(properties.len()) {
            scope.spawn(work);
        }
    });
    rows.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// A rule that does not keep to what it has to is a regression of this program.
fn exit_of(rows: &[Row]) -> Exit {
    if rows.iter().all(Row::holds) {
        Exit::Done
    } else {
        Exit::Regression
    }
}

#[cfg(test)]
mod tests {
    use stiction_analysis::selftest::{Limit, Reading};

    use super::*;

    #[test]
    fn one_case_outside_is_a_regression() {
        let bound = PROPERTIES[0].bound;
        let row = |value: f64| Row {
            property: "a property",
            bound,
            limit: Limit::AtMost(0.05),
            replicates: 1,
            readings: vec![Reading {
                case: String::new(),
                value,
            }],
        };
        assert_eq!(exit_of(&[row(0.05), row(0.04)]), Exit::Done);
        assert_eq!(exit_of(&[row(0.05), row(0.06)]), Exit::Regression);
    }
}
