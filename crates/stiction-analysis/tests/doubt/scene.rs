//! Phases and environments for the examination, made from a few words.

use stiction_core::{
    Access, Action, BackendKind, Cpu, CpuTime, Create, Data, DeviceTraffic, Direction, Environment,
    Filesystem, Histogram, Interval, IoLimit, Job, Layer, LayerKind, Phase, PhaseKind, Recording,
    Region, Residency, Seed, StartOrder, SyncKind, TargetStack, Timing, WorkerSummary, WriteSync,
};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
const SECOND_NS: u64 = 1_000_000_000;
/// The device that the target lies on.
pub(crate) const DEVICE: (u32, u32) = (254, 0);

/// One phase under examination and the machine around it.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) phase: Phase,
    pub(crate) environment: Environment,
}

/// 1 MiB operations at a steady 100 MiB/s for `seconds`, on ext4 on `vda`, without
/// any witness.
pub(crate) fn steady(action: Action, seconds: u64) -> Scene {
    let latencies: Vec<u64> = vec![10_000_000; 10];
    let intervals = (0..10 * seconds).map(|_| latencies.clone()).collect();
    recorded(action, MIB, intervals)
}

/// Operations of `block` bytes whose latencies are given for each tenth of a second.
pub(crate) fn recorded(action: Action, block: u64, tenths: Vec<Vec<u64>>) -> Scene {
    let direction = match action {
        Action::Read => Direction::Read,
        _ => Direction::Write,
    };
    let length_ns = SECOND_NS / 10;
    let intervals: Vec<Interval> = (0..)
        .zip(tenths)
        .map(|(index, latencies)| Interval {
            start_ns: index * length_ns,
            length_ns,
            bytes: latencies.len() as u64 * block,
            latencies: histogram(&latencies),
        })
        .collect();
    let mut phase = Phase::new("phase", PhaseKind::Measure);
    phase.elapsed_ns = length_ns * intervals.len() as u64;
    let recording = Recording {
        direction,
        intervals,
    };
    phase.job = Some(job(action, block, recording.bytes()));
    phase.workers = vec![WorkerSummary {
        operations: recording.operations(),
        bytes: recording.bytes(),
        last_ns: phase.elapsed_ns,
        ..WorkerSummary::default()
    }];
    phase.recordings = vec![recording];
    let mut environment = Environment {
        targets: vec![on("ext4", vec![disk("vda")])],
        ..Environment::default()
    };
    environment.cpu = Some(Cpu {
        online: 4,
        allowed: 4,
        ..Cpu::default()
    });
    Scene { phase, environment }
}

fn histogram(latencies: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    latencies.iter().for_each(|&ns| histogram.record(ns));
    histogram
}

fn job(action: Action, block_size_bytes: u64, length_bytes: u64) -> Job {
    Job {
        name: "job".to_owned(),
        access: Access::Sequential,
        action,
        block_size_bytes,
        depth: 1,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes,
        }],
        backend: BackendKind::Psync,
        direct: false,
        write_sync: WriteSync::None,
        sync_every: None,
        create: Create::Open,
        data: Data::Unique,
        operations_per_worker: None,
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        interval_ns: SECOND_NS / 10,
        timing: Timing::Exact,
        seed: Seed(1),
        ..Job::default()
    }
}

pub(crate) fn disk(name: &str) -> Layer {
    layer(name, LayerKind::Disk, DEVICE)
}

pub(crate) fn layer(name: &str, kind: LayerKind, device_number: (u32, u32)) -> Layer {
    Layer {
        name: name.to_owned(),
        kind,
        device_number,
        size_bytes: 100 * GIB,
        model: None,
        firmware: None,
        serial: None,
        link: None,
        link_bytes_per_s: None,
        scheduler: None,
        rotational: None,
        logical_block_size_bytes: 512,
        physical_block_size_bytes: 4096,
        queue: std::collections::BTreeMap::new(),
        target: None,
        backing: None,
        loop_direct_io: None,
    }
}

pub(crate) fn on(filesystem: &str, layers: Vec<Layer>) -> TargetStack {
    TargetStack {
        path: "/mnt/x".to_owned(),
        filesystem: Some(Filesystem {
            kind: filesystem.to_owned(),
            ..Filesystem::default()
        }),
        layers,
        missing: Vec::new(),
    }
}

impl Scene {
    pub(crate) fn bytes(&self) -> u64 {
        self.phase.recordings[0].bytes()
    }

    /// The device moved this share of what was asked, in the direction of the job.
    pub(crate) fn moved(mut self, share: f64) -> Self {
        let bytes = (self.bytes() as f64 * share) as u64;
        let read = self.phase.recordings[0].direction == Direction::Read;
        let operations = self.phase.recordings[0].operations();
        self.phase.witnesses.devices = vec![DeviceTraffic {
            source: "/proc/diskstats vda".to_owned(),
            device: "vda".to_owned(),
            reads: if read { operations } else { 0 },
            read_bytes: if read { bytes } else { 0 },
            writes: if read { 0 } else { operations },
            written_bytes: if read { 0 } else { bytes },
            ..DeviceTraffic::default()
        }];
        self
    }

    /// This share of the file was cached before, and that after.
    pub(crate) fn cached(mut self, before: f64, after: f64) -> Self {
        let file_bytes = self.bytes();
        let residency = |share: f64| {
            Some(Residency {
                cached_bytes: (file_bytes as f64 * share) as u64,
                dirty_bytes: 0,
                file_bytes,
            })
        };
        self.phase.witnesses.residency_before = residency(before);
        self.phase.witnesses.residency_after = residency(after);
        self
    }

    pub(crate) fn direct(mut self, granted: bool) -> Self {
        self.phase.witnesses.direct_granted = Some(granted);
        self.job_mut().direct = true;
        self
    }

    pub(crate) fn synced(mut self) -> Self {
        self.job_mut().sync_at_end = Some(SyncKind::Fdatasync);
        self
    }

    pub(crate) fn worker_cpu(mut self, share: f64) -> Self {
        self.phase.witnesses.busiest_worker_cpu_fraction = Some(share);
        self.phase.witnesses.process_cpu = Some(CpuTime {
            total_ns: (self.phase.elapsed_ns as f64 * share) as u64,
            ..CpuTime::default()
        });
        self
    }

    pub(crate) fn limit(mut self, limit: IoLimit) -> Self {
        self.environment.limits.io.push(limit);
        self
    }

    pub(crate) fn target(mut self, stack: TargetStack) -> Self {
        self.environment.targets = vec![stack];
        self
    }

    pub(crate) fn job_mut(&mut self) -> &mut Job {
        self.phase.job.as_mut().expect("scenes have a job")
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

pub(crate) fn limit(source: &str) -> IoLimit {
    IoLimit {
        device_number: DEVICE,
        source: source.to_owned(),
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        read_operations_per_s: None,
        write_operations_per_s: None,
    }
}
