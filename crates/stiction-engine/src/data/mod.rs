//! What is written, and whether it is what is read.

mod check;
mod chunk;
mod findings;
mod ledger;
mod ledger_files;
mod mismatch;
mod payload;
mod random;
mod shape;
mod stamp;
mod stamps;

pub(crate) use findings::Findings;
pub use findings::{Checked, MISMATCHES_KEPT};
pub use ledger::{Ledger, Survived, remove_ledger};
pub use mismatch::{Mismatch, MismatchKind};
pub(crate) use payload::{Payload, keeps_data};
pub(crate) use stamp::STAMPED_BYTES_MIN;
