//! Measuring the versions of a git repository against each other, for a search for the
//! commit that changed a benchmark.
//!
//! - [`Repository`]: the user's repository, which is only ever read.
//! - [`Laboratory`]: builds versions in clones of our own, and runs blocks of two of
//!   them as an ordinary session.
//!
//! What is to be measured next, and what it means, is decided elsewhere.

mod build;
mod error;
mod git;
mod laboratory;
mod workshop;

pub use error::BisectError;
pub use git::Repository;
pub use laboratory::{Laboratory, Measured, WATCHED_BLOCKS_MAX, Watch};
