//! Estimates of a difference: from blocks of one run a side, or from two sides whose
//! runs belong to no blocks.
//!
//! In blocks, all work is on d = ln(b / a) of each, signed so that more is better. The
//! order inside each block is random, so without an effect every pattern of signs is
//! equally likely: the tests need no other assumption.
//!
//! What is not finite decides nothing, anywhere: p-values are 1 then, estimates and
//! intervals `None`.
//!
//! - The difference: [`signed_rank`], [`rank_sum`], [`sign_flip`], [`student`], and
//!   [`equivalence`] to show that there is none worth speaking of.
//! - Many cells: [`max_t`] with blocks, [`correct`] without, [`geometric`] for one figure.
//! - One side: [`typical`], [`quantiles`], [`outliers`], [`trend`], [`modes`] and [`dip`].
//! - Whole distributions: [`shift`]. Derived figures: [`bootstrap`].
//! - Planning: [`plan`], [`power`], [`components`]; when to stop: [`looks`].

pub mod bootstrap;
pub mod components;
pub mod correct;
pub mod dip;
pub mod equivalence;
pub mod geometric;
pub mod looks;
pub mod max_t;
pub mod modes;
pub mod outliers;
pub mod plan;
pub mod power;
pub mod quantiles;
pub mod rank_sum;
pub mod shift;
pub mod sign_flip;
pub mod signed_rank;
pub mod student;
pub mod trend;
pub mod typical;

/// Whether all of `values` are finite; true of nothing.
fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}
