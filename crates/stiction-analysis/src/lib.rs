//! Numbers to judgements: doubts, comparisons, decompositions, verdicts.
//!
//! Pure functions over stored records. Nothing here measures, reads a file, asks
//! for the time or prints; the same session always gives the same judgement.
//!
//! - [`doubt`]: what a number is about, by its witnesses, and what speaks against it.
//! - [`compare`]: two sides, cell by cell, with a [`Verdict`] for each metric.
//! - [`decompose`]: where the time went: CPU or waiting.
//! - [`noise`]: how far runs of one configuration lie apart.
//! - [`percent`]: the percent-from-baseline tables of 2003.
//! - [`fairness`]: how evenly workers were served.

pub mod doubt;
