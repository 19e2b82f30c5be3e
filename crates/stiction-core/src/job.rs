//! One stream of I/O, in fio's words, with every choice made.

use serde::{Deserialize, Serialize};

use crate::omitted::{is_default, is_one, one};
use crate::{
    Access, Action, Batches, CallFlags, DataShape, DepthSearch, FileOrder, Floor, JumpPercent,
    Pace, Placement, Reserve, RingOptions, Seed, Sizes, Skew, SteadyStop, Stride, ThinkTime,
    Tolerance,
};

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendKind {
    /// `pread` and `pwrite`, one operation at a time.
    Psync,
    /// An io_uring a worker.
    IoUring,
    /// The older asynchronous I/O: `io_submit` and `io_getevents`.
    Libaio,
    /// Loads and stores in a shared mapping of the file.
    Mmap,
    /// Through a pipe, by `splice` and `vmsplice`.
    Splice,
    /// No I/O: completes at once, for measuring the engine itself.
    Null,
}

impl BackendKind {
    /// The name in fio's words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Mmap => "mmap",
            Self::Splice => "splice",
            Self::Null => "null",
        }
    }
}

/// A call that makes writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncKind {
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
}

/// A sync after every so many writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SyncEvery {
    /// Writes between syncs, 1 or more.
    pub writes: u64,
    /// Which call.
    pub kind: SyncKind,
}

/// Writing back in the course of a job (`sync_file_range`): dirty pages of the file that
/// was written to at last are handed to its device. That makes nothing durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WritebackEvery {
    /// Writes between two of these calls, 1 or more.
    pub writes: u64,
    /// Whether pages that are on their way already are waited for first.
    pub wait_before: bool,
    /// Whether dirty pages are sent on their way.
    pub start: bool,
    /// Whether all that are on their way are waited for in the end.
    pub wait_after: bool,
}

/// What each write waits for by the flags of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteSync {
    /// Nothing.
    #[default]
    None,
    /// `O_SYNC`: data and metadata.
    Sync,
    /// `O_DSYNC`: data and what is needed to read it back.
    DataSync,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Random bytes, different in every block: neither compression nor
    /// deduplication helps.
    Unique,
    /// As `Unique`, with a header in each block (its place, generation, worker and
    /// checksum) by which a read can be checked.
    Stamped,
    /// Zeros, as tiotest writes. Layers that compress or deduplicate cheat on them.
    Zeros,
    /// The bytes of [`Job::pattern`], again and again from the start of each block.
    Pattern,
}

/// How a file comes to be before a worker uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Create {
    /// It must exist.
    Open,
    /// It is made, or emptied if it exists; writes extend it.
    Truncate,
    /// It is made if it does not exist, and set to the size of its region: holes
    /// that writes fill (what tiotest 0.4 does).
    Sparse,
}

/// What the kernel is told of the order in which a mapping is read (`madvise`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapAdvice {
    /// What the job's access is.
    #[default]
    ByAccess,
    /// Nothing.
    None,
    /// `MADV_SEQUENTIAL`.
    Sequential,
    /// `MADV_RANDOM`.
    Random,
}

/// When workers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartOrder {
    /// All at once, from a barrier.
    Together,
    /// Each after the one before has ended.
    OneAfterAnother,
}

/// How often the clock is read for latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Just before the submitting call and at reap, for each operation.
    Exact,
    /// Once for each operation or batch: the end of one is the start of the next.
    /// Cheaper; the latency then includes the engine's own few nanoseconds.
    Chained,
}

/// A part of a target that one worker works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// Which of the job's targets, from 0.
    pub target: u32,
    /// First byte.
    pub offset_bytes: u64,
    /// Length, bytes; a part of a block at the end is never touched.
    pub length_bytes: u64,
}

impl Region {
    /// Whole blocks of `block_bytes` in it.
    #[must_use]
    pub fn blocks(&self, block_bytes: u64) -> u64 {
        self.length_bytes / block_bytes.max(1)
    }
}

