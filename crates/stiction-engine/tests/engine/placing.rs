//! Workers run where the job puts them, and the outcome says so.

use stiction_core::{BackendKind, CpuPolicy, IoPriority, Job, MemoryPolicy, Placement};
use stiction_engine::{Ended, EngineError};
use testkit::scratch_folder;

use crate::jobs::{files, run, try_run, with_workers, write_job};

/// The first CPU that this process may use.
fn first_cpu() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap();
    let first = list.trim().split(['-', ',']).next().unwrap();
    first.parse().unwrap()
}

#[test]
fn workers_are_placed_and_the_outcome_says_where() {
    let cpu = first_cpu();
    let placement = Placement {
        cpus: vec![cpu],
        cpu_policy: CpuPolicy::Split,
        memory: MemoryPolicy::Local,
        io_priority: Some(IoPriority::Idle),
        nice: Some(3),
    };
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        let folder = scratch_folder();
        let job = Job {
            backend,
            depth,
            placement: placement.clone(),
            ..with_workers(write_job(64), 3, 64)
        };
        let outcome = run(&job, &files(folder.path(), 3));
        assert_eq!(outcome.ended, Ended::Planned);
        let place = format!(
            "3 workers had CPU {cpu}, memory of the node it runs on, I/O priority idle, niceness 3"
        );
        assert!(outcome.notes.contains(&place), "{:?}", outcome.notes);
        assert!(outcome.caveats.is_empty(), "{:?}", outcome.caveats);
        assert!(
            !outcome.notes.iter().any(|note| note.contains("not pinned")),
            "{:?}",
            outcome.notes
        );
    }
}

#[test]
fn a_job_without_wishes_says_nothing_of_places() {
    let folder = scratch_folder();
    let outcome = run(&write_job(4), &files(folder.path(), 1));
    assert!(!outcome.notes.iter().any(|note| note.contains(" had ")));
}

#[test]
fn what_cannot_be_had_is_refused_before_anything_is_done() {
    let folder = scratch_folder();
    let with = |placement| Job {
        placement,
        ..write_job(4)
    };
    let missing = with(Placement {
        cpus: vec![1023],
        ..Placement::default()
    });
    let result = try_run(&missing, &files(folder.path(), 1));
    assert!(
        matches!(result, Err(EngineError::Placement { .. })),
        "{result:?}"
    );
    let impossible = with(Placement {
        nice: Some(99),
        ..Placement::default()
    });
    let result = try_run(&impossible, &files(folder.path(), 1));
    assert!(matches!(result, Err(EngineError::Job { .. })), "{result:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
