//! Operations that follow from others, and reads that are checked among writes.

use std::os::unix::fs::FileExt as _;

use stiction_core::{
    Access, Action, Arrivals, BackendKind, Create, Data, Direction, Job, JumpPercent, LoopKind,
    Pace, Rate, Seed, SyncEvery, SyncKind,
};
use stiction_engine::{
    Ended, Ledger, Mismatch, MismatchKind, Outcome, Progress, StopFlag, Target, run_checked,
};
use testkit::scratch_folder;

use crate::jobs::{content, file, files, read_job, region, run, try_run, write_job};

const BLOCKS: u64 = 64;

fn checked(job: &Job, targets: &[Target], ledger: &Ledger) -> Outcome {
    let progress = Progress::new(job.workers());
    let outcome = run_checked(job, targets, ledger, &StopFlag::new(), &progress).unwrap();
    assert_eq!(outcome.ended, Ended::Planned);
    outcome
}

fn mismatches(outcome: &Outcome) -> Vec<&Mismatch> {
    let workers = outcome.workers.iter();
    workers.flat_map(|worker| &worker.mismatches).collect()
}

fn operations(outcome: &Outcome, direction: Direction) -> u64 {
    let mut recordings = outcome.recordings.iter();
    let found = recordings.find(|one| one.direction == direction);
    found.map_or(0, stiction_core::Recording::operations)
}

/// Each block is trimmed, and then written: were it the other way round, it would be a
/// hole in the end.
#[test]
fn a_trimmed_block_is_written_when_its_trim_is_done() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 16)] {
        for access in [Access::Sequential, Access::RandomPermutation] {
            let ledger = Ledger::new(Seed(3));
            let write = Job {
                data: Data::Stamped,
                ..write_job(BLOCKS)
            };
            checked(&write, &file(&path), &ledger);
            let again = Job {
                action: Action::TrimWrite,
                create: Create::Open,
                access,
                backend,
                depth,
                ..write
            };
            let outcome = checked(&again, &file(&path), &ledger);
            assert_eq!(outcome.operations(), 2 * BLOCKS);
            assert_eq!(operations(&outcome, Direction::Trim), BLOCKS);
            assert_eq!(operations(&outcome, Direction::Write), BLOCKS);
            let read = Job {
                verify: true,
                data: Data::Stamped,
                ..read_job(BLOCKS)
            };
            let outcome = checked(&read, &file(&path), &ledger);
            assert_eq!(
                (outcome.mismatch_count(), outcome.checked().last),
                (0, BLOCKS)
            );
            // The second write of each: the first was trimmed away.
            let bytes = content(&path);
            assert!(
                bytes
                    .chunks(4096)
                    .all(|block| block[20..24] == [2, 0, 0, 0])
            );
        }
    }
}

/// Limits count pairs; a rate begins operations one by one all the same.
#[test]
fn limits_count_a_trim_and_its_write_as_one() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(BLOCKS), &file(&path));
    let job = Job {
        action: Action::TrimWrite,
        create: Create::Open,
        access: Access::RandomIndependent,
        once: false,
        operations_per_worker: Some(10),
        backend: BackendKind::IoUring,
        depth: 8,
        ..write_job(BLOCKS)
    };
    let pace = Pace {
        rate: Rate::OperationsPerS(5000),
        arrivals: Arrivals::Fixed,
        kind: LoopKind::Open,
        by_way: None,
    };
    for pace in [None, Some(pace)] {
        let outcome = run(
            &Job {
                pace,
                ..job.clone()
            },
            &file(&path),
        );
        assert_eq!(operations(&outcome, Direction::Trim), 10);
        assert_eq!(operations(&outcome, Direction::Write), 10);
    }
    // A block that is a hole afterwards lost its write: the file has none.
    assert!(
        content(&path)
            .chunks(4096)
            .all(|block| block.iter().any(|&byte| byte != 0))
    );
}

/// 100 writes read back every 16: 6 batches, and the last 4 at the end.
#[test]
fn writes_are_read_back_batch_by_batch() {
    let directory = scratch_folder();
    for (backend, depth) in [
        (BackendKind::Psync, 1),
        (BackendKind::IoUring, 32),
        (BackendKind::Mmap, 1),
    ] {
        let job = Job {
            data: Data::Stamped,
            create: Create::Sparse,
            access: Access::RandomIndependent,
            read_back_every: Some(16),
            once: false,
            operations_per_worker: Some(100),
            backend,
            depth,
            ..write_job(BLOCKS)
        };
        let path = directory.path().join(backend.as_str());
        let outcome = checked(&job, &file(&path), &Ledger::new(Seed(4)));
        assert_eq!(operations(&outcome, Direction::Write), 100, "{backend:?}");
        assert_eq!(operations(&outcome, Direction::Read), 100, "{backend:?}");
        let alone = run(&job, &file(&path));
        for outcome in [outcome, alone] {
            assert_eq!(outcome.mismatch_count(), 0, "{backend:?}");
            // Writes of the next batch go on beside the last reads of the one before.
            let seen = outcome.checked();
            assert_eq!(seen.last + seen.earlier + seen.partial, 100, "{seen:?}");
            assert!(depth > 1 || seen.last == 100, "{seen:?}");
        }
    }
}

