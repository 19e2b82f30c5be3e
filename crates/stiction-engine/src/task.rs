//! What one worker has to do, and whether the job makes sense at all.

use std::collections::HashMap;
use std::path::Path;

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, MapAdvice, Region, Reserve, StartOrder,
};

use crate::backend::has_queue;
use crate::data::{STAMPED_BYTES_MIN, keeps_data};
use crate::memory::{Buffers, page_bytes};
use crate::{EngineError, Target};
use crate::{files, pattern, placement, steered};

/// Most workers in a job.
pub const WORKERS_MAX: usize = 65_536;
/// Most operations that one worker keeps in flight.
pub const DEPTH_MAX: u32 = 4096;
/// Largest block, bytes: the kernel moves less than 2 GiB in one call.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// Buffers begin closer to the start of a page than this, bytes.
const BUFFER_OFFSET_BYTES_MAX: u32 = 1 << 16;
/// Most writes that are kept in mind to be read back.
const READ_BACK_MAX: u64 = 1 << 20;
/// Shortest interval that operations are recorded in, ns.
pub const INTERVAL_NS_MIN: u64 = 1_000_000;

const FEWER_BUFFERS: &str = "ask for smaller blocks, less depth or fewer workers";

/// One worker's part of a job.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) job: &'a Job,
    pub(crate) targets: &'a [Target],
    pub(crate) worker: u32,
    /// What random offsets are multiples of, from the start of the region; the size
    /// of operations that are all of one size.
    pub(crate) block_bytes: u32,
    /// Operations kept in flight.
    pub(crate) depth: u32,
    /// Completions that a round waits for. Waiting for all would cost less CPU,
    /// but empty the device's queue between rounds.
    pub(crate) batch: u32,
    /// The worker's files: the part of a target that each one is.
    pub(crate) regions: &'a [Region],
    /// Operations after which the worker ends; `u64::MAX` for no such limit.
    pub(crate) operations: u64,
    /// The same, not counting those that follow from others.
    pub(crate) leads: u64,
}

impl<'a> Task<'a> {
    /// The part of worker `worker` in a job that was checked.
    pub(crate) fn new(job: &'a Job, targets: &'a [Target], worker: u32) -> Self {
        // Otherwise the source of operations knows when it is at its end.
        let counted = job.sizes.is_none()
            && job.stride.is_none()
            && job.hop_bytes.is_none()
            && job.cut_bytes.is_none();
        let once = if job.once && counted {
            job.blocks(worker as usize).saturating_mul(job.passes)
        } else {
            u64::MAX
        };
        let bytes = job.bytes_per_worker.filter(|_| counted);
        let bytes = bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(job.block_size_bytes));
        let asked = job.operations_per_worker.unwrap_or(u64::MAX);
        let leads = asked.min(once).min(bytes);
        let follows = job.action == Action::TrimWrite || job.read_back_every.is_some();
        let operations = if follows { u64::MAX } else { leads };
        let before_sync = if job.action == Action::Write {
            writes_to_sync(job)
        } else {
            u64::MAX
        };
        let depth = leads.min(before_sync).clamp(1, job.depth.into()) as u32;
        Self {
            job,
            targets,
            worker,
            block_bytes: job.block_size_bytes as u32,
            depth,
            batch: (depth / 4).max(1),
            regions: job.regions_of(worker as usize),
            operations,
            leads,
        }
    }

    /// How many files the worker has, 1 or more.
    pub(crate) fn files(&self) -> u32 {
        self.regions.len() as u32
    }

    /// The part of a target that `file` is.
    pub(crate) fn region(&self, file: u32) -> Region {
        self.regions[file as usize]
    }

    /// Where `file` starts in its target.
    pub(crate) fn first_byte(&self, file: u32) -> u64 {
        self.region(file).offset_bytes
    }

    /// Whole blocks in `file`.
    pub(crate) fn blocks(&self, file: u32) -> u64 {
        self.region(file).blocks(self.block_bytes.into())
    }

    /// Length of `file`, in whole blocks.
    pub(crate) fn region_bytes(&self, file: u32) -> u64 {
        self.blocks(file) * u64::from(self.block_bytes)
    }

    pub(crate) fn path(&self, file: u32) -> &'a Path {
        self.target(file).map_or(Path::new(""), Target::path)
    }

    /// Where I/O on `file` goes; without I/O there may be no target.
    pub(crate) fn target(&self, file: u32) -> Option<&'a Target> {
        self.targets.get(self.region(file).target as usize)
    }

    /// How many of the worker's files are open at once; the first ones at the start.
    pub(crate) fn open_files(&self) -> u32 {
        files::open_at_once(self.job)
    }

    /// Whether files are closed and opened while the worker runs.
    pub(crate) fn turns_files_over(&self) -> bool {
        self.open_files() < self.files()
    }

    /// Writes from one sync, or writing back, to the next; `u64::MAX` without any.
    #[inline(always)]
    pub(crate) fn writes_to_sync(&self) -> u64 {
        writes_to_sync(self.job)
    }

    /// Buffers for all operations in flight.
    ///
    /// # Errors
    /// [`EngineError::Memory`].
    pub(crate) fn buffers(&self) -> Result<Buffers, EngineError> {
        let block = buffer_bytes(self.job) as usize;
        let new = if keeps_data(self.job) {
            Buffers::with_kept
        } else {
            Buffers::new
        };
        new(self.depth as usize, block, self.job.buffer_offset_bytes)
            .map_err(|none| none.of("I/O buffers", FEWER_BUFFERS))
    }
}

