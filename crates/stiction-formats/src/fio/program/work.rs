//! What each worker of a job does: pattern, calls, amount, time, data.

use stiction_core::{
    Access, Action, BackendKind, CallFlags, CpuPolicy, Create, Data, DataShape, IoPriority, Job,
    JumpPercent, Placement, ProgramTarget, Reserve, RingOptions, Stride, SyncEvery, SyncKind,
    Timing, WriteSync, WritebackEvery,
};

use super::super::job::{self, Check, Coverage, Engine, Fill, Order, PerDirection, Sequencer};
use super::super::units::Amount;
use super::{Desk, Nodes, course, distribution, files, nodes};

/// The job but for name, sizes, regions and seed.
pub(super) fn job(desk: &mut Desk<'_>, targets: &[ProgramTarget], nodes: &Nodes) -> Job {
    let fio = desk.job();
    let writes = fio.pattern.action.writes();
    let region_bytes = region_bytes(desk, targets);
    let skew = match fio.pattern.order {
        Order::Sequential => None,
        Order::Random => distribution::skew(desk, region_bytes),
    };
    let (data, pattern) = data(desk);
    let durability = &fio.durability;
    let amount = Amounts::of(desk, region_bytes);
    Job {
        access: access(desk, skew.is_some()),
        skew,
        run_operations: u32::try_from(fio.pattern.run_operations).unwrap_or(u32::MAX),
        run_in_place: fio.pattern.sequencer == Sequencer::Same && fio.pattern.run_operations > 1,
        jump_percent: jump_percent(desk),
        stride: stride(desk),
        action: action(desk),
        depth: depth(desk),
        backend: backend(fio.engine),
        call_flags: call_flags(desk),
        ring: ring(desk),
        direct: fio.direct && fio.engine != Engine::Mmap,
        write_sync: match fio.write_sync {
            job::WriteSync::Sync if writes => WriteSync::Sync,
            job::WriteSync::DataSync if writes => WriteSync::DataSync,
            _ => WriteSync::None,
        },
        sync_every: sync_every(desk),
        writeback_every: writeback_every(desk),
        sync_at_end: (writes && durability.fsync_at_end).then_some(SyncKind::Fsync),
        sync_on_close: (writes && durability.fsync_on_close).then_some(SyncKind::Fsync),
        create: Create::Open,
        reserve: reserve(desk, targets),
        data,
        shape: shape(desk),
        pattern,
        verify: is_checked(desk) && fio.pattern.action.reads(),
        read_back_every: read_back_every(desk),
        regions_per_worker: fio.targets.files.max(1),
        file_order: files::order(desk),
        open_files_max: files::open_max(fio),
        operations_per_worker: fio.extent.operations,
        bytes_per_worker: amount.bytes,
        duration_ns: amount.duration_ns,
        once: amount.once,
        passes: amount.passes,
        placement: placement(desk, nodes),
        ramp_ns: fio.time.ramp.0,
        timing: Timing::Exact,
        pace: course::pace(desk),
        think: course::think(desk),
        batches: course::batches(desk),
        floor: course::floor(desk),
        latency_ns_max: fio.latency.most.map(|most| most.0),
        depth_search: course::depth_search(desk),
        steady_stop: course::steady_stop(desk),
        tolerance: course::tolerance(desk),
        ..Job::default()
    }
}

/// Bytes of the region of one clone, where clones have regions of one size.
fn region_bytes(desk: &Desk<'_>, targets: &[ProgramTarget]) -> u64 {
    let extent = &desk.job().extent;
    let files = u64::from(desk.job().targets.files.max(1));
    match (extent.size, extent.file_size) {
        (Some(Amount::Bytes(bytes)), _) => bytes.0,
        (_, Some((bytes, _))) => bytes.0.saturating_mul(files),
        (size, None) => {
            let whole: u64 = targets.iter().map(|target| target.length_bytes).sum();
            let whole = whole / (targets.len() as u64).max(1) * files;
            size.map_or(whole, |share| share.of_bytes(whole))
        }
    }
}

/// Bytes of the files of one clone behind the offset, where both are given in bytes.
fn rest_of_files(desk: &Desk<'_>) -> u64 {
    let extent = &desk.job().extent;
    let files = u64::from(desk.job().targets.files.max(1));
    match (extent.file_size, extent.offset) {
        (Some((_, most)), Some(Amount::Bytes(offset))) => {
            most.0.saturating_sub(offset.0).saturating_mul(files)
        }
        _ => u64::MAX,
    }
}

/// What ends a worker.
struct Amounts {
    bytes: Option<u64>,
    duration_ns: Option<u64>,
    once: bool,
    passes: u64,
}

