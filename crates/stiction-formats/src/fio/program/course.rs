//! How a job goes on, and what ends it before its time: rates, pauses, batches, limits.

use stiction_core::{
    Batches, Counted, DepthSearch, Floor, LoopKind, Pace, Rate, RatesByWay, SteadyFigure,
    SteadyLimit, SteadySense, SteadyStop, ThinkTime, Tolerance,
};

use super::super::job::{self, Action, Arrivals, Engine, PerDirection, SteadyOf};
use super::Desk;

/// Window of a least rate where none is given (fio's manual, `rate_cycle`).
const FLOOR_WINDOW_NS: u64 = 1_000_000_000;
const PPM_OF_PERCENT: f64 = 10_000.0;

/// One of two figures for each direction that occurs, as a rate.
fn by_way(
    desk: &Desk<'_>,
    operations: &PerDirection<Option<u64>>,
    bytes: &PerDirection<Option<u64>>,
) -> RatesByWay {
    let action = desk.job().pattern.action;
    let rate = |occurs: bool, operations: Option<u64>, bytes: Option<u64>| {
        let rate = operations.map(Rate::OperationsPerS);
        rate.or(bytes.map(Rate::BytesPerS)).filter(|_| occurs)
    };
    RatesByWay {
        read: rate(action.reads(), operations.read, bytes.read),
        write: rate(action.writes(), operations.write, bytes.write),
        // What follows from a trim has no rate of its own.
        trim: rate(action == Action::Trim, operations.trim, bytes.trim),
    }
}

/// The rate, in the open loop: what is late is charged.
pub(super) fn pace(desk: &Desk<'_>) -> Option<Pace> {
    let asked = &desk.job().rate;
    let rates = by_way(desk, &asked.operations_per_second, &asked.bytes_per_second);
    let is_mix = desk.job().pattern.action == Action::ReadWrite;
    let first = rates.read.or(rates.write).or(rates.trim)?;
    Some(Pace {
        rate: first,
        by_way: is_mix.then_some(rates),
        arrivals: match asked.arrivals {
            Arrivals::Even => stiction_core::Arrivals::Fixed,
            Arrivals::Poisson => stiction_core::Arrivals::Poisson,
        },
        kind: LoopKind::Open,
    })
}

/// The least rates.
pub(super) fn floor(desk: &Desk<'_>) -> Option<Floor> {
    let asked = &desk.job().rate;
    let RatesByWay { read, write, trim } = by_way(
        desk,
        &asked.least_operations_per_second,
        &asked.least_bytes_per_second,
    );
    read.or(write).or(trim).map(|_| Floor {
        read,
        write,
        trim,
        window_ns: asked.window.map_or(FLOOR_WINDOW_NS, |window| window.0),
    })
}

/// Pauses. A time between them stands alone unless operations are given as well (fio's
/// manual, `thinktime_iotime`).
pub(super) fn think(desk: &Desk<'_>) -> Option<ThinkTime> {
    let think = desk.job().think.as_ref()?;
    let counts = think.every_time.is_none() || desk.is_set("thinktime_blocks");
    Some(ThinkTime {
        pause_ns: think.pause.0,
        spin_ns: think.spin.0,
        every_operations: counts.then_some(think.every_operations.max(1)),
        counted: if think.counts_issued {
            Counted::Issued
        } else {
            Counted::Completed
        },
        every_ns: think.every_time.map(|time| time.0),
        pace_waits: desk.job().rate.ignores_think,
    })
}

/// Batches, where the file asks for any; otherwise they are the engine's choice.
pub(super) fn batches(desk: &Desk<'_>) -> Option<Batches> {
    let job = desk.job();
    let depth = &job.depth;
    let asked = [
        "iodepth_batch",
        "iodepth_batch_complete_min",
        "iodepth_batch_complete_max",
        "iodepth_low",
    ];
    let has_queue = matches!(job.engine, Engine::IoUring | Engine::Libaio);
    if !has_queue || !asked.iter().any(|option| desk.is_set(option)) {
        return None;
    }
    let complete_max = depth.reap_most.unwrap_or(depth.in_flight);
    Some(Batches {
        submit: match depth.submit_batch {
            0 => depth.in_flight,
            submit => submit,
        },
        complete_min: depth.reap_least,
        complete_max: complete_max.max(depth.reap_least).max(1),
        refill_below: depth.refill_below.filter(|low| *low < depth.in_flight),
    })
}