/// Reads and writes of the same blocks in flight side by side are no mismatch, over
/// files, workers and depths; what somebody else puts there is one.
#[test]
fn reads_of_a_mix_are_checked_against_the_writes_so_far() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 4);
    let ledger = Ledger::new(Seed(6));
    let write = Job {
        data: Data::Stamped,
        create: Create::Sparse,
        regions: (0..4).map(|target| region(target, 0, 16 * 4096)).collect(),
        regions_per_worker: 2,
        ..write_job(1)
    };
    for (backend, depth) in [
        (BackendKind::Psync, 1),
        (BackendKind::IoUring, 32),
        (BackendKind::Mmap, 1),
    ] {
        checked(&write, &targets, &ledger);
        let mixed = Job {
            action: Action::Mixed { reads_percent: 50 },
            access: Access::RandomIndependent,
            create: Create::Open,
            verify: true,
            once: false,
            operations_per_worker: Some(5000),
            backend,
            depth,
            ..write.clone()
        };
        let outcome = checked(&mixed, &targets, &ledger);
        assert_eq!(outcome.operations(), 10_000);
        assert_eq!(
            outcome.mismatch_count(),
            0,
            "{backend:?}: {:#?}",
            mismatches(&outcome)
        );
        let seen = outcome.checked();
        let reads = operations(&outcome, Direction::Read);
        assert_eq!(seen.last + seen.earlier + seen.partial, reads, "{seen:?}");
        assert!(depth > 1 || seen.last == reads, "{seen:?}");
        // By itself, the numbers of the writes before are not known.
        let alone = run(&mixed, &targets);
        assert_eq!(
            alone.mismatch_count(),
            0,
            "{backend:?}: {:#?}",
            mismatches(&alone)
        );
    }
    checked(&write, &targets, &ledger);
    let planted = std::fs::File::options().write(true).open(targets[3].path());
    planted.unwrap().write_all_at(&[0; 4096], 5 * 4096).unwrap();
    let reads = Job {
        action: Action::Mixed { reads_percent: 100 },
        access: Access::RandomPermutation,
        create: Create::Open,
        verify: true,
        ..write
    };
    let outcome = checked(&reads, &targets, &ledger);
    assert_eq!(outcome.mismatch_count(), 1);
    let mismatch = &outcome.workers[1].mismatches[0];
    assert_eq!(
        (mismatch.path.as_path(), mismatch.offset_bytes),
        (targets[3].path(), 5 * 4096)
    );
    assert!(
        matches!(mismatch.kind, MismatchKind::Lost { .. }),
        "{mismatch}"
    );
}

#[test]
fn a_pattern_that_is_not_there_is_told_of() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let write = Job {
        data: Data::Pattern,
        pattern: b"abcdefg".to_vec(),
        ..write_job(BLOCKS)
    };
    run(&write, &file(&path));
    let read = Job {
        verify: true,
        action: Action::Read,
        create: Create::Open,
        access: Access::RandomPermutation,
        ..write
    };
    let outcome = run(&read, &file(&path));
    assert_eq!(
        (outcome.mismatch_count(), outcome.checked().uncounted),
        (0, BLOCKS)
    );
    let planted = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    planted.write_all_at(&[0; 4096], 0).unwrap();
    // `b` is 0x62, `c` is 0x63.
    planted.write_all_at(b"ac", 7 * 4096).unwrap();
    planted.write_all_at(&[7; 4096], 9 * 4096).unwrap();
    let outcome = run(&read, &file(&path));
    let mut found: Vec<_> = (outcome.workers[0].mismatches.iter())
        .map(|one| (one.offset_bytes / 4096, one.kind))
        .collect();
    found.sort_unstable_by_key(|(block, _)| *block);
    let (first_byte, bytes) = (0, 4096);
    assert_eq!(
        found,
        [
            (0, MismatchKind::Unstamped { zeros: true }),
            (
                7,
                MismatchKind::Flipped {
                    first_byte: 1,
                    bits: 1
                }
            ),
            (9, MismatchKind::Garbled { first_byte, bytes }),
        ]
    );
}

