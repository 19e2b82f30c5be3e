//! What is shown, logged and replayed.

use serde::{Deserialize, Serialize};

use super::super::units::{Bytes, Nanoseconds};
use super::plain::usual;
use super::plain::{data, words};

data! {
    /// What is reported together.
    #[derive(Default)]
    pub struct Report {
        /// One summary for the group.
        #[serde(default, skip_serializing_if = "usual")]
        pub by_group: bool,
        /// Directions together.
        #[serde(default, skip_serializing_if = "usual")]
        pub directions: Directions,
        /// Percentiles shown; empty: the usual ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub percentiles: Vec<f64>,
        /// Percentiles of completion latency are not asked for.
        #[serde(default, skip_serializing_if = "usual")]
        pub without_completion: bool,
        /// Percentiles of total latency are asked for.
        #[serde(default, skip_serializing_if = "usual")]
        pub with_total: bool,
        /// Percentiles of submission latency are asked for.
        #[serde(default, skip_serializing_if = "usual")]
        pub with_submission: bool,
    }

    /// Logs over time, by the prefix of their files; empty text: the job's name.
    #[derive(Eq, Default)]
    pub struct Series {
        /// Bandwidth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bandwidth: Option<String>,
        /// Latency.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub latency: Option<String>,
        /// Operations a second.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub operations: Option<String>,
        /// Histograms.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub histogram: Option<String>,
        /// Interval; `None`: fio would write a line for every operation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub interval: Option<Nanoseconds>,
        /// Interval of histograms.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub histogram_interval: Option<Nanoseconds>,
        /// What stands for an interval.
        #[serde(default, skip_serializing_if = "usual")]
        pub value: WindowValue,
        /// Time counts from the Unix epoch, not from the start.
        #[serde(default, skip_serializing_if = "usual")]
        pub unix_time: bool,
    }

    /// Traces.
    #[derive(Eq)]
    pub struct Replay {
        /// Offsets and times come from these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<String>,
        /// Operations are written here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub to: Option<String>,
        /// As fast as possible.
        #[serde(default, skip_serializing_if = "usual")]
        pub without_waits: bool,
        /// All onto this device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub onto: Option<String>,
        /// Offsets are divided by this; 1 or more.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub offset_divisor: u64,
        /// Offsets are aligned to this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub align: Option<Bytes>,
        /// Percent of the speed of the trace; 100 is its own.
        #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
        pub speed_percent: u64,
        /// Kinds left out: read, write, trim, sync.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub without: Vec<String>,
    }
}

words! {
    /// Directions in the summary.
    pub enum Directions {
        /// Each.
        #[default]
        Apart,
        /// Together.
        Mixed,
        /// Each, and together.
        Both,
    }

    /// What stands for an interval in a log.
    pub enum WindowValue {
        /// Its mean.
        #[default]
        Mean,
        /// Its highest.
        Most,
        /// Both.
        Both,
    }
}

fn one() -> u64 {
    1
}

fn is_one(value: &u64) -> bool {
    *value == 1
}

fn hundred() -> u64 {
    100
}

fn is_hundred(value: &u64) -> bool {
    *value == 100
}
