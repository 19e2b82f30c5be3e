//! Sessions with something in every field, each following from a number.

use stiction_core::{
    Access, Action, BackendKind, Caveat, CaveatCode, Cell, Create, Data, DeviceTraffic, Digest,
    Direction, Environment, Filesystem, Histogram, Interval, Job, Kernel, Layer, LayerKind,
    Measurement, MissingFact, Phase, PhaseKind, PhaseOutcome, Plan, PlannedTrial, Provenance,
    RECORD_FORMAT_VERSION, Recording, Region, Residency, Seed, Session, SessionEnd, SessionHeader,
    SessionId, SessionOutcome, SkipCode, SkipReason, StartOrder, SyncEvery, SyncKind, TargetStack,
    Timing, Tool, Trial, TrialOutcome, WorkerSummary, WriteSync, metrics,
};

/// Numbers that follow from a seed, one after the other.
struct Draws {
    seed: Seed,
    drawn: u64,
}

impl Draws {
    fn next(&mut self) -> u64 {
        self.drawn += 1;
        self.seed.stream(self.drawn).0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }
}

/// The session that follows from `number`, complete or cut off, with up to four
/// trials that ended in every way a trial can end. Different numbers give
/// different ids; a higher number starts later.
#[must_use]
pub fn sample(number: u64) -> Session {
    let mut draws = Draws {
        seed: Seed(number),
        drawn: 0,
    };
    let trials = (0..draws.below(5)).map(|_| trial(&mut draws)).collect();
    let header = header(number, &mut draws);
    let end = (draws.below(5) > 0).then(|| SessionEnd {
        outcome: draws.pick(&[
            SessionOutcome::Completed,
            SessionOutcome::Interrupted,
            SessionOutcome::Failed,
        ]),
        at: header.started + jiff::SignedDuration::from_millis(61_500),
        message: draws.pick(&[None, Some("écrit: No space left on device".to_owned())]),
    });
    Session {
        header,
        trials,
        end,
        resumptions: Vec::new(),
    }
}

fn header(number: u64, draws: &mut Draws) -> SessionHeader {
    // A million seconds from 2002-11-30T10:59:12Z on, in order of the numbers.
    let start_s = 1_038_653_952 + i64::try_from(number % 1_000_000).unwrap_or(0);
    let started = jiff::Timestamp::from_second(start_s).expect("the year 2002");
    let workload = draws.pick(&["quick", "tiobench"]);
    SessionHeader {
        format_version: RECORD_FORMAT_VERSION,
        id: SessionId::new(started, Seed(number).stream(77).0),
        started,
        label: draws.pick(&[None, Some("2.5.50 reiserfs, \"quoted\"\n".to_owned())]),
        command: vec![workload.to_owned(), "--seed".to_owned(), "7".to_owned()],
        provenance: draws.pick(&[
            Provenance::Measured,
            Provenance::Imported {
                file: "mail 12.txt".to_owned(),
                layout: "tiobench-0.3.3".to_owned(),
            },
        ]),
        plan: draws.pick(&[
            None,
            Some(Plan {
                workload: workload.to_owned(),
                parameters: serde_json::json!({"threads": [1, 2], "direct": true, "ratio": 0.1}),
                seed: Seed(u64::MAX),
                preparation: stiction_core::Preparation::default(),
                trials: vec![PlannedTrial {
                    block: Some(3),
                    ..PlannedTrial::new(Cell::new().with("threads", 4u32), 0)
                }],
            }),
        ]),
        environment: environment(draws),
        caveats: draws.pick(&[
            Vec::new(),
            vec![Caveat::new(CaveatCode::SingleRun, "1 run of each cell")],
        ]),
        invocation: None,
    }
}

