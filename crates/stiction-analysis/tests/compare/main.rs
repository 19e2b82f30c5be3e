//! Comparisons: what is matched, what is refused and why, what blocks decide.

mod any_sessions;
mod blocks;
mod lay;
mod matching;
mod matrices;
mod noise;
mod refusals;
mod rules;
mod sessions;
mod several;
mod tails;
mod work;

use stiction_analysis::Verdict;
use stiction_analysis::compare::{CompareOptions, Comparison, Row, Side, compare};
use stiction_core::Session;

fn whole(a: &Session, b: &Session) -> Comparison {
    compare(&Side::whole(a), &Side::whole(b), &CompareOptions::default())
}

fn only_row(comparison: &Comparison) -> &Row {
    match &comparison.rows[..] {
        [row] => row,
        rows => panic!("{} rows: {rows:?}", rows.len()),
    }
}

fn reasons(comparison: &Comparison) -> &[String] {
    only_row(comparison)
        .verdict
        .as_ref()
        .map_or(&[], Verdict::reasons)
}