/// One stream of I/O by one or more workers, with every choice made.
///
/// Where the I/O goes is given beside it when it is run: a job alone names
/// targets only by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Name, for messages and reports.
    pub name: String,
    /// Order of offsets.
    pub access: Access,
    /// Which blocks [`Access::RandomIndependent`] prefers; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<Skew>,
    /// How many operations follow in order from each random place on, that one
    /// included, 1 or more.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub run_operations: u32,
    /// Whether the operations of a run all go to its first place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub run_in_place: bool,
    /// How many operations at random places jump; `None` for all. In a mix each way then
    /// goes through a file on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_percent: Option<JumpPercent>,
    /// What [`Access::Sequential`] leaves out; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
    /// Distance between the starts of two reads of [`Access::Sequential`], bytes;
    /// `None` for as long as the block. When it is shorter, reads overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_bytes: Option<u64>,
    /// Operations of [`Access::Sequential`] end at the multiples of so many bytes from
    /// the start of the region, and the one that would cross is cut; `None` for
    /// nowhere but at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_bytes: Option<u64>,
    /// Read, write, trim, or some of each.
    pub action: Action,
    /// Bytes moved by each operation, 1 or more; with `sizes`, what random offsets
    /// within the region are multiples of.
    pub block_size_bytes: u64,
    /// Sizes of operations that are not all `block_size_bytes` long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Operations that each worker keeps in flight, 1 or more; backends that do
    /// one at a time refuse more.
    pub depth: u32,
    /// Where workers work: those of the first worker, those of the second, and so on.
    pub regions: Vec<Region>,
    /// How many regions each worker has, 1 or more: its files, each opened for itself,
    /// with an order of offsets of its own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub regions_per_worker: u32,
    /// In which order a worker turns to its files.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_order: FileOrder,
    /// How many of its files a worker has open at once, 1 or more. It works on those
    /// until it has been once through one of them, closes that one when the last
    /// operation on it is complete, and opens the next. `None` for all, from the
    /// start to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files_max: Option<u32>,
    /// How operations reach the kernel.
    pub backend: BackendKind,
    /// Flags of its calls.
    #[serde(default, skip_serializing_if = "CallFlags::is_empty")]
    pub call_flags: CallFlags,
    /// How its rings are used, for [`BackendKind::IoUring`].
    #[serde(default, skip_serializing_if = "RingOptions::is_empty")]
    pub ring: RingOptions,
    /// Whether reads leave the data where they are, for [`BackendKind::Mmap`], which
    /// then touches the first byte of each block, and [`BackendKind::Splice`], whose
    /// pipe then ends in `/dev/null`. They count as whole blocks. Beside a job that
    /// reads the same it shows what the copy costs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_copy: bool,
    /// What the kernel is told of the order of reads, for [`BackendKind::Mmap`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub map_advice: MapAdvice,
    /// Where buffers begin, bytes beyond the start of a page; direct I/O wants a
    /// multiple of the device's sector.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffer_offset_bytes: u32,
    /// Whether files are opened with `O_DIRECT`.
    pub direct: bool,
    /// What each write waits for by the flags of its file.
    pub write_sync: WriteSync,
    /// A sync after every so many writes; each is timed apart from the writes, and
    /// with `writes == 1` the pair is recorded as a commit too.
    pub sync_every: Option<SyncEvery>,
    /// Writing back after every so many writes, timed apart as a sync is; instead of
    /// `sync_every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_every: Option<WritebackEvery>,
    /// A sync after the last write, inside the phase's time and timed apart.
    pub sync_at_end: Option<SyncKind>,
    /// A sync of each worker's file before it is closed: after the phase's time, and in
    /// it only where `open_in_time` puts the closing there. It is in no latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_on_close: Option<SyncKind>,
    /// How files come to be.
    pub create: Create,
    /// How blocks of files that are going to be written are reserved before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reserve: Reserve,
    /// What is written; for reads, what must be found when `verify` is set.
    pub data: Data,
    /// How easy [`Data::Unique`] is made for layers that compress or deduplicate.
    #[serde(default)]
    pub shape: DataShape,
    /// What [`Data::Pattern`] repeats, 1 byte or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// Whether blocks read are checked, outside the latency of the read: against their
    /// stamps with [`Data::Stamped`], and where all are read against the bytes of
    /// [`Data::Pattern`] or [`Data::Zeros`].
    pub verify: bool,
    /// Stamped writes after which a worker reads back and checks what it wrote since the
    /// last time; the rest when it comes to its end by the amount of work. Limits count
    /// the writes alone. `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back_every: Option<u64>,
    /// Operations after which a worker ends; `None` for no such limit.
    pub operations_per_worker: Option<u64>,
    /// Bytes after which a worker begins no further operation; `None` for no such
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_worker: Option<u64>,
    /// Time after which every worker ends, ns from the moment it was let go (the
    /// start barrier, or the end of the worker before); `None` for no such limit.
    pub duration_ns: Option<u64>,
    /// Whether a worker ends when it has been once through its regions; where sizes,
    /// skew or stride leave no such moment, when it has moved as many bytes as the
    /// regions have.
    pub once: bool,
    /// How many times `once` is, 1 or more: a worker goes through its regions as often.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub passes: u64,
    /// Whether the worker's end is planned when the filesystem or the quota is full.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_full: bool,
    /// When workers start.
    pub start: StartOrder,
    /// Whether files are opened and closed inside the measured time, as tiotest
    /// does; otherwise before the start and after the end.
    #[serde(default)]
    pub open_in_time: bool,
    /// Where workers run, and before whom.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: Placement,
    /// How much of the beginning is warm-up, ns: it is recorded, and no part of the
    /// figures. As a cut on what was recorded it can be moved afterwards. It counts
    /// towards `duration_ns`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ramp_ns: u64,
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// How often the clock is read.
    pub timing: Timing,
    /// How fast operations are to begin; `None` for as fast as the target takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Pauses between operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<ThinkTime>,
    /// How many operations are handed over and taken back together; `None` for as many
    /// as there are, and a quarter of the depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Batches>,
    /// What each worker must at least do, or it ends as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// Latency of a read, write or trim beyond which its worker ends as failed, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_max: Option<u64>,
    /// Whether the greatest depth is looked for at which latencies keep below a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_search: Option<DepthSearch>,
    /// Whether it ends when its rate has become steady, if that is before its planned
    /// end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_stop: Option<SteadyStop>,
    /// Which failed operations a worker goes on after.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tolerance: Tolerance,
    /// Whether operations are handed over in a call of their own, and the time of that
    /// call recorded as well; for backends with a queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub time_submission: bool,
    /// Seed of offsets and data.
    pub seed: Seed,
}

