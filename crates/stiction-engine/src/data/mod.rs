//! What is written, and whether it is what is read.

mod check;
mod ledger;
mod mismatch;
mod payload;
mod random;
mod shape;
mod stamp;

pub use ledger::Ledger;
pub use mismatch::{MISMATCHES_KEPT, Mismatch, MismatchKind};
pub(crate) use payload::Payload;
pub(crate) use stamp::STAMPED_BYTES_MIN;
