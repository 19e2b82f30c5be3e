//! What is done before trials: blocks given back, ranges written until steady, files
//! brought into or out of the page cache, and the short runs that watch the machine.

mod cache;
mod canary;
mod precondition;
mod purge;

pub(crate) use cache::{bring_all_below, bring_into_state, dropped};
pub use canary::CanaryRun;
pub use precondition::precondition;
pub use purge::purge_device;
