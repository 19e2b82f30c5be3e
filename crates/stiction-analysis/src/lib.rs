//! Numbers to judgements: doubts, comparisons, decompositions, verdicts.
//!
//! Pure functions over stored records. Nothing here measures, reads a file, asks
//! for the time or prints; the same session always gives the same judgement.
//!
//! - [`doubt`]: what a number is about, by its witnesses, and what speaks against it.
//! - [`calibration`]: a configuration against itself.
//! - [`compare`]: two sides, cell by cell, with a [`Verdict`] on each metric.
//! - [`bisect`]: which commit changed a noisy benchmark.
//! - [`curve`]: how latency grows with the rate, where it breaks, and the knee.
//! - [`cut`]: the figures of another part of what was recorded.
//! - [`decompose`]: where the time went: CPU, or waiting.
//! - [`mixed`]: reads and writes of a phase that did both, apart.
//! - [`noise`]: how far runs of one configuration lie apart.
//! - [`percent`]: the percent-from-baseline tables of 2003.
//! - [`slowdown`]: how long one thing takes over another, with its interval.
//! - [`steady`]: when a rate had become steady, and what of it is warm-up.
//! - [`explain`]: what moved together with a difference, and the run that would prove it.
//! - [`tail`]: whether slow operations were slow on the device.
//! - [`estimate`]: differences, intervals and p-values, exactly.
//! - [`selftest`]: the rules held against worlds of which the truth is known.
//! - [`history`]: how figures went over time, and where their level changed.

pub mod bisect;
pub mod calibration;
pub mod canary;
mod change;
pub mod compare;
pub mod curve;
pub mod cut;
pub mod decompose;
pub mod doubt;
mod draws;
pub mod estimate;
pub mod explain;
pub mod history;
pub mod mixed;
pub mod noise;
pub mod percent;
pub mod selftest;
pub mod slowdown;
pub mod steady;
pub mod tail;
mod verdict;

pub use verdict::{Effects, Outcome, Strictness, Verdict};

/// Why a judgement cannot be asked for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AnalysisError {
    /// No factor of the session has such a level.
    #[error("nothing in the session is labelled `{label}`; it has {}", list(known))]
    NoSuchLabel {
        /// What was asked for.
        label: String,
        /// The labels there are, as `factor=level`.
        known: Vec<String>,
    },
    /// The session has no such factor, or one level of it alone.
    #[error(
        "`{factor}` has not several levels in the session; it has {}",
        list(known)
    )]
    NoFactor {
        /// What was asked for.
        factor: String,
        /// The levels there are, as `factor=level`.
        known: Vec<String>,
    },
    /// Several factors have such a level.
    #[error("`{label}` has several meanings; write one of {}", list(meanings))]
    AmbiguousLabel {
        /// What was asked for.
        label: String,
        /// The meanings, as `factor=level`.
        meanings: Vec<String>,
    },
}

/// Most labels that a message lists.
const MOST_LISTED: usize = 12;

fn list(labels: &[String]) -> String {
    match labels {
        [] => "no labels".to_owned(),
        _ if labels.len() <= MOST_LISTED => labels.join(", "),
        _ => {
            let shown = labels[..MOST_LISTED].join(", ");
            format!("{shown} and {} more", labels.len() - MOST_LISTED)
        }
    }
}
