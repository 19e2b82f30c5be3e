//! Bytes, time and depth of a job, from its settings alone.

use super::super::job::{Engine, FioJob};
use super::super::resolve::{Resolved, ResolvedJob};
use super::super::units::{Amount, Bytes, Nanoseconds};
use super::{End, Forecast, Reaches, Total};

pub(super) fn of(resolved: &ResolvedJob, wave: u32) -> Forecast {
    let job = &resolved.job;
    let clones = u64::from(job.clones);
    let region = region_bytes(job);
    let moved_each = if job.time.until_limit {
        None
    } else {
        moved_bytes(job, region)
    };
    let moved = moved_each.and_then(|bytes| bytes.checked_mul(clones));
    let checks = job
        .verify
        .as_ref()
        .is_some_and(|verify| verify.read_back && job.pattern.action.writes());
    Forecast {
        name: job.name.clone(),
        place: resolved.place.clone(),
        clones: job.clones,
        wave,
        region_each: region.map(Bytes),
        moved_each: moved_each.map(Bytes),
        moved: moved.map(Bytes),
        read_back: moved.filter(|_| checks).map(Bytes),
        laid_out: laid_out_bytes(job, region).map(Bytes),
        end: end(job, region),
        time_most: time_most(job),
        depth_asked: u64::from(job.depth.in_flight) * clones,
        depth_effective: u64::from(job.effective_depth()) * clones,
        reaches: reaches(job),
    }
}

pub(super) fn reaches(job: &FioJob) -> Reaches {
    if job.engine == Engine::Null {
        Reaches::Nothing
    } else if job.direct && job.engine != Engine::Mmap {
        Reaches::Device
    } else if job.cache.drop_before && !job.cache.read_before {
        Reaches::ColdCache
    } else {
        Reaches::WarmCache
    }
}

/// Bytes of one clone's region, where the settings alone say it.
pub(super) fn region_bytes(job: &FioJob) -> Option<u64> {
    if let Some(size) = job.extent.size {
        return size.known_bytes();
    }
    let (least, most) = job.extent.file_size?;
    (least == most)
        .then(|| least.0.checked_mul(u64::from(job.targets.files)))
        .flatten()
}

/// Bytes that end one clone, all loops counted.
fn moved_bytes(job: &FioJob, region: Option<u64>) -> Option<u64> {
    let extent = &job.extent;
    if extent.until_full {
        return None;
    }
    let whole = match extent.io {
        Some(Amount::Bytes(bytes)) => Some(bytes.0),
        // A share of the region, as fio takes it.
        Some(share @ Amount::Percent(_)) => region.map(|region| share.of_bytes(region)),
        None => region,
    };
    let once = match (whole, operations_bytes(job)) {
        (Some(whole), Some(few)) => Some(whole.min(few)),
        (whole, few) => whole.or(few),
    };
    once?.checked_mul(extent.loops)
}

/// Bytes of the operations that `number_ios` allows, where blocks are of one size.
fn operations_bytes(job: &FioJob) -> Option<u64> {
    let operations = job.extent.operations?;
    let action = job.pattern.action;
    let [read, write, trim] = job.block.size.each();
    let mut sizes = [
        (action.reads(), read),
        (action.writes(), write),
        (action.trims(), trim),
    ]
    .into_iter()
    .filter(|(occurs, _)| *occurs)
    .map(|(_, size)| size);
    let first = sizes.next()?;
    let of_one_size = first.least_bytes() == first.most_bytes() && sizes.all(|size| size == first);
    of_one_size
        .then(|| operations.checked_mul(first.least_bytes()))
        .flatten()
}

/// Bytes of files that must exist before. Writes make their own.
fn laid_out_bytes(job: &FioJob, region: Option<u64>) -> Option<u64> {
    let on_device = job
        .targets
        .names
        .iter()
        .any(|name| name.starts_with("/dev/"));
    let needed = job.pattern.action.reads() || job.layout.write_before;
    if on_device || !needed || job.engine == Engine::Null {
        return Some(0);
    }
    let copies = if super::overlap::shares_files(job) {
        1
    } else {
        u64::from(job.clones)
    };
    // Files may be larger than the part that is worked on.
    let files = match job.extent.file_size {
        Some((_, most)) => most.0.checked_mul(u64::from(job.targets.files)),
        None => region,
    };
    files?.checked_mul(copies)
}

fn end(job: &FioJob, region: Option<u64>) -> End {
    if job.time.until_limit {
        return End::Time;
    }
    if job.extent.until_full {
        return End::Full;
    }
    let by_amount = region.is_some() || job.extent.io.is_some() || job.extent.operations.is_some();
    match (job.time.limit, by_amount) {
        (None, _) => End::Amount,
        // The target's own size may end it before.
        (Some(_), _) => End::AmountOrTime,
    }
}

fn time_most(job: &FioJob) -> Option<Nanoseconds> {
    let limit = job.time.limit?.0;
    let delay = job.phase.delay.map_or(0, |(_, most)| most.0);
    // Each loop has its own limit.
    let run = limit.checked_add(job.time.ramp.0)?;
    run.checked_mul(job.extent.loops)?
        .checked_add(delay)
        .map(Nanoseconds)
}

pub(super) fn total(resolved: &Resolved, jobs: &[Forecast]) -> Total {
    let mut workers_most = 0;
    let mut time_most = Some(0u64);
    let last = jobs.iter().map(|job| job.wave).max().unwrap_or(0);
    for wave in 0..=last {
        let members = || {
            jobs.iter()
                .zip(&resolved.jobs)
                .filter(move |(job, _)| job.wave == wave)
        };
        let workers: u64 = members().map(|(job, _)| u64::from(job.clones)).sum();
        workers_most = workers_most.max(workers);
        // A job that waits for another comes after it: as if one after another.
        let chained: Option<u64> = sum(members()
            .filter(|(_, job)| job.job.phase.after.is_some())
            .map(|(job, _)| job.time_most.map(|time| time.0)));
        let longest: Option<u64> = members()
            .filter(|(_, job)| job.job.phase.after.is_none())
            .map(|(job, _)| job.time_most.map(|time| time.0))
            .try_fold(0, |longest: u64, time| Some(longest.max(time?)));
        time_most = sum([time_most, chained, longest].into_iter());
    }
    Total {
        workers_most,
        moved: sum(jobs.iter().map(|job| job.moved.map(|bytes| bytes.0))).map(Bytes),
        time_most: time_most.map(Nanoseconds),
    }
}

/// The sum, if all are known and it fits.
fn sum(mut values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.try_fold(0u64, |sum, value| sum.checked_add(value?))
}
