//! Reports of tiobench sessions: the classic layouts byte for byte, and our own.
//!
//! The classic layouts print what the programs printed, without the defects of how
//! they came to their values: rows are not cumulative, latencies of repeated runs
//! are means and not sums (unless asked for), directories are not merged, nothing
//! dies for want of a figure. A value that is not known, or is beyond all bounds
//! because no CPU time was seen, is a field of `#`, which readers of these tables
//! take for "overflow, unknown".

mod driver;
mod modern;
mod old;
mod perl;
mod posted;
mod room;
mod row;
mod tiotest;

pub use driver::{classic_0_3_3, classic_0_4};
pub use modern::modern;
pub use old::classic_old;
pub use posted::posted;
pub use tiotest::{TiotestOptions, tiotest_terse, tiotest_verbose};

/// How latencies of a cell that ran several times are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latencies {
    /// Means over all operations, and the largest maximum.
    #[default]
    Averaged,
    /// Averages, maxima and percentages added up over the runs, as tiobench 0.3.3
    /// did; the report says so in its first line.
    SummedAsWas,
}

/// Which of the two faces of the 0.3.3 report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heads {
    /// Column heads over each section, as with the Perl of its time.
    #[default]
    Printed,
    /// None at all, as newer Perls print it.
    Missing,
}

/// Choices in the classic reports.
#[derive(Clone, Debug, Default)]
pub struct ClassicOptions {
    /// First column; the kernel's release when `None`.
    pub identifier: Option<String>,
    /// How repeated runs are combined.
    pub latencies: Latencies,
    /// Whether the 0.3.3 report has its column heads; 0.4 always has them.
    pub heads: Heads,
}

/// The phases in the order in which the driver reports them: our name, its title.
const SECTIONS: [(&str, &str); 4] = [
    ("read", "Sequential Reads"),
    ("random_read", "Random Reads"),
    ("write", "Sequential Writes"),
    ("random_write", "Random Writes"),
];
