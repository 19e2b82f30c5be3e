//! What was done in one direction: fio's `read`, `write` and `trim`.

use stiction_core::{Direction, Histogram, Phase, Recording};

use super::samples::{self, Window};
use super::spread::Spread;

/// The directions that fio reports, in its order, by the names that it gives them.
pub(super) const WAYS: [(Direction, &str); 3] = [
    (Direction::Read, "read"),
    (Direction::Write, "write"),
    (Direction::Trim, "trim"),
];

/// How long the windows are that bandwidth and IOPS are sampled in, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleWindows {
    pub(super) bandwidth_ns: u64,
    pub(super) iops_ns: u64,
}

impl SampleWindows {
    /// The same for both.
    pub(super) fn same(each_ns: u64) -> Self {
        Self {
            bandwidth_ns: each_ns,
            iops_ns: each_ns,
        }
    }
}

/// Everything that was done in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) bytes: u64,
    /// The longest that any part of it took; 0 when there was none.
    pub(super) elapsed_ns: u64,
    /// From just before the call that handed an operation over to its completion.
    pub(super) latencies: Histogram,
    /// How long that call took, where it was timed and is of this direction alone.
    pub(super) submissions: Histogram,
    /// The same calls in the windows of the bandwidth.
    pub(super) submitted: Vec<Window>,
    pub(super) bandwidth: Vec<Window>,
    pub(super) iops: Vec<Window>,
}

impl Way {
    /// What `phase` did in `direction`, in windows from `origin_ns` of the session on.
    pub(super) fn of(
        phase: &Phase,
        direction: Direction,
        origin_ns: u64,
        sampled: SampleWindows,
    ) -> Self {
        let Some(recording) = phase.recording(direction) else {
            return Self::default();
        };
        let windows_of =
            |recording, each_ns| samples::windows(recording, phase.start_ns, origin_ns, each_ns);
        let latencies = recording.total();
        if latencies.count() == 0 {
            return Self::default();
        }
        let others = WAYS.iter().filter(|(other, _)| *other != direction);
        let alone = others
            .filter_map(|(other, _)| phase.recording(*other))
            .all(|other| other.operations() == 0);
        let submissions = phase.recording(Direction::Submit).filter(|_| alone);
        Self {
            bytes: recording.bytes(),
            elapsed_ns: phase.elapsed_ns,
            latencies,
            submissions: submissions.map(Recording::total).unwrap_or_default(),
            submitted: submissions
                .map(|calls| windows_of(calls, sampled.bandwidth_ns))
                .unwrap_or_default(),
            bandwidth: windows_of(recording, sampled.bandwidth_ns),
            iops: windows_of(recording, sampled.iops_ns),
        }
    }

    /// Adds what another did at the same time.
    pub(super) fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.latencies.merge(&other.latencies);
        self.submissions.merge(&other.submissions);
        samples::add(&mut self.submitted, &other.submitted);
        samples::add(&mut self.bandwidth, &other.bandwidth);
        samples::add(&mut self.iops, &other.iops);
    }

    pub(super) fn operations(&self) -> u64 {
        self.latencies.count()
    }

    /// Bytes per second over the whole time.
    pub(super) fn bytes_per_s(&self) -> f64 {
        if self.elapsed_ns == 0 {
            return 0.0;
        }
        self.bytes as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Operations per second over the whole time.
    pub(super) fn operations_per_s(&self) -> f64 {
        if self.elapsed_ns == 0 {
            return 0.0;
        }
        self.operations() as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Samples of bandwidth, KiB/s.
    pub(super) fn bandwidth_kib_per_s(&self, sampled: SampleWindows) -> Spread {
        let windows = samples::whole(&self.bandwidth, sampled.bandwidth_ns);
        let samples: Vec<f64> = windows
            .iter()
            .map(|window| window.bytes_per_s() / 1024.0)
            .collect();
        Spread::of_samples(&samples)
    }

    /// Samples of operations per second.
    pub(super) fn iops_samples(&self, sampled: SampleWindows) -> Spread {
        let windows = samples::whole(&self.iops, sampled.iops_ns);
        let samples: Vec<f64> = windows
            .iter()
            .map(|window| window.operations_per_s())
            .collect();
        Spread::of_samples(&samples)
    }
}
