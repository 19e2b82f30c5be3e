//! Whole distributions of latency side by side: how each percentile shifts, and how
//! many operations stalled.

use stiction_core::{Cell, Direction, Histogram, Seed};

use super::design::{Block, Design};
use super::pairing::{Pair, Run};
use super::replication::RunOrder;
use crate::estimate::plan::FEWEST_BLOCKS;
use crate::estimate::{shift, signed_rank};

/// How the distribution of one direction's latencies shifts from A to B: the shift
/// function, so that "median better, tail worse" is one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The direction.
    pub direction: Direction,
    /// Percentiles in rising order; those that too few operations stand behind are
    /// left out.
    pub points: Vec<ShiftPoint>,
}

/// One percentile on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftPoint {
    /// Which percentile: 50, 99.9.
    pub percentile: f64,
    /// A's, over all of its runs together, ns.
    pub a_ns: f64,
    /// B's.
    pub b_ns: f64,
    /// The typical change of a run, percent; of the merged values where there are no
    /// blocks.
    pub change_percent: f64,
    /// The 95 % interval, adjusted over the points; `None` without enough blocks.
    pub interval_percent: Option<(f64, f64)>,
}

/// Operations that stalled, counted exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The direction.
    pub direction: Direction,
    /// A's, over all of its runs.
    pub a: StallCounts,
    /// B's.
    pub b: StallCounts,
    /// Two-sided p of the counts over 2 s of paired runs; `None` without enough blocks.
    pub p: Option<f64>,
}

/// How many operations took how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    /// Operations in all.
    pub operations: u64,
    /// Of these, longer than 2 s.
    pub over_2s: u64,
    /// Of these, longer than 10 s.
    pub over_10s: u64,
}

/// How the distributions of each direction that both sides recorded shift.
pub(super) fn shifts(pair: &Pair<'_>, design: &Design, seed: Seed) -> Vec<Shift> {
    let of = |direction| {
        let (a, b) = (each(&pair.a, direction)?, each(&pair.b, direction)?);
        let points = points(&a, &b, design, seed);
        (!points.is_empty()).then(|| Shift {
            cell: pair.cell.clone(),
            phase: pair.phase.clone(),
            direction,
            points,
        })
    };
    Direction::ALL.into_iter().filter_map(of).collect()
}

/// How many operations of each direction that both sides recorded stalled.
pub(super) fn stalls(pair: &Pair<'_>, design: &Design) -> Vec<Stalls> {
    let of = |direction| {
        let (a, b) = (each(&pair.a, direction)?, each(&pair.b, direction)?);
        let over = |runs: &[Histogram], members: &[usize]| -> f64 {
            let counts = members.iter().map(|&index| runs[index].over_2_s() as f64);
            counts.sum::<f64>() / members.len() as f64
        };
        let differences: Vec<f64> = judged_blocks(design)
            .iter()
            .map(|block| over(&b, &block.b) - over(&a, &block.a))
            .collect();
        let enough = differences.len() >= FEWEST_BLOCKS as usize;
        Some(Stalls {
            cell: pair.cell.clone(),
            phase: pair.phase.clone(),
            direction,
            a: counted(&merged(&a)),
            b: counted(&merged(&b)),
            p: enough.then(|| signed_rank::p_two_sided(&differences)),
        })
    };
    Direction::ALL.into_iter().filter_map(of).collect()
}

/// The latencies of one direction in each run; `None` where a run has no recording of it.
fn each(runs: &[Run<'_>], direction: Direction) -> Option<Vec<Histogram>> {
    let recorded = runs.iter().map(|run| {
        let recording = run.phase.recording(direction)?;
        Some(recording.total()).filter(|total| total.count() > 0)
    });
    let all: Option<Vec<Histogram>> = recorded.collect();
    all.filter(|all| !all.is_empty())
}

fn merged(runs: &[Histogram]) -> Histogram {
    let mut all = Histogram::new();
    runs.iter().for_each(|run| all.merge(run));
    all
}

fn counted(all: &Histogram) -> StallCounts {
    StallCounts {
        operations: all.count(),
        over_2s: all.over_2_s(),
        over_10s: all.over_10_s(),
    }
}

/// The blocks that a verdict may rest on.
fn judged_blocks(design: &Design) -> &[Block] {
    if design.order == RunOrder::Interleaved {
        &design.blocks
    } else {
        &[]
    }
}

fn points(a: &[Histogram], b: &[Histogram], design: &Design, seed: Seed) -> Vec<ShiftPoint> {
    let (all_a, all_b) = (merged(a), merged(b));
    let known = |percentile: f64| {
        let of = |all: &Histogram| all.quantile_ns_if_enough(percentile / 100.0);
        let (a_ns, b_ns) = (of(&all_a)?, of(&all_b)?);
        (a_ns > 0 && b_ns > 0).then_some((percentile, a_ns as f64, b_ns as f64))
    };
    let known: Vec<_> = shift::PERCENTILES.into_iter().filter_map(known).collect();
    let of_blocks = |&(percentile, ..): &(f64, f64, f64)| differences(a, b, design, percentile);
    let differences: Vec<Option<Vec<f64>>> = known.iter().map(of_blocks).collect();
    // Those that every run has enough operations for are judged together.
    let judged: Vec<Vec<f64>> = differences.iter().flatten().cloned().collect();
    let mut shifts = shift::shifts(&judged, 0.95, seed).into_iter();
    known
        .into_iter()
        .zip(differences)
        .map(|((percentile, a_ns, b_ns), differences)| {
            let shift = differences.and_then(|_| shifts.next().flatten());
            let percent = |log: f64| 100.0 * log.exp_m1();
            let merged = (b_ns / a_ns).ln();
            ShiftPoint {
                percentile,
                a_ns,
                b_ns,
                change_percent: percent(shift.map_or(merged, |shift| shift.typical)),
                interval_percent: shift
                    .and_then(|shift| shift.interval)
                    .map(|(low, high)| (percent(low), percent(high))),
            }
        })
        .collect()
}

/// ln(b / a) of a percentile in each block; `None` where there are too few blocks, or a
/// run has too few operations for the percentile.
fn differences(
    a: &[Histogram],
    b: &[Histogram],
    design: &Design,
    percentile: f64,
) -> Option<Vec<f64>> {
    let of_unit = |runs: &[Histogram], members: &[usize]| -> Option<f64> {
        let logs = members.iter().map(|&index| {
            let value = runs[index].quantile_ns_if_enough(percentile / 100.0)?;
            (value > 0).then(|| (value as f64).ln())
        });
        let logs: Vec<f64> = logs.collect::<Option<_>>()?;
        Some(logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let blocks = judged_blocks(design);
    if blocks.len() < FEWEST_BLOCKS as usize {
        return None;
    }
    let difference = |block: &Block| Some(of_unit(b, &block.b)? - of_unit(a, &block.a)?);
    blocks.iter().map(difference).collect()
}
