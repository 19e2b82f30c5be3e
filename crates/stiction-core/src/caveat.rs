//! Reasons to doubt a number, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a number is really about: the word that stands before it in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The device moved what was asked, and nothing else was the bound.
    Disk,
    /// Memory answered: the page cache, or a filesystem that lives in memory.
    Cache,
    /// A set ceiling answered: a cgroup limit, a provider's cap, a token bucket.
    Limiter,
    /// The CPU was the bound.
    Cpu,
    /// The witnesses are missing or disagree.
    Unknown,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Disk => "disk",
            Self::Cache => "cache",
            Self::Limiter => "limiter",
            Self::Cpu => "cpu",
            Self::Unknown => "unknown",
        })
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $text:literal;)*) => {
        /// The kind of a [`Caveat`]; the text form is stable and documented.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum CaveatCode {
            $($(#[doc = $doc])* #[serde(rename = $text)] $variant,)*
        }

        impl CaveatCode {
            /// Every code, in documented order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The stable text form, such as `served-from-cache`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// One sentence on what the code means.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii()),* }
            }
        }
    };
}

codes! {
    /// The device moved less than was asked: memory answered the rest.
    ServedFromCache = "served-from-cache";
    /// Data was still in memory when the phase ended; its rate is not the device's.
    NotFlushed = "not-flushed";
    /// The device moved more than was asked.
    DeviceMovedMore = "device-moved-more";
    /// The load generator's CPU was saturated.
    ClientBound = "client-bound";
    /// The machine's CPUs were taken away by a hypervisor while the phase ran.
    CpuStolen = "cpu-stolen";
    /// The rate was still moving when the phase ended.
    NotSteady = "not-steady";
    /// The device or CPU slowed itself down because of heat.
    Throttled = "throttled";
    /// A set limit was the bound.
    Limiter = "limiter";
    /// Blocks were read that were never written.
    HolesRead = "holes-read";
    /// The data can be compressed, so a compressing layer may have moved less.
    Compressible = "compressible";
    /// O_DIRECT was asked for and refused.
    DirectRefused = "direct-refused";
    /// O_DIRECT was granted, but the page cache was used all the same.
    DirectNotEffective = "direct-not-effective";
    /// The wanted I/O engine could not be had; another one ran.
    BackendReplaced = "backend-replaced";
    /// The caches could not be dropped, or were not empty after dropping.
    CacheNotDropped = "cache-not-dropped";
    /// A setting that was asked for was not in force.
    FactorNotApplied = "factor-not-applied";
    /// Too few operations for the figure.
    TooFewSamples = "too-few-samples";
    /// The phase was too short for its rate to mean much.
    TooShort = "too-short";
    /// An operation took more than 2 s, and a hundred times as long as half of them.
    LongStall = "long-stall";
    /// Other I/O reached the device while the phase ran.
    OtherIo = "other-io";
    /// The machine had other work to do when the trial began, or was about to.
    NotQuiet = "not-quiet";
    /// A canary run near it did not come to what the others did: the machine changed.
    Suspect = "suspect";
    /// Files that were to be in the page cache were not, or not whole.
    CacheNotFilled = "cache-not-filled";
    /// Fewer bytes than planned: space, a limit or an error ended the phase early.
    EndedEarly = "ended-early";
    /// The user interrupted the phase.
    Interrupted = "interrupted";
    /// Operations could not begin as fast as was asked: what is seen is an overload.
    RateMissed = "rate-missed";
    /// Operations failed, and the workers went on as they were to.
    OperationsFailed = "operations-failed";
    /// Reads did not return what had been written.
    DataMismatch = "data-mismatch";
    /// Other jobs ran at the same time, and what the witnesses saw is of all of them.
    SharedWitness = "shared-witness";
    /// What the job file asks for does not mean what it seems to.
    JobFile = "job-file";
    /// A witness could not be had, so the number is not checked against it.
    WitnessMissing = "witness-missing";
    /// Several runs were added up where a mean was meant.
    SummedOverRuns = "summed-over-runs";
    /// Each row includes the rows before it.
    CumulativeRows = "cumulative-rows";
    /// The printed figure was cut or overflowed its column.
    DigitsLost = "digits-lost";
    /// The CPU share counts every thread's work once per thread.
    CpuCountedPerThread = "cpu-counted-per-thread";
    /// A single run: nothing is known of the spread.
    SingleRun = "single-run";
    /// The runs of one configuration followed each other; drift looks like a difference.
    NotInterleaved = "not-interleaved";
    /// The wall-clock time is coarse or may have been stepped.
    CoarseClock = "coarse-clock";
    /// An imported text or a journal had lines that could not be read.
    PartlyRead = "partly-read";
    /// All that was read lay in memory, and the workers waited all the same.
    TesterSlept = "tester-slept";
    /// A figure contradicts another figure of the same row.
    Inconsistent = "inconsistent";
}

impl fmt::Display for CaveatCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A reason to doubt a number, with what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// The kind of doubt.
    pub code: CaveatCode,
    /// What was seen, in one sentence with figures, without a final full stop.
    pub detail: String,
}

impl Caveat {
    /// A caveat.
    #[must_use]
    pub fn new(code: CaveatCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CaveatCode;

    #[test]
    fn codes_read_back_as_they_are_written() {
        for &code in CaveatCode::ALL {
            let text = serde_json::to_string(&code).unwrap();
            assert_eq!(text, format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<CaveatCode>(&text).unwrap(), code);
            assert!(code.meaning().ends_with('.'), "{code}");
        }
    }
}
