//! Reports of what began as ext3-tools and the disk tests of 2002: write-and-fsync,
//! time-read, parallel, pagecache, ladder and tree-move.

mod disk_test;
mod files;
mod ladder;
mod pagecache;
mod parallel;
pub(crate) mod rows;
mod times;
mod tree_move;

pub(crate) use rows::{begin, end, median};

pub use disk_test::{block_lines, disk_test};
pub use files::{millisecond_histogram, time_read, write_and_fsync};
pub use ladder::ladder;
pub use pagecache::pagecache;
pub use parallel::parallel;
pub use times::{TimeLayout, times};
pub use tree_move::{tree_move, tree_move_times};
