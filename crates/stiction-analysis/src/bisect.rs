//! Which commit changed a benchmark, when the benchmark is noisy.
//!
//! All work is on differences *toward the change*: ln(candidate / reference) of one
//! block, signed so that it is positive where the candidate is more like BAD than the
//! reference, which is GOOD. A commit before the change has differences about 0, one
//! from the change on has differences about the step; both come with the noise of a
//! block.
//!
//! - [`Model`]: how likely differences are on either level, when the step and the
//!   noise are known only from the blocks of the two ends.
//! - [`probe`]: one commit, judged by a sequential test, for `git bisect run`.
//! - [`Posterior`]: all commits at once, and which of them to measure next.
//! - [`Course`]: the whole search, from what happened to what is to be done next.
//! - [`simulate()`]: searches in histories of which the culprit is known.

mod bracket;
mod course;
mod ends;
mod information;
mod model;
mod posterior;
pub mod probe;
mod simulate;

pub use bracket::{Bracket, Confirmation};
pub use course::{Aim, CONFIDENT, Course, END_BLOCKS, Found, Hunt, Next};
pub use ends::Ends;
pub use model::{Model, Step, Total};
pub use posterior::{Group, Posterior};
pub use simulate::{ExpectedCost, Method, Scenario, Simulated, expected_cost, simulate};
