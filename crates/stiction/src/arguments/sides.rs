//! Which sides are compared, and how they are judged: what `compare` and `gate` share.

use std::ffi::OsString;

use stiction_analysis::Effects;

use super::effects::effects;

/// How sides are named, for the help of the commands that take them.
pub(super) const NAMING: &str = "\
A side is a session (its id, a beginning of it, its last four characters, its
label), all sessions of one label, a part of a session (k3f9/2.5.59), several of
these (k3f9,m2p7), every label that a pattern fits ('nightly-*'), or a file of
tables. The first side is the baseline: a change is relative to it.";

/// Which sides, and how they are judged
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SidesArguments {
    /// The baseline and candidates; or one session or file and labels inside it
    #[arg(value_name = "WHAT", required = true)]
    pub(crate) operands: Vec<OsString>,
    /// Take the sessions that `stiction baseline set` named as the baseline; all
    /// operands are candidates
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// What the comparison is about, such as kernel: the sides may then differ in
    /// nothing else. With one session: the factor whose levels are the sides
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<String>,
    /// Let the sides differ in KEY, or what begins so, too
    #[arg(long, value_name = "KEY")]
    pub(crate) allow: Vec<String>,
    /// Make a side of each level of FACTOR, over all sessions given: kernel,
    /// filesystem, host, label, or any factor of their cells
    #[arg(long = "col", value_name = "FACTOR", conflicts_with = "baseline")]
    pub(crate) column: Option<String>,
    /// Make a row of each level of FACTOR, and a table of each combination of others
    #[arg(long, value_name = "FACTOR")]
    pub(crate) row: Option<String>,
    /// Smallest effects of interest by class: throughput, latency, tail, extreme, cpu,
    /// cpu-points
    #[arg(long, value_name = "CLASS=PERCENT,...", value_parser = effects)]
    pub(crate) mei: Option<Effects>,
    /// Judge runs that were not interleaved, too; drift then looks like a difference
    #[arg(long)]
    pub(crate) accept_batched: bool,
    /// Seed of the sign patterns that are drawn where there are too many to try all
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
}