fn environment(draws: &mut Draws) -> Environment {
    let filesystem = draws.pick(&["ext4", "xfs", "btrfs"]);
    Environment {
        tool: Tool {
            name: "stiction".to_owned(),
            version: "0.1.0".to_owned(),
        },
        kernel: Some(Kernel {
            release: draws.pick(&["2.5.50", "2.4.20", "6.18.44"]).to_owned(),
            architecture: "x86_64".to_owned(),
            command_line: vec!["mitigations=off".to_owned()],
            ..Kernel::default()
        }),
        targets: vec![TargetStack {
            path: "/mnt/a b".to_owned(),
            filesystem: Some(Filesystem {
                kind: filesystem.to_owned(),
                source: "/dev/loop7".to_owned(),
                size_bytes: draws.next(),
                ..Filesystem::default()
            }),
            layers: vec![layer()],
            missing: Vec::new(),
        }],
        missing: vec![MissingFact {
            fact: "governor".to_owned(),
            reason: "no cpufreq".to_owned(),
        }],
        ..Environment::default()
    }
}

fn layer() -> Layer {
    Layer {
        name: "vda".to_owned(),
        kind: LayerKind::Disk,
        device_number: (254, 0),
        size_bytes: 1 << 38,
        model: None,
        firmware: None,
        serial: None,
        link: Some("virtio".to_owned()),
        link_bytes_per_s: None,
        scheduler: Some("mq-deadline".to_owned()),
        rotational: Some(true),
        logical_block_size_bytes: 512,
        physical_block_size_bytes: 4096,
        queue: [("read_ahead_kb".to_owned(), "128".to_owned())].into(),
        target: None,
        backing: None,
        loop_direct_io: None,
    }
}

fn trial(draws: &mut Draws) -> Trial {
    let outcome = draws.pick(&[
        TrialOutcome::Completed,
        TrialOutcome::Interrupted,
        TrialOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, "1 GiB free, 2 wanted")),
        TrialOutcome::Failed {
            message: "/mnt/a b/0: Input/output error (os error 5)".to_owned(),
        },
    ]);
    let phases = match outcome {
        TrialOutcome::Skipped(_) => 0,
        _ => draws.below(4),
    };
    let there = environment(draws).targets;
    let targets = draws.pick(&[None, Some(there)]);
    let cell = Cell::new()
        .with("threads", draws.below(64))
        .with("filesystem", "ext4");
    Trial {
        block: draws.pick(&[None, Some(0), Some(7)]),
        targets,
        outcome,
        start_ns: draws.next(),
        phases: (0..phases).map(|_| phase(draws)).collect(),
        caveats: draws.pick(&[
            Vec::new(),
            vec![Caveat::new(CaveatCode::NotSteady, "still rising")],
        ]),
        ..Trial::new(cell, u32::try_from(draws.below(9)).unwrap_or(0))
    }
}

fn phase(draws: &mut Draws) -> Phase {
    let name = draws.pick(&["write", "random_read", "read"]);
    let mut phase = Phase::new(
        name,
        draws.pick(&[PhaseKind::Measure, PhaseKind::LayDown, PhaseKind::CleanUp]),
    );
    phase.outcome = draws.pick(&[
        PhaseOutcome::Completed,
        PhaseOutcome::EndedEarly,
        PhaseOutcome::Skipped(SkipReason::new(SkipCode::NotSupported, "no O_DIRECT")),
        PhaseOutcome::Failed {
            message: "/mnt/a b/0: No space left on device (os error 28)".to_owned(),
        },
    ]);
    phase.job = draws.pick(&[None, Some(job(name))]);
    phase.start_ns = draws.next();
    phase.elapsed_ns = draws.next();
    // Values whose shortest decimal form is long, or at the edges of a double.
    let value = draws.pick(&[0.1 + 0.2, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0]);
    phase.measurements = vec![
        Measurement::new(metrics::RATE, value, draws.next()),
        Measurement::new(
            metrics::ELAPSED,
            f64::from_bits(draws.below(0x7ff0_0000_0000_0000)),
            1,
        ),
        Measurement::imported(metrics::CPU_PERCENT, 99.0, 1, "99.00%"),
    ];
    phase.recordings = vec![recording(draws)];
    phase.workers = vec![WorkerSummary {
        operations: draws.next(),
        ..WorkerSummary::default()
    }];
    phase.witnesses.devices = vec![DeviceTraffic {
        source: "/proc/diskstats vda".to_owned(),
        device: "vda".to_owned(),
        read_bytes: draws.next(),
        ..DeviceTraffic::default()
    }];
    phase.witnesses.residency_before = Some(Residency {
        cached_bytes: 4096,
        dirty_bytes: 0,
        file_bytes: draws.next(),
    });
    phase.witnesses.busiest_worker_cpu_fraction = Some(1.0 / 7.0);
    phase.caveats = vec![Caveat::new(CaveatCode::EndedEarly, "29 of 30 s")];
    phase.notes = vec!["clock: CLOCK_MONOTONIC".to_owned()];
    phase
}

