//! What a job's figures will not mean, and what will fail.

use super::super::ini::Machine;
use super::super::job::{Action, BlockSize, Coverage, Engine, Fill, FioJob, Order, WriteSync};
use super::super::resolve::ResolvedJob;
use super::super::units::{Bytes, Nanoseconds};
use super::{Code, Finding, Forecast, Notes, Reaches, Severity, is_set};

pub(super) fn of(job: &ResolvedJob, forecast: &Forecast, machine: Machine) -> Vec<Finding> {
    let mut notes = Notes::new(job);
    depth(job, &mut notes);
    cache(job, forecast, machine, &mut notes);
    time(job, forecast, &mut notes);
    mix(job, &mut notes);
    region(job, forecast, &mut notes);
    writes(job, &mut notes);
    verify(job, &mut notes);
    rest(job, &mut notes);
    notes.found
}

fn depth(resolved: &ResolvedJob, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    let asked = job.depth.in_flight;
    if job.effective_depth() == asked {
        return;
    }
    let (why, advice) = if job.engine == Engine::Libaio {
        (
            "libaio without direct=1 does each operation in its submitting call",
            "set direct=1, or use io_uring",
        )
    } else {
        (
            "this ioengine does one operation at a time",
            "use io_uring, or libaio with direct=1, or more numjobs",
        )
    };
    notes.add(
        (Severity::Doubt, Code::DepthWithoutEffect),
        "iodepth",
        format!("iodepth={asked} comes to 1: {why}"),
        advice,
    );
}

/// Whether a write counts as done only when it is durable.
fn syncs_each_write(job: &FioJob) -> bool {
    let durable = &job.durability;
    job.write_sync != WriteSync::None
        || durable.fsync_every_writes == 1
        || durable.fdatasync_every_writes == 1
}

fn cache(resolved: &ResolvedJob, forecast: &Forecast, machine: Machine, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    let cached = matches!(forecast.reaches, Reaches::ColdCache | Reaches::WarmCache);
    // Where nothing is read and each write waits for the device, the cache hides nothing.
    let waits = !job.pattern.action.reads() && syncs_each_write(job);
    if !cached || waits || job.switches.uncached {
        return;
    }
    let memory_bytes = machine.memory_mib.saturating_mul(1 << 20);
    let fits = forecast
        .region_each
        .is_some_and(|region| region.0.saturating_mul(u64::from(job.clones)) < memory_bytes);
    let and_fits = if fits {
        "; its region fits into this machine's memory"
    } else {
        ""
    };
    notes.add(
        (Severity::Doubt, Code::Cached),
        "direct",
        format!("I/O goes through the page cache{and_fits}"),
        "set direct=1 to measure the device, or keep it to measure the cache",
    );
    if forecast.reaches == Reaches::WarmCache && job.pattern.action.reads() {
        notes.add(
            (Severity::Doubt, Code::WarmCache),
            if job.cache.read_before {
                "pre_read"
            } else {
                "invalidate"
            },
            "reads find what the cache holds from before",
            "leave invalidate at 1, and pre_read at 0, to start cold",
        );
    }
}

fn time(resolved: &ResolvedJob, forecast: &Forecast, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    let ramp = job.time.ramp;
    if let Some(limit) = job.time.limit
        && !job.time.until_limit
    {
        let amount = forecast
            .moved_each
            .map_or("its amount of I/O".to_owned(), |bytes| bytes.to_string());
        notes.add(
            (Severity::Doubt, Code::RuntimeIsCeiling),
            "runtime",
            format!("it ends after {amount} for each clone or after {limit}, whichever is first"),
            "add time_based to go on until the time is over",
        );
    }
    if ramp == Nanoseconds(0) {
        return;
    }
    if job.time.limit.is_some_and(|limit| ramp >= limit) {
        notes.add(
            (Severity::Doubt, Code::RampTooLong),
            "ramp_time",
            format!("the warm-up of {ramp} is as long as the run or longer"),
            "shorten ramp_time or lengthen runtime; the warm-up comes on top of it",
        );
    }
    if !job.time.until_limit {
        notes.add(
            (Severity::Doubt, Code::RampCountsAmount),
            "ramp_time",
            "what the warm-up moves counts towards the amount: little may be left to measure",
            "add runtime and time_based",
        );
    }
}

