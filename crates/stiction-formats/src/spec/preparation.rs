//! The table `[preparation]`: what is done before trials.

use schemars::JsonSchema;
use serde::Deserialize;

/// `true` for the usual, `false` for nothing, or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is neither true, false nor a value")]
pub enum Asked<T> {
    /// Whether it is asked for.
    Switch(bool),
    /// How it is asked for.
    Value(T),
}

impl<T: Clone> Asked<T> {
    /// As an option whose value may be left out is typed: not at all, alone, or with it.
    #[must_use]
    pub fn option(&self) -> Option<Option<T>> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) => Some(None),
            Self::Value(value) => Some(Some(value.clone())),
        }
    }
}

/// What is done before trials; all of it may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecPreparation {
    /// Writing until the rate is steady, or how much of the target: `4GiB`.
    pub precondition: Option<Asked<String>>,
    /// How long that may take: `10m`.
    pub precondition_max: Option<String>,
    /// How much may be overwritten for it: `64GiB`.
    pub precondition_max_bytes: Option<String>,
    /// Whether unused blocks are given back first.
    #[serde(default)]
    pub purge: bool,
    /// `cold`, `warm` or `as-is`: files before each measured phase.
    pub cache: Option<String>,
    /// Waiting for the device to be idle, or for how long at most: `30s`.
    pub settle: Option<Asked<String>>,
    /// `warn`, `wait`, `refuse` or `ignore`: what is done about what would spoil a trial.
    pub spoilers: Option<String>,
    /// The same short run again and again, or after how many blocks.
    pub canary: Option<Asked<u32>>,
}
