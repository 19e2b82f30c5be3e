//! The files that a worker works on.

mod limits;
mod open;
mod sync;
mod table;

pub(crate) use limits::{open_at_once, problem};
pub(crate) use table::FileTable;
