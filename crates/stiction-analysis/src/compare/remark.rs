//! What a reader should know of a row beside its verdict.

/// Something about the numbers of a row that does not change its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Which kind.
    pub code: RemarkCode,
    /// What it is, in a sentence without a full stop.
    pub text: String,
}

/// The kinds of remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RemarkCode {
    /// Runs became faster or slower with time; blocks absorb it.
    Drift,
    /// Runs lie about two values: no single number describes them.
    Modes,
    /// A run lies far from the others; it was not dropped.
    Outlier,
    /// Too few operations stand behind a percentile to judge by it.
    TooFewOperations,
    /// The smallest effect of interest is smaller than the noise: SAME cannot be
    /// reached with so many blocks.
    BelowNoise,
    /// Blocks that lack a side were left out.
    Unfinished,
    /// The runs were not interleaved, and judged because the user accepted that.
    NotInterleaved,
    /// The numbers are real but the difference is smaller than anyone asked about.
    RealButSmall,
}

impl RemarkCode {
    /// The code as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drift => "drift",
            Self::Modes => "modes",
            Self::Outlier => "outlier",
            Self::TooFewOperations => "too-few-operations",
            Self::BelowNoise => "below-noise",
            Self::Unfinished => "unfinished-block",
            Self::NotInterleaved => "not-interleaved",
            Self::RealButSmall => "real-but-small",
        }
    }
}
