//! What is done to files before their first write and after their last one.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::io::Errno;
use stiction_core::{BackendKind, Create, Data, Direction, Job, Reserve, SyncKind, WritebackEvery};
use stiction_engine::{
    Ended, EngineError, Operation, Part, Progress, StopFlag, Target, at_file_ends, run_together,
};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{failure, file, files, read_job, region, run, try_run, with_workers, write_job};

const BLOCKS: u64 = 256;

/// Writes the first block of the region alone: length and bytes on disk of the file.
fn first_block(reserve: Reserve, create: Create, backend: BackendKind) -> (u64, u64) {
    let folder = scratch_folder();
    let path = folder.path().join("f");
    let job = Job {
        reserve,
        create,
        backend,
        operations_per_worker: Some(1),
        sync_at_end: Some(SyncKind::Fsync),
        ..write_job(BLOCKS)
    };
    let outcome = run(&job, &file(&path));
    assert_eq!((outcome.operations(), &outcome.ended), (1, &Ended::Planned));
    let found = path.metadata().unwrap();
    (found.size(), found.blocks() * 512)
}

#[test]
fn blocks_are_reserved_with_and_without_the_size() {
    let whole = BLOCKS * 4096;
    for backend in [BackendKind::Psync, BackendKind::IoUring] {
        let (size, held) = first_block(Reserve::None, Create::Truncate, backend);
        assert!(size == 4096 && held < whole, "{size}, {held}");
        let (size, held) = first_block(Reserve::Native, Create::Truncate, backend);
        assert!(size == whole && held >= whole, "{size}, {held}");
        let (size, held) = first_block(Reserve::KeepSize, Create::Truncate, backend);
        assert!(size == 4096 && held >= whole, "{size}, {held}");
        let (size, held) = first_block(Reserve::Native, Create::Sparse, backend);
        assert!(size == whole && held >= whole, "{size}, {held}");
        let (size, held) = first_block(Reserve::None, Create::Sparse, backend);
        assert!(size == whole && held < whole, "{size}, {held}");
    }
    let (size, held) = first_block(Reserve::Native, Create::Sparse, BackendKind::Mmap);
    assert!(size == whole && held >= whole, "{size}, {held}");
}

#[test]
fn a_filesystem_that_cannot_reserve_is_noted() {
    let filesystem = match FaultFs::mount(Faults::default()) {
        Ok(filesystem) => filesystem,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let job = Job {
        reserve: Reserve::Native,
        ..write_job(4)
    };
    let outcome = run(&job, &file(filesystem.path().join("f")));
    assert_eq!(outcome.ended, Ended::Planned);
    let said = |note: &String| note.contains("cannot reserve blocks");
    assert!(outcome.notes.iter().any(said), "{:?}", outcome.notes);
}

/// The other end counts the calls.
#[test]
fn each_file_is_synced_before_it_is_closed_outside_of_all_figures() {
    let filesystem = match FaultFs::mount(Faults::default()) {
        Ok(filesystem) => filesystem,
        Err(reason) => testkit::skip!("{reason}"),
    };
    for open_in_time in [false, true] {
        for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 4)] {
            let before = filesystem.counts().syncs;
            let job = Job {
                backend,
                depth,
                open_in_time,
                sync_on_close: Some(SyncKind::Fsync),
                ..with_workers(write_job(8), 3, 8)
            };
            let outcome = run(&job, &files(filesystem.path(), 3));
            assert_eq!(outcome.ended, Ended::Planned);
            assert_eq!(filesystem.counts().syncs - before, 3);
            let directions: Vec<Direction> =
                (outcome.recordings.iter().map(|one| one.direction)).collect();
            assert_eq!(directions, [Direction::Write]);
        }
    }
    filesystem.set(Faults {
        sync_error: Some(Errno::IO.raw_os_error()),
        ..Faults::default()
    });
    let job = Job {
        sync_on_close: Some(SyncKind::Fdatasync),
        ..write_job(8)
    };
    let outcome = run(&job, &file(filesystem.path().join("f")));
    assert_eq!(failure(&outcome).operation, Operation::Fdatasync);
    assert_eq!(outcome.operations(), 8);
}

