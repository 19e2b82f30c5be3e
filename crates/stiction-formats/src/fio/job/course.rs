//! How a job goes: phases, chance, rates, pauses, limits, errors.

use serde::{Deserialize, Serialize};

use super::super::units::{Amount, Nanoseconds};
use super::PerDirection;
use super::plain::usual;
use super::plain::{data, words};

data! {
    /// When a job starts and what its end ends.
    #[derive(Default)]
    pub struct Phase {
        /// Which reporting group it belongs to, from 0.
        pub group: u32,
        /// It starts when all jobs before it have ended.
        #[serde(default, skip_serializing_if = "usual")]
        pub after_all: bool,
        /// It starts when the job of this name has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
        /// Least and most delay before the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub delay: Option<(Nanoseconds, Nanoseconds)>,
        /// What its end ends.
        #[serde(default, skip_serializing_if = "usual")]
        pub end_ends: EndEnds,
        /// Whether an error in it ends all jobs.
        #[serde(default, skip_serializing_if = "usual")]
        pub error_ends_all: bool,
    }

    /// Chance.
    pub struct Chance {
        /// Seed as given; `None`: the tool's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seed: Option<u64>,
        /// Whether every run makes the same choices.
        pub repeat: bool,
        /// Whether blocks repeat before all had their turn.
        pub coverage: Coverage,
        /// How offsets are spread.
        #[serde(default, skip_serializing_if = "usual")]
        pub distribution: PerDirection<Distribution>,
    }

    /// How offsets are spread.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Distribution {
        /// Evenly.
        #[default]
        Even,
        /// Zipf's law.
        Zipf {
            /// Exponent, above 0, not 1.
            theta: f64,
            /// Where the hottest block lies, 0 to 1 of the region; `None`: hashed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// Pareto's.
        Pareto {
            /// Between 0 and 1: 0.2 sends 80 % to 20 %.
            power: f64,
            /// Where the hottest block lies, 0 to 1 of the region; `None`: hashed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// The bell curve, around the middle.
        Normal {
            /// Deviation, percent of the region.
            deviation_percent: f64,
            /// Where the middle lies, 0 to 1 of the region; `None`: at a half.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// By zones, one after another.
        Zoned(Vec<Zone>),
    }

    /// A part of the region and its share of the operations.
    #[derive(Copy)]
    pub struct Zone {
        /// Percent of the operations.
        pub access_percent: f64,
        /// How long it is.
        pub size: Amount,
    }

    /// What is asked of rates, for each clone.
    #[derive(Copy, Eq, Default)]
    pub struct Rate {
        /// Bytes a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub bytes_per_second: PerDirection<Option<u64>>,
        /// Operations a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub operations_per_second: PerDirection<Option<u64>>,
        /// It ends as failed below so many bytes a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub least_bytes_per_second: PerDirection<Option<u64>>,
        /// It ends as failed below so many operations a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub least_operations_per_second: PerDirection<Option<u64>>,
        /// Window in which the least is checked; `None`: 1 s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<Nanoseconds>,
        /// How arrivals are spaced.
        #[serde(default, skip_serializing_if = "usual")]
        pub arrivals: Arrivals,
        /// Pauses are made up for.
        #[serde(default, skip_serializing_if = "usual")]
        pub ignores_think: bool,
    }

    /// Pauses.
    #[derive(Copy, Eq)]
    pub struct Think {
        /// Length.
        pub pause: Nanoseconds,
        /// How much of it is spent spinning.
        #[serde(default, skip_serializing_if = "usual")]
        pub spin: Nanoseconds,
        /// Operations between pauses, 1 or more.
        pub every_operations: u64,
        /// Operations count when issued, not when completed.
        #[serde(default, skip_serializing_if = "usual")]
        pub counts_issued: bool,
        /// Pause after so much time of I/O instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub every_time: Option<Nanoseconds>,
    }

    /// Limits of latency.
    #[derive(Copy, Default)]
    pub struct Latency {
        /// It ends as failed above this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub most: Option<Nanoseconds>,
        /// The depth is searched that keeps under this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Nanoseconds>,
        /// Time at each depth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<Nanoseconds>,
        /// Percent of the operations that must keep under it; `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub percent: Option<f64>,
        /// It goes on adjusting the depth after it was found.
        #[serde(default, skip_serializing_if = "usual")]
        pub keep_adjusting: bool,
    }

    /// When a job is steady, and ends.
    #[derive(Copy)]
    pub struct Steady {
        /// Of what.
        pub of: SteadyOf,
        /// The slope is judged instead of the deviation from the mean.
        pub by_slope: bool,
        /// The limit: percent of the mean if `in_percent`, else operations or KiB a
        /// second (and that a second, for a slope).
        pub limit: f64,
        /// How the limit counts.
        pub in_percent: bool,
        /// Length that must be steady.
        pub window: Nanoseconds,
        /// Not looked at before.
        pub ramp: Nanoseconds,
        /// Time between samples.
        pub sample: Nanoseconds,
    }

    /// What happens after an error.
    #[derive(Eq, Default)]
    pub struct Errors {
        /// After which it goes on.
        #[serde(default, skip_serializing_if = "usual")]
        pub go_on_after: GoOnAfter,
        /// Errors that do not count, as names or numbers, for reads, writes and verify.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub ignored: Vec<Vec<String>>,
    }
}

words! {
    /// Whether blocks repeat before all had their turn.
    pub enum Coverage {
        /// Each block once a pass.
        #[default]
        EachOnce,
        /// Any block at any time.
        Independent,
    }

    /// What the end of a job ends.
    pub enum EndEnds {
        /// Itself.
        #[default]
        Itself,
        /// The jobs of its group.
        Group,
        /// All jobs that run, then the next phase.
        Running,
        /// Everything.
        All,
    }

    /// How arrivals are spaced.
    pub enum Arrivals {
        /// Evenly.
        #[default]
        Even,
        /// By Poisson's process.
        Poisson,
    }

    /// Errors after which a job goes on.
    pub enum GoOnAfter {
        /// None.
        #[default]
        None,
        /// Of reads.
        Read,
        /// Of writes.
        Write,
        /// Of I/O.
        Io,
        /// Of verify.
        Verify,
        /// All.
        All,
    }

    /// What is steady.
    pub enum SteadyOf {
        /// Operations a second.
        #[default]
        Operations,
        /// Bytes a second.
        Bandwidth,
        /// Latency.
        Latency,
    }
}
