//! What is written, and whether it is what is read.

mod check;
mod ledger;
mod mismatch;
mod random;
mod stamp;

pub use ledger::Ledger;
pub use mismatch::{MISMATCHES_KEPT, Mismatch, MismatchKind};
