//! Sessions for tests, from the figures that a report shows.
#![allow(dead_code, clippy::unwrap_used)]

use stiction_analysis::doubt::Finding;
use stiction_core::{
    Access, Action, BackendKind, Caveat, Cell, Cpu, CpuTime, Create, Data, DeviceTraffic,
    Environment, Filesystem, IoLimit, Job, Kernel, Layer, LayerKind, Measurement, Memory, Metric,
    MissingFact, Phase, PhaseKind, Provenance, RECORD_FORMAT_VERSION, Region, Residency, Seed,
    Session, SessionEnd, SessionHeader, SessionId, SessionOutcome, StartOrder, Subject, SyncEvery,
    SyncKind, TargetStack, Timing, Tool, Trial, Witnesses, WorkerSummary, WriteSync, metrics,
};

pub(crate) const MIB: f64 = 1_048_576.0;

/// A session of 2002-11-30 without trials, on kernel 2.5.62, that has completed.
pub(crate) fn session() -> Session {
    let started = "2002-11-30T10:59:12Z".parse().unwrap();
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: vec!["tiobench".to_owned()],
            provenance: Provenance::Measured,
            plan: None,
            environment: Environment {
                tool: Tool {
                    name: "stiction".to_owned(),
                    version: "0.1.0".to_owned(),
                },
                kernel: Some(Kernel {
                    release: "2.5.62".to_owned(),
                    ..Kernel::default()
                }),
                ..Environment::default()
            },
            invocation: None,
            caveats: Vec::new(),
        },
        trials: Vec::new(),
        end: Some(SessionEnd {
            outcome: SessionOutcome::Completed,
            at: "2002-11-30T11:00:12Z".parse().unwrap(),
            message: None,
        }),
        resumptions: Vec::new(),
    }
}

/// As [`session`], under another kernel, on a filesystem of that kind.
pub(crate) fn session_on(kernel: &str, filesystem: &str) -> Session {
    let mut session = session();
    let environment = &mut session.header.environment;
    environment.kernel.as_mut().unwrap().release = kernel.to_owned();
    environment.targets.push(TargetStack {
        path: "/mnt".to_owned(),
        filesystem: Some(Filesystem {
            kind: filesystem.to_owned(),
            ..Filesystem::default()
        }),
        layers: Vec::new(),
        missing: Vec::new(),
    });
    session
}

/// tiobench's cell.
pub(crate) fn cell(threads: u32, block_size_bytes: u32, file_size_mib: u64) -> Cell {
    Cell::new()
        .with("threads", threads)
        .with("block_size_bytes", block_size_bytes)
        .with("file_size_bytes", file_size_mib << 20)
}

pub(crate) fn trial(cell: Cell, repetition: u32, phases: Vec<Phase>) -> Trial {
    Trial {
        phases,
        ..Trial::new(cell, repetition)
    }
}

/// A phase as tiobench counts it.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) amount_mib: f64,
    pub(crate) time_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    pub(crate) operations: f64,
    pub(crate) mean_ms: f64,
    pub(crate) max_ms: f64,
    pub(crate) over_2s_percent: f64,
    pub(crate) over_10s_percent: f64,
}

impl Counted {
    /// A phase that moved `rate` MiB/s for 100 s with `cpu_percent` of a CPU.
    pub(crate) fn rate(rate: f64, cpu_percent: f64) -> Self {
        Self {
            amount_mib: rate * 100.0,
            time_s: 100.0,
            user_s: 0.0,
            system_s: cpu_percent,
            operations: 1000.0,
            mean_ms: 0.0,
            max_ms: 0.0,
            over_2s_percent: 0.0,
            over_10s_percent: 0.0,
        }
    }

    pub(crate) fn latency(self, mean_ms: f64, max_ms: f64, over_2s: f64, over_10s: f64) -> Self {
        Self {
            mean_ms,
            max_ms,
            over_2s_percent: over_2s,
            over_10s_percent: over_10s,
            ..self
        }
    }

    pub(crate) fn phase(self, name: &str) -> Phase {
        let operations = self.operations as u64;
        let rate = self.amount_mib * MIB / self.time_s;
        with(
            Phase::new(name, PhaseKind::Measure),
            &[
                (metrics::RATE, rate, 1),
                (metrics::BYTES, self.amount_mib * MIB, 1),
                (metrics::OPERATIONS, self.operations, 1),
                (metrics::ELAPSED, self.time_s, 1),
                (metrics::CPU_USER, self.user_s, 1),
                (metrics::CPU_SYSTEM, self.system_s, 1),
                (metrics::LATENCY_MEAN, self.mean_ms * 1e6, operations),
                (metrics::LATENCY_MAX, self.max_ms * 1e6, operations),
                (metrics::LATENCY_OVER_2S, self.over_2s_percent, operations),
                (metrics::LATENCY_OVER_10S, self.over_10s_percent, operations),
            ],
        )
    }
}

