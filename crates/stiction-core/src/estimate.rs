//! What something is expected to take, before it is done.

use serde::{Deserialize, Serialize};

use crate::{Action, Job};

/// What a trial is expected to take, as far as its plan tells. `None` is not nothing, but
/// what only the run can tell: as long as it takes, as much as fits into the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// How long, ns.
    pub duration_ns: Option<u64>,
    /// Bytes that are read, from the device or from memory.
    pub read_bytes: Option<u64>,
    /// Bytes that are written, without what the filesystem writes for itself.
    pub written_bytes: Option<u64>,
    /// Space taken at most while it goes on, bytes.
    pub space_bytes: Option<u64>,
}

impl Estimate {
    /// No time, no bytes.
    pub const NOTHING: Self = Self {
        duration_ns: Some(0),
        read_bytes: Some(0),
        written_bytes: Some(0),
        space_bytes: Some(0),
    };

    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        duration_ns: None,
        read_bytes: None,
        written_bytes: None,
        space_bytes: None,
    };

    /// This, and then `next`, in the same space.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            space_bytes: both(self.space_bytes, next.space_bytes, u64::max),
            ..self.beside(next, u64::saturating_add)
        }
    }

    /// This while `other` goes on, each in space of its own.
    #[must_use]
    pub fn along(self, other: Self) -> Self {
        Self {
            space_bytes: both(self.space_bytes, other.space_bytes, u64::saturating_add),
            ..self.beside(other, u64::max)
        }
    }

    fn beside(self, other: Self, time: fn(u64, u64) -> u64) -> Self {
        let add = u64::saturating_add;
        Self {
            duration_ns: both(self.duration_ns, other.duration_ns, time),
            read_bytes: both(self.read_bytes, other.read_bytes, add),
            written_bytes: both(self.written_bytes, other.written_bytes, add),
            space_bytes: None,
        }
    }

    /// What a job does: its bytes where its amount is set and not its time, its time where
    /// that is. Space is that of its regions.
    #[must_use]
    pub fn of_job(job: &Job) -> Self {
        let moved = bytes_of(job);
        let share = |percent: u64| moved.map(|bytes| (bytes / 100).saturating_mul(percent));
        let (read_bytes, written_bytes) = match job.action {
            Action::Read => (moved, Some(0)),
            Action::Write => (Some(0), moved),
            Action::Trim => (Some(0), Some(0)),
            Action::TrimWrite => (Some(0), moved),
            Action::Mixed { reads_percent } => {
                let reads = u64::from(reads_percent);
                (share(reads), share(100_u64.saturating_sub(reads)))
            }
        };
        let lengths = job.regions.iter().map(|region| region.length_bytes);
        Self {
            duration_ns: job.duration_ns,
            read_bytes,
            written_bytes,
            space_bytes: Some(lengths.fold(0, u64::saturating_add)),
        }
    }
}

/// Bytes that a job moves, where its amount is set.
fn bytes_of(job: &Job) -> Option<u64> {
    let workers = job.workers() as u64;
    let lengths = job.regions.iter().map(|region| region.length_bytes);
    let once = lengths
        .fold(0, u64::saturating_add)
        .saturating_mul(job.passes);
    let by_operations = job.operations_per_worker.map(|each| {
        each.saturating_mul(workers)
            .saturating_mul(job.block_size_bytes)
    });
    let by_bytes = job
        .bytes_per_worker
        .map(|each| each.saturating_mul(workers));
    let limits = [job.once.then_some(once), by_operations, by_bytes];
    let amount = limits.into_iter().flatten().min();
    // Time may end it before that.
    amount.filter(|_| job.duration_ns.is_none())
}

fn both(one: Option<u64>, other: Option<u64>, join: fn(u64, u64) -> u64) -> Option<u64> {
    Some(join(one?, other?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;

    const MIB: u64 = 1 << 20;

    fn job(action: Action) -> Job {
        let region = |target| Region {
            target,
            offset_bytes: 0,
            length_bytes: MIB,
        };
        Job {
            action,
            regions: vec![region(0), region(1)],
            ..Job::default()
        }
    }

    #[test]
    fn what_is_once_through_is_as_long_as_its_regions() {
        let write = Estimate::of_job(&job(Action::Write));
        assert_eq!(write.written_bytes, Some(2 * MIB));
        assert_eq!((write.read_bytes, write.duration_ns), (Some(0), None));
        let limited = Job {
            operations_per_worker: Some(10),
            ..job(Action::Read)
        };
        assert_eq!(Estimate::of_job(&limited).read_bytes, Some(2 * 10 * 4096));
    }

    #[test]
    fn what_time_ends_has_no_bytes() {
        let timed = Job {
            duration_ns: Some(5),
            ..job(Action::Read)
        };
        let timed = Estimate::of_job(&timed);
        assert_eq!((timed.duration_ns, timed.read_bytes), (Some(5), None));
        assert_eq!(timed.written_bytes, Some(0));
    }

    #[test]
    fn unknown_and_known_are_unknown() {
        let write = Estimate::of_job(&job(Action::Write));
        let read = Estimate::of_job(&job(Action::Read));
        let both = write.then(read);
        assert_eq!(both.written_bytes, Some(2 * MIB));
        assert_eq!(both.space_bytes, Some(2 * MIB), "the same files");
        assert_eq!(write.along(read).space_bytes, Some(4 * MIB));
        assert_eq!(both.duration_ns, None);
        assert_eq!(both.then(Estimate::UNKNOWN), Estimate::UNKNOWN);
        assert_eq!(both.then(Estimate::NOTHING), both);
    }
}