fn mix(resolved: &ResolvedJob, notes: &mut Notes<'_>) {
    if resolved.job.pattern.action == Action::ReadWrite {
        notes.add(
            (Severity::Note, Code::MixTied),
            "rw",
            "reads and writes keep their ratio, so the slower of them sets the pace of both",
            "use two jobs at the same time to load each direction for itself",
        );
        return;
    }
    for option in ["rwmixread", "rwmixwrite"] {
        if is_set(resolved, option) {
            notes.add(
                (Severity::Doubt, Code::MixIgnored),
                option,
                format!("{option} has no effect: only rw=rw and rw=randrw mix"),
                "set rw=randrw or rw=rw",
            );
        }
    }
}

fn region(resolved: &ResolvedJob, forecast: &Forecast, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    let action = job.pattern.action;
    let [read, write, trim] = job.block.size.each();
    let sizes: Vec<&BlockSize> = [
        (action.reads(), read),
        (action.writes(), write),
        (action.trims(), trim),
    ]
    .into_iter()
    .filter_map(|(occurs, size)| occurs.then_some(size))
    .collect();
    let least = sizes
        .iter()
        .map(|size| size.least_bytes())
        .min()
        .unwrap_or(1);
    let most = sizes
        .iter()
        .map(|size| size.most_bytes())
        .max()
        .unwrap_or(1);
    let on_device = job
        .targets
        .names
        .iter()
        .any(|name| name.starts_with("/dev/"));
    match forecast.region_each {
        None if job.extent.size.is_none()
            && job.extent.file_size.is_none()
            && !on_device
            && job.replay.is_none()
            && job.targets.below.is_none() =>
        {
            notes.add(
                (Severity::Failure, Code::NoSize),
                "size",
                "no size is set: only files that exist already have one",
                "set size",
            );
        }
        None => {}
        Some(Bytes(region)) if region < most => notes.add(
            (Severity::Failure, Code::BlockBeyondRegion),
            "bs",
            format!(
                "a block of {} does not fit into the region of {}",
                Bytes(most),
                Bytes(region)
            ),
            "make size larger or bs smaller",
        ),
        Some(Bytes(region)) => {
            let rest = region % least.max(1);
            if least == most && rest > 0 {
                notes.add(
                    (Severity::Note, Code::RegionRest),
                    "size",
                    format!(
                        "the last {} of the region are less than a block",
                        Bytes(rest)
                    ),
                    "make size a multiple of bs",
                );
            }
        }
    }
    // No device of Linux has sectors below 512 bytes.
    let unaligned = |bytes: u64| !bytes.is_multiple_of(512);
    let offset = job
        .extent
        .offset
        .and_then(super::super::units::Amount::known_bytes);
    if job.direct
        && job.engine != Engine::Null
        && (sizes.iter().any(|size| unaligned(size.least_bytes()))
            || offset.is_some_and(unaligned)
            || job.block.any_size)
    {
        notes.add(
            (Severity::Failure, Code::DirectUnaligned),
            "bs",
            "direct I/O takes whole sectors only: sizes or offsets here are no multiples of 512",
            "use multiples of the device's sector size, or direct=0",
        );
    }
}

fn writes(resolved: &ResolvedJob, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    if !job.pattern.action.writes() && !job.pattern.action.trims() {
        return;
    }
    if let Some(device) = job
        .targets
        .names
        .iter()
        .find(|name| name.starts_with("/dev/"))
    {
        notes.add(
            (Severity::Note, Code::DeviceOverwritten),
            "filename",
            format!("what is on {device} is overwritten"),
            "name a device that holds nothing",
        );
    }
    if !job.pattern.action.writes() || job.engine == Engine::Null {
        return;
    }
    let durable = &job.durability;
    let waits = durable.fsync_at_end
        || durable.fsync_every_writes > 0
        || durable.fdatasync_every_writes > 0
        || job.write_sync != WriteSync::None;
    if !job.direct && !waits {
        notes.add(
            (Severity::Doubt, Code::NotDurable),
            "end_fsync",
            "writes count as done when they are in the page cache",
            "set end_fsync=1 to wait for the device inside the time, or direct=1",
        );
    }
    if durable.fsync_on_close && !durable.fsync_at_end {
        notes.add(
            (Severity::Doubt, Code::SyncOutsideTime),
            "fsync_on_close",
            "the sync at close is outside of the time",
            "set end_fsync=1",
        );
    }
    if matches!(
        job.payload.fill,
        Fill::Zeros | Fill::Pattern | Fill::Repeated
    ) {
        notes.add(
            (Severity::Doubt, Code::PayloadRepeats),
            match job.payload.fill {
                Fill::Zeros => "zero_buffers",
                Fill::Pattern => "buffer_pattern",
                _ => "scramble_buffers",
            },
            "every write has the same bytes: storage that compresses or deduplicates looks fast",
            "set refill_buffers",
        );
    }
}

