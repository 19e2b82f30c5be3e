//! The cells of a matrix brought together: which factors make rows and tables, and what
//! each candidate comes to over the cells.

use std::collections::{BTreeMap, BTreeSet};

use statrs::distribution::{ContinuousCDF, Normal};
use stiction_core::{Cell, Level, Metric};

use super::comparison::{Comparison, Method, Row};
use super::environment::stated_by_name;
use super::matrix::Projection;
use super::options::CompareOptions;
use super::side::Side;
use super::summary::{AtCell, Counts, EqualRange, Summary, SummaryTable};
use crate::change::Scale;
use crate::estimate::{geometric, plan};
use crate::percent;
use crate::verdict::Verdict;

/// Which factors make the columns, the rows and the tables.
pub(super) fn projection(
    baseline: &Side<'_>,
    candidates: &[Side<'_>],
    comparisons: &[Comparison],
    options: &CompareOptions,
) -> Projection {
    let mut sides = std::iter::once(baseline).chain(candidates);
    let column = baseline.factor();
    let same = sides.all(|side| side.factor() == column);
    let varying = varying(comparisons.iter().flat_map(|comparison| &comparison.rows));
    let row = match (&options.row, &varying[..]) {
        (Some(row), _) => Some(row.clone()),
        (None, [only]) => Some(only.clone()),
        (None, _) => None,
    };
    let rest = varying.into_iter();
    Projection {
        column: column.filter(|_| same).map(str::to_owned),
        rest: match &options.row {
            Some(row) => rest.filter(|factor| factor != row).collect(),
            None => Vec::new(),
        },
        row,
    }
}

/// The factors that have several levels over the cells of `rows`, by name.
fn varying<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<String> {
    let mut levels: BTreeMap<&str, BTreeSet<&Level>> = BTreeMap::new();
    for row in rows {
        for (factor, level) in row.cell.iter() {
            levels.entry(factor).or_default().insert(level);
        }
    }
    let several = levels.into_iter().filter(|(_, levels)| levels.len() > 1);
    several.map(|(factor, _)| factor.to_owned()).collect()
}

/// What makes a table: a metric of a phase at one combination of the factors that make
/// tables.
#[derive(PartialEq)]
struct Key<'r> {
    phase: &'r str,
    metric: &'r Metric,
    levels: Vec<Option<&'r Level>>,
}

impl<'r> Key<'r> {
    fn of(row: &'r Row, projection: &Projection) -> Self {
        let rest = projection.rest.iter();
        Self {
            phase: &row.phase,
            metric: &row.metric,
            levels: rest.map(|factor| row.cell.get(factor)).collect(),
        }
    }
}

/// A table for each metric that is judged, of each phase, in order of appearance.
pub(super) fn tables(
    baseline: &Side<'_>,
    candidates: &[Side<'_>],
    comparisons: &[Comparison],
    projection: &Projection,
) -> Vec<SummaryTable> {
    let all = || comparisons.iter().flat_map(|comparison| &comparison.rows);
    let mut keys: Vec<Key<'_>> = Vec::new();
    for row in all().filter(|row| row.effect_percent.is_some()) {
        let key = Key::of(row, projection);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let table = |key: &Key<'_>| {
        let of_key = |comparison: &'_ Comparison| -> Vec<Row> {
            let rows = comparison.rows.iter();
            let here = rows.filter(|row| Key::of(row, projection) == *key);
            here.cloned().collect()
        };
        let parts: Vec<Vec<Row>> = comparisons.iter().map(of_key).collect();
        let several = varying(parts.iter().flatten());
        let fixed = fixed(parts.iter().flatten(), &several);
        let again = again(baseline, &parts, &several);
        let equal = equal_range(&parts);
        let mut rows: Vec<Summary> = again.into_iter().collect();
        let named = candidates.iter().zip(&parts);
        let own = named.filter(|(_, rows)| !rows.is_empty());
        rows.extend(own.map(|(side, rows)| {
            let repeats = is_same_configuration(baseline, side);
            summary(&side.name, repeats, rows, &several)
        }));
        rows.sort_by_key(|row| !row.repeats_baseline);
        SummaryTable {
            phase: key.phase.to_owned(),
            metric: key.metric.clone(),
            fixed,
            parameter: match &several[..] {
                [only] => Some(only.clone()),
                _ => None,
            },
            rows,
            equal,
        }
    };
    keys.iter().map(table).collect()
}

