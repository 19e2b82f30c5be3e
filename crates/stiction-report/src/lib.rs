//! Judgements to text. Pure: sessions and what the analysis found in them go in,
//! strings come out.
//!
//! Every report but the classic tiobench tables fits 80 columns, is ASCII, and
//! ends with the answer.

mod doubts;
mod figure;
mod judged;
mod outcome;
mod page;
mod quick;
mod stack;
mod text;
pub mod tiobench;

pub use judged::Judged;
pub use page::Style;
pub use quick::quick;
pub use stack::stack_line;
pub use text::WIDTH;
