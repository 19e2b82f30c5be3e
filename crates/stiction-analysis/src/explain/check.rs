//! Identities that hold whatever was measured, so that figures of different sources can be
//! held against each other.
//!
//! J. D. C. Little, "A proof for the queuing formula: L = lambda W", Operations Research 9
//! (1961): what is in flight on average is the rate times the mean latency.

use stiction_core::{Phase, Recording, metrics};

/// Ticks of 10 ms on each of some CPUs at both readings: in a second they are a few
/// percent.
const TICKED_NS_MIN: u64 = 1_000_000_000;
/// Sides of an identity within this share of each other hold.
const TOLERANCE: f64 = 0.10;

/// An identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Bytes a second are operations a second times the size of one.
    RateAndSize,
    /// What the engine was to keep in flight is operations a second times their mean
    /// latency.
    DepthAndLatency,
    /// What was in the device's queues is requests a second times their mean time.
    QueueAndTime,
    /// What the trace saw in hand is what the device's own clock says.
    TraceAndCounters,
    /// What the CPUs did, idling included, is all of their time.
    ProcessorsAndTime,
}

impl Identity {
    /// Both of its sides in words.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::RateAndSize => ("rate, bytes/s", "operations/s x size"),
            Self::DepthAndLatency => ("depth asked for", "operations/s x latency"),
            Self::QueueAndTime => ("requests in the queue", "requests/s x time of one"),
            Self::TraceAndCounters => ("requests in hand, traced", "the same by its counters"),
            Self::ProcessorsAndTime => ("CPU time of all kinds, s", "CPUs x elapsed, s"),
        }
    }

    /// What it means when the left side is more than the right, or less.
    #[must_use]
    pub fn reading(self, left_is_more: bool) -> &'static str {
        match (self, left_is_more) {
            (Self::RateAndSize, _) => "blocks were cut short, or of other sizes than asked",
            (Self::DepthAndLatency, true) => {
                "the engine was at other things than waiting: its own CPU, a pace or a pause \
                 kept the queue from being full"
            }
            (Self::DepthAndLatency, false) => {
                "more was in flight than asked: latencies hold more than one operation's time"
            }
            (Self::QueueAndTime, true) => {
                "requests waited that had not ended, or flushes and discards took the rest"
            }
            (Self::QueueAndTime, false) => "the kernel's own sums do not agree: samples by tick",
            (Self::TraceAndCounters, _) => {
                "records were lost, or requests waited above the driver, where no trace looks"
            }
            (Self::ProcessorsAndTime, _) => {
                "CPUs came or went, or the hypervisor's clock and the kernel's differ"
            }
        }
    }
}

/// One identity in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// Which.
    pub identity: Identity,
    /// Its left side, in the unit that [`Identity::words`] says.
    pub left: f64,
    /// Its right side.
    pub right: f64,
}

impl Check {
    /// Whether both sides agree within a tenth.
    #[must_use]
    pub fn holds(&self) -> bool {
        let larger = self.left.abs().max(self.right.abs());
        (self.left - self.right).abs() <= TOLERANCE * larger
    }
}

/// The identities that a side's runs allow, each as the mean over its runs; one that a run
/// lacks is left out.
pub(super) fn checks(phases: &[&Phase], cpus: Option<u32>) -> Vec<Check> {
    let each: Vec<Vec<Check>> = phases.iter().map(|phase| of_run(phase, cpus)).collect();
    let Some((first, others)) = each.split_first() else {
        return Vec::new();
    };
    let mean = |check: &Check| {
        let same = |run: &Vec<Check>| {
            let same = run.iter().find(|other| other.identity == check.identity);
            same.copied()
        };
        let others: Option<Vec<Check>> = others.iter().map(same).collect();
        let all: Vec<Check> = others?.into_iter().chain([*check]).collect();
        let mean = |of: fn(&Check) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Some(Check {
            identity: check.identity,
            left: mean(|check| check.left),
            right: mean(|check| check.right),
        })
    };
    first.iter().filter_map(mean).collect()
}