/// The levels that all rows share.
fn fixed<'r>(rows: impl Iterator<Item = &'r Row>, varying: &[String]) -> Cell {
    let first = rows.into_iter().next().map(|row| row.cell.clone());
    let strip = |cell: Cell, factor: &String| cell.without(factor);
    varying.iter().fold(first.unwrap_or_default(), strip)
}

/// Whether the plan of both sides' session says that they are one configuration.
pub(super) fn is_same_configuration(a: &Side<'_>, b: &Side<'_>) -> bool {
    let stated = |side: &Side<'_>| {
        let (factor, level) = side.chosen.as_ref()?;
        let plan = side.sessions().first()?.header.plan.as_ref()?;
        let mut all = stated_by_name(&plan.parameters).into_iter();
        let (_, stated) = all.find(|(name, _)| *name == level.to_string())?;
        (factor == "configuration").then_some(stated)
    };
    stated(a).is_some_and(|of_a| Some(of_a) == stated(b))
}

/// The logarithm of B over A in a row: as estimated from blocks, else of the values.
fn log_ratio(row: &Row) -> Option<f64> {
    if let Some(estimate) = &row.estimate {
        return Some((estimate.change_percent / 100.0).ln_1p());
    }
    let change = row
        .change
        .as_ref()
        .filter(|change| change.scale == Scale::Percent)?;
    let ratio = change.ratio()?;
    (ratio > 0.0).then(|| ratio.ln())
}

fn summary(name: &str, repeats_baseline: bool, rows: &[Row], varying: &[String]) -> Summary {
    let ratios = rows
        .iter()
        .filter_map(|row| Some((&row.cell, log_ratio(row)?.exp())));
    let ratios: Vec<(&Cell, f64)> = ratios.collect();
    let blocks: Vec<Vec<f64>> = rows.iter().filter_map(block_logs).collect();
    let whole = blocks.len() == ratios.len()
        && blocks.windows(2).all(|pair| pair[0].len() == pair[1].len());
    let geometric = whole.then(|| geometric::summary(&blocks, 0.95)).flatten();
    let mut counts = Counts::default();
    rows.iter().for_each(|row| counts.add(row.verdict.as_ref()));
    Summary {
        name: name.to_owned(),
        repeats_baseline,
        counts,
        geometric_interval_percent: geometric
            .and_then(|summary| summary.interval)
            .map(|(low, high)| (low.exp_m1() * 100.0, high.exp_m1() * 100.0)),
        ..extremes(&ratios, varying)
    }
}

/// The lowest and the highest of some ratios, and what they come to.
fn extremes(ratios: &[(&Cell, f64)], varying: &[String]) -> Summary {
    let found = percent::of_ratios(ratios);
    let at = |found: percent::At<&Cell>| AtCell {
        percent: found.percent,
        cell: varying
            .iter()
            .fold(Cell::new(), |cell, factor| match found.at.get(factor) {
                Some(level) => cell.with(factor, level.clone()),
                None => cell,
            }),
    };
    Summary {
        name: String::new(),
        repeats_baseline: false,
        cells: ratios.len() as u32,
        lowest: found.map(|found| at(found.lowest)),
        highest: found.map(|found| at(found.highest)),
        average_percent: found.map(|found| found.average_percent),
        geometric_percent: found.map(|found| found.geometric_percent),
        geometric_interval_percent: None,
        counts: Counts::default(),
    }
}

/// ln(b / a) of each block, where the row was judged by blocks.
fn block_logs(row: &Row) -> Option<Vec<f64>> {
    row.estimate
        .filter(|estimate| estimate.method == Method::Paired)?;
    let blocks = row.blocks.iter();
    Some(blocks.map(|block| (block.b / block.a).ln()).collect())
}

impl Counts {
    fn add(&mut self, verdict: Option<&Verdict>) {
        let count = match verdict {
            Some(Verdict::Worse) => &mut self.worse,
            Some(Verdict::Better) => &mut self.better,
            Some(Verdict::Same) => &mut self.same,
            Some(Verdict::SlightlyWorse | Verdict::SlightlyBetter) => &mut self.slight,
            Some(Verdict::CannotTell { .. }) => &mut self.cannot_tell,
            Some(Verdict::Failed { .. }) => &mut self.failed,
            Some(Verdict::NotRun { .. }) => &mut self.not_run,
            Some(Verdict::NotComparable { .. }) => &mut self.not_comparable,
            None => return,
        };
        *count += 1;
    }
}

