//! Workers that have several files each.

use std::path::Path;

use rustix::process::{Resource, Rlimit, setrlimit};
use stiction_core::Seed;
use stiction_core::{
    Access, Action, BackendKind, Create, Data, Direction, FileChoice, FileOrder, Job, Skew,
    SkewShape, SyncEvery, SyncKind,
};
use stiction_engine::{Ended, Ledger, Outcome, Progress, StopFlag, Target, run_checked};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{content, files, read_job, region, run, run_child, try_run, write_job};

const BACKENDS: [(BackendKind, u32); 5] = [
    (BackendKind::Psync, 1),
    (BackendKind::IoUring, 8),
    (BackendKind::Libaio, 8),
    (BackendKind::Mmap, 1),
    (BackendKind::Splice, 1),
];

/// A job of `workers` workers with `files_each` files of `blocks` blocks each.
fn many(job: Job, workers: u32, files_each: u32, blocks: u64) -> Job {
    let targets = 0..workers * files_each;
    Job {
        regions: targets
            .map(|target| region(target, 0, blocks * job.block_size_bytes))
            .collect(),
        regions_per_worker: files_each,
        ..job
    }
}

fn order(choice: FileChoice, run_operations: u32) -> FileOrder {
    FileOrder {
        choice,
        run_operations,
    }
}

fn checked(job: &Job, targets: &[Target], ledger: &Ledger) -> Outcome {
    let progress = Progress::new(job.workers());
    let outcome = run_checked(job, targets, ledger, &StopFlag::new(), &progress).unwrap();
    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(progress.operations(), outcome.operations());
    outcome
}

/// Every way to go through files writes all of each file, once, in its place.
#[test]
fn all_files_are_written_once_by_each_backend_and_in_each_order() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2 * 5);
    let orders = [
        (order(FileChoice::InTurn, 1), None),
        (order(FileChoice::InTurn, 7), Some(2)),
        (order(FileChoice::OneByOne, 1), None),
        (order(FileChoice::OneByOne, 1), Some(1)),
        (order(FileChoice::Random, 3), Some(3)),
    ];
    for (backend, depth) in BACKENDS {
        for (file_order, open_files_max) in orders.clone() {
            let ledger = Ledger::new(Seed(5));
            let write = Job {
                backend,
                depth,
                access: Access::RandomPermutation,
                data: Data::Stamped,
                create: Create::Sparse,
                file_order,
                open_files_max,
                sync_at_end: Some(SyncKind::Fsync),
                ..many(write_job(1), 2, 5, 16)
            };
            let told = format!("{backend:?} {:?} {open_files_max:?}", write.file_order);
            let outcome = checked(&write, &targets, &ledger);
            assert_eq!(outcome.operations(), 2 * 5 * 16, "{told}");
            let syncs = outcome.workers[0].latencies(Direction::Sync).count();
            assert_eq!(syncs, 5, "{told}");
            let read = Job {
                action: Action::Read,
                create: Create::Open,
                verify: true,
                sync_at_end: None,
                ..write
            };
            let outcome = checked(&read, &targets, &ledger);
            assert_eq!(outcome.mismatch_count(), 0, "{told}: {:?}", outcome.caveats);
            assert_eq!(outcome.checked().last, 2 * 5 * 16, "{told}");
        }
    }
}

/// In turn, three files of 2, 4 and 6 blocks; a mismatch names its file.
#[test]
fn a_mismatch_is_told_of_its_file() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 3);
    let ledger = Ledger::new(Seed(5));
    let mut write = Job {
        data: Data::Stamped,
        create: Create::Truncate,
        ..many(write_job(1), 1, 3, 1)
    };
    for (region, blocks) in write.regions.iter_mut().zip([2, 4, 6]) {
        region.length_bytes = blocks * 4096;
    }
    assert_eq!(checked(&write, &targets, &ledger).operations(), 12);
    let mut bytes = content(targets[2].path());
    assert_eq!(bytes.len(), 6 * 4096);
    bytes[5 * 4096 + 100] ^= 1;
    std::fs::write(targets[2].path(), bytes).unwrap();
    let read = Job {
        action: Action::Read,
        create: Create::Open,
        verify: true,
        ..write
    };
    let outcome = checked(&read, &targets, &ledger);
    let mismatches = &outcome.workers[0].mismatches;
    assert_eq!(mismatches.len(), 1);
    assert_eq!(mismatches[0].path, targets[2].path());
    assert_eq!(mismatches[0].offset_bytes, 5 * 4096);
}

/// What a worker may have open is 40 files; it has 100, and 10 of them open at once.
#[test]
fn more_files_than_may_be_open_are_refused_unless_some_are_closed() {
    const VARIABLE: &str = "STICTION_TEST_OPEN_FILE_LIMIT";
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let limit = Rlimit {
            current: Some(40),
            maximum: Some(40),
        };
        setrlimit(Resource::Nofile, limit).unwrap();
        let targets = files(Path::new(&folder), 100);
        for (backend, depth) in BACKENDS {
            let job = Job {
                backend,
                depth,
                create: Create::Sparse,
                ..many(write_job(1), 1, 100, 8)
            };
            let refused = try_run(&job, &targets).unwrap_err().to_string();
            assert!(
                refused
                    .contains("100 files open at once, and the limit is 40: raise it (ulimit -n)"),
                "{refused}"
            );
            let job = Job {
                open_files_max: Some(10),
                sync_every: Some(SyncEvery {
                    writes: 20,
                    kind: SyncKind::Fdatasync,
                }),
                ..job
            };
            let outcome = run(&job, &targets);
            assert_eq!(
                (&outcome.ended, outcome.operations()),
                (&Ended::Planned, 800)
            );
            let syncs = outcome.workers[0].latencies(Direction::Sync).count();
            assert_eq!(syncs, 40, "{backend:?}");
        }
        return;
    }
    let directory = scratch_folder();
    run_child(
        "many_files::more_files_than_may_be_open_are_refused_unless_some_are_closed",
        VARIABLE,
        directory.path(),
        |_| {},
    );
}