fn verify(resolved: &ResolvedJob, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    let Some(verify) = &job.verify else {
        return;
    };
    let action = job.pattern.action;
    if !verify.read_back || !(action.writes() || action.reads()) {
        notes.add(
            (Severity::Doubt, Code::VerifyNothing),
            "do_verify",
            "headers are written and nothing is read back",
            "set do_verify=1, or run again with rw=read or verify_only",
        );
    }
    if !action.writes() {
        return;
    }
    let mut rewrites = |option: &str, what: &str| {
        notes.add(
            (Severity::Failure, Code::VerifyRewrites),
            option,
            format!("{what}, so a block may be written again before it is checked; fio reports that as a failed check"),
            "remove it, or check by backlog in a pass of its own",
        );
    };
    let random = job.pattern.order == Order::Random;
    if random && job.chance.coverage == Coverage::Independent {
        rewrites("norandommap", "random writes may repeat blocks");
    }
    if random && job.pattern.run_operations > 1 {
        rewrites("rw", "runs of writes overlap the next run");
    }
    let sizes = &job.block.size.write;
    if random && sizes.least_bytes() != sizes.most_bytes() {
        let option = if is_set(resolved, "bssplit") {
            "bssplit"
        } else {
            "bsrange"
        };
        rewrites(option, "writes of mixed sizes overlap");
    }
    if job.time.until_limit {
        rewrites("time_based", "the region is written over and over");
    }
}

fn rest(resolved: &ResolvedJob, notes: &mut Notes<'_>) {
    let job = &resolved.job;
    if job.pattern.order == Order::Random && job.chance.repeat && !job.direct {
        notes.add(
            (Severity::Note, Code::SeedRepeats),
            "randrepeat",
            "every run visits the same blocks in the same order: caches remember them",
            "set randrepeat=0 for another order each time",
        );
    }
    let rate = &job.rate;
    let limits = [&rate.bytes_per_second, &rate.operations_per_second];
    for (option, limit) in ["rate", "rate_iops"].into_iter().zip(limits) {
        if limit.each().into_iter().any(Option::is_some) {
            notes.add(
                (Severity::Note, Code::RateOpen),
                option,
                "operations have a time at which they are due: latency counts from there, so a \
                 stall costs all that it holds up, which fio does not charge",
                "compare such latencies only among runs of this kind",
            );
        }
    }
    let series = &job.series;
    for (option, log) in [
        ("write_bw_log", &series.bandwidth),
        ("write_lat_log", &series.latency),
        ("write_iops_log", &series.operations),
    ] {
        if log.is_some() && series.interval.is_none() {
            notes.add(
                (Severity::Note, Code::LogWithoutInterval),
                option,
                "fio writes a line for every operation; here the log has a line for every interval",
                "set log_avg_msec to choose the interval",
            );
        }
    }
    for misread in &resolved.misread {
        notes.found.push(Finding {
            code: Code::SizeMisread,
            severity: Severity::Doubt,
            job: job.name.clone(),
            place: misread.place.clone(),
            what: format!(
                "fio reads {}={} with the other base: {}",
                misread.option,
                misread.value,
                match job.kb_base {
                    super::super::units::KbBase::Inverted1024 => "KiB is 1000 here",
                    super::super::units::KbBase::Standard1000 => "Ki without B is 1000 here",
                }
            ),
            advice: "write k, m or g, or set kb_base=1000 and write KiB".to_owned(),
        });
    }
    for option in &resolved.without_effect {
        notes.add(
            (Severity::Note, Code::OptionWithoutEffect),
            option.option,
            format!("{} changes nothing: {}", option.option, option.reason),
            "",
        );
    }
}
