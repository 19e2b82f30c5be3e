//! contest: a compile timed while one load runs beside it. Its logs, and the
//! tables made of them.

mod loads;
mod log;
mod table;

pub(crate) use log::read as read_log;
pub(crate) use table::read as read_tables;
