//! What one block device was asked and how long it took, request by request.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// What a request asks of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// Reads.
    Read,
    /// Writes; with their flush where the device takes both at once.
    Write,
    /// Discards and secure erases.
    Discard,
    /// Flushes of the device's cache that carry no data.
    Flush,
    /// Writing of zeros without data, zone operations, commands passed through.
    Other,
}

impl RequestKind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Discard,
        Self::Flush,
        Self::Other,
    ];

    /// As it is called in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Discard => "discard",
            Self::Flush => "flush",
            Self::Other => "other",
        }
    }
}

/// From where a device's requests were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceSource {
    /// Each request, as the driver got it and gave it back (`block:block_rq_issue`,
    /// `block:block_rq_complete`).
    Requests,
    /// Each bio, as it was queued and ended (`block:block_bio_queue`,
    /// `block:block_bio_complete`): devices without requests, such as zram and LVM.
    Bios,
    /// Counters of `/sys/block/X/stat`, read many times a second: means, no distribution.
    Sampled,
}

/// Requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCount {
    /// Size, bytes.
    pub bytes: u64,
    /// How many.
    pub requests: u64,
}

/// Requests, and the bytes that they moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCount {
    /// How many.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl RequestCount {
    /// Counts one request.
    pub fn count(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }
}

/// The requests of one kind that one device was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindTrace {
    /// Which.
    pub kind: RequestKind,
    /// All of them, whoever asked.
    pub all: RequestCount,
    /// Those that programs issued which are neither ours nor started by us.
    #[serde(default)]
    pub others: RequestCount,
    /// Those that the kernel's own threads issued: writeback and journals, of us and of
    /// others, which cannot be told apart.
    #[serde(default)]
    pub kernel: RequestCount,
    /// From the first issue to completion; `None` where only means are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Histogram>,
    /// Times of all completed requests added up, ns.
    pub total_ns: u64,
    /// Completed requests that `total_ns` is of.
    pub completed: u64,
    /// By size, smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeCount>,
    /// Requests that began where the one before of this kind had ended.
    #[serde(default)]
    pub sequential: u64,
    /// Requests that began elsewhere.
    #[serde(default)]
    pub jumps: u64,
    /// Distances of all jumps added up, bytes.
    #[serde(default)]
    pub jump_bytes: u64,
    /// Requests that ended with an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl KindTrace {
    /// Nothing seen.
    #[must_use]
    pub fn new(kind: RequestKind) -> Self {
        Self {
            kind,
            all: RequestCount::default(),
            others: RequestCount::default(),
            kernel: RequestCount::default(),
            latencies: None,
            total_ns: 0,
            completed: 0,
            sizes: Vec::new(),
            sequential: 0,
            jumps: 0,
            jump_bytes: 0,
            errors: 0,
        }
    }

    /// Mean time of a request, ns.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.total_ns as f64 / self.completed as f64)
    }

    /// Mean distance of a jump, bytes.
    #[must_use]
    pub fn mean_jump_bytes(&self) -> Option<f64> {
        (self.jumps > 0).then(|| self.jump_bytes as f64 / self.jumps as f64)
    }

    /// Share of requests that began where the one before had ended, 0 to 1.
    #[must_use]
    pub fn sequential_fraction(&self) -> Option<f64> {
        let followers = self.sequential + self.jumps;
        (followers > 0).then(|| self.sequential as f64 / followers as f64)
    }
}

/// How many requests a device had in hand, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthCourse {
    /// Length of a slice, ns. The last may be shorter.
    pub slice_ns: u64,
    /// Time from the first slice's start to the last one's end, ns.
    pub length_ns: u64,
    /// Of each slice: times of the requests in hand within it added up, ns. Divided by
    /// its length it is the mean depth.
    pub held_ns: Vec<u64>,
    /// Most at one moment.
    pub max: u32,
}

impl DepthCourse {
    /// Mean over the whole time.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let held_ns: u64 = self.held_ns.iter().sum();
        (self.length_ns > 0).then(|| held_ns as f64 / self.length_ns as f64)
    }

    /// Mean in each slice, in order.
    pub fn means(&self) -> impl Iterator<Item = f64> + '_ {
        let mut left_ns = self.length_ns;
        self.held_ns.iter().map(move |held_ns| {
            let slice_ns = self.slice_ns.min(left_ns).max(1);
            left_ns = left_ns.saturating_sub(self.slice_ns);
            *held_ns as f64 / slice_ns as f64
        })
    }
}

/// What one device was asked during a phase, whoever asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTrace {
    /// Kernel name of the device; of the whole disk where a target is on a partition.
    pub device: String,
    /// Major and minor number.
    pub device_number: (u32, u32),
    /// From where it was seen.
    pub source: TraceSource,
    /// By kind; kinds that were not asked for are left out.
    pub kinds: Vec<KindTrace>,
    /// Requests in hand over time.
    pub depth: DepthCourse,
    /// Names of the other programs that issued requests, with how many; most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_programs: Vec<(String, u64)>,
    /// Requests that the driver handed back and was given again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requeues: u64,
    /// Completions of requests that were issued before the phase, or whose issue was lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmatched: u64,
    /// Requests that were still in hand when the phase ended, or whose completion was lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// Records that the kernel dropped because a ring was full: of all devices together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_records: u64,
}

impl BlockTrace {
    /// The requests of one kind.
    #[must_use]
    pub fn kind(&self, kind: RequestKind) -> Option<&KindTrace> {
        self.kinds.iter().find(|one| one.kind == kind)
    }

    /// Whether more than a tenth of its requests have no completion: more than a driver is
    /// likely to hold at the end of a phase. Linux 6.18 was seen to record none of those that
    /// reach a CPU that is idle, though it counts them. Latencies are of the other requests
    /// then, and how many were in hand is not known.
    #[must_use]
    pub fn lacks_completions(&self) -> bool {
        let requests: u64 = self.kinds.iter().map(|kind| kind.all.requests).sum();
        self.unfinished > requests / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_the_time_held_over_the_time_there_was() {
        let course = DepthCourse {
            slice_ns: 100,
            length_ns: 250,
            held_ns: vec![100, 300, 50],
            max: 4,
        };
        assert_eq!(course.mean(), Some(1.8));
        assert_eq!(course.means().collect::<Vec<_>>(), [1.0, 3.0, 1.0]);
        assert_eq!(DepthCourse::default().mean(), None);
    }

    #[test]
    fn means_are_of_what_was_counted() {
        let mut trace = KindTrace::new(RequestKind::Read);
        assert_eq!((trace.mean_ns(), trace.mean_jump_bytes()), (None, None));
        assert_eq!(trace.sequential_fraction(), None);
        trace.all.count(4096);
        (trace.completed, trace.total_ns) = (4, 1000);
        (trace.sequential, trace.jumps, trace.jump_bytes) = (3, 1, 8192);
        assert_eq!(trace.mean_ns(), Some(250.0));
        assert_eq!(trace.mean_jump_bytes(), Some(8192.0));
        assert_eq!(trace.sequential_fraction(), Some(0.75));
    }
}
