//! A job with every choice made, in types that say their units.
//!
//! The text of these types, as [`super::convert`] writes it, is stiction's own form
//! of a job: what is at its usual setting there is left out.

use serde::{Deserialize, Serialize, Serializer};

use super::units::{Amount, Bytes, KbBase, Nanoseconds};

/// Declares a struct or enum of plain data with all the traits that these share.
macro_rules! data {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident $body:tt)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        $(#[$meta])*
        pub $kind $name $body
    )*};
}

/// Declares enums whose text is their name in snake case.
macro_rules! words {
    ($($(#[$meta:meta])* pub enum $name:ident $body:tt)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name $body
    )*};
}

/// Leaves out what is at its usual setting.
fn usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One value for reads, one for writes, one for trims; in text one alone where all
/// are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    from = "DirectionText<T>",
    bound(deserialize = "T: Clone + Deserialize<'de>")
)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

/// [`PerDirection`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum DirectionText<T> {
    Each { read: T, write: T, trim: T },
    Same(T),
}

impl<T: Clone> From<DirectionText<T>> for PerDirection<T> {
    fn from(text: DirectionText<T>) -> Self {
        match text {
            DirectionText::Each { read, write, trim } => Self { read, write, trim },
            DirectionText::Same(value) => Self::same(value),
        }
    }
}

impl<T: Serialize + PartialEq> Serialize for PerDirection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.read == self.write && self.write == self.trim {
            return self.read.serialize(serializer);
        }
        let Self { read, write, trim } = self;
        DirectionText::Each { read, write, trim }.serialize(serializer)
    }
}

