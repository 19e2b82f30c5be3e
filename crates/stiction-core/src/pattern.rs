//! What a stream of I/O does at each step: which way, where, and how much.

use serde::{Deserialize, Serialize};

/// Parts per million that make a whole.
pub const PPM_WHOLE: u32 = 1_000_000;

/// The order in which a worker visits the blocks of its region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// From the first block to the last, then again from the first. In a mix, each
    /// way has its own place in the order.
    #[default]
    Sequential,
    /// Every block exactly once a pass, in random order.
    RandomPermutation,
    /// Every block equally likely each time, whatever came before; or as a
    /// [`Skew`] has it.
    RandomIndependent,
}

/// What is done at each offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Reads only.
    #[default]
    Read,
    /// Writes only.
    Write,
    /// Trims only: a hole is punched into a file, and a device is told to discard.
    Trim,
    /// Trims, and a write of each trimmed block when its trim is done. What limits the
    /// work counts the two as one.
    TrimWrite,
    /// Reads and writes in one stream, in random turns.
    Mixed {
        /// How many of a hundred operations are reads, 0 to 100.
        reads_percent: u8,
    },
}

impl Action {
    /// Whether any of it reads.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Mixed { .. })
    }

    /// Whether any of it writes.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::TrimWrite | Self::Mixed { .. })
    }

    /// Whether any of it trims.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }

    /// Whether it takes away what is there: writes and trims.
    #[must_use]
    pub fn changes(self) -> bool {
        self != Self::Read
    }
}

/// How many of a hundred operations jump to a random place, by their way; each of the
/// others goes on where the last one of its way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JumpPercent {
    /// Of reads, 0 to 100.
    pub read: u8,
    /// Of writes, 0 to 100.
    pub write: u8,
    /// Of trims, 0 to 100.
    pub trim: u8,
}

/// Which blocks [`Access::RandomIndependent`] prefers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Skew {
    /// How unequal blocks are.
    pub shape: SkewShape,
    /// Whether preferred blocks are spread over the region, as in fio; otherwise
    /// they lie side by side, from the front on (in the middle for
    /// [`SkewShape::Normal`]).
    pub scattered: bool,
}

/// How likely each block is. Shares are in parts per million.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkewShape {
    /// The k-th block, from 1, is as likely as 1 / k^exponent.
    Zipf {
        /// The exponent in millionths: 1,200,000 for 1.2. Above 0, at most 10.
        exponent_ppm: u32,
    },
    /// The first `hot_ppm` of the blocks take all operations but `hot_ppm`, and so
    /// on within them: at 200,000, 20 % of the blocks take 80 % of the operations
    /// (Gray and others, "Quickly generating billion-record synthetic databases",
    /// SIGMOD 1994, section 3.4: self-similar). fio calls it `pareto`.
    SelfSimilar {
        /// Above 0, below 500,000.
        hot_ppm: u32,
    },
    /// A normal distribution around the middle of the region, cut off at its ends.
    Normal {
        /// Standard deviation, as a share of the region; above 0, at most 1,000,000.
        deviation_ppm: u32,
    },
    /// Parts of the region, in order from its start, each with its share of the
    /// operations; blocks of a part are equally likely.
    Zoned(Vec<Zone>),
}

/// A part of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Zone {
    /// Its share of the operations; those of all zones add up to 1,000,000.
    pub operations_ppm: u32,
    /// Its share of the region; those of all zones add up to 1,000,000.
    pub region_ppm: u32,
}

/// Places that [`Access::Sequential`] leaves out, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stride {
    /// Bytes moved in order, 1 or more; an operation that begins within them is
    /// done whole.
    pub run_bytes: u64,
    /// Bytes left out after them, 1 or more.
    pub skip_bytes: u64,
}

/// Sizes of operations that are not all of one size, for each way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sizes {
    /// Of reads.
    pub read: SizeMix,
    /// Of writes.
    pub write: SizeMix,
    /// Of trims.
    pub trim: SizeMix,
}

impl Sizes {
    /// Sizes that all ways have.
    #[must_use]
    pub fn same(mix: SizeMix) -> Self {
        Self {
            read: mix.clone(),
            write: mix.clone(),
            trim: mix,
        }
    }
}

/// Sizes of operations of one way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeMix {
    /// Always this many bytes.
    One(u64),
    /// Every multiple of `step_bytes` from the least on equally likely, up to the
    /// greatest.
    Range {
        /// Least size, bytes, 1 or more.
        min_bytes: u64,
        /// Greatest size, bytes.
        max_bytes: u64,
        /// Distance between sizes, bytes, 1 or more.
        step_bytes: u64,
    },
    /// Some sizes, each with its weight.
    Split(Vec<SizeShare>),
}

impl SizeMix {
    /// The greatest size there is, bytes.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range {
                min_bytes,
                max_bytes,
                step_bytes,
            } => {
                let steps = max_bytes.saturating_sub(*min_bytes) / (*step_bytes).max(1);
                min_bytes + steps * step_bytes
            }
            Self::Split(shares) => shares.iter().map(|share| share.bytes).max().unwrap_or(0),
        }
    }

    /// The least size there is, bytes.
    #[must_use]
    pub fn min_bytes(&self) -> u64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { min_bytes, .. } => *min_bytes,
            Self::Split(shares) => shares.iter().map(|share| share.bytes).min().unwrap_or(0),
        }
    }
}

/// One size of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SizeShare {
    /// The size, bytes, 1 or more.
    pub bytes: u64,
    /// How many operations have it, relative to the other sizes; 1 or more.
    pub weight: u32,
}