/// The search for the greatest depth under a latency.
pub(super) fn depth_search(desk: &mut Desk<'_>) -> Option<DepthSearch> {
    let latency = &desk.job().latency;
    let target = latency.target?;
    let Some(window) = latency.window else {
        let what = "latency_target without the time that each depth is tried for";
        desk.conflict("latency_target", what, "set latency_window");
        return None;
    };
    Some(DepthSearch {
        latency_ns_max: target.0,
        share_ppm: (latency.percent.unwrap_or(100.0) * PPM_OF_PERCENT).round() as u32,
        window_ns: window.0,
        goes_on: latency.keep_adjusting,
    })
}

/// The end of a job whose rate is steady.
pub(super) fn steady_stop(desk: &mut Desk<'_>) -> Option<SteadyStop> {
    let steady = desk.job().steady.as_ref()?;
    let (figure, unit) = match steady.of {
        SteadyOf::Operations => (SteadyFigure::Operations, 1.0),
        SteadyOf::Bandwidth => (SteadyFigure::Bytes, 1024.0),
        SteadyOf::Latency => {
            let reason = "rates become steady here, and latencies do not; use iops or bw";
            desk.refuse("steadystate", reason);
            return None;
        }
    };
    Some(SteadyStop {
        figure,
        sense: if steady.by_slope {
            SteadySense::Slope
        } else {
            SteadySense::Deviation
        },
        limit: if steady.in_percent {
            SteadyLimit::Ppm((steady.limit * PPM_OF_PERCENT).round() as u32)
        } else {
            SteadyLimit::PerS((steady.limit * unit).round() as u64)
        },
        rounds: u32::try_from(steady.window.0 / steady.sample.0.max(1)).unwrap_or(u32::MAX),
        round_ns: steady.sample.0,
        ramp_ns: steady.ramp.0,
    })
}

/// Which errors do not end the job.
pub(super) fn tolerance(desk: &mut Desk<'_>) -> Tolerance {
    use job::GoOnAfter::{All, Io, Read, Write};
    let errors = &desk.job().errors;
    let go_on = errors.go_on_after;
    let mut expected: Vec<Vec<i32>> = Vec::new();
    let mut unknown = None;
    for names in &errors.ignored {
        let mut numbers = Vec::new();
        for name in names.iter().filter(|name| !name.is_empty()) {
            match number_of(name) {
                Some(number) => numbers.push(number),
                None => unknown = Some(name),
            }
        }
        expected.push(numbers);
    }
    if let Some(name) = unknown {
        let what = format!("`{name}` is no error that is known by this name");
        desk.conflict("ignore_error", what, "write its number");
    }
    let mut expected = expected.into_iter();
    Tolerance {
        reads: matches!(go_on, Read | Io | All),
        writes: matches!(go_on, Write | Io | All),
        expected_of_reads: expected.next().unwrap_or_default(),
        expected_of_writes: expected.next().unwrap_or_default(),
        failures_max: None,
    }
}

/// Errors that I/O comes to, by their names on Linux (`asm-generic/errno-base.h` and
/// `errno.h`).
const ERRORS: [(&str, i32); 22] = [
    ("EPERM", 1),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("ENODATA", 61),
    ("EOVERFLOW", 75),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
];

fn number_of(name: &str) -> Option<i32> {
    let known = ERRORS.iter().find(|(known, _)| *known == name);
    known
        .map(|(_, number)| *number)
        .or_else(|| name.parse().ok().filter(|number| *number > 0))
}