fn of_run(phase: &Phase, cpus: Option<u32>) -> Vec<Check> {
    let found = [
        rate_and_size(phase),
        depth_and_latency(phase),
        queue_and_time(phase),
        trace_and_counters(phase),
        processors_and_time(phase, cpus),
    ];
    found.into_iter().flatten().collect()
}

fn data(phase: &Phase) -> impl Iterator<Item = &Recording> {
    phase
        .recordings
        .iter()
        .filter(|one| one.direction.is_data())
}

fn rate_and_size(phase: &Phase) -> Option<Check> {
    let job = phase.job.as_ref()?;
    let has_one_size = job.block_size_bytes > 0 && job.sizes.is_none();
    let operations = phase.value(&metrics::OPERATION_RATE)?;
    Some(Check {
        identity: Identity::RateAndSize,
        left: phase.value(&metrics::RATE)?,
        right: operations * job.block_size_bytes as f64,
    })
    .filter(|_| has_one_size)
}

/// The engine's depth, where nothing but the depth decides when the next operation begins.
fn depth_and_latency(phase: &Phase) -> Option<Check> {
    let job = phase.job.as_ref()?;
    let elapsed_ns = phase.elapsed_ns as f64;
    let is_free = job.pace.is_none()
        && job.think.is_none()
        && job.depth_search.is_none()
        && !phase.recordings.is_empty();
    let busy_ns: u64 = phase
        .recordings
        .iter()
        .filter(|one| one.direction.is_data() || one.direction == stiction_core::Direction::Sync)
        .map(|one| one.total().sum_ns())
        .sum();
    (is_free && elapsed_ns > 0.0 && data(phase).next().is_some()).then(|| Check {
        identity: Identity::DepthAndLatency,
        left: f64::from(job.depth.max(1)) * job.workers().max(1) as f64,
        right: busy_ns as f64 / elapsed_ns,
    })
}

fn queue_and_time(phase: &Phase) -> Option<Check> {
    let devices = &phase.witnesses.devices;
    let queues: Option<Vec<_>> = devices.iter().map(|device| device.queue).collect();
    let queues = queues.filter(|queues| !queues.is_empty() && phase.elapsed_ns > 0)?;
    let elapsed_ns = phase.elapsed_ns as f64;
    let queued: u64 = queues.iter().map(|queue| queue.queued_ns).sum();
    let taken: u64 = queues
        .iter()
        .map(|queue| queue.read_ns + queue.write_ns)
        .sum();
    (taken > 0).then(|| Check {
        identity: Identity::QueueAndTime,
        left: queued as f64 / elapsed_ns,
        right: taken as f64 / elapsed_ns,
    })
}

fn trace_and_counters(phase: &Phase) -> Option<Check> {
    let witnesses = &phase.witnesses;
    let [trace] = &witnesses.block_traces[..] else {
        return None;
    };
    if trace.lacks_completions() {
        return None;
    }
    let device = witnesses
        .devices
        .iter()
        .find(|one| one.device == trace.device)?;
    Some(Check {
        identity: Identity::TraceAndCounters,
        left: trace.depth.mean()?,
        right: device.queue?.queued_ns as f64 / phase.elapsed_ns.max(1) as f64,
    })
}

fn processors_and_time(phase: &Phase, cpus: Option<u32>) -> Option<Check> {
    let system = phase.witnesses.system_cpu?;
    if phase.elapsed_ns < TICKED_NS_MIN {
        return None;
    }
    let all_ns = system.busy_ns() + system.idle_ns + system.io_wait_ns;
    Some(Check {
        identity: Identity::ProcessorsAndTime,
        left: all_ns as f64 / 1e9,
        right: f64::from(cpus?) * phase.elapsed_ns as f64 / 1e9,
    })
}
