//! Counts every operation by its latency, by direction and by interval.
//!
//! Each worker has its own [`Track`] for each direction: a live array of counts,
//! which an interval's end packs into memory that was set aside before the start.

mod buckets;
mod merge;
mod packed;
mod track;

pub(crate) use merge::{Merged, merge};
pub(crate) use packed::Series;
pub(crate) use track::Track;
