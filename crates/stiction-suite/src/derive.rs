//! From what was recorded to the numbers of a phase. Pure arithmetic.

use stiction_core::{
    AllActive, CpuTime, Direction, Measurement, Metric, Phase, WorkerSummary, all_active_within,
    figures_of_operations, metrics, moves_bytes, operations_and_bytes,
};
use stiction_engine::Kept;

/// `/proc/stat` counts in ticks of 10 ms: below ten of them a share means nothing.
const SYSTEM_CPU_ELAPSED_NS_MIN: u64 = 100_000_000;
const NS_PER_S: f64 = 1e9;

/// Beyond what a phase keeps, what its measurements need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    /// CPU time to charge to the phase.
    pub cpu: CpuTime,
    /// The stretch in which every worker was active.
    pub all_active: Option<AllActive>,
    /// How it kept its pace, where it had one.
    pub pace: Option<Kept>,
    /// CPUs of the machine, where that is known.
    pub cpus: Option<u32>,
}

/// The measurements of a phase from its recordings, workers and witnesses, in the
/// order in which reports show them. Figures that cannot be had are left out.
pub(crate) fn measurements(phase: &Phase, beside: Beside) -> Vec<Measurement> {
    let ramp_ns = phase.job.as_ref().map_or(0, |job| job.ramp_ns);
    let mut found = if ramp_ns == 0 {
        figures_of_operations(phase, beside.all_active)
    } else {
        let counted = phase.after_ramp(ramp_ns);
        let stretch = beside.all_active;
        let all_active = stretch.and_then(|stretch| all_active_within(&counted, stretch));
        figures_of_operations(&counted, all_active)
    };
    until_written(&phase.workers, &mut found);
    pace(phase, beside, &mut found);
    // CPU time and each worker's share are known for the whole phase only.
    cpu(phase, beside, &mut found);
    fairness(&phase.workers, &mut found);
    switches(&phase.workers, &mut found);
    found
}

/// When the last write had returned, where a sync at the end followed.
fn until_written(workers: &[WorkerSummary], found: &mut Vec<Measurement>) {
    let last_ns = workers.iter().map(|worker| worker.data_last_ns).max();
    if let Some(last_ns) = last_ns.filter(|&ns| ns > 0) {
        found.push(Measurement::new(
            metrics::UNTIL_WRITTEN,
            last_ns as f64 / NS_PER_S,
            1,
        ));
    }
}

/// How far a job fell behind a set pace, over its whole time: what could not begin is
/// not in the recordings.
fn pace(phase: &Phase, beside: Beside, found: &mut Vec<Measurement>) {
    let Some(kept) = beside.pace else {
        return;
    };
    let n = kept.done_operations;
    found.push(Measurement::new(
        metrics::ASKED_OPERATIONS,
        kept.asked_operations as f64,
        n,
    ));
    found.push(Measurement::new(
        metrics::DONE_OVER_ASKED,
        kept.fraction(),
        n,
    ));
    let Some(late) = phase.recording(Direction::Lateness) else {
        return;
    };
    let late = late.total();
    let mut push = |metric: Metric, value: Option<f64>| {
        found.extend(value.map(|value| Measurement::new(metric, value, late.count())));
    };
    push(metrics::LATENESS_MEAN, late.mean_ns());
    push(
        metrics::LATENESS_P99,
        late.quantile_ns_if_enough(0.99).map(|ns| ns as f64),
    );
    push(metrics::LATENESS_MAX, late.max_ns().map(|ns| ns as f64));
}

/// CPU times and shares; 100 % is one busy CPU. An efficiency is left out where the
/// CPU time is 0: the old driver died of that division.
fn cpu(phase: &Phase, beside: Beside, found: &mut Vec<Measurement>) {
    let cpu = beside.cpu;
    let mut push = |metric: Metric, value: f64| found.push(Measurement::new(metric, value, 1));
    push(metrics::CPU_USER, cpu.user_ns as f64 / NS_PER_S);
    push(metrics::CPU_SYSTEM, cpu.system_ns as f64 / NS_PER_S);
    if phase.elapsed_ns == 0 {
        return;
    }
    let rate = operations_and_bytes(phase).1 as f64 * NS_PER_S / phase.elapsed_ns as f64;
    let own = cpu.total_ns as f64 / phase.elapsed_ns as f64;
    let system = system_share(phase, beside.cpus);
    push(metrics::CPU_PERCENT, 100.0 * own);
    if let Some(system) = system {
        push(metrics::CPU_SYSTEM_WIDE_PERCENT, 100.0 * system);
    }
    if !moves_bytes(phase) {
        return;
    }
    if own > 0.0 {
        push(metrics::CPU_EFFICIENCY, rate / own);
    }
    if let Some(system) = system.filter(|&system| system > 0.0) {
        push(metrics::CPU_SYSTEM_WIDE_EFFICIENCY, rate / system);
    }
}