#[test]
fn a_job_goes_through_its_region_as_often_as_asked() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2);
    for access in [Access::Sequential, Access::RandomPermutation] {
        for regions_per_worker in [1, 2] {
            let ledger = Ledger::new(Seed(8));
            let write = Job {
                access,
                data: Data::Stamped,
                create: Create::Sparse,
                passes: 3,
                regions: (0..2).map(|target| region(target, 0, 8 * 4096)).collect(),
                regions_per_worker,
                ..write_job(1)
            };
            assert_eq!(checked(&write, &targets, &ledger).operations(), 3 * 16);
            for target in &targets {
                let bytes = content(target.path());
                assert!(
                    bytes
                        .chunks(4096)
                        .all(|block| block[20..24] == [3, 0, 0, 0])
                );
            }
        }
    }
}

/// 256 blocks fit in 1 MiB; then the job is at its end, and at no fault.
#[test]
fn root_a_full_filesystem_is_the_planned_end_of_a_job_that_fills_it() {
    testkit::require_root!();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    let path = tmpfs.path().join("f");
    let job = Job {
        until_full: true,
        sync_at_end: Some(SyncKind::Fsync),
        ..write_job(1000)
    };
    let outcome = run(&job, &file(&path));
    assert_eq!(
        (&outcome.ended, outcome.operations()),
        (&Ended::Planned, 256)
    );
    assert_eq!(operations(&outcome, Direction::Sync), 1);
    assert!(
        outcome.notes.iter().any(|note| note.contains("is full")),
        "{:?}",
        outcome.notes
    );
    assert_eq!(path.metadata().unwrap().len(), 1 << 20);
}

/// Were one of them to jump, some blocks would be written twice and others never.
#[test]
fn writes_of_which_none_jumps_go_through_the_region_in_order() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let job = Job {
        access: Access::RandomIndependent,
        jump_percent: Some(JumpPercent {
            read: 100,
            write: 0,
            trim: 100,
        }),
        create: Create::Sparse,
        ..write_job(BLOCKS)
    };
    run(&job, &file(&path));
    let bytes = content(&path);
    assert_eq!(bytes.len() as u64, BLOCKS * job.block_size_bytes);
    let holes = bytes
        .chunks(job.block_size_bytes as usize)
        .filter(|block| block.iter().all(|byte| *byte == 0));
    assert_eq!(holes.count(), 0);
}

#[test]
fn what_cannot_follow_is_refused() {
    let all = JumpPercent {
        read: 50,
        write: 101,
        trim: 0,
    };
    let stamped = |job: Job| Job {
        data: Data::Stamped,
        ..job
    };
    #[rustfmt::skip]
    let cases = [
        (Job { jump_percent: Some(JumpPercent { write: 50, ..all }), ..read_job(1) }, "only random offsets without runs"),
        (Job { jump_percent: Some(all), access: Access::RandomIndependent, ..read_job(1) }, "of a hundred operations are to jump"),
        (Job { run_in_place: true, ..read_job(1) }, "has 2 operations or more"),
        (Job { passes: 0, ..read_job(1) }, "does so 1 time or more"),
        (Job { passes: 2, once: false, ..read_job(1) }, "does so 1 time or more"),
        (Job { read_back_every: Some(1), ..write_job(1) }, "only stamped data"),
        (Job { read_back_every: Some(0), ..stamped(write_job(1)) }, "after 1 to 1048576 writes"),
        (Job { until_full: true, ..read_job(1) }, "nothing gets full"),
        (Job { verify: true, data: Data::Pattern, pattern: vec![1], action: Action::Mixed { reads_percent: 50 }, create: Create::Open, ..read_job(1) }, "can be verified"),
        (Job { action: Action::TrimWrite, backend: BackendKind::Libaio, create: Create::Open, ..write_job(1) }, "cannot trim"),
        (Job { action: Action::TrimWrite, access: Access::RandomIndependent, depth: 2, backend: BackendKind::IoUring, create: Create::Open, ..stamped(write_job(1)) }, "set the depth to 1"),
        (Job { action: Action::TrimWrite, sync_every: Some(SyncEvery { writes: 0, kind: SyncKind::Fsync }), create: Create::Open, ..write_job(1) }, "after every 0 writes"),
    ];
    for (job, expected) in cases {
        let error = try_run(&job, &file("/does/not/exist"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not say {expected:?}"
        );
    }
}
