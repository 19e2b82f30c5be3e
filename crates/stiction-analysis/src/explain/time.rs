//! Where the time of a phase went: user, system, waiting for a CPU, for writeback, for the
//! device, and what nobody saw.
//!
//! The whole is the time of all workers. CPU time, waiting for a CPU and being held back by
//! writeback exclude each other, and what is left is sleeping. How much of the sleep was
//! for the device follows from how long the device was busy: of W workers that sleep for S
//! in all while the device works for B of E, the device worked for at least S + W B - W E
//! and at most min(S, W B) of their sleep. That is a range, and it is said as one. Where
//! waiting for a CPU was not counted, S is not known either, and the range begins at 0.

use stiction_core::{Phase, WritebackStall, metrics};

use super::counters::bytes_of;
use crate::decompose::{Per, Range};

const MIB: f64 = 1_048_576.0;

/// The time of all workers of a phase and its parts, in seconds for each MiB or for the
/// phase as a whole; means over the runs of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSplit {
    /// What the times are of.
    pub per: Per,
    /// Workers whose times were added up.
    pub workers: f64,
    /// The whole.
    pub total_s: f64,
    /// In user mode; `None` where the kernel did not tell.
    pub user_s: Option<f64>,
    /// In the kernel.
    pub system_s: Option<f64>,
    /// Ready to run, without a CPU.
    pub cpu_wait_s: Option<f64>,
    /// Held back since too much was dirty.
    pub writeback_wait_s: Option<f64>,
    /// Asleep while the device worked.
    pub device_wait_s: Option<Range>,
    /// Neither of these; `None` where several CPUs worked for one worker, so that the parts
    /// add up to more than the whole.
    pub unknown_s: Option<Range>,
    /// What was not seen, and what would show it.
    pub unseen: Vec<&'static str>,
}

impl TimeSplit {
    /// The part that weighs most, if it is more than half of the whole.
    #[must_use]
    pub fn largest(&self) -> Option<Part> {
        let parts = [
            (Part::User, self.user_s),
            (Part::System, self.system_s),
            (Part::CpuWait, self.cpu_wait_s),
            (Part::WritebackWait, self.writeback_wait_s),
            (
                Part::DeviceWait,
                self.device_wait_s.map(|range| range.lowest),
            ),
            (Part::Unknown, self.unknown_s.map(|range| range.lowest)),
        ];
        let half = self.total_s / 2.0;
        let mut weighed = parts.into_iter();
        let most = weighed.find(|(_, seconds)| seconds.is_some_and(|seconds| seconds > half))?;
        Some(most.0)
    }
}

/// A part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// User mode.
    User,
    /// The kernel.
    System,
    /// Ready to run, without a CPU.
    CpuWait,
    /// Held back by writeback.
    WritebackWait,
    /// Asleep while the device worked.
    DeviceWait,
    /// None of these.
    Unknown,
}

/// The times of one side; `None` where a run does not tell how long its workers were at it.
pub(super) fn time_split(phases: &[&Phase], per: Per) -> Option<TimeSplit> {
    let all: Option<Vec<Parts>> = phases.iter().map(|phase| Parts::of(phase, per)).collect();
    let all = all.filter(|all| !all.is_empty())?;
    let mean = |of: &dyn Fn(&Parts) -> Option<f64>| -> Option<f64> {
        let values: Option<Vec<f64>> = all.iter().map(of).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let mean_range = |of: &dyn Fn(&Parts) -> Option<Range>| -> Option<Range> {
        let values: Option<Vec<Range>> = all.iter().map(of).collect();
        values.and_then(|values| Range::mean(&values))
    };
    let cpu_wait_s = mean(&|parts| parts.cpu_wait_s);
    let writeback_wait_s = mean(&|parts| parts.writeback_wait_s);
    let device_wait_s = mean_range(&Parts::device_wait_s);
    let mut unseen = Vec::new();
    if cpu_wait_s.is_none() {
        unseen.push("waiting for a CPU was not counted, and is among the rest");
    }
    if writeback_wait_s.is_none() {
        unseen.push("being held back by writeback was not traced (--witness full does)");
    }
    if device_wait_s.is_none() {
        unseen.push("how long the device was busy is not known");
    }
    Some(TimeSplit {
        per,
        workers: mean(&|parts| Some(parts.workers))?,
        total_s: mean(&|parts| Some(parts.total_s))?,
        user_s: mean(&|parts| parts.user_s),
        system_s: mean(&|parts| parts.system_s),
        cpu_wait_s,
        writeback_wait_s,
        device_wait_s,
        unknown_s: mean_range(&Parts::unknown_s),
        unseen,
    })
}

/// By the MiB where all phases moved bytes; else as a whole.
pub(super) fn per<'p>(mut phases: impl Iterator<Item = &'p Phase>) -> Per {
    if phases.all(|phase| bytes_of(phase) > 0) {
        Per::Mebibyte
    } else {
        Per::Run
    }
}

