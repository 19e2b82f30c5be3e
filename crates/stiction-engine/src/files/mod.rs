//! The files that a worker works on.

mod append;
mod limits;
mod open;
mod reserve;
mod sync;
mod table;

pub use append::at_file_ends;
pub(crate) use limits::{open_at_once, problem};
pub use sync::{synced_writes, write_file_back};
pub(crate) use table::FileTable;
