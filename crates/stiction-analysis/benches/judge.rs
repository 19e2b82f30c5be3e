//! How long a matrix of 60 cells and 20 blocks takes to judge: adjusted p-values with
//! joint sign flips, estimates with exact intervals, verdicts. At most a second.
//!
//! `cargo xtask bench judge`
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::process::ExitCode;
use std::time::Instant;

use stiction_analysis::compare::decide::{decide, family_p};
use stiction_core::{Better, Seed};

const CELLS: u64 = 60;
const BLOCKS: u64 = 20;
const ROUNDS: usize = 11;
/// What the design allows.
const LIMIT_MS: f64 = 1000.0;

fn main() -> ExitCode {
    let cells: Vec<Vec<f64>> = (0..CELLS).map(cell).collect();
    let family: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
    let mut times_ms: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            let start = Instant::now();
            let adjusted = family_p(&family, Seed(round as u64));
            let decided = cells.iter().zip(adjusted);
            let verdicts = decided.filter_map(|(cell, p)| decide(cell, Better::More, 0.03, p));
            assert_eq!(std::hint::black_box(verdicts.count()), cells.len());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times_ms.sort_by(f64::total_cmp);
    let (best, median) = (times_ms[0], times_ms[ROUNDS / 2]);
    println!(
        "{CELLS} cells x {BLOCKS} blocks: {best:.2} ms at best, {median:.2} ms in the median of \
         {ROUNDS}; the limit is {LIMIT_MS:.0} ms"
    );
    if median > LIMIT_MS {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Differences within 6 % of each other, and one cell in four with an effect of 4 %.
fn cell(cell: u64) -> Vec<f64> {
    let effect = if cell.is_multiple_of(4) { -0.04 } else { 0.0 };
    let draw = |block| Seed(cell).stream(block).0 as f64 / u64::MAX as f64 - 0.5;
    (0..BLOCKS)
        .map(|block| effect + 0.06 * draw(block))
        .collect()
}
