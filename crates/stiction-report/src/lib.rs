//! Judgements to text. Pure: sessions and what the analysis found in them go in,
//! strings come out.
//!
//! Every report but the classic tiobench tables fits 80 columns, is ASCII, and
//! ends with the answer.

mod outcome;
mod text;
pub mod tiobench;

pub use text::WIDTH;