/// The phase with these measurements.
pub(crate) fn with(mut phase: Phase, values: &[(Metric, f64, u64)]) -> Phase {
    for (metric, value, n) in values {
        phase
            .measurements
            .push(Measurement::new(metric.clone(), *value, *n));
    }
    phase
}

/// A finding without doubts.
pub(crate) fn on(subject: Subject, reason: &str) -> Finding {
    Finding {
        subject,
        reasons: vec![reason.to_owned()],
        caveats: Vec::new(),
        ceiling: None,
    }
}

/// The finding with a caveat.
pub(crate) fn doubting(mut finding: Finding, caveat: Caveat) -> Finding {
    finding.caveats.push(caveat);
    finding
}

/// A job of one worker, with direct I/O on 1 GiB.
pub(crate) fn job(action: Action, access: Access, block_size_bytes: u64, depth: u32) -> Job {
    Job {
        name: "job".to_owned(),
        access,
        action,
        block_size_bytes,
        depth,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: 1 << 30,
        }],
        backend: BackendKind::IoUring,
        direct: true,
        write_sync: WriteSync::None,
        sync_every: None,
        create: Create::Open,
        data: Data::Unique,
        operations_per_worker: None,
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        interval_ns: 100_000_000,
        timing: Timing::Exact,
        seed: Seed(1),
        ..Job::default()
    }
}

/// A phase with a rate in MiB/s, operations a second and latencies in us: p50,
/// p99, p99.9, maximum.
pub(crate) fn paced(name: &str, job: Job, rate: f64, iops: f64, latency_us: [f64; 4]) -> Phase {
    let n = (iops * 8.0) as u64;
    let [p50, p99, p999, max] = latency_us;
    let phase = Phase {
        job: Some(job),
        elapsed_ns: 8_000_000_000,
        ..Phase::new(name, PhaseKind::Measure)
    };
    with(
        phase,
        &[
            (metrics::RATE, rate * MIB, n),
            (metrics::OPERATION_RATE, iops, n),
            (metrics::ELAPSED, 8.0, 1),
            (metrics::LATENCY_P50, p50 * 1e3, n),
            (metrics::LATENCY_P99, p99 * 1e3, n),
            (metrics::LATENCY_P999, p999 * 1e3, n),
            (metrics::LATENCY_MAX, max * 1e3, n),
        ],
    )
}

/// The stack of a partition of an NVMe disk with ext4.
pub(crate) fn nvme_stack(path: &str) -> TargetStack {
    let layer = |name: &str, kind| Layer {
        name: name.to_owned(),
        kind,
        device_number: (259, 0),
        size_bytes: 1_000_204_886_016,
        model: (kind == LayerKind::Disk).then(|| "Example SSD 1TB".to_owned()),
        firmware: None,
        serial: None,
        link: (kind == LayerKind::Disk).then(|| "PCIe 8.0 GT/s x4".to_owned()),
        link_bytes_per_s: None,
        scheduler: (kind == LayerKind::Disk).then(|| "none".to_owned()),
        rotational: Some(false),
        logical_block_size_bytes: 512,
        physical_block_size_bytes: 512,
        queue: [("write_cache".to_owned(), "write back".to_owned())].into(),
        target: None,
        backing: None,
        loop_direct_io: None,
    };
    TargetStack {
        path: path.to_owned(),
        filesystem: Some(Filesystem {
            kind: "ext4".to_owned(),
            source: "/dev/nvme0n1p2".to_owned(),
            mount_point: "/home".to_owned(),
            mount_options: vec!["rw".to_owned(), "noatime".to_owned()],
            size_bytes: 900 << 30,
            available_bytes: 400 << 30,
            block_size_bytes: 4096,
            ..Filesystem::default()
        }),
        layers: vec![
            layer("nvme0n1p2", LayerKind::Partition),
            layer("nvme0n1", LayerKind::Disk),
        ],
        missing: Vec::new(),
    }
}

