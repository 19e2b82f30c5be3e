//! How figures went over time: where their level changed, and by how much.

pub mod divisive;