/// See [`Task::writes_to_sync`].
fn writes_to_sync(job: &Job) -> u64 {
    let synced = job.sync_every.map(|every| every.writes);
    let written_back = job.writeback_every.map(|every| every.writes);
    synced.or(written_back).unwrap_or(u64::MAX)
}

/// Where the last whole block of each target ends, over all regions of all workers.
pub(crate) struct Ends(HashMap<u32, u64>);

impl Ends {
    pub(crate) fn of(job: &Job) -> Self {
        let mut ends = HashMap::new();
        for region in &job.regions {
            let blocks = region.blocks(job.block_size_bytes);
            let end_bytes = region.offset_bytes + blocks * job.block_size_bytes;
            let known = ends.entry(region.target).or_insert(end_bytes);
            *known = end_bytes.max(*known);
        }
        Self(ends)
    }

    /// The end of `target`, bytes.
    pub(crate) fn bytes(&self, target: u32) -> u64 {
        self.0.get(&target).copied().unwrap_or(0)
    }
}

/// Bytes of each buffer; trims have no data.
fn buffer_bytes(job: &Job) -> u64 {
    match job.action {
        Action::Trim => 1,
        Action::Read | Action::Write | Action::TrimWrite | Action::Mixed { .. } => {
            job.operation_bytes_max()
        }
    }
}

/// Refuses a job that contradicts itself or exceeds a limit, as [`run`](crate::run())
/// does before it opens anything.
///
/// # Errors
/// [`EngineError::Job`] with what would do, or [`EngineError::Memory`].
pub fn check(job: &Job, targets: &[Target]) -> Result<(), EngineError> {
    let reason = limits(job)
        .or_else(|| files::problem(job))
        .or_else(|| pattern::problem(job))
        .or_else(|| contradictions(job))
        .or_else(|| steered::problem(job))
        .or_else(|| partly_simulated(targets))
        .or_else(|| placement::problem(&job.placement))
        .or_else(|| (0..job.regions.len()).find_map(|index| region(job, targets, index)))
        .or_else(|| shared_truncation(job))
        .or_else(|| shared_stamps(&[(job, targets)]));
    match reason {
        Some(reason) => Err(EngineError::Job {
            job: job.name.clone(),
            reason,
        }),
        None => memory(job),
    }
}

fn limits(job: &Job) -> Option<String> {
    let workers = job.workers();
    if workers == 0 || workers > WORKERS_MAX {
        return Some(format!(
            "it has {workers} workers; 1 to {WORKERS_MAX} are possible"
        ));
    }
    if job.block_size_bytes == 0 || job.block_size_bytes > BLOCK_BYTES_MAX {
        return Some(format!(
            "its block size is {} bytes; 1 to {BLOCK_BYTES_MAX} are possible",
            job.block_size_bytes
        ));
    }
    if job.depth == 0 || job.depth > DEPTH_MAX {
        return Some(format!(
            "its depth is {}; 1 to {DEPTH_MAX} are possible",
            job.depth
        ));
    }
    if job.interval_ns < INTERVAL_NS_MIN {
        return Some(format!(
            "its interval is {} ns; {INTERVAL_NS_MIN} or more are possible",
            job.interval_ns
        ));
    }
    None
}

