//! A job that plays a trace: which files, what its operations have in common.

use stiction_core::{
    Access, Action, BackendKind, Data, Job, ProgramTarget, ProgramTrace, Region, Seed, TraceCall,
    TraceStep,
};

use super::super::job::{Engine, FioJob, Replay};
use super::super::trace::Trace;
use super::places::Places;
use super::{Desk, ProgramGround};

/// Options that a job with a trace honours.
const HONOURED: [&str; 48] = [
    "name",
    "description",
    "numjobs",
    "thread",
    "direct",
    "buffered",
    "ioengine",
    "iodepth",
    "directory",
    "allow_file_create",
    "runtime",
    "invalidate",
    "pre_read",
    "loops",
    "read_iolog",
    "write_iolog",
    "replay_no_stall",
    "replay_redirect",
    "replay_scale",
    "replay_align",
    "replay_time_scale",
    "replay_skip",
    "group_reporting",
    "unified_rw_reporting",
    "percentile_list",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "stonewall",
    "wait_for",
    "exitall",
    "exit_what",
    "exitall_on_error",
    "new_group",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_window_value",
    "log_unix_epoch",
    "kb_base",
    "unit_base",
    "refill_buffers",
];

/// Options whose part the trace plays.
const OF_TRACE: [&str; 16] = [
    "rw",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "ba",
    "bsrange",
    "bssplit",
    "size",
    "filesize",
    "filename",
    "filename_format",
    "nrfiles",
    "offset",
    "norandommap",
    "iodepth_batch",
    "iodepth_low",
];

/// The most threads that play one trace.
const IN_FLIGHT_MAX: u32 = 512;

/// What a job with a trace comes to.
pub(super) struct Played {
    pub(super) job: Job,
    pub(super) targets: Vec<ProgramTarget>,
    pub(super) trace: ProgramTrace,
    /// Whether its files need content.
    pub(super) reads: bool,
}

/// The job that plays a trace; `None` where it cannot, which the desk then says.
pub(super) fn played(
    desk: &mut Desk<'_>,
    replay: &Replay,
    seed: Seed,
    ground: &ProgramGround<'_>,
    places: &mut Places<'_>,
) -> Option<Played> {
    let path = replay.from.as_deref()?;
    if !possible(desk) {
        return None;
    }
    let trace = match (ground.trace)(path) {
        Ok(Ok(trace)) => trace,
        Ok(Err(error)) => {
            desk.errors.push(error);
            return None;
        }
        Err(reason) => {
            let what = format!("the trace {path} cannot be read: {reason}");
            desk.conflict("read_iolog", what, "name one that can");
            return None;
        }
    };
    let Trace { files, mut steps } = trace;
    adapt(&mut steps, replay);
    if steps.is_empty() {
        let what = format!("the trace {path} has no operation to play");
        desk.conflict("read_iolog", what, "name another, or change replay_skip");
        return None;
    }
    let extents = if replay.onto.is_some() {
        steps.iter_mut().for_each(|step| step.file = 0);
        extents(&steps, 1)
    } else {
        extents(&steps, files.len())
    };
    let mut targets = Vec::with_capacity(extents.len());
    for (number, extent) in extents.iter().enumerate() {
        let name = replay
            .onto
            .as_deref()
            .or(files.get(number).map(String::as_str));
        targets.push(places.traced(desk, (number, name?), replay.onto.is_some(), *extent)?);
    }
    let fio = desk.job();
    let in_flight = in_flight(fio);
    Some(Played {
        job: job(fio, seed, &steps, &extents),
        reads: steps.iter().any(|step| step.call == TraceCall::Read),
        targets,
        trace: ProgramTrace {
            path: path.to_owned(),
            steps: steps.len() as u64,
            in_flight,
            list: steps,
        },
    })
}

/// What a trace does to one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// The first byte that it never reaches.
    pub(super) end_bytes: u64,
    /// Whether it writes or trims.
    pub(super) changes: bool,
    pub(super) trims: bool,
}

fn extents(steps: &[TraceStep], files: usize) -> Vec<Extent> {
    let mut extents = vec![Extent::default(); files];
    for step in steps {
        let extent = &mut extents[usize::from(step.file)];
        extent.end_bytes = extent.end_bytes.max(step.end_bytes());
        extent.changes |= step.changes();
        extent.trims |= step.call == TraceCall::Trim;
    }
    extents
}