/// Each file is synced when it is closed: as often as there are files, and no more.
#[test]
fn files_are_synced_when_they_are_closed() {
    let Ok(filesystem) = FaultFs::mount(Faults::default()) else {
        testkit::skip!("no FUSE here");
    };
    let targets = files(filesystem.path(), 12);
    for (open_files_max, before) in [(None, 0), (Some(4), 12)] {
        let job = Job {
            create: Create::Sparse,
            open_files_max,
            sync_on_close: Some(SyncKind::Fsync),
            ..many(write_job(1), 1, 12, 4)
        };
        let outcome = run(&job, &targets);
        assert_eq!(outcome.operations(), 48);
        assert_eq!(filesystem.counts().syncs, before + 12);
        assert_eq!(outcome.workers[0].latencies(Direction::Sync).count(), 0);
    }
}

/// Without end, files come round again: after 3 rounds of 4 files of 8 blocks each
/// block was written three times.
#[test]
fn rounds_follow_each_other_until_the_operations_are_done() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 4);
    for (file_order, open_files_max) in [
        (order(FileChoice::InTurn, 1), Some(2)),
        (order(FileChoice::OneByOne, 1), None),
        (order(FileChoice::Random, 1), Some(3)),
    ] {
        let ledger = Ledger::new(Seed(5));
        let write = Job {
            access: Access::RandomPermutation,
            data: Data::Stamped,
            create: Create::Sparse,
            once: false,
            operations_per_worker: Some(3 * 4 * 8),
            file_order,
            open_files_max,
            ..many(write_job(1), 1, 4, 8)
        };
        assert_eq!(checked(&write, &targets, &ledger).operations(), 96);
        let third_write = u32::to_le_bytes(3);
        for target in &targets {
            // The number of the write is the upper half of the third word of a stamp.
            let bytes = content(target.path());
            assert_eq!(bytes.len(), 8 * 4096);
            assert!(bytes.chunks(4096).all(|block| block[20..24] == third_write));
        }
    }
}

/// By chance, with all files open, some get more than others; all is as much as the
/// files have.
#[test]
fn files_chosen_by_chance_end_with_the_bytes_of_all() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 8);
    let skew = Skew {
        shape: SkewShape::Zipf {
            exponent_ppm: 2_000_000,
        },
        scattered: false,
    };
    let mut job = Job {
        create: Create::Sparse,
        file_order: order(FileChoice::Skewed(skew), 1),
        ..many(write_job(1), 1, 8, 32)
    };
    let outcome = run(&job, &targets);
    assert_eq!(outcome.operations(), 8 * 32);
    // 64 % go to the first file, which is written again and again.
    let is_hole = |target: &Target| content(target.path()).iter().all(|&byte| byte == 0);
    assert!(!is_hole(&targets[0]));
    let blocks = |target: &Target| {
        let bytes = content(target.path());
        let chunks = bytes.chunks(4096);
        chunks
            .filter(|block| block.iter().any(|&byte| byte != 0))
            .count()
    };
    assert_eq!(blocks(&targets[0]), 32);
    assert!(blocks(&targets[7]) < 16);

    job.open_files_max = Some(2);
    let refused = try_run(&job, &targets).unwrap_err().to_string();
    assert!(refused.contains("are all open"), "{refused}");
}

#[test]
fn files_that_cannot_be_divided_are_refused() {
    let job = many(read_job(1), 1, 3, 1);
    let cases = [
        (
            Job {
                regions_per_worker: 2,
                ..job.clone()
            },
            "3 regions cannot be divided by 2",
        ),
        (
            Job {
                regions_per_worker: 0,
                ..job.clone()
            },
            "cannot be divided by 0",
        ),
        (
            Job {
                open_files_max: Some(0),
                ..job.clone()
            },
            "0 files are to be open",
        ),
        (
            Job {
                file_order: order(FileChoice::InTurn, 0),
                ..job
            },
            "0 operations to follow",
        ),
    ];
    for (job, expected) in cases {
        let error = try_run(&job, &[]).unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not say {expected:?}"
        );
    }
}

/// A file whose name means another one by now is not touched.
#[test]
fn a_file_that_was_replaced_is_not_opened_again() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 2);
    let job = Job {
        create: Create::Sparse,
        once: false,
        operations_per_worker: None,
        open_files_max: Some(1),
        ..many(write_job(1), 1, 2, 4)
    };
    let (stop, progress) = (StopFlag::new(), Progress::new(1));
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| stiction_engine::run(&job, &targets, &stop, &progress));
        while progress.operations() < 8 {
            std::thread::yield_now();
        }
        let other = directory.path().join("other");
        std::fs::write(&other, "precious").unwrap();
        std::fs::rename(&other, targets[1].path()).unwrap();
        running.join().unwrap().unwrap()
    });
    let failure = crate::jobs::failure(&outcome);
    assert_eq!(failure.path, targets[1].path());
    assert_eq!(
        failure.errno(),
        Some(rustix::io::Errno::STALE.raw_os_error())
    );
    assert_eq!(std::fs::read(targets[1].path()).unwrap(), b"precious");
}
