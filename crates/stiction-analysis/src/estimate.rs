//! Estimates of a difference: from blocks of one run a side, or from two sides whose
//! runs belong to no blocks.
//!
//! In blocks, all work is on d = ln(b / a) of each, signed so that more is better. The
//! order inside each block is random, so without an effect every pattern of signs is
//! equally likely: the tests need no other assumption.

pub mod max_t;
pub mod plan;
pub mod rank_sum;
pub mod signed_rank;
