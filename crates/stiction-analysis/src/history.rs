//! How figures went over time: where their level changed, by how much, and whether the
//! newest point is as expected.
//!
//! ```text
//! sessions --series--> one figure, one place, a point for each boot
//!          --course--> stretches at one level, changes between them, a state
//! ```
//!
//! A new point that lies where it was not to is flagged at once. That the level changed is
//! said when three points are at the new one, provisionally, and from five on for good.

mod around;
mod clock;
mod course;
pub mod divisive;
mod key;
mod prediction;
mod rerun;
mod series;
mod shift;

pub use around::{Around, around};
pub use clock::clock_doubts;
pub use course::{
    Course, CourseOptions, Flag, LevelChange, SeriesCut, State, Stretch, course, is_judged,
};
pub use key::{Context, Key};
pub use rerun::{Rerun, Setting, rerun};
pub use series::{Point, PointUnit, Series, SeriesOptions, series};