fn contradictions(job: &Job) -> Option<String> {
    let reads = job.action == Action::Read;
    let writes = job.action.writes();
    let one_at_a_time = matches!(
        job.backend,
        BackendKind::Psync | BackendKind::Mmap | BackendKind::Splice
    );
    let flags = job.call_flags;
    let rules = [
        (
            one_at_a_time && job.depth > 1,
            "this backend does one operation at a time: set the depth to 1, or use io_uring",
        ),
        (
            job.time_submission && !has_queue(job.backend),
            "its backend does an operation in the call that submits it: use io_uring or libaio, or leave the time of submission",
        ),
        (
            job.backend == BackendKind::Mmap && job.direct,
            "mmap goes through the page cache: leave O_DIRECT, or use psync or io_uring",
        ),
        (
            job.action.trims()
                && matches!(
                    job.backend,
                    BackendKind::Mmap | BackendKind::Libaio | BackendKind::Splice
                ),
            "its backend cannot trim: use psync or io_uring",
        ),
        (
            !flags.is_empty() && matches!(job.backend, BackendKind::Mmap | BackendKind::Splice),
            "its backend makes no call that takes such flags: use psync, libaio or io_uring",
        ),
        (
            job.without_copy
                && !(reads
                    && !job.verify
                    && matches!(job.backend, BackendKind::Mmap | BackendKind::Splice)),
            "only reads by mmap or splice, unverified, can leave the data where they are",
        ),
        (
            job.map_advice != MapAdvice::ByAccess && job.backend != BackendKind::Mmap,
            "advice on a mapping needs one: use mmap, or leave the advice",
        ),
        (
            job.buffer_offset_bytes >= BUFFER_OFFSET_BYTES_MAX,
            "its buffers begin too far from the start of a page: 0 to 65535 bytes are possible",
        ),
        (
            flags.hipri && !job.direct,
            "only direct I/O polls the device: ask for O_DIRECT, or leave hipri",
        ),
        (
            flags.hipri && job.backend == BackendKind::IoUring,
            "a ring polls by an option of its own: ask for completion polling instead of hipri",
        ),
        (
            flags.dontcache && job.direct,
            "direct I/O passes the page cache by: leave O_DIRECT or dontcache",
        ),
        (
            !job.ring.is_empty() && job.backend != BackendKind::IoUring,
            "it has no ring to set up: use io_uring, or leave the options of rings",
        ),
        (
            job.ring.completion_polling && !job.direct,
            "only direct I/O polls the device: ask for O_DIRECT, or leave completion polling",
        ),
        (
            job.ring.completion_polling && job.action.trims(),
            "a ring that polls the device does not trim: leave completion polling",
        ),
        (
            job.action != Action::Write && job.create == Create::Truncate,
            "it empties the files that it reads or trims: open them as they are",
        ),
        (
            job.writeback_every.is_some() && (!writes || job.sync_every.is_some() || job.direct),
            "only buffered writes that are not synced are written back: leave the writing back",
        ),
        (
            job.writeback_every.is_some_and(|every| {
                every.writes == 0 || !(every.wait_before || every.start || every.wait_after)
            }),
            "it writes back after 1 write or more, and waits or begins then",
        ),
        (
            job.sync_every.is_some_and(|every| every.writes == 0),
            "it syncs after every 0 writes: 1 or more are possible",
        ),
        (
            reads && (job.sync_every.is_some() || job.sync_at_end.is_some()),
            "it reads, and there is nothing to sync",
        ),
        (
            !writes && job.sync_every.is_some(),
            "it syncs after writes, and there are none",
        ),
        (
            (job.data == Data::Stamped && writes || job.verify) && job.sizes.is_some(),
            "stamped blocks, and those that are checked, are all of one size: leave the other sizes",
        ),
        (
            job.verify
                && !(job.action.reads() && job.data == Data::Stamped
                    || reads && matches!(job.data, Data::Pattern | Data::Zeros)),
            "only reads of stamped data, and reads alone of a pattern or zeros, can be verified",
        ),
        (
            job.read_back_every.is_some()
                && !(job.action == Action::Write && job.data == Data::Stamped),
            "only stamped data that is written and nothing else is read back",
        ),
        (
            job.read_back_every
                .is_some_and(|writes| !(1..=READ_BACK_MAX).contains(&writes)),
            "it reads back after 1 to 1048576 writes",
        ),
        (
            job.action == Action::TrimWrite
                && job.data == Data::Stamped
                && job.depth > 1
                && (job.access == Access::RandomIndependent || !job.once || job.passes > 1),
            "stamped blocks that are trimmed and written again and again: set the depth to 1",
        ),
        (
            job.until_full && !writes,
            "it does not write, so nothing gets full",
        ),
        (
            !writes && (job.reserve != Reserve::None || job.sync_on_close.is_some()),
            "it does not write, and there is nothing to reserve or to sync",
        ),
        (
            job.reserve == Reserve::KeepSize && job.backend == BackendKind::Mmap,
            "beyond the end of a file nothing can be mapped: reserve the size too",
        ),
        (
            job.shape.compress_percent > 100 || job.shape.dedupe_percent > 100,
            "more than 100 % of its data are to compress or repeat: give 0 to 100",
        ),
        (
            job.data == Data::Pattern && job.pattern.is_empty(),
            "its pattern is empty: give 1 byte or more",
        ),
        (
            job.data == Data::Stamped
                && (writes || job.verify)
                && job.block_size_bytes < STAMPED_BYTES_MIN,
            "a stamp does not fit: use blocks of 64 bytes or more",
        ),
    ];
    rules
        .into_iter()
        .find_map(|(broken, reason)| broken.then(|| reason.to_owned()))
}

