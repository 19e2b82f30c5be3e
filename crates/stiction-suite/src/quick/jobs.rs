//! From a phase and the means at hand to a job.

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, Seed, StartOrder, SyncEvery, SyncKind,
    WriteSync,
};

use super::options::QuickParameters;
use super::phase::QuickPhase;
use crate::sizing::split;

/// What the jobs of one trial depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) parameters: &'a QuickParameters,
    /// Whether the page cache can be avoided.
    pub(super) direct: bool,
    /// Whether many operations can be kept in flight by one thread.
    pub(super) ring: bool,
    /// Whether the file lives in memory.
    pub(super) in_memory: bool,
    /// Bytes from the file's start that have really been written; the size wanted
    /// before the first phase.
    pub(super) written_bytes: u64,
    /// Seed of the trial.
    pub(super) seed: Seed,
}

/// The job of `phase` for `slot_ns` at most.
pub(super) fn job(on: Circumstances<'_>, phase: QuickPhase, slot_ns: u64) -> Job {
    let commits = phase == QuickPhase::Commit;
    let block_size_bytes = if phase.sequential() {
        on.parameters.sequential_block_size_bytes
    } else {
        on.parameters.random_block_size_bytes
    };
    // A commit is what databases do: a buffered write, then fdatasync.
    let direct = on.direct && !commits;
    let in_flight = in_flight(on.parameters, phase);
    let ring = on.ring && direct && in_flight > 1;
    Job {
        name: phase.name().to_owned(),
        access: if phase.sequential() || commits {
            Access::Sequential
        } else {
            Access::RandomPermutation
        },
        action: if phase.reads() {
            Action::Read
        } else {
            Action::Write
        },
        block_size_bytes,
        depth: if ring { in_flight } else { 1 },
        regions: if phase.deep() && !ring {
            split(on.written_bytes, block_size_bytes, in_flight)
        } else {
            split(on.written_bytes, block_size_bytes, 1)
        },
        backend: if ring {
            BackendKind::IoUring
        } else {
            BackendKind::Psync
        },
        direct,
        write_sync: WriteSync::None,
        sync_every: sync_every(on, phase, block_size_bytes),
        sync_at_end: (!phase.reads() && !commits).then_some(SyncKind::Fdatasync),
        create: if phase == QuickPhase::SequentialWrite {
            Create::Truncate
        } else {
            Create::Open
        },
        data: Data::Unique,
        operations_per_worker: None,
        duration_ns: Some(slot_ns),
        // The file is laid down once; and what was read through the page cache once
        // would come from there the second time, unless it does so anyway.
        once: phase == QuickPhase::SequentialWrite || (phase.reads() && !direct && !on.in_memory),
        start: StartOrder::Together,
        interval_ns: on.parameters.interval_ns,
        timing: on.parameters.timing,
        seed: on.seed.stream(phase as u64),
        ..Job::default()
    }
}

/// Operations to keep in flight.
fn in_flight(parameters: &QuickParameters, phase: QuickPhase) -> u32 {
    if phase.sequential() {
        parameters.sequential_depth
    } else if phase.deep() {
        parameters.deep
    } else {
        1
    }
}

/// A commit syncs every write; buffered writes are synced before too many of them wait
/// in memory.
fn sync_every(
    on: Circumstances<'_>,
    phase: QuickPhase,
    block_size_bytes: u64,
) -> Option<SyncEvery> {
    let writes = match phase {
        QuickPhase::Commit => 1,
        _ if phase.reads() || on.direct => return None,
        QuickPhase::SequentialWrite => on.parameters.buffered_backlog_bytes / block_size_bytes,
        // Scattered blocks take a disk's arm a seek each, so fewer of them.
        _ => {
            on.parameters.buffered_backlog_bytes
                / block_size_bytes
                / 16
                / u64::from(in_flight(on.parameters, phase))
        }
    };
    Some(SyncEvery {
        writes: writes.max(1),
        kind: SyncKind::Fdatasync,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::Timing;

    fn parameters() -> QuickParameters {
        QuickParameters {
            budget_ns: 60_000_000_000,
            file_size_bytes: 64 << 20,
            sequential_block_size_bytes: 1 << 20,
            sequential_depth: 8,
            random_block_size_bytes: 4096,
            deep: 32,
            buffered_backlog_bytes: 16 << 20,
            interval_ns: 100_000_000,
            timing: Timing::Exact,
            may_fill: false,
        }
    }

    fn job_of(phase: QuickPhase, direct: bool, ring: bool) -> Job {
        let parameters = parameters();
        let on = Circumstances {
            parameters: &parameters,
            direct,
            ring,
            in_memory: false,
            written_bytes: 64 << 20,
            seed: Seed(1),
        };
        job(on, phase, 5)
    }

    #[test]
    fn a_ring_holds_what_threads_hold_without_one() {
        let ring = job_of(QuickPhase::RandomReadDeep, true, true);
        assert_eq!(
            (ring.backend, ring.depth, ring.regions.len()),
            (BackendKind::IoUring, 32, 1)
        );
        let threads = job_of(QuickPhase::RandomReadDeep, true, false);
        assert_eq!(
            (threads.backend, threads.depth, threads.regions.len()),
            (BackendKind::Psync, 1, 32)
        );
        let last = threads.regions[31];
        assert_eq!(last.offset_bytes + last.length_bytes, 64 << 20);
    }

    #[test]
    fn through_the_cache_nothing_is_read_twice_and_writes_are_synced_on_the_way() {
        let read = job_of(QuickPhase::RandomReadDepth1, false, false);
        assert!(read.once && !read.direct);
        let write = job_of(QuickPhase::SequentialWrite, false, false);
        assert_eq!(write.sync_every.map(|every| every.writes), Some(16));
        let deep = job_of(QuickPhase::RandomWriteDeep, false, false);
        assert_eq!(deep.sync_every.map(|every| every.writes), Some(8));
        assert!(
            job_of(QuickPhase::RandomWriteDeep, true, true)
                .sync_every
                .is_none()
        );
    }

    #[test]
    fn a_commit_is_a_buffered_write_and_its_sync() {
        let commit = job_of(QuickPhase::Commit, true, true);
        assert!(!commit.direct);
        assert_eq!(commit.depth, 1);
        assert_eq!(
            commit.sync_every,
            Some(SyncEvery {
                writes: 1,
                kind: SyncKind::Fdatasync
            })
        );
    }
}