/// Chooses and scales the steps, as the job asks. Offsets are divided first and aligned
/// downwards then, as fio does.
fn adapt(steps: &mut Vec<TraceStep>, replay: &Replay) {
    let is_left_out = |step: &TraceStep| {
        let kind = match step.call {
            TraceCall::Read => "read",
            TraceCall::Write => "write",
            TraceCall::Trim => "trim",
            TraceCall::Fsync | TraceCall::Fdatasync => "sync",
        };
        replay.without.iter().any(|without| without == kind)
    };
    steps.retain(|step| !is_left_out(step));
    let align = replay.align.map_or(1, |align| align.0).max(1);
    for step in steps {
        step.offset_bytes /= replay.offset_divisor.max(1);
        step.offset_bytes -= step.offset_bytes % align;
        step.is_timed &= !replay.without_waits;
        let scaled_ns = u128::from(step.at_ns) * 100 / u128::from(replay.speed_percent.max(1));
        step.at_ns = u64::try_from(scaled_ns).unwrap_or(u64::MAX);
    }
}

/// Whether nothing in the job stands against playing a trace.
fn possible(desk: &mut Desk<'_>) -> bool {
    let before = desk.errors.len();
    let fio = desk.job();
    if fio.clones > 1 {
        desk.refuse(
            "numjobs",
            "one clone plays a trace; iodepth lets operations overlap",
        );
    }
    if fio.extent.loops > 1 {
        desk.refuse("loops", "a trace is played once");
    }
    if matches!(fio.engine, Engine::Null | Engine::Mmap | Engine::Splice) {
        desk.refuse("ioengine", "traces are played by pread and pwrite");
    } else {
        desk.no_effect(
            "ioengine",
            "a trace is played by pread and pwrite, in as many threads as operations may be in flight",
        );
    }
    if in_flight(fio) > IN_FLIGHT_MAX {
        let what = "each operation in flight is a thread, and 512 are possible";
        desk.conflict("iodepth", what, "make it smaller");
    }
    let resolved = desk.resolved;
    for set in &resolved.set {
        let passes = HONOURED.contains(&set.option)
            || resolved
                .without_effect
                .iter()
                .any(|one| one.option == set.option)
            || desk
                .without_effect
                .iter()
                .any(|one| one.option == set.option);
        if OF_TRACE.contains(&set.option) {
            desk.no_effect(set.option, "it is as the trace has it");
        } else if !passes {
            desk.refuse(
                set.option,
                "a trace has its own operations, and is played as it is",
            );
        }
    }
    desk.errors.len() == before
}

/// Operations that may be under way at a time: one, where the engine does one.
fn in_flight(fio: &FioJob) -> u32 {
    match fio.engine {
        Engine::IoUring | Engine::Libaio => fio.depth.in_flight.max(1),
        _ => 1,
    }
}

/// What the operations have in common.
fn job(fio: &FioJob, seed: Seed, steps: &[TraceStep], extents: &[Extent]) -> Job {
    let count = |call| steps.iter().filter(|step| step.call == call).count();
    let (reads, writes, trims) = (
        count(TraceCall::Read),
        count(TraceCall::Write),
        count(TraceCall::Trim),
    );
    let data = (reads + writes + trims).max(1);
    let longest = steps.iter().map(|step| step.length_bytes).max();
    let regions = (0..).zip(extents).map(|(target, extent)| Region {
        target,
        offset_bytes: 0,
        length_bytes: extent.end_bytes,
    });
    Job {
        name: fio.name.clone(),
        access: Access::RandomIndependent,
        action: match (reads, writes, trims) {
            (_, 0, 0) => Action::Read,
            (0, 0, _) => Action::Trim,
            (0, ..) => Action::Write,
            _ => Action::Mixed {
                reads_percent: u8::try_from(reads * 100 / data).unwrap_or(100),
            },
        },
        block_size_bytes: u64::from(longest.unwrap_or(0)).max(1),
        regions: regions.collect(),
        regions_per_worker: u32::try_from(extents.len()).unwrap_or(u32::MAX).max(1),
        depth: in_flight(fio),
        backend: BackendKind::Psync,
        direct: fio.direct,
        duration_ns: fio.time.limit.map(|limit| limit.0),
        data: Data::Unique,
        seed,
        ..Job::default()
    }
}