fn job(name: &str) -> Job {
    Job {
        name: name.to_owned(),
        access: Access::RandomPermutation,
        action: Action::Write,
        block_size_bytes: 4096,
        depth: 16,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: 1 << 30,
        }],
        backend: BackendKind::IoUring,
        direct: true,
        write_sync: WriteSync::DataSync,
        sync_every: Some(SyncEvery {
            writes: 1,
            kind: SyncKind::Fdatasync,
        }),
        sync_at_end: Some(SyncKind::Fsync),
        create: Create::Truncate,
        data: Data::Stamped,
        verify: true,
        operations_per_worker: Some(4000),
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        interval_ns: 1_000_000_000,
        timing: Timing::Exact,
        seed: Seed(1 << 63),
        ..Job::default()
    }
}

fn recording(draws: &mut Draws) -> Recording {
    let intervals = (0..2)
        .map(|second| {
            let mut latencies = Histogram::new();
            for _ in 0..draws.below(40) {
                latencies.record(draws.below(30_000_000_000));
            }
            Interval {
                start_ns: second * 1_000_000_000,
                length_ns: 1_000_000_000,
                bytes: latencies.count() * 4096,
                latencies,
            }
        })
        .collect();
    Recording {
        direction: draws.pick(&[Direction::Read, Direction::Write, Direction::Commit]),
        intervals,
    }
}

/// One session of a history: it began `day` days after the first, in a boot of its own, and
/// wrote once at `rate` bytes per second.
#[must_use]
pub fn nightly(day: u64, rate: f64) -> Session {
    let mut session = sample(1);
    let header = &mut session.header;
    let hours = i64::try_from(day).unwrap_or(0) * 24;
    header.started += jiff::SignedDuration::from_hours(hours);
    header.id = SessionId::new(header.started, day);
    header.label = None;
    header.provenance = Provenance::Measured;
    header.environment.kernel = Some(Kernel {
        release: "6.18.1".to_owned(),
        boot: Some(Digest::of(&day.to_le_bytes())),
        ..Kernel::default()
    });
    header.plan = Some(Plan {
        workload: "tiobench".to_owned(),
        parameters: serde_json::json!({"block_size_bytes": 4096}),
        seed: Seed(day),
        preparation: stiction_core::Preparation::default(),
        trials: Vec::new(),
    });
    let mut phase = Phase::new("write", PhaseKind::Measure);
    phase.measurements = vec![Measurement::new(metrics::RATE, rate, 1)];
    session.trials = vec![Trial {
        phases: vec![phase],
        ..Trial::new(Cell::new().with("threads", 4u32), 0)
    }];
    session.end = None;
    session
}

/// A history of one night for each of `levels`, with rates that wobble by 1 % around them.
#[must_use]
pub fn nights(levels: &[f64]) -> Vec<Session> {
    const WOBBLE_PERCENT: [f64; 11] = [0.3, -0.9, 0.6, 1.0, -0.4, -1.0, 0.1, 0.8, -0.6, -0.2, 0.5];
    let numbered = (0u64..).zip(levels.iter().zip(WOBBLE_PERCENT.iter().cycle()));
    numbered
        .map(|(day, (level, wobble))| nightly(day, level * (1.0 + wobble / 100.0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn samples_follow_from_their_number() {
        assert_eq!(sample(5), sample(5));
        assert!(sample(5).header.id < sample(6).header.id);
    }
}