impl Amounts {
    /// fio's rule: the size is the amount too, unless `io_size` or `time_based` says
    /// otherwise, and `runtime` is a ceiling that warm-up does not count towards.
    fn of(desk: &Desk<'_>, region_bytes: u64) -> Self {
        let fio = desk.job();
        let duration_ns = fio
            .time
            .limit
            .map(|limit| limit.0.saturating_add(fio.time.ramp.0));
        let asked = fio.extent.io.map(|io| io.of_bytes(region_bytes));
        let loops = fio.extent.loops;
        let is_part_of_files = fio.extent.size.is_some() && fio.extent.file_size.is_some();
        // What a stride leaves out is made up for: it goes round until the size is moved.
        let leaves_out = stride(desk).is_some();
        let bytes = if fio.time.until_limit {
            None
        } else if asked.is_some() || is_part_of_files || leaves_out {
            let region_bytes = region_bytes.min(rest_of_files(desk));
            let each = asked.unwrap_or(region_bytes).min(region_bytes);
            // As fio counts: each loop goes through the region once at most, and loops
            // are added until `io_size` is moved.
            Some(each.saturating_mul(loops).max(asked.unwrap_or(0)))
        } else {
            None
        };
        let once = bytes.is_none() && !fio.time.until_limit;
        Self {
            bytes,
            duration_ns,
            once,
            passes: if once { loops } else { 1 },
        }
    }
}

fn access(desk: &Desk<'_>, is_skewed: bool) -> Access {
    let fio = desk.job();
    match (fio.pattern.order, fio.chance.coverage) {
        (Order::Sequential, _) => Access::Sequential,
        (Order::Random, Coverage::EachOnce) if !is_skewed => Access::RandomPermutation,
        (Order::Random, _) => Access::RandomIndependent,
    }
}

fn action(desk: &Desk<'_>) -> Action {
    let pattern = &desk.job().pattern;
    match pattern.action {
        job::Action::Read => Action::Read,
        job::Action::Write => Action::Write,
        job::Action::TrimWrite => Action::TrimWrite,
        job::Action::Trim => Action::Trim,
        job::Action::ReadWrite => Action::Mixed {
            reads_percent: pattern.read_percent.unwrap_or(50),
        },
    }
}

/// What sequential offsets leave out.
fn stride(desk: &Desk<'_>) -> Option<Stride> {
    let fio = desk.job();
    let skip = u64::try_from(fio.pattern.skip_bytes).unwrap_or(0);
    if let Some(zones) = fio.pattern.strides {
        let gap = zones.zone_size.0.saturating_sub(zones.use_size.0) + zones.gap.0;
        return (gap > 0).then_some(Stride {
            run_bytes: zones.use_size.0,
            skip_bytes: gap,
        });
    }
    let each = match fio.pattern.action {
        job::Action::Write | job::Action::TrimWrite => &fio.block.size.write,
        job::Action::Trim => &fio.block.size.trim,
        job::Action::Read | job::Action::ReadWrite => &fio.block.size.read,
    };
    (skip > 0).then_some(Stride {
        run_bytes: each.least_bytes(),
        skip_bytes: skip,
    })
}

/// Operations in flight. Where the engine does one at a time, fio's depth has no
/// effect; lint says so.
fn depth(desk: &Desk<'_>) -> u32 {
    let fio = desk.job();
    match fio.engine {
        Engine::Null | Engine::IoUring | Engine::Libaio => fio.depth.in_flight,
        _ => 1,
    }
}

fn backend(engine: Engine) -> BackendKind {
    match engine {
        Engine::Sync | Engine::Psync | Engine::Vsync | Engine::Pvsync | Engine::Pvsync2 => {
            BackendKind::Psync
        }
        Engine::IoUring => BackendKind::IoUring,
        Engine::Libaio => BackendKind::Libaio,
        Engine::Mmap => BackendKind::Mmap,
        Engine::Splice => BackendKind::Splice,
        Engine::Null => BackendKind::Null,
    }
}

fn call_flags(desk: &Desk<'_>) -> CallFlags {
    let (switches, engine) = (&desk.job().switches, desk.job().engine);
    CallFlags {
        nowait: switches.no_wait,
        hipri: switches.polled_percent > 0 && engine != Engine::IoUring,
        dontcache: switches.uncached,
    }
}

/// The ring; its files and buffers are registered whatever fio's switches say, as that
/// changes what an operation costs and nothing else.
fn ring(desk: &Desk<'_>) -> RingOptions {
    let (switches, engine) = (&desk.job().switches, desk.job().engine);
    RingOptions {
        submission_polling: switches.kernel_submits,
        completion_polling: switches.polled_percent > 0 && engine == Engine::IoUring,
        force_async: switches.forced_async_every > 0,
        unregistered: false,
    }
}

fn sync_every(desk: &Desk<'_>) -> Option<SyncEvery> {
    let fio = desk.job();
    let durability = &fio.durability;
    let (writes, kind) = match durability.fdatasync_every_writes {
        0 => (durability.fsync_every_writes, SyncKind::Fsync),
        writes => (writes, SyncKind::Fdatasync),
    };
    (fio.pattern.action.writes() && writes > 0).then_some(SyncEvery { writes, kind })
}