/// The baseline's second run against its first, where every cell has just two in no
/// blocks: the table's own noise.
fn again(baseline: &Side<'_>, parts: &[Vec<Row>], varying: &[String]) -> Option<Summary> {
    let rows = parts.iter().find(|rows| !rows.is_empty())?;
    let ratio = |row: &'_ Row| -> Option<f64> {
        let runs = &row.a.as_ref().filter(|_| row.blocks.is_empty())?.runs;
        match runs[..] {
            [first, second] if first > 0.0 && second > 0.0 => Some(second / first),
            _ => None,
        }
    };
    let ratios = rows.iter().map(|row| Some((&row.cell, ratio(row)?)));
    let ratios: Vec<(&Cell, f64)> = ratios.collect::<Option<_>>()?;
    Some(Summary {
        name: baseline.name.clone(),
        repeats_baseline: true,
        ..extremes(&ratios, varying)
    })
}

/// What a configuration equal to the baseline would show over the cells: the mean of the
/// lowest and of the highest of so many draws of the noise of an estimate.
fn equal_range(parts: &[Vec<Row>]) -> Option<EqualRange> {
    let cells = parts
        .iter()
        .map(Vec::len)
        .max()
        .filter(|&cells| cells > 1)?;
    let rows = || parts.iter().flatten();
    let (squares, from) = from_floors(rows())
        .or_else(|| from_repeats(rows()))
        .or_else(|| from_blocks(rows()))?;
    let variance = squares.iter().sum::<f64>() / squares.len() as f64;
    let reach = expected_highest(cells) * variance.sqrt();
    Some(EqualRange {
        lowest_percent: (-reach).exp_m1() * 100.0,
        highest_percent: reach.exp_m1() * 100.0,
        from,
    })
}

/// Variances of an estimate, and what they rest on.
type Noise = (Vec<f64>, String);

fn from_floors<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<Noise> {
    let known = rows.filter_map(|row| {
        let floor = row.floor.as_ref()?;
        let blocks = row.estimate.map_or(1, |estimate| estimate.blocks);
        Some((floor.deviation.powi(2) / f64::from(blocks), floor))
    });
    let known: Vec<_> = known.collect();
    let (_, floor) = known.first()?;
    let from = format!("{} A/A blocks, {}", floor.blocks, floor.from);
    Some((known.iter().map(|(square, _)| *square).collect(), from))
}

fn from_repeats<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<Noise> {
    let known = rows.filter_map(|row| {
        let runs = &row.a.as_ref().filter(|_| row.blocks.is_empty())?.runs;
        match runs[..] {
            [first, second] if first > 0.0 && second > 0.0 => Some((second / first).ln().powi(2)),
            _ => None,
        }
    });
    let squares: Vec<f64> = known.collect();
    (!squares.is_empty()).then(|| (squares, "2 runs of the baseline".to_owned()))
}

fn from_blocks<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<Noise> {
    let known = rows.filter_map(|row| {
        let logs = block_logs(row)?;
        Some(plan::deviation(&logs)?.powi(2) / logs.len() as f64)
    });
    let squares: Vec<f64> = known.collect();
    (!squares.is_empty()).then(|| (squares, "the blocks' own spread".to_owned()))
}

/// The expected highest of `n` standard normal draws, to within 1 %: G. Blom,
/// "Statistical estimates and transformed beta-variables" (1958).
fn expected_highest(n: usize) -> f64 {
    let n = n as f64;
    Normal::standard().inverse_cdf((n - 0.375) / (n + 0.25))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H. L. Harter, "Expected values of normal order statistics", Biometrika 48 (1961):
    /// 0.56419, 1.42360 and 1.86748 for 2, 8 and 20.
    #[test]
    fn the_highest_of_several_draws_is_as_tabulated() {
        for (n, table) in [(2, 0.56419), (8, 1.42360), (20, 1.86748)] {
            let found = expected_highest(n);
            assert!((found / table - 1.0).abs() < 0.05, "{n}: {found}");
        }
        // Eight cells and 5 % of noise: about -7 and +7 %.
        assert_eq!((expected_highest(8) * 5.0).round(), 7.0);
    }
}
