//! What the user may say about a comparison.

use stiction_core::{MetricClass, Seed};

use crate::noise::Floor;
use crate::verdict::Effects;

/// What the user may say about a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// What the comparison is about: a factor such as `kernel`, or the beginning of a
    /// key of the environment. When it is named, sides that differ in anything else
    /// are not comparable; when it is not, the differences are listed.
    pub factor: Option<String>,
    /// Keys, or beginnings of keys, of the environment that may differ beside the
    /// factor. That they did is told.
    pub allow: Vec<String>,
    /// The smallest effects of interest.
    pub effects: Effects,
    /// The classes of metrics that are judged; none for all.
    pub classes: Vec<MetricClass>,
    /// Whether to judge runs that were not interleaved. Drift then looks like a
    /// difference, and the report says so.
    pub accept_batched: bool,
    /// What is kept at 5 % over all cells.
    pub control: Control,
    /// The factor whose levels make the rows of the tables.
    pub row: Option<String>,
    /// How far runs of one configuration were found apart by calibration.
    pub floors: Vec<Floor>,
    /// Seed of the sign patterns that are drawn where there are too many to try all.
    pub seed: Seed,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            factor: None,
            allow: Vec::new(),
            effects: Effects::default(),
            classes: Vec::new(),
            accept_batched: false,
            control: Control::AnyFalseAlarm,
            row: None,
            floors: Vec::new(),
            seed: Seed(1),
        }
    }
}

/// What is kept at 5 % over all cells that are judged together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Control {
    /// The chance of any false alarm: what a gate needs.
    #[default]
    AnyFalseAlarm,
    /// The share of false ones among those claimed, for looking around.
    ShareOfFalse,
}