fn region(job: &Job, targets: &[Target], index: usize) -> Option<String> {
    let region = job.regions[index];
    let files = job.regions_per_worker as usize;
    let whose = match (index / files, index % files) {
        (worker, _) if files == 1 => format!("of worker {worker}"),
        (worker, file) => format!("of file {file} of worker {worker}"),
    };
    let needed_bytes = job.operation_bytes_max().max(job.block_size_bytes);
    if region.length_bytes < needed_bytes {
        return Some(format!(
            "the region {whose} is {} bytes, less than one block of {needed_bytes} bytes",
            region.length_bytes
        ));
    }
    let end = region.offset_bytes.checked_add(region.length_bytes);
    let Some(end) = end.filter(|&end| end <= i64::MAX as u64) else {
        return Some(format!(
            "the region {whose} ends beyond the largest offset there is"
        ));
    };
    if job.backend == BackendKind::Null {
        return None;
    }
    match targets.get(region.target as usize) {
        None => Some(format!(
            "worker {} is to use target {}, and there are {}",
            index / files,
            region.target,
            targets.len()
        )),
        Some(Target::Device(device)) if end > device.length_bytes() => Some(format!(
            "the region {whose} ends at byte {end}, but {} has {} bytes",
            device.path().display(),
            device.length_bytes()
        )),
        Some(Target::Device(_)) if job.action.trims() && job.backend == BackendKind::IoUring => {
            Some("io_uring does not discard blocks of a device here: use psync".to_owned())
        }
        Some(_) => None,
    }
}

/// Time goes by in its own way on a device that is not there.
fn partly_simulated(targets: &[Target]) -> Option<String> {
    let is_simulated = |target: &Target| matches!(target, Target::Simulated(_));
    let some = targets.iter().any(is_simulated) && !targets.iter().all(is_simulated);
    some.then(|| "some of its targets are simulated: all must be, or none".to_owned())
}

/// A worker that opens its file later than another one writes to it must not
/// empty it.
fn shared_truncation(job: &Job) -> Option<String> {
    let opens_late = job.open_in_time || job.start == StartOrder::OneAfterAnother;
    if job.create != Create::Truncate || !opens_late {
        return None;
    }
    let mut targets: Vec<u32> = job.regions.iter().map(|region| region.target).collect();
    targets.sort_unstable();
    targets
        .windows(2)
        .any(|pair| pair[0] == pair[1])
        .then(|| "workers would empty a file that others have begun to write".to_owned())
}

/// Of stamped blocks that two workers write, nobody knows whose write is the last.
///
/// Of jobs that run together, all regions are looked at together: `parts` are jobs and
/// their targets.
pub(crate) fn shared_stamps(parts: &[(&Job, &[Target])]) -> Option<String> {
    let stamping = parts
        .iter()
        .filter(|(job, _)| job.data == Data::Stamped && job.action.writes());
    let mut regions: Vec<(&Path, u64, u64)> = stamping
        .flat_map(|(job, targets)| {
            job.regions.iter().filter_map(|region| {
                let target = targets.get(region.target as usize)?;
                Some((target.path(), region.offset_bytes, region.length_bytes))
            })
        })
        .collect();
    regions.sort_unstable();
    regions
        .windows(2)
        .any(|pair| pair[0].0 == pair[1].0 && pair[0].1 + pair[0].2 > pair[1].1)
        .then(|| {
            "several workers would write the same stamped blocks, and nobody could tell \
             which write was the last: give each a region of its own"
                .to_owned()
        })
}

/// All buffers together may take half of the machine's memory.
fn memory(job: &Job) -> Result<(), EngineError> {
    let stride = (buffer_bytes(job) + u64::from(job.buffer_offset_bytes))
        .next_multiple_of(page_bytes() as u64);
    let needed = u128::from(stride) * u128::from(job.depth) * job.workers() as u128;
    let system = rustix::system::sysinfo();
    let limit = system.totalram as u64 / 2 * u64::from(system.mem_unit);
    if needed <= limit.into() {
        return Ok(());
    }
    Err(EngineError::Memory {
        what: "I/O buffers",
        needed_bytes: u64::try_from(needed).unwrap_or(u64::MAX),
        cause: format!("half of the memory is {limit} bytes"),
        advice: FEWER_BUFFERS,
    })
}
