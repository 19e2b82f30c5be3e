//! Arguments of `stiction gate`.

use std::path::PathBuf;

use clap::ValueEnum;
use stiction_core::MetricClass;

use super::shown::ShownArguments;
use super::sides::{NAMING, SidesArguments};

const EXAMPLES: &str = "\
Examples:
  stiction gate before after        Ends with 1 when something became worse
  stiction gate --baseline 6.9 tonight --strict
                                    Nothing less than certainty passes
  stiction gate before after --class throughput --mei throughput=2%
                                    Rates alone, by a margin of their own
  stiction gate before after --junit results.xml
                                    For a CI system that shows test cases

";

/// Exit 0 without a regression, 1 with one, 3 where it cannot be told
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}{NAMING}"))]
pub(crate) struct GateArguments {
    #[command(flatten)]
    pub(crate) sides: SidesArguments,
    /// Only these classes of metrics
    #[arg(
        long = "class",
        value_enum,
        value_name = "CLASS",
        value_delimiter = ','
    )]
    pub(crate) classes: Vec<ClassWord>,
    /// Let nothing pass that could not be told: exit 1 for it
    #[arg(long)]
    pub(crate) strict: bool,
    /// Let what could not be told or compared pass: exit 0 for it, and say so
    #[arg(long, conflicts_with = "strict")]
    pub(crate) lenient: bool,
    /// Write JUnit XML for a CI system into this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
}

/// A class of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassWord {
    /// Rates, and times of a fixed amount of work
    Throughput,
    /// Mean and median latencies
    Latency,
    /// p90 to p99.9
    Tail,
    /// Maxima and what lies beyond p99.9; needs --mei extreme=PERCENT
    Extreme,
    /// CPU time
    Cpu,
}

impl From<ClassWord> for MetricClass {
    fn from(word: ClassWord) -> Self {
        match word {
            ClassWord::Throughput => Self::Throughput,
            ClassWord::Latency => Self::LatencyMean,
            ClassWord::Tail => Self::LatencyTail,
            ClassWord::Extreme => Self::LatencyExtreme,
            ClassWord::Cpu => Self::Cpu,
        }
    }
}