/// Writing back after every so many writes; past the page cache there is nothing to.
fn writeback_every(desk: &mut Desk<'_>) -> Option<WritebackEvery> {
    let fio = desk.job();
    let range = fio.durability.range?;
    if fio.direct || !fio.pattern.action.writes() {
        let reason = "no page of the cache is made dirty";
        desk.no_effect("sync_file_range", reason);
        return None;
    }
    (range.every_writes > 0).then_some(WritebackEvery {
        writes: range.every_writes,
        wait_before: range.wait_before,
        start: range.write,
        wait_after: range.wait_after,
    })
}

/// How blocks of files are reserved that the job writes; a device has them.
fn reserve(desk: &Desk<'_>, targets: &[ProgramTarget]) -> Reserve {
    let fio = desk.job();
    let on_own_files = targets.iter().all(|target| !target.name.is_empty());
    if !fio.pattern.action.writes() || !on_own_files || fio.engine == Engine::Null {
        return Reserve::None;
    }
    match fio.layout.reserve {
        job::Reserve::None | job::Reserve::Truncate => Reserve::None,
        job::Reserve::Native | job::Reserve::Posix => Reserve::Native,
        job::Reserve::KeepSize => Reserve::KeepSize,
    }
}

/// Whether blocks are checked at all.
pub(super) fn is_checked(desk: &Desk<'_>) -> bool {
    let check = desk.job().verify.as_ref().map(|verify| verify.check);
    check.is_some_and(|check| check != Check::Null)
}

/// Whether each block carries a stamp by which it is checked.
fn is_stamped(desk: &Desk<'_>) -> bool {
    let check = desk.job().verify.as_ref().map(|verify| verify.check);
    matches!(check, Some(Check::Checksum | Check::PatternWithHeader))
}

/// Stamped writes after which they are read back.
fn read_back_every(desk: &Desk<'_>) -> Option<u64> {
    let verify = desk.job().verify.as_ref()?;
    let only_writes = desk.job().pattern.action == job::Action::Write;
    verify
        .after_blocks
        .filter(|_| is_stamped(desk) && only_writes && verify.read_back)
}

/// Whether written blocks are read back in the course of the job.
pub(super) fn reads_back(desk: &Desk<'_>) -> bool {
    read_back_every(desk).is_some()
}

/// How many operations at random places jump.
fn jump_percent(desk: &Desk<'_>) -> Option<JumpPercent> {
    let pattern = &desk.job().pattern;
    let jumps = pattern.random_percent;
    let some_follow = jumps != PerDirection::same(100) && pattern.order == Order::Random;
    some_follow.then_some(JumpPercent {
        read: jumps.read,
        write: jumps.write,
        trim: jumps.trim,
    })
}

/// What is written, and what a pattern repeats.
fn data(desk: &Desk<'_>) -> (Data, Vec<u8>) {
    if is_stamped(desk) {
        return (Data::Stamped, Vec::new());
    }
    if let Some(verify) = desk.job().verify.as_ref().filter(|_| is_checked(desk)) {
        return (Data::Pattern, verify.pattern.clone());
    }
    let payload = &desk.job().payload;
    match payload.fill {
        Fill::Scrambled | Fill::Repeated | Fill::Fresh => (Data::Unique, Vec::new()),
        Fill::Zeros => (Data::Zeros, Vec::new()),
        Fill::Pattern => (Data::Pattern, payload.pattern.clone()),
    }
}

fn shape(desk: &Desk<'_>) -> DataShape {
    let payload = &desk.job().payload;
    DataShape {
        compress_percent: payload.compress_percent.unwrap_or(0),
        dedupe_percent: payload.repeat_percent.unwrap_or(0),
        refill: payload.fill != Fill::Repeated,
    }
}

fn placement(desk: &mut Desk<'_>, of_machine: &Nodes) -> Placement {
    let cpus = nodes::cpus(desk, of_machine);
    let memory = nodes::memory(desk, of_machine);
    let asked = &desk.job().placement;
    // fio's manual, `prioclass`: 1 is real time, 2 best effort, 3 idle.
    let level = asked.io_level.unwrap_or(0).min(7);
    let io_priority = match (asked.io_class, asked.io_level) {
        (Some(1), _) => Some(IoPriority::RealTime(level)),
        (Some(2), _) | (None, Some(_)) => Some(IoPriority::BestEffort(level)),
        (Some(3), _) => Some(IoPriority::Idle),
        _ => None,
    };
    Placement {
        cpus,
        cpu_policy: if asked.cpu_each {
            CpuPolicy::Split
        } else {
            CpuPolicy::Shared
        },
        io_priority,
        nice: (asked.nice != 0).then_some(i32::from(asked.nice)),
        memory,
    }
}
