//! What is written, and whether it is what is read.

mod mismatch;

pub use mismatch::{MISMATCHES_KEPT, Mismatch, MismatchKind};
