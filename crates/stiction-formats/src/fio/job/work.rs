//! What each operation is: pattern, blocks, depth, region, files, time.

use serde::{Deserialize, Serialize};

use super::super::units::{Amount, Bytes, Nanoseconds};
use super::PerDirection;
use super::plain::usual;
use super::plain::{data, words};

data! {
    /// Order and direction.
    pub struct Pattern {
        /// Sequential or random.
        pub order: Order,
        /// Which directions occur.
        pub action: Action,
        /// Reads among reads and writes, percent, 0 to 100; only where both occur.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub read_percent: Option<u8>,
        /// Random: operations at successive offsets before a new random one; 1 is
        /// every operation (fio's `randread:8`).
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub run_operations: u64,
        /// Sequential: bytes skipped after each operation (fio's `read:8k`); negative
        /// goes backwards.
        #[serde(default, skip_serializing_if = "usual")]
        pub skip_bytes: i64,
        /// Where the next operation of a run goes.
        #[serde(default, skip_serializing_if = "usual")]
        pub sequencer: Sequencer,
        /// Operations at random offsets in a random pattern, percent; the others follow
        /// their predecessor.
        #[serde(default = "all_percent", skip_serializing_if = "is_all_percent")]
        pub random_percent: PerDirection<u8>,
        /// Fixed zones with gaps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub strides: Option<Strides>,
    }

    /// Fixed zones with gaps between them (fio's `zonemode=strided`).
    #[derive(Copy, Eq)]
    pub struct Strides {
        /// Bytes used of each zone before the next.
        pub use_size: Bytes,
        /// Bytes of a zone.
        pub zone_size: Bytes,
        /// Bytes from the end of one to the start of the next.
        pub gap: Bytes,
    }

    /// Bytes moved by each operation.
    pub struct Block {
        /// Sizes.
        pub size: PerDirection<BlockSize>,
        /// Offsets are multiples of it; `None`: of the smallest block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub align: Option<PerDirection<Bytes>>,
        /// Whether sizes need not be multiples of the smallest.
        #[serde(default, skip_serializing_if = "usual")]
        pub any_size: bool,
        /// The sizes count for sequential and random instead of read and write.
        #[serde(default, skip_serializing_if = "usual")]
        pub by_order: bool,
    }

    /// Sizes of the blocks of one direction.
    #[serde(untagged)]
    pub enum BlockSize {
        /// Always the same.
        Fixed(Bytes),
        /// Equally likely between the two, in multiples of the least.
        Range {
            /// Least.
            least: Bytes,
            /// Most.
            most: Bytes,
        },
        /// Each with its share.
        Split(Vec<Share>),
    }

    /// A block size and how often it occurs.
    #[derive(Copy, Eq)]
    pub struct Share {
        /// Size.
        pub size: Bytes,
        /// Percent of the operations; all of a split come to 100.
        pub percent: u8,
    }

    /// Operations in flight for each clone.
    #[derive(Copy, Eq)]
    pub struct Depth {
        /// As asked for, 1 or more; [`super::FioJob::effective_depth`] is what comes of it.
        pub in_flight: u32,
        /// Submitted together; 0 means as many as fit.
        #[serde(default = "one_u32", skip_serializing_if = "is_one_u32")]
        pub submit_batch: u32,
        /// Reaped together at least; 0 does not wait.
        #[serde(default = "one_u32", skip_serializing_if = "is_one_u32")]
        pub reap_least: u32,
        /// Reaped together at most; `None`: all there are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reap_most: Option<u32>,
        /// Fill up again only below so many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refill_below: Option<u32>,
        /// Hold an operation back while another touches its blocks.
        #[serde(default, skip_serializing_if = "usual")]
        pub hold_overlaps: bool,
        /// Submit from threads of their own.
        #[serde(default, skip_serializing_if = "usual")]
        pub offload: bool,
    }

    /// Files and devices.
    #[derive(Default)]
    pub struct Targets {
        /// Names; empty: made from the job's name, the clone's and the file's number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub names: Vec<String>,
        /// Where relative names are; several: clones take turns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub directories: Vec<String>,
        /// All files below here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub below: Option<String>,
        /// A pattern for names with `$jobname`, `$jobnum`, `$filenum`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name_format: Option<String>,
        /// Files for each clone, where names do not say.
        pub files: u32,
    }

    /// Region and amount for each clone.
    #[derive(Default)]
    pub struct Extent {
        /// All files of a clone together; `None`: their own size. It is the amount of
        /// I/O too, where `io` does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size: Option<Amount>,
        /// Least and most of each file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file_size: Option<(Bytes, Bytes)>,
        /// Bytes moved before the clone ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub io: Option<Amount>,
        /// Start of the region in each file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset: Option<Amount>,
        /// Each clone starts so much further than the one before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_step: Option<Amount>,
        /// Multiples to which an offset given in percent is rounded down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_align: Option<Bytes>,
        /// Operations before the clone ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub operations: Option<u64>,
        /// Write until there is no space.
        #[serde(default, skip_serializing_if = "usual")]
        pub until_full: bool,
        /// Start at the end of the file.
        #[serde(default, skip_serializing_if = "usual")]
        pub append: bool,
        /// Times that the whole is done.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub loops: u64,
    }

    /// Time.
    #[derive(Copy, Eq, Default)]
    pub struct Time {
        /// It ends at the latest after this, warm-up not counted; `None`: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<Nanoseconds>,
        /// It goes on until the limit, however often it comes round.
        #[serde(default, skip_serializing_if = "usual")]
        pub until_limit: bool,
        /// Warm-up that is not counted.
        #[serde(default, skip_serializing_if = "usual")]
        pub ramp: Nanoseconds,
    }
}

words! {
    /// Order of offsets.
    pub enum Order {
        /// Ascending.
        #[default]
        Sequential,
        /// Random.
        Random,
    }

    /// Directions that occur.
    pub enum Action {
        /// Reads.
        #[default]
        Read,
        /// Writes.
        Write,
        /// Trims.
        Trim,
        /// Reads and writes, by chance.
        ReadWrite,
        /// Each block trimmed, then written.
        TrimWrite,
    }

    /// Where the next operation of a run goes.
    pub enum Sequencer {
        /// Behind the last one.
        #[default]
        Next,
        /// To the same offset.
        Same,
    }
}

impl BlockSize {
    /// The smallest block.
    #[must_use]
    pub fn least_bytes(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes.0,
            Self::Range { least, .. } => least.0,
            Self::Split(shares) => shares.iter().map(|share| share.size.0).min().unwrap_or(0),
        }
    }

    /// The largest block.
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes.0,
            Self::Range { most, .. } => most.0,
            Self::Split(shares) => shares.iter().map(|share| share.size.0).max().unwrap_or(0),
        }
    }
}

impl Action {
    /// Whether reads occur.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether writes occur.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::TrimWrite)
    }

    /// Whether trims occur.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }
}

fn one() -> u64 {
    1
}

fn is_one(value: &u64) -> bool {
    *value == 1
}

fn one_u32() -> u32 {
    1
}

fn is_one_u32(value: &u32) -> bool {
    *value == 1
}

fn all_percent() -> PerDirection<u8> {
    PerDirection::ALL
}

fn is_all_percent(value: &PerDirection<u8>) -> bool {
    *value == PerDirection::ALL
}
