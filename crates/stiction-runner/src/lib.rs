//! Turns a plan into a session: environment, order, journal, and an end for every trial.
//!
//! [`run_study`] is the whole of it: trials of one workload, or of several configurations
//! in blocks; [`run_session`] is its simple case. Whoever watches the run, be it a live
//! view or nobody, is told of it in [`RunEvent`]s and cannot change its course but by the
//! stop flag, and by deciding after a block whether there is another.

pub mod bisect;
pub mod blocks;
mod error;
mod events;
mod foresight;
mod ground;
mod hooks;
mod preparing;
mod resume;
mod run;
mod settings;
mod study;
mod trial;

pub use error::RunnerError;
pub use events::{RunEvent, RunEvents};
pub use foresight::foresee;
pub use preparing::estimate_preparation;
pub use run::{Ran, resume_study, run_session, run_study};
pub use settings::RunSettings;
pub use study::{Configuration, Study, plan_study};