/// One run's times, in seconds for what they are taken by.
struct Parts {
    workers: f64,
    total_s: f64,
    cpu_s: f64,
    user_s: Option<f64>,
    system_s: Option<f64>,
    cpu_wait_s: Option<f64>,
    writeback_wait_s: Option<f64>,
    /// All workers together could have slept for the device for so long at most.
    busy_s: Option<Range>,
    /// Asleep for a block device, by the kernel's delay accounting.
    block_io_s: Option<f64>,
}

impl Parts {
    fn of(phase: &Phase, per: Per) -> Option<Self> {
        let scale = match per {
            Per::Run => 1.0,
            Per::Mebibyte => MIB / bytes_of(phase) as f64,
        };
        let seconds = |ns: u64| ns as f64 / 1e9 * scale;
        let elapsed_s = phase.value(&metrics::ELAPSED);
        let elapsed_s = elapsed_s.unwrap_or(phase.elapsed_ns as f64 / 1e9) * scale;
        let workers = &phase.workers;
        let (count, total_s, user_s, system_s) = if workers.is_empty() {
            let of = |metric| phase.value(metric).map(|value| value * scale);
            let (user, system) = (of(&metrics::CPU_USER), of(&metrics::CPU_SYSTEM));
            (1.0, elapsed_s, user, system)
        } else {
            let sum = |of: fn(&stiction_core::WorkerSummary) -> u64| -> u64 {
                workers.iter().map(of).sum()
            };
            let (cpu, system) = (sum(|one| one.cpu_ns), sum(|one| one.cpu_system_ns));
            // The split is counted by ticks, the sum exactly.
            let system = system.min(cpu);
            let user = Some(seconds(cpu - system));
            let total_s = seconds(sum(|one| one.last_ns));
            (workers.len() as f64, total_s, user, Some(seconds(system)))
        };
        if total_s <= 0.0 {
            return None;
        }
        let witnesses = &phase.witnesses;
        let ours = |stalls: &Vec<WritebackStall>| {
            let ours = stalls.iter().filter(|stall| stall.is_ours);
            seconds(ours.map(|stall| stall.total_ns).sum())
        };
        let busy: Option<Vec<u64>> = witnesses.devices.iter().map(|one| one.busy_ns).collect();
        let busy = busy.filter(|busy| !busy.is_empty());
        let busy_s = busy.map(|busy| {
            let most = busy.iter().copied().max().unwrap_or(0);
            // Several devices may have been busy together or one after the other.
            let all: u64 = busy.iter().sum();
            let within = |ns: u64| count * seconds(ns).min(elapsed_s);
            Range::new(within(most), within(all))
        });
        // Delays are of our process, and a command is another.
        let delays = witnesses.delays.filter(|_| !workers.is_empty());
        let block_io = delays.and_then(|delays| delays.block_io);
        Some(Self {
            workers: count,
            total_s,
            cpu_s: user_s? + system_s?,
            user_s,
            system_s,
            cpu_wait_s: cpu_wait_ns(phase).map(seconds),
            writeback_wait_s: witnesses.writeback_stalls.as_ref().map(ours),
            busy_s,
            block_io_s: block_io.map(|delay| seconds(delay.ns)),
        })
    }

    /// What is left when CPU time, waiting for one and being held back are taken away;
    /// `None` where that is more than all.
    fn asleep_s(&self) -> Option<f64> {
        let known =
            self.cpu_s + self.cpu_wait_s.unwrap_or(0.0) + self.writeback_wait_s.unwrap_or(0.0);
        (known <= self.total_s).then_some(self.total_s - known)
    }

    fn device_wait_s(&self) -> Option<Range> {
        let asleep_s = self.asleep_s()?;
        if let Some(block_io_s) = self.block_io_s {
            let known = block_io_s.min(asleep_s);
            return Some(Range::new(known, known));
        }
        let busy_s = self.busy_s?;
        // What may all have been waiting for a CPU, was of no device for sure.
        let overlap = self
            .cpu_wait_s
            .map(|_| asleep_s + busy_s.lowest - self.total_s);
        let lowest = overlap.unwrap_or(0.0).max(0.0);
        let highest = asleep_s.min(busy_s.highest);
        Some(Range::new(lowest.min(highest), highest))
    }

    fn unknown_s(&self) -> Option<Range> {
        let asleep_s = self.asleep_s()?;
        let device = self.device_wait_s().unwrap_or(Range::new(0.0, 0.0));
        Some(Range::new(
            asleep_s - device.highest,
            asleep_s - device.lowest,
        ))
    }
}

/// Of all workers, else of the process.
fn cpu_wait_ns(phase: &Phase) -> Option<u64> {
    let of_workers: Option<Vec<u64>> = phase.workers.iter().map(|one| one.run_delay_ns).collect();
    match of_workers.filter(|all| !all.is_empty()) {
        Some(all) => Some(all.iter().sum()),
        None if phase.workers.is_empty() => None,
        None => phase.witnesses.delays.map(|delays| delays.cpu.ns),
    }
}