/// The base of literals: reads of 4 KiB in order, buffered, one at a time, of
/// existing files, once through. There is no region, so it cannot be run as it is.
impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            access: Access::Sequential,
            skew: None,
            run_operations: 1,
            run_in_place: false,
            jump_percent: None,
            stride: None,
            hop_bytes: None,
            cut_bytes: None,
            action: Action::Read,
            block_size_bytes: 4096,
            sizes: None,
            depth: 1,
            regions: Vec::new(),
            regions_per_worker: 1,
            file_order: FileOrder::default(),
            open_files_max: None,
            backend: BackendKind::Psync,
            call_flags: CallFlags::default(),
            ring: RingOptions::default(),
            without_copy: false,
            map_advice: MapAdvice::ByAccess,
            buffer_offset_bytes: 0,
            direct: false,
            write_sync: WriteSync::None,
            sync_every: None,
            writeback_every: None,
            sync_at_end: None,
            sync_on_close: None,
            create: Create::Open,
            reserve: Reserve::None,
            data: Data::Unique,
            shape: DataShape::default(),
            pattern: Vec::new(),
            verify: false,
            read_back_every: None,
            operations_per_worker: None,
            bytes_per_worker: None,
            duration_ns: None,
            once: true,
            passes: 1,
            until_full: false,
            start: StartOrder::Together,
            open_in_time: false,
            placement: Placement::default(),
            ramp_ns: 0,
            interval_ns: 100_000_000,
            timing: Timing::Exact,
            pace: None,
            think: None,
            batches: None,
            floor: None,
            latency_ns_max: None,
            depth_search: None,
            steady_stop: None,
            tolerance: Tolerance::default(),
            time_submission: false,
            seed: Seed(0),
        }
    }
}

impl Job {
    /// The greatest size of any operation, bytes.
    #[must_use]
    pub fn operation_bytes_max(&self) -> u64 {
        let Some(Sizes { read, write, trim }) = &self.sizes else {
            return self.block_size_bytes;
        };
        let used = [
            (self.action.reads(), read),
            (self.action.writes(), write),
            (self.action.trims(), trim),
        ];
        used.into_iter()
            .filter(|(is_used, _)| *is_used)
            .map(|(_, mix)| mix.max_bytes())
            .max()
            .unwrap_or(0)
    }

    /// Whether any of its operations read, those included that only check.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.action.reads() || self.read_back_every.is_some()
    }

    /// How many workers it has.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.regions.len() / self.regions_per_worker.max(1) as usize
    }

    /// The regions of worker `worker`, its files in their order; none beyond the last.
    #[must_use]
    pub fn regions_of(&self, worker: usize) -> &[Region] {
        let count = self.regions_per_worker.max(1) as usize;
        let mut workers = self.regions.chunks(count);
        workers.nth(worker).unwrap_or(&[])
    }

    /// Whole blocks in the regions of worker `worker`.
    #[must_use]
    pub fn blocks(&self, worker: usize) -> u64 {
        let regions = self.regions_of(worker).iter();
        regions
            .map(|region| region.blocks(self.block_size_bytes))
            .fold(0, u64::saturating_add)
    }
}