/// How many CPUs of the machine were busy. Their time was read a little before and
/// after the phase, so it is set against the time that was read with it.
fn system_share(phase: &Phase, cpus: Option<u32>) -> Option<f64> {
    let system = phase.witnesses.system_cpu?;
    let all_ns = system.busy_ns() + system.idle_ns + system.io_wait_ns;
    let enough = phase.elapsed_ns >= SYSTEM_CPU_ELAPSED_NS_MIN && all_ns > 0;
    enough.then_some(f64::from(cpus?) * system.busy_ns() as f64 / all_ns as f64)
}

/// How evenly several workers were served, by each one's rate over its own time.
fn fairness(workers: &[WorkerSummary], found: &mut Vec<Measurement>) {
    if workers.len() < 2 {
        return;
    }
    let rates: Vec<f64> = workers.iter().map(worker_rate).collect();
    let n = rates.len() as u64;
    if let Some(index) = jain_index(&rates) {
        found.push(Measurement::new(metrics::FAIRNESS, index, n));
    }
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    if fastest > 0.0 {
        found.push(Measurement::new(
            metrics::WORKER_RATE_SPREAD,
            slowest / fastest,
            n,
        ));
    }
}

/// How often the workers' threads waited, or were made to. A worker whose data is in
/// memory has nothing to wait for.
fn switches(workers: &[WorkerSummary], found: &mut Vec<Measurement>) {
    if workers.is_empty() {
        return;
    }
    let sum = |of: fn(&WorkerSummary) -> u64| workers.iter().map(of).sum::<u64>() as f64;
    found.push(Measurement::new(
        metrics::SWITCHES_VOLUNTARY,
        sum(|worker| worker.switches_voluntary),
        1,
    ));
    found.push(Measurement::new(
        metrics::SWITCHES_INVOLUNTARY,
        sum(|worker| worker.switches_involuntary),
        1,
    ));
}

/// Bytes per second of a worker between its first start and its last end.
fn worker_rate(worker: &WorkerSummary) -> f64 {
    match worker.last_ns.saturating_sub(worker.first_ns) {
        0 => 0.0,
        active_ns => worker.bytes as f64 * NS_PER_S / active_ns as f64,
    }
}

/// Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all shares are equal, 1/n
/// when one has everything. R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
/// Fairness and Discrimination for Resource Allocation in Shared Computer Systems",
/// DEC Research Report TR-301, 1984. `None` when nothing was shared out.
fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Histogram, Interval, PhaseKind, Recording, SystemCpu};

    fn recording(direction: Direction, bytes: u64, latencies_ns: &[u64]) -> Recording {
        let mut latencies = Histogram::new();
        latencies_ns.iter().for_each(|&ns| latencies.record(ns));
        Recording {
            direction,
            intervals: vec![Interval {
                start_ns: 0,
                length_ns: 2_000_000_000,
                bytes,
                latencies,
            }],
        }
    }

    /// 400 writes of 1 MiB in 2 s, each followed by a sync.
    fn phase() -> Phase {
        let mut phase = Phase::new("write", PhaseKind::Measure);
        phase.elapsed_ns = 2_000_000_000;
        phase.recordings = vec![
            recording(Direction::Write, 400 << 20, &[1_000_000; 400]),
            recording(Direction::Sync, 0, &[3_000_000; 400]),
        ];
        phase
    }

    fn value(found: &[Measurement], metric: &Metric) -> Option<f64> {
        found
            .iter()
            .find(|m| m.metric.name == metric.name)
            .map(|m| m.value)
    }

    #[test]
    fn jains_index_has_its_published_values() {
        // From the report's section 2: k of n users sharing equally have k / n.
        assert_eq!(jain_index(&[5.0; 7]), Some(1.0));
        assert_eq!(jain_index(&[1.0, 1.0, 0.0, 0.0]), Some(0.5));
        assert_eq!(jain_index(&[3.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }

    #[test]
    fn rates_count_reads_and_writes_once() {
        let found = measurements(&phase(), Beside::default());
        assert_eq!(value(&found, &metrics::RATE), Some(200.0 * 1_048_576.0));
        assert_eq!(value(&found, &metrics::OPERATION_RATE), Some(200.0));
        assert_eq!(value(&found, &metrics::ELAPSED), Some(2.0));
        assert_eq!(value(&found, &metrics::BYTES), Some(400.0 * 1_048_576.0));
        assert_eq!(value(&found, &metrics::OPERATIONS), Some(400.0));
    }

    /// A block that is read and written back has moved once for the user, and the
    /// latency is that of both calls.
    #[test]
    fn whole_operations_count_and_not_their_calls() {
        let mut phase = phase();
        phase.recordings = vec![
            recording(Direction::Read, 8 << 20, &[1_000_000; 100]),
            recording(Direction::Write, 8 << 20, &[2_000_000; 100]),
            recording(Direction::Whole, 8 << 20, &[3_000_000; 100]),
        ];
        let found = measurements(&phase, Beside::default());
        assert_eq!(value(&found, &metrics::OPERATION_RATE), Some(50.0));
        assert_eq!(value(&found, &metrics::RATE), Some(4.0 * 1_048_576.0));
        assert_eq!(value(&found, &metrics::LATENCY_MAX), Some(3e6));
    }

    #[test]
    fn the_rate_while_all_were_active_has_its_own_time() {
        let beside = Beside {
            all_active: Some(AllActive {
                start_ns: 500_000_000,
                end_ns: 1_000_000_000,
                bytes: 50,
            }),
            ..Beside::default()
        };
        let found = measurements(&phase(), beside);
        assert_eq!(value(&found, &metrics::RATE_ALL_ACTIVE), Some(100.0));
        // Shorter than any operation took: that nothing was moved is no failure.
        let short = AllActive {
            end_ns: 500_000_010,
            bytes: 0,
            ..beside.all_active.unwrap()
        };
        let beside = Beside {
            all_active: Some(short),
            ..Beside::default()
        };
        let found = measurements(&phase(), beside);
        assert_eq!(value(&found, &metrics::RATE_ALL_ACTIVE), None);
    }

    /// Four seconds of 10, 20, 30 and 40 reads of 1 KiB; a ramp of 1.5 s ends with the
    /// second second.
    #[test]
    fn warm_up_is_no_part_of_the_figures() {
        let mut phase = Phase::new("read", PhaseKind::Measure);
        let second = 1_000_000_000;
        let interval = |index: u64| {
            let mut latencies = Histogram::new();
            (0..10 * (index + 1)).for_each(|_| latencies.record(1000 * (index + 1)));
            Interval {
                start_ns: index * second,
                length_ns: second,
                bytes: latencies.count() * 1024,
                latencies,
            }
        };
        phase.recordings = vec![Recording {
            direction: Direction::Read,
            intervals: (0..4).map(interval).collect(),
        }];
        phase.elapsed_ns = 4 * second;
        let mut job = stiction_core::Job {
            ramp_ns: 1_500_000_000,
            ..stiction_core::Job::default()
        };
        phase.job = Some(job.clone());
        let beside = Beside {
            all_active: Some(AllActive {
                start_ns: 500_000_000,
                end_ns: 3_500_000_000,
                bytes: 60 * 1024,
            }),
            ..Beside::default()
        };
        let found = measurements(&phase, beside);
        assert_eq!(value(&found, &metrics::OPERATIONS), Some(70.0));
        assert_eq!(value(&found, &metrics::OPERATION_RATE), Some(35.0));
        assert_eq!(value(&found, &metrics::ELAPSED), Some(2.0));
        let mean = value(&found, &metrics::LATENCY_MEAN).unwrap();
        assert!((mean - (30.0 * 3000.0 + 40.0 * 4000.0) / 70.0).abs() < 1e-9);
        assert_eq!(
            value(&found, &metrics::RATE_ALL_ACTIVE),
            Some(30.0 * 1024.0)
        );

        job.ramp_ns = 0;
        phase.job = Some(job);
        let found = measurements(&phase, beside);
        assert_eq!(value(&found, &metrics::OPERATIONS), Some(100.0));
        assert_eq!(value(&found, &metrics::ELAPSED), Some(4.0));
    }

    #[test]
    fn a_commit_is_the_pair_and_syncs_stand_apart() {
        let mut phase = phase();
        phase
            .recordings
            .push(recording(Direction::Commit, 0, &[4_000_000; 400]));
        let found = measurements(&phase, Beside::default());
        assert_eq!(value(&found, &metrics::LATENCY_MEAN), Some(4e6));
        assert_eq!(value(&found, &metrics::SYNC_LATENCY_MEAN), Some(3e6));
        assert_eq!(
            value(&found, &metrics::OPERATIONS),
            Some(400.0),
            "pairs are not counted again"
        );
    }

    /// A percentile needs ten operations beyond it.
    #[test]
    fn tails_of_too_few_operations_are_left_out() {
        let mut phase = phase();
        phase.recordings = vec![recording(Direction::Read, 999, &[5_000; 999])];
        let found = measurements(&phase, Beside::default());
        assert!(value(&found, &metrics::LATENCY_P90).is_some());
        assert_eq!(value(&found, &metrics::LATENCY_P99), None);
        assert_eq!(value(&found, &metrics::LATENCY_MAX), Some(5_000.0));
    }

    #[test]
    fn slow_operations_are_a_percentage() {
        let mut phase = phase();
        phase.recordings = vec![recording(
            Direction::Read,
            4,
            &[1, 1, 2_500_000_000, 11_000_000_000],
        )];
        let found = measurements(&phase, Beside::default());
        assert_eq!(value(&found, &metrics::LATENCY_OVER_2S), Some(50.0));
        assert_eq!(value(&found, &metrics::LATENCY_OVER_10S), Some(25.0));
    }

    /// 200 MiB/s at half a CPU is 400 MiB/s of a whole one; the whole machine kept half
    /// of its two CPUs busy.
    #[test]
    fn efficiency_is_the_rate_over_the_share_of_a_cpu() {
        let mut phase = phase();
        phase.witnesses.system_cpu = Some(SystemCpu {
            user_ns: 1_500_000_000,
            interrupt_ns: 500_000_000,
            idle_ns: 2_000_000_000,
            ..SystemCpu::default()
        });
        let beside = Beside {
            cpu: CpuTime {
                total_ns: 1_000_000_000,
                user_ns: 250_000_000,
                system_ns: 750_000_000,
            },
            cpus: Some(2),
            ..Beside::default()
        };
        let found = measurements(&phase, beside);
        assert_eq!(value(&found, &metrics::CPU_USER), Some(0.25));
        assert_eq!(value(&found, &metrics::CPU_SYSTEM), Some(0.75));
        assert_eq!(value(&found, &metrics::CPU_PERCENT), Some(50.0));
        assert_eq!(
            value(&found, &metrics::CPU_SYSTEM_WIDE_PERCENT),
            Some(100.0)
        );
        assert_eq!(
            value(&found, &metrics::CPU_EFFICIENCY),
            Some(400.0 * 1_048_576.0)
        );
        assert_eq!(
            value(&found, &metrics::CPU_SYSTEM_WIDE_EFFICIENCY),
            Some(200.0 * 1_048_576.0)
        );
    }

    #[test]
    fn no_cpu_time_gives_no_efficiency() {
        let found = measurements(&phase(), Beside::default());
        assert_eq!(value(&found, &metrics::CPU_PERCENT), Some(0.0));
        assert_eq!(value(&found, &metrics::CPU_EFFICIENCY), None);
    }

    /// Worker 0 moves 1 MiB in 1 s, worker 1 the same in 3 s: rates 3:1, so Jain's
    /// index is 16 / (2 * 10).
    #[test]
    fn fairness_goes_by_each_workers_own_time() {
        let mut phase = phase();
        let worker = |last_ns| WorkerSummary {
            operations: 1,
            bytes: 1 << 20,
            first_ns: 0,
            last_ns,
            cpu_ns: 0,
            ..WorkerSummary::default()
        };
        phase.workers = vec![worker(1_000_000_000), worker(3_000_000_000)];
        let found = measurements(&phase, Beside::default());
        assert!((value(&found, &metrics::FAIRNESS).unwrap() - 0.8).abs() < 1e-12);
        assert!((value(&found, &metrics::WORKER_RATE_SPREAD).unwrap() - 1.0 / 3.0).abs() < 1e-12);
        phase.workers.pop();
        let found = measurements(&phase, Beside::default());
        assert_eq!(
            value(&found, &metrics::FAIRNESS),
            None,
            "one worker has nobody to share with"
        );
    }

    #[test]
    fn operations_on_names_have_no_rate_of_bytes_and_a_write_of_nothing_has() {
        let mut phase = phase();
        for recording in &mut phase.recordings {
            recording.intervals.iter_mut().for_each(|one| one.bytes = 0);
        }
        let beside = Beside {
            cpu: CpuTime {
                total_ns: 1_000_000,
                ..CpuTime::default()
            },
            ..Beside::default()
        };
        let found = measurements(&phase, beside);
        assert_eq!(value(&found, &metrics::RATE), Some(0.0));
        assert_eq!(value(&found, &metrics::CPU_EFFICIENCY), Some(0.0));
        phase
            .recordings
            .iter_mut()
            .for_each(|recording| recording.direction = Direction::Whole);
        let found = measurements(&phase, beside);
        assert_eq!(value(&found, &metrics::RATE), None);
        assert_eq!(value(&found, &metrics::CPU_EFFICIENCY), None);
        assert!(value(&found, &metrics::OPERATION_RATE).unwrap() > 0.0);
    }

    #[test]
    fn a_phase_that_took_no_time_has_amounts_but_no_rates() {
        let mut phase = phase();
        phase.elapsed_ns = 0;
        let found = measurements(&phase, Beside::default());
        assert_eq!(value(&found, &metrics::RATE), None);
        assert!(value(&found, &metrics::BYTES).is_some());
    }
}