/// A quick session on that stack, on a machine of eight CPUs.
pub(crate) fn quick_session() -> Session {
    let mut session = session();
    session.header.command = vec!["quick".to_owned()];
    let environment = &mut session.header.environment;
    environment.kernel.as_mut().unwrap().release = "6.12.9".to_owned();
    environment.cpu = Some(Cpu {
        model: "Example CPU".to_owned(),
        online: 8,
        allowed: 8,
        ..Cpu::default()
    });
    environment.memory = Some(Memory {
        total_bytes: 32 << 30,
        page_size_bytes: 4096,
        ..Memory::default()
    });
    environment.targets = vec![nvme_stack("/home/someone/data")];
    let commit = Job {
        sync_every: Some(SyncEvery {
            writes: 1,
            kind: SyncKind::Fdatasync,
        }),
        ..job(Action::Write, Access::RandomIndependent, 4096, 1)
    };
    let sequential = |action| job(action, Access::Sequential, 1 << 20, 8);
    let random = |action, depth| job(action, Access::RandomIndependent, 4096, depth);
    let phases = vec![
        paced(
            "sequential_write",
            sequential(Action::Write),
            1810.0,
            1810.0,
            [4200.0, 9900.0, 21_000.0, 38_000.0],
        ),
        paced(
            "sequential_read",
            sequential(Action::Read),
            3120.0,
            3120.0,
            [2500.0, 3100.0, 4050.0, 5200.0],
        ),
        paced(
            "random_read_depth_1",
            random(Action::Read, 1),
            45.7,
            11_700.0,
            [82.1, 121.0, 290.0, 4100.0],
        ),
        paced(
            "random_read_deep",
            random(Action::Read, 32),
            1050.0,
            268_800.0,
            [117.0, 240.0, 612.0, 5300.0],
        ),
        paced(
            "random_write_depth_1",
            random(Action::Write, 1),
            190.0,
            48_640.0,
            [18.4, 41.0, 377.0, 9100.0],
        ),
        paced(
            "random_write_deep",
            random(Action::Write, 32),
            812.0,
            207_872.0,
            [140.0, 430.0, 2900.0, 14_000.0],
        ),
        paced(
            "commit",
            commit,
            3.17,
            812.4,
            [1210.0, 4500.0, 9800.0, 21_000.0],
        ),
    ];
    session.trials = vec![trial(Cell::new(), 0, phases)];
    session
}

/// A session of two phases with all that can stand around them.
pub(crate) fn witnessed_session() -> Session {
    let mut session = quick_session();
    session.header.label = Some("before".to_owned());
    let environment = &mut session.header.environment;
    environment.cpu.as_mut().unwrap().governor = Some("performance".to_owned());
    environment.limits.memory_bytes = Some(2 << 30);
    environment.limits.io.push(IoLimit {
        device_number: (259, 0),
        source: "io.max of /sys/fs/cgroup/x".to_owned(),
        read_bytes_per_s: Some(100 << 20),
        write_bytes_per_s: None,
        read_operations_per_s: None,
        write_operations_per_s: Some(5000),
    });
    environment.missing.push(MissingFact {
        fact: "firmware".to_owned(),
        reason: "/sys/class/nvme cannot be read (errno 13)".to_owned(),
    });
    let trial = &mut session.trials[0];
    trial.phases.truncate(2);
    let phase = &mut trial.phases[1];
    phase.workers = [(1 << 30, 1_000_000_000), (1 << 30, 2_000_000_000)]
        .map(|(bytes, last_ns)| WorkerSummary {
            operations: 1024,
            bytes,
            first_ns: 0,
            last_ns,
            cpu_ns: 5_000_000,
            ..WorkerSummary::default()
        })
        .to_vec();
    phase.witnesses = Witnesses {
        devices: vec![DeviceTraffic {
            source: "/proc/diskstats nvme0n1p2".to_owned(),
            device: "nvme0n1p2".to_owned(),
            reads: 2048,
            read_bytes: 2 << 30,
            writes: 3,
            written_bytes: 12_288,
            flushes: Some(1),
            busy_ns: Some(1_900_000_000),
            queue: None,
        }],
        residency_before: Some(Residency {
            cached_bytes: 0,
            dirty_bytes: 0,
            file_bytes: 2 << 30,
        }),
        direct_granted: Some(true),
        process_cpu: Some(CpuTime {
            total_ns: 10_000_000,
            user_ns: 4_000_000,
            system_ns: 6_000_000,
        }),
        missing: vec!["PSI: /proc/pressure/io is not there".to_owned()],
        ..Witnesses::default()
    };
    phase
        .notes
        .push("ring: SINGLE_ISSUER, DEFER_TASKRUN".to_owned());
    session
}
