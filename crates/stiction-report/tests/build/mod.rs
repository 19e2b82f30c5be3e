//! Sessions for tests, from the figures that a report shows.
#![allow(dead_code, clippy::unwrap_used)]

use stiction_core::{
    Cell, Environment, Filesystem, Kernel, Measurement, Metric, Phase, PhaseKind, Provenance,
    RECORD_FORMAT_VERSION, Session, SessionEnd, SessionHeader, SessionId, SessionOutcome,
    TargetStack, Tool, Trial, metrics,
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
            caveats: Vec::new(),
        },
        trials: Vec::new(),
        end: Some(SessionEnd {
            outcome: SessionOutcome::Completed,
            at: "2002-11-30T11:00:12Z".parse().unwrap(),
            message: None,
        }),
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
