//! Turns a plan into a session: environment, order, journal, and an end for every trial.
//!
//! [`run_session`] is the whole of it. Whoever watches the run, be it a live view or
//! nobody, is told of it in [`RunEvent`]s and cannot change its course but by the
//! stop flag.

mod error;
mod events;
mod run;
mod settings;
mod trial;

pub use error::RunnerError;
pub use events::{RunEvent, RunEvents};
pub use run::{Ran, run_session};
pub use settings::RunSettings;