data! {
    /// One job section, resolved. All its clones are alike but for their number.
    #[serde(deny_unknown_fields)]
    pub struct FioJob {
        /// Name.
        pub name: String,
        /// What its author said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Workers that do the same, 1 or more (fio's `numjobs`).
        pub clones: u32,
        /// How I/O is submitted.
        pub engine: Engine,
        /// Whether files are opened with `O_DIRECT`.
        pub direct: bool,
        /// What each write waits for by the flags of its file.
        #[serde(default, skip_serializing_if = "usual")]
        pub write_sync: WriteSync,
        /// Order and direction.
        pub pattern: Pattern,
        /// Bytes moved by each operation.
        pub block: Block,
        /// Operations in flight for each clone, and batches.
        pub depth: Depth,
        /// Files and devices.
        pub targets: Targets,
        /// Region and amount for each clone.
        pub extent: Extent,
        /// Time.
        #[serde(default, skip_serializing_if = "usual")]
        pub time: Time,
        /// When it starts and what its end ends.
        #[serde(default, skip_serializing_if = "usual")]
        pub phase: Phase,
        /// Chance.
        pub chance: Chance,
        /// Switches of the engine.
        #[serde(default, skip_serializing_if = "usual")]
        pub switches: Switches,
        /// CPUs and priorities.
        #[serde(default, skip_serializing_if = "usual")]
        pub placement: Placement,
        /// What is asked of rates.
        #[serde(default, skip_serializing_if = "usual")]
        pub rate: Rate,
        /// Pauses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub think: Option<Think>,
        /// Syncs.
        #[serde(default, skip_serializing_if = "usual")]
        pub durability: Durability,
        /// Checking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub verify: Option<Verify>,
        /// The page cache.
        pub cache: Cache,
        /// How files come to be.
        pub layout: Layout,
        /// What is written.
        pub payload: Payload,
        /// What is reported together.
        #[serde(default, skip_serializing_if = "usual")]
        pub report: Report,
        /// Logs.
        #[serde(default, skip_serializing_if = "usual")]
        pub series: Series,
        /// What happens after an error.
        #[serde(default, skip_serializing_if = "usual")]
        pub errors: Errors,
        /// When it is steady.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub steady: Option<Steady>,
        /// Limits of latency.
        #[serde(default, skip_serializing_if = "usual")]
        pub latency: Latency,
        /// Traces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub replay: Option<Replay>,
        /// What `k` meant in the file; sizes here are converted already.
        #[serde(default, skip_serializing_if = "usual")]
        pub kb_base: KbBase,
    }

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
        /// As asked for, 1 or more; [`FioJob::effective_depth`] is what comes of it.
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

    /// When a job starts and what its end ends.
    #[derive(Default)]
    pub struct Phase {
        /// Which reporting group it belongs to, from 0.
        pub group: u32,
        /// It starts when all jobs before it have ended.
        #[serde(default, skip_serializing_if = "usual")]
        pub after_all: bool,
        /// It starts when the job of this name has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
        /// Least and most delay before the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub delay: Option<(Nanoseconds, Nanoseconds)>,
        /// What its end ends.
        #[serde(default, skip_serializing_if = "usual")]
        pub end_ends: EndEnds,
        /// Whether an error in it ends all jobs.
        #[serde(default, skip_serializing_if = "usual")]
        pub error_ends_all: bool,
    }

    /// Chance.
    pub struct Chance {
        /// Seed as given; `None`: the tool's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seed: Option<u64>,
        /// Whether every run makes the same choices.
        pub repeat: bool,
        /// Whether blocks repeat before all had their turn.
        pub coverage: Coverage,
        /// How offsets are spread.
        #[serde(default, skip_serializing_if = "usual")]
        pub distribution: PerDirection<Distribution>,
    }

    /// How offsets are spread.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Distribution {
        /// Evenly.
        #[default]
        Even,
        /// Zipf's law.
        Zipf {
            /// Exponent, above 0, not 1.
            theta: f64,
            /// Where the hottest block lies, 0 to 1 of the region; `None`: hashed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// Pareto's.
        Pareto {
            /// Between 0 and 1: 0.2 sends 80 % to 20 %.
            power: f64,
            /// Where the hottest block lies, 0 to 1 of the region; `None`: hashed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// The bell curve, around the middle.
        Normal {
            /// Deviation, percent of the region.
            deviation_percent: f64,
            /// Where the middle lies, 0 to 1 of the region; `None`: at a half.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            centre: Option<f64>,
        },
        /// By zones, one after another.
        Zoned(Vec<Zone>),
    }

    /// A part of the region and its share of the operations.
    #[derive(Copy)]
    pub struct Zone {
        /// Percent of the operations.
        pub access_percent: f64,
        /// How long it is.
        pub size: Amount,
    }

    /// Switches of the engine.
    #[derive(Copy, Eq, Default)]
    pub struct Switches {
        /// Percent of the operations whose completion is polled for.
        #[serde(default, skip_serializing_if = "usual")]
        pub polled_percent: u8,
        /// Files are registered with the ring.
        #[serde(default, skip_serializing_if = "usual")]
        pub registered_files: bool,
        /// Buffers are registered with the ring.
        #[serde(default, skip_serializing_if = "usual")]
        pub registered_buffers: bool,
        /// The kernel submits, from a thread of its own.
        #[serde(default, skip_serializing_if = "usual")]
        pub kernel_submits: bool,
        /// On which CPU that thread runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kernel_cpu: Option<u32>,
        /// Plain instead of vectored calls; `None`: the engine's choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub plain_calls: Option<bool>,
        /// Every so many operations are forced to a kernel worker; 0: none.
        #[serde(default, skip_serializing_if = "usual")]
        pub forced_async_every: u64,
        /// Cached I/O leaves nothing in the page cache (`RWF_DONTCACHE`).
        #[serde(default, skip_serializing_if = "usual")]
        pub uncached: bool,
        /// Fail instead of waiting (`RWF_NOWAIT`).
        #[serde(default, skip_serializing_if = "usual")]
        pub no_wait: bool,
    }

    /// CPUs and priorities.
    #[derive(Eq, Default)]
    pub struct Placement {
        /// CPUs that it may run on; empty: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub cpus: Vec<u32>,
        /// Each clone has one of them for its own.
        #[serde(default, skip_serializing_if = "usual")]
        pub cpu_each: bool,
        /// NUMA nodes, as fio lists them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub numa_nodes: Option<String>,
        /// Policy of memory, as fio writes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub numa_memory: Option<String>,
        /// Niceness, -20 to 19.
        #[serde(default, skip_serializing_if = "usual")]
        pub nice: i8,
        /// I/O priority class, 0 to 3: none, real time, best effort, idle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub io_class: Option<u8>,
        /// I/O priority in its class, 0 (highest) to 7.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub io_level: Option<u8>,
    }

    /// What is asked of rates, for each clone.
    #[derive(Copy, Eq, Default)]
    pub struct Rate {
        /// Bytes a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub bytes_per_second: PerDirection<Option<u64>>,
        /// Operations a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub operations_per_second: PerDirection<Option<u64>>,
        /// It ends as failed below so many bytes a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub least_bytes_per_second: PerDirection<Option<u64>>,
        /// It ends as failed below so many operations a second.
        #[serde(default, skip_serializing_if = "usual")]
        pub least_operations_per_second: PerDirection<Option<u64>>,
        /// Window in which the least is checked; `None`: 1 s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<Nanoseconds>,
        /// How arrivals are spaced.
        #[serde(default, skip_serializing_if = "usual")]
        pub arrivals: Arrivals,
        /// Pauses are made up for.
        #[serde(default, skip_serializing_if = "usual")]
        pub ignores_think: bool,
    }

    /// Pauses.
    #[derive(Copy, Eq)]
    pub struct Think {
        /// Length.
        pub pause: Nanoseconds,
        /// How much of it is spent spinning.
        #[serde(default, skip_serializing_if = "usual")]
        pub spin: Nanoseconds,
        /// Operations between pauses, 1 or more.
        pub every_operations: u64,
        /// Operations count when issued, not when completed.
        #[serde(default, skip_serializing_if = "usual")]
        pub counts_issued: bool,
        /// Pause after so much time of I/O instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub every_time: Option<Nanoseconds>,
    }

    /// Syncs.
    #[derive(Eq, Default)]
    pub struct Durability {
        /// `fsync` after every so many writes; 0: never.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_every_writes: u64,
        /// `fdatasync` after every so many writes; 0: never.
        #[serde(default, skip_serializing_if = "usual")]
        pub fdatasync_every_writes: u64,
        /// `sync_file_range`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub range: Option<RangeSync>,
        /// `fsync` after the last write, inside the time.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_at_end: bool,
        /// `fsync` when a file is closed, outside the time.
        #[serde(default, skip_serializing_if = "usual")]
        pub fsync_on_close: bool,
    }

    /// `sync_file_range` over the last writes.
    #[derive(Copy, Eq)]
    pub struct RangeSync {
        /// After every so many writes.
        pub every_writes: u64,
        /// Wait for what is under way first.
        pub wait_before: bool,
        /// Start writing.
        pub write: bool,
        /// Wait for that.
        pub wait_after: bool,
    }

    /// Checking of what was written.
    pub struct Verify {
        /// By what.
        pub check: Check,
        /// Bytes of the pattern, where the check has one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pattern: Vec<u8>,
        /// Read back after writing.
        pub read_back: bool,
        /// Write nothing, only read back.
        #[serde(default, skip_serializing_if = "usual")]
        pub only: bool,
        /// A header every so many bytes; `None`: once a block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub interval: Option<Bytes>,
        /// Where the header stands in its interval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub header_at: Option<Bytes>,
        /// End at the first failure.
        #[serde(default, skip_serializing_if = "usual")]
        pub fatal: bool,
        /// Keep what was found and what was expected.
        #[serde(default, skip_serializing_if = "usual")]
        pub dump: bool,
        /// Read back after every so many written blocks instead of at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_blocks: Option<u64>,
        /// How many of them at a time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub batch_blocks: Option<u64>,
    }

    /// The page cache.
    #[derive(Copy, Eq)]
    pub struct Cache {
        /// What the target has there is dropped before the start.
        pub drop_before: bool,
        /// The target is read once before the start.
        #[serde(default, skip_serializing_if = "usual")]
        pub read_before: bool,
        /// What the kernel is told about the order of reads.
        #[serde(default, skip_serializing_if = "usual")]
        pub advice: Advice,
    }

    /// How files come to be.
    pub struct Layout {
        /// How space is reserved before the run.
        pub reserve: Reserve,
        /// Files are made when the job opens them.
        #[serde(default, skip_serializing_if = "usual")]
        pub create_on_open: bool,
        /// Only files are made, no I/O is done.
        #[serde(default, skip_serializing_if = "usual")]
        pub create_only: bool,
        /// New files are synced.
        pub sync_created: bool,
        /// Files are written in full before the run, so that writes overwrite.
        #[serde(default, skip_serializing_if = "usual")]
        pub write_before: bool,
        /// Missing files may be made.
        pub may_create: bool,
        /// Files open at a time; `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub open_files: Option<u32>,
        /// Which file is next, as fio writes it.
        pub file_order: FileOrder,
        /// Operations on a file before the next.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub file_operations: u64,
        /// Files are removed afterwards.
        #[serde(default, skip_serializing_if = "usual")]
        pub remove_after: bool,
        /// Files are removed after each loop.
        #[serde(default, skip_serializing_if = "usual")]
        pub remove_each_loop: bool,
    }

    /// Which file is next.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub enum FileOrder {
        /// In turn.
        RoundRobin,
        /// One after another, each to its end.
        Sequential,
        /// Any.
        Random,
        /// Skewed by Zipf's law.
        Zipf(f64),
        /// Skewed by Pareto's.
        Pareto(f64),
        /// Skewed by the bell curve.
        Normal(f64),
    }

    /// What is written.
    #[derive(Eq)]
    pub struct Payload {
        /// Bytes.
        pub fill: Fill,
        /// The bytes repeated, for a pattern.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pattern: Vec<u8>,
        /// Percent that compresses away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compress_percent: Option<u8>,
        /// In pieces of this size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compress_chunk: Option<Bytes>,
        /// Percent of the blocks that repeat an earlier one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_percent: Option<u8>,
        /// Percent of the region among which repeats are chosen; `None`: the last block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_among_percent: Option<u8>,
        /// Repeats across jobs.
        #[serde(default, skip_serializing_if = "usual")]
        pub repeat_across_jobs: bool,
        /// Where buffers live, in fio's words.
        #[serde(default = "malloc", skip_serializing_if = "is_malloc")]
        pub memory: String,
        /// Alignment of buffers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub memory_align: Option<Bytes>,
    }

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

    /// What happens after an error.
    #[derive(Eq, Default)]
    pub struct Errors {
        /// After which it goes on.
        #[serde(default, skip_serializing_if = "usual")]
        pub go_on_after: GoOnAfter,
        /// Errors that do not count, as names or numbers, for reads, writes and verify.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub ignored: Vec<Vec<String>>,
    }

    /// When a job is steady, and ends.
    #[derive(Copy)]
    pub struct Steady {
        /// Of what.
        pub of: SteadyOf,
        /// The slope is judged instead of the deviation from the mean.
        pub by_slope: bool,
        /// The limit: percent of the mean if `in_percent`, else operations or KiB a
        /// second (and that a second, for a slope).
        pub limit: f64,
        /// How the limit counts.
        pub in_percent: bool,
        /// Length that must be steady.
        pub window: Nanoseconds,
        /// Not looked at before.
        pub ramp: Nanoseconds,
        /// Time between samples.
        pub sample: Nanoseconds,
    }

    /// Limits of latency.
    #[derive(Copy, Default)]
    pub struct Latency {
        /// It ends as failed above this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub most: Option<Nanoseconds>,
        /// The depth is searched that keeps under this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Nanoseconds>,
        /// Time at each depth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<Nanoseconds>,
        /// Percent of the operations that must keep under it; `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub percent: Option<f64>,
        /// It goes on adjusting the depth after it was found.
        #[serde(default, skip_serializing_if = "usual")]
        pub keep_adjusting: bool,
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
    /// How I/O is submitted.
    pub enum Engine {
        /// `lseek` and `read` or `write`.
        Sync,
        /// `pread`, `pwrite`.
        #[default]
        Psync,
        /// `readv`, `writev`.
        Vsync,
        /// `preadv`, `pwritev`.
        Pvsync,
        /// `preadv2`, `pwritev2`, with flags.
        Pvsync2,
        /// A ring.
        IoUring,
        /// `io_submit`.
        Libaio,
        /// Memory mapping.
        Mmap,
        /// `splice` through a pipe.
        Splice,
        /// No I/O.
        Null,
    }

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

    /// What each write waits for by the flags of its file.
    pub enum WriteSync {
        /// Nothing.
        #[default]
        None,
        /// `O_SYNC`.
        Sync,
        /// `O_DSYNC`.
        DataSync,
    }

    /// Where the next operation of a run goes.
    pub enum Sequencer {
        /// Behind the last one.
        #[default]
        Next,
        /// To the same offset.
        Same,
    }

    /// Whether blocks repeat before all had their turn.
    pub enum Coverage {
        /// Each block once a pass.
        #[default]
        EachOnce,
        /// Any block at any time.
        Independent,
    }

    /// What the end of a job ends.
    pub enum EndEnds {
        /// Itself.
        #[default]
        Itself,
        /// The jobs of its group.
        Group,
        /// All jobs that run, then the next phase.
        Running,
        /// Everything.
        All,
    }

    /// How arrivals are spaced.
    pub enum Arrivals {
        /// Evenly.
        #[default]
        Even,
        /// By Poisson's process.
        Poisson,
    }

    /// What the kernel is told about the order of reads.
    pub enum Advice {
        /// What the job will do.
        #[default]
        Pattern,
        /// Nothing.
        None,
        /// Random.
        Random,
        /// Sequential.
        Sequential,
    }

    /// How space is reserved.
    pub enum Reserve {
        /// `fallocate`, where there is.
        #[default]
        Native,
        /// Not.
        None,
        /// `posix_fallocate`.
        Posix,
        /// `fallocate` beyond the end of the file.
        KeepSize,
        /// `ftruncate`: a hole.
        Truncate,
    }

    /// Bytes written.
    pub enum Fill {
        /// One random buffer again and again, with a word changed here and there: fio's
        /// default, which layers that deduplicate may see through.
        #[default]
        Scrambled,
        /// One random buffer again and again.
        Repeated,
        /// Fresh random bytes for every write.
        Fresh,
        /// Zeros.
        Zeros,
        /// A pattern.
        Pattern,
    }

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

    /// Errors after which a job goes on.
    pub enum GoOnAfter {
        /// None.
        #[default]
        None,
        /// Of reads.
        Read,
        /// Of writes.
        Write,
        /// Of I/O.
        Io,
        /// Of verify.
        Verify,
        /// All.
        All,
    }

    /// What is steady.
    pub enum SteadyOf {
        /// Operations a second.
        #[default]
        Operations,
        /// Bytes a second.
        Bandwidth,
        /// Latency.
        Latency,
    }

    /// By what written blocks are checked. A checksum of any name asks for a header
    /// with place, seed and sum; which sum it is does not change the load.
    pub enum Check {
        /// A header with a checksum.
        #[default]
        Checksum,
        /// A pattern, with a header before it.
        PatternWithHeader,
        /// A pattern alone.
        Pattern,
        /// Nothing: a rehearsal.
        Null,
    }
}

impl PerDirection<u8> {
    /// Whether each is 100.
    const ALL: Self = Self {
        read: 100,
        write: 100,
        trim: 100,
    };
}

impl<T: Clone> PerDirection<T> {
    /// The same for each.
    pub fn same(value: T) -> Self {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }
}

impl<T> PerDirection<T> {
    /// Each through `change`.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection {
            read: change(self.read),
            write: change(self.write),
            trim: change(self.trim),
        }
    }

    /// Reads, writes, trims.
    #[must_use]
    pub fn each(&self) -> [&T; 3] {
        [&self.read, &self.write, &self.trim]
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

impl Engine {
    /// Whether one operation ends before the next can start.
    #[must_use]
    pub fn is_synchronous(self) -> bool {
        !matches!(self, Self::IoUring | Self::Libaio)
    }
}

impl FioJob {
    /// Operations of each clone that the kernel really has at a time: 1 for
    /// synchronous engines, and for libaio without `O_DIRECT`, whose submitting call
    /// does the I/O (fio's manual, `iodepth`).
    #[must_use]
    pub fn effective_depth(&self) -> u32 {
        let offloaded = self.depth.offload && self.engine.is_synchronous();
        let one_at_a_time =
            self.engine.is_synchronous() || (self.engine == Engine::Libaio && !self.direct);
        if one_at_a_time && !offloaded {
            1
        } else {
            self.depth.in_flight
        }
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

fn hundred() -> u64 {
    100
}

fn is_hundred(value: &u64) -> bool {
    *value == 100
}

fn all_percent() -> PerDirection<u8> {
    PerDirection::ALL
}

fn is_all_percent(value: &PerDirection<u8>) -> bool {
    *value == PerDirection::ALL
}

fn malloc() -> String {
    "malloc".to_owned()
}

fn is_malloc(value: &str) -> bool {
    value == "malloc"
}