#[test]
fn a_job_that_only_reads_has_nothing_to_reserve_or_sync() {
    let reserving = Job {
        reserve: Reserve::Native,
        ..read_job(4)
    };
    let syncing = Job {
        sync_on_close: Some(SyncKind::Fsync),
        ..read_job(4)
    };
    for job in [reserving, syncing] {
        let result = try_run(&job, &file("/nonexistent/f"));
        assert!(matches!(result, Err(EngineError::Job { .. })), "{result:?}");
    }
}

/// Two jobs that number their writes each for itself must not write the same blocks.
#[test]
fn jobs_that_run_together_must_not_share_stamped_blocks() {
    let folder = scratch_folder();
    let job = Job {
        data: Data::Stamped,
        create: Create::Sparse,
        ..write_job(4)
    };
    let stop = StopFlag::new();
    let together = |paths: [&Path; 2]| {
        let targets = paths.map(|path| [Target::File(path.to_owned())]);
        let progress = [Progress::new(1), Progress::new(1)];
        let parts: Vec<Part<'_>> = (targets.iter().zip(&progress))
            .map(|(targets, progress)| Part::new(&job, targets, &stop, progress))
            .collect();
        run_together(&parts)
    };
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    assert!(matches!(
        together([&one, &one]),
        Err(EngineError::Job { .. })
    ));
    assert!(!one.exists());
    assert_eq!(together([&one, &other]).unwrap().len(), 2);
}

/// One block of 16 is written: the others are reserved, or holes, and the file is as long.
#[test]
fn files_are_reserved_as_posix_has_it_or_only_made_as_long() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    for (reserve, is_reserved) in [(Reserve::Posix, true), (Reserve::Truncate, false)] {
        let job = Job {
            reserve,
            operations_per_worker: Some(1),
            ..write_job(16)
        };
        run(&job, &file(&path));
        let found = path.metadata().unwrap();
        assert_eq!(found.size(), 16 * 4096, "{reserve:?}");
        assert_eq!(
            found.blocks() * 512 >= 16 * 4096,
            is_reserved,
            "{reserve:?}"
        );
    }
}

/// 20 writes, and a call after each 5; a job that reads behind the end finds nothing.
#[test]
fn pages_are_written_back_in_the_course_of_a_job() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let every = WritebackEvery {
        writes: 5,
        wait_before: true,
        start: true,
        wait_after: true,
    };
    for (backend, depth) in [
        (BackendKind::Psync, 1),
        (BackendKind::IoUring, 4),
        (BackendKind::Mmap, 1),
    ] {
        let job = Job {
            backend,
            depth,
            writeback_every: Some(every),
            ..write_job(20)
        };
        let outcome = run(&job, &file(&path));
        assert_eq!(outcome.operations(), 20);
        let calls = outcome.workers[0].latencies(Direction::Sync).count();
        assert_eq!(calls, 4, "{backend:?}");
    }
    let nothing = WritebackEvery {
        wait_before: false,
        start: false,
        wait_after: false,
        ..every
    };
    for (writeback_every, direct, expected) in [
        (nothing, false, "waits or begins then"),
        (
            WritebackEvery { writes: 0, ..every },
            false,
            "after 1 write or more",
        ),
        (every, true, "only buffered writes"),
    ] {
        let job = Job {
            writeback_every: Some(writeback_every),
            direct,
            ..write_job(20)
        };
        let error = try_run(&job, &file(&path)).unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not say {expected:?}"
        );
    }
}

#[test]
fn regions_are_moved_behind_the_ends_of_files() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2);
    run(&write_job(3), &targets[..1]);
    let before = std::fs::read(targets[0].path()).unwrap();
    let job = Job {
        create: Create::Sparse,
        regions: vec![region(0, 0, 2 * 4096), region(1, 0, 2 * 4096)],
        ..write_job(1)
    };
    let appended = at_file_ends(&job, &targets).unwrap();
    let offsets: Vec<u64> = appended
        .regions
        .iter()
        .map(|one| one.offset_bytes)
        .collect();
    assert_eq!(offsets, [3 * 4096, 0]);
    run(&appended, &targets);
    let after = std::fs::read(targets[0].path()).unwrap();
    assert_eq!(
        (after.len(), &after[..before.len()]),
        (5 * 4096, &before[..])
    );
}
