//! The lines of the disk tests of 2002, with the published figures.

mod build;

use build::{cell, session_on, trial};
use stiction_core::{
    Action, Job, Measurement, Metric, Phase, PhaseKind, Session, SystemCpu, WorkerSummary, metrics,
};
use stiction_report::ext3_tools::{
    TimeLayout, block_lines, disk_test, millisecond_histogram, times,
};

const MIB: u64 = 1 << 20;

fn measured(name: &str, job: Job, values: &[(Metric, f64)]) -> Phase {
    let mut phase = Phase::new(name, PhaseKind::Measure);
    phase.job = Some(job);
    phase.measurements = values
        .iter()
        .map(|(metric, value)| Measurement::new(metric.clone(), *value, 1))
        .collect();
    phase
}

fn session_of(phase: Phase) -> Session {
    let mut session = session_on("2.5.25", "ext2");
    session.header.environment.targets[0].path = "/mnt/a".to_owned();
    session.trials = vec![trial(cell(8, 4096, 1), 0, vec![phase])];
    session
}

/// The first of the five tests: 12 GB in 1 MiB writes to each of 8 disks. Its rates are
/// those that its own times give; its times for a block are not, so that of a device is
/// worked out here.
#[test]
fn the_disk_test_prints_what_it_printed() {
    let job = Job {
        action: Action::Write,
        block_size_bytes: MIB,
        ..Job::default()
    };
    let mut phase = measured(
        "write",
        job,
        &[
            (metrics::BYTES, (98_304 * MIB) as f64),
            (metrics::OPERATIONS, 98_304.0),
            (metrics::ELAPSED, 579.935_968),
            (metrics::LATENCY_MEAN, 44_717_000.0),
        ],
    );
    let worker = WorkerSummary {
        operations: 12_288,
        bytes: 12_288 * MIB,
        last_ns: 571_327_206_000,
        ..WorkerSummary::default()
    };
    phase.workers = vec![worker; 8];
    let text = disk_test(&session_of(phase));
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "Completed writing 98304 mbytes across 8 devices using 98304 blocks of 1048576 in \
             579.935968 seconds (169.51 Mbytes/sec), 44717usec mean"
        )
    );
    // 571.327206 s over 12 288 writes.
    assert_eq!(
        lines.next(),
        Some(" #0 (/mnt/a) 12GB in 571.327206s using 12k writes of 1M (21.51MB/sec), 46495usec")
    );
    assert_eq!(lines.count(), 7);
}

/// The line of the mail on raw devices: 81 920 MiB in 778 s, the rate from the time
/// before it was cut.
#[test]
fn a_rung_prints_the_block_line() {
    let job = Job {
        block_size_bytes: 512,
        ..Job::default()
    };
    let rate = 105.27 * MIB as f64;
    let mut phase = measured(
        "uncached",
        job,
        &[
            (metrics::OPERATIONS, 167_772_160.0),
            (metrics::ELAPSED, 81_920.0 * MIB as f64 / rate),
            (metrics::RATE, rate),
        ],
    );
    phase.witnesses.system_cpu = Some(SystemCpu {
        system_ns: 1000,
        ..SystemCpu::default()
    });
    assert_eq!(
        block_lines(&session_of(phase)),
        "normal 167772160 blocks of 512 bytes in 778 seconds (105.27 mbyte/sec), CPUs 0% idle\n"
    );
}

/// Four jobs of 4000 MB in 3:20.94 that used 106.81 s together.
#[test]
fn each_worker_and_all_have_a_line() {
    let mut phase = measured(
        "write",
        Job::default(),
        &[
            (metrics::ELAPSED, 200.94),
            (metrics::CPU_USER, 0.06),
            (metrics::CPU_SYSTEM, 106.75),
        ],
    );
    phase.workers = vec![
        WorkerSummary {
            last_ns: 200_940_000_000,
            cpu_ns: 53_405_000_000,
            cpu_system_ns: 53_375_000_000,
            ..WorkerSummary::default()
        };
        2
    ];
    let text = times(&session_of(phase), TimeLayout::Zsh);
    assert_eq!(
        text,
        "worker 0: 0.03s user 53.38s system 26% cpu 3:20.94 total\n\
         worker 1: 0.03s user 53.38s system 26% cpu 3:20.94 total\n\
         all workers: 0.06s user 106.75s system 53% cpu 3:20.94 total\n"
    );
}

/// `%3d.%03d: count` of whole milliseconds, for those that occur.
#[test]
fn the_histogram_has_whole_milliseconds() {
    use stiction_core::{Direction, Histogram, Interval, Recording};
    let mut phase = measured("write", Job::default(), &[(metrics::ELAPSED, 2.0)]);
    let mut latencies = Histogram::new();
    for latency_ns in [200_000, 900_000, 5_500_000, 1_250_500_000] {
        latencies.record(latency_ns);
    }
    phase.recordings = vec![Recording {
        direction: Direction::Write,
        intervals: vec![Interval {
            start_ns: 0,
            length_ns: 2_000_000_000,
            bytes: 4,
            latencies,
        }],
    }];
    assert_eq!(
        millisecond_histogram(&session_of(phase)),
        "  0.000: 2\n  0.005: 1\n  1.250: 1\n"
    );
}
