//! The CPU as the bound, and the CPU taken away.

use stiction_core::{BackendKind, Caveat, CaveatCode, Residency, Subject, SystemCpu, format_count};

use super::Claim;
use super::case::{Case, Moved, Way};
use super::contradiction::CACHED_SHARE;
use super::words::percent;

/// A thread that is on a CPU for this share of the time waits for nothing else.
pub(super) const SATURATED_SHARE: f64 = 0.95;

/// Share of the CPU time that the machine wanted and the hypervisor kept, from which
/// on times are doubtful. A twentieth moves a rate by as much as the smallest change
/// that a comparison looks for.
const STOLEN_SHARE: f64 = 0.05;

/// Share of its time that a worker was ready and had no CPU, from which on that is in its
/// latencies. Above what the scheduler's slices make of a moment's company.
const WAITED_SHARE: f64 = 0.10;

/// Shorter phases say little of a worker's share of the CPU.
const SLEEP_SEEN_NS_MIN: u64 = 100_000_000;

/// A worker, or all that the process may use, was busy all the time. Only when the
/// I/O is known to have reached the device: in front of memory a busy CPU is no
/// finding.
pub(super) fn bound(case: &Case<'_>) -> Option<Claim> {
    let reached = case.is_direct() || matches!(case.moved(), Moved::Bytes(_));
    if !reached {
        return None;
    }
    let reason = saturation(case)?;
    Some(Claim::new(Subject::Cpu, [reason]))
}

/// How the load generator ran out of CPU, if it did.
fn saturation(case: &Case<'_>) -> Option<String> {
    let busiest = case.witnesses.busiest_worker_cpu_fraction;
    if let Some(share) = busiest.filter(|&share| share >= SATURATED_SHARE) {
        let share = percent(share.min(1.0));
        return Some(format!(
            "a worker kept its CPU busy for {share} of the time"
        ));
    }
    let usable = usable_cpus(case)?;
    let share = worker_cpus(case)? / usable;
    (share >= SATURATED_SHARE).then(|| {
        let share = percent(share.min(1.0));
        format!("the workers used {share} of the {usable} CPUs they could")
    })
}

/// CPUs' worth of time that the workers used; for rings that of the process, since
/// the kernel's helpers of a ring are threads of the process and no worker.
fn worker_cpus(case: &Case<'_>) -> Option<f64> {
    if case
        .job
        .is_some_and(|job| job.backend == BackendKind::IoUring)
    {
        return process_cpus(case);
    }
    let used: f64 = case.phase.workers.iter().map(|w| w.cpu_ns as f64).sum();
    Some(used / 1e9 / case.elapsed_s())
}

/// CPUs' worth of time that the process used, its preparations included.
fn process_cpus(case: &Case<'_>) -> Option<f64> {
    let used = case.witnesses.process_cpu?;
    Some(used.total_ns as f64 / 1e9 / case.elapsed_s())
}

/// CPUs that the workers can have kept busy: as many as there are workers, CPUs
/// allowed, and CPU quota.
fn usable_cpus(case: &Case<'_>) -> Option<f64> {
    let allowed = f64::from(case.environment.cpu.as_ref()?.allowed);
    let quota = case.environment.limits.cpu_percent;
    let quota = quota.map_or(f64::INFINITY, |percent| percent as f64 / 100.0);
    let workers = case.phase.workers.len() as f64;
    let usable = allowed.min(quota).min(workers);
    (usable > 0.0).then_some(usable)
}

/// Doubts about the CPU, whatever the subject.
pub(super) fn doubts(case: &Case<'_>) -> Vec<Caveat> {
    let system = case.witnesses.system_cpu;
    let bound = saturation(case)
        .or_else(|| waited(case))
        .or_else(|| crowded(case, system?));
    let bound = bound.map(|detail| Caveat::new(CaveatCode::ClientBound, detail));
    let stolen = system.and_then(stolen);
    let slept = slept(case);
    bound.into_iter().chain(stolen).chain(slept).collect()
}

/// A worker whose data is all in memory has nothing to wait for: one that was not on a
/// CPU all the time slept, or was kept from it, and its rate is not that of memory.
fn slept(case: &Case<'_>) -> Option<Caveat> {
    let job = case.job?;
    let resident = |residency: Option<Residency>| {
        residency.is_some_and(|residency| residency.fraction() >= CACHED_SHARE)
    };
    let in_memory =
        resident(case.witnesses.residency_before) && resident(case.witnesses.residency_after);
    let unhindered = job.pace.is_none() && job.think.is_none() && job.depth == 1;
    let reads_alone = case.way == Way::Read && !job.direct && unhindered;
    let busiest = case.witnesses.busiest_worker_cpu_fraction?;
    let long_enough = case.phase.elapsed_ns >= SLEEP_SEEN_NS_MIN;
    if !in_memory || !reads_alone || !long_enough || busiest >= SATURATED_SHARE {
        return None;
    }
    let workers = case.phase.workers.iter();
    let (waited, pushed) = workers.fold((0, 0), |(waited, pushed), worker| {
        (
            waited + worker.switches_voluntary,
            pushed + worker.switches_involuntary,
        )
    });
    let per_s = |count: u64| format_count((count as f64 / case.elapsed_s()).round());
    let why = if waited > pushed {
        "it slept".to_owned()
    } else {
        "others had its CPU".to_owned()
    };
    Some(Caveat::new(
        CaveatCode::TesterSlept,
        format!(
            "the busiest worker used {} of a CPU where memory alone answers and all of it \
             is to be had: {why} ({} waits/s, {} pre-emptions/s)",
            percent(busiest),
            per_s(waited).trim(),
            per_s(pushed).trim()
        ),
    ))
}

/// The workers were ready and had no CPU: others had it, or there are more workers than
/// CPUs.
fn waited(case: &Case<'_>) -> Option<String> {
    let workers = &case.phase.workers;
    let ns: u64 = workers
        .iter()
        .map(|w| w.run_delay_ns)
        .sum::<Option<u64>>()?;
    let share = ns as f64 / 1e9 / (case.elapsed_s() * workers.len() as f64);
    (share >= WAITED_SHARE).then(|| {
        format!(
            "the workers were ready and waited for a CPU for {} of the time",
            percent(share.min(1.0))
        )
    })
}

/// A CPU of the machine was busy although the workers were not: other programs, or
/// the kernel's own work for the device (encryption, loop devices, interrupts).
fn crowded(case: &Case<'_>, system: SystemCpu) -> Option<String> {
    let busiest = system.busiest_cpu_fraction;
    let ours = process_cpus(case)?;
    (busiest >= SATURATED_SHARE && ours < SATURATED_SHARE).then(|| {
        format!(
            "a CPU of the machine was busy for {} of the time and this process used {} of one: \
             other programs, or the kernel's work for the device, took the rest",
            percent(busiest.min(1.0)),
            percent(ours)
        )
    })
}

fn stolen(system: SystemCpu) -> Option<Caveat> {
    let wanted = system.busy_ns();
    if wanted == 0 {
        return None;
    }
    let share = system.steal_ns as f64 / wanted as f64;
    (share >= STOLEN_SHARE).then(|| {
        let detail = format!(
            "the hypervisor kept {} of the CPU time that the machine wanted",
            percent(share)
        );
        Caveat::new(CaveatCode::CpuStolen, detail)
    })
}
