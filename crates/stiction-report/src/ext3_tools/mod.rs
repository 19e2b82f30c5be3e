//! Reports of what began as ext3-tools and the disk tests of 2002: write-and-fsync,
//! time-read, parallel, pagecache, ladder and tree-move.

mod files;
mod rows;
mod times;

pub use files::{millisecond_histogram, time_read, write_and_fsync};
pub use times::{TimeLayout, times};
