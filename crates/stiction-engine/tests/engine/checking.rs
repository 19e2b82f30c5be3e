//! Damage that was planted is found, and named for what it is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use stiction_core::{Access, BackendKind, CaveatCode, Data, Job, Seed};
use stiction_engine::{Ledger, Mismatch, MismatchKind, Outcome, Progress, StopFlag, run_checked};
use testkit::scratch_folder;

use crate::jobs::{file, read_job, run, write_job};

const BLOCKS: u64 = 64;

/// A file of stamped blocks, written twice over, and the ledger of it.
struct Written {
    _directory: tempfile::TempDir,
    path: PathBuf,
    ledger: Ledger,
}

impl Written {
    fn new() -> Self {
        let directory = scratch_folder();
        let written = Self {
            path: directory.path().join("f"),
            _directory: directory,
            ledger: Ledger::new(Seed(7)),
        };
        written.run(&stamped(write_job(BLOCKS)));
        written
    }

    fn run(&self, job: &Job) -> Outcome {
        let progress = Progress::new(1);
        let targets = file(&self.path);
        run_checked(job, &targets, &self.ledger, &StopFlag::new(), &progress).unwrap()
    }

    /// Writes every block once more, in random order.
    fn write_again(&self) {
        let mut job = stamped(write_job(BLOCKS));
        job.access = Access::RandomPermutation;
        job.create = stiction_core::Create::Open;
        self.run(&job);
    }

    fn check(&self) -> Outcome {
        self.run(&checked(read_job(BLOCKS)))
    }

    fn open(&self) -> File {
        File::options()
            .read(true)
            .write(true)
            .open(&self.path)
            .unwrap()
    }

    fn block(&self, block: u64) -> [u8; 4096] {
        let mut bytes = [0; 4096];
        self.open().read_exact_at(&mut bytes, block * 4096).unwrap();
        bytes
    }

    fn put(&self, offset_bytes: u64, bytes: &[u8]) {
        self.open().write_all_at(bytes, offset_bytes).unwrap();
    }
}

fn stamped(job: Job) -> Job {
    Job {
        data: Data::Stamped,
        ..job
    }
}

fn checked(job: Job) -> Job {
    Job {
        verify: true,
        ..stamped(job)
    }
}

/// The one mismatch that there must be, at block `block`.
fn only(outcome: &Outcome, path: &Path, block: u64) -> MismatchKind {
    assert_eq!(outcome.mismatch_count(), 1);
    assert_eq!(
        outcome.operations(),
        BLOCKS,
        "the others are read all the same"
    );
    let [
        Mismatch {
            path: found,
            offset_bytes,
            kind,
        },
    ] = &outcome.workers[0].mismatches[..]
    else {
        panic!("{:?}", outcome.workers[0].mismatches);
    };
    assert_eq!((found.as_path(), *offset_bytes), (path, block * 4096));
    assert_eq!(outcome.caveats[0].code, CaveatCode::DataMismatch);
    *kind
}

#[test]
fn what_was_written_is_found_again() {
    let written = Written::new();
    for _ in 0..3 {
        assert_eq!(written.check().mismatch_count(), 0);
        written.write_again();
    }
    assert_eq!(written.check().mismatch_count(), 0);
}

#[test]
fn every_backend_writes_and_checks_the_same_blocks() {
    let backends = [
        (BackendKind::Psync, 1),
        (BackendKind::IoUring, 16),
        (BackendKind::Mmap, 1),
    ];
    for (backend, depth) in backends {
        let written = Written::new();
        let with = |job: Job| Job {
            backend,
            depth,
            ..job
        };
        let mut again = with(stamped(write_job(BLOCKS)));
        again.create = stiction_core::Create::Open;
        written.run(&again);
        for (backend, depth) in backends {
            let mut check = checked(read_job(BLOCKS));
            (check.backend, check.depth) = (backend, depth);
            assert_eq!(written.run(&check).mismatch_count(), 0, "{backend:?}");
        }
    }
}

#[test]
fn a_flipped_bit_is_found() {
    let written = Written::new();
    let mut block = written.block(5);
    block[777] ^= 0x10;
    written.put(5 * 4096, &block);
    assert_eq!(
        only(&written.check(), &written.path, 5),
        MismatchKind::Flipped {
            first_byte: 777,
            bits: 1
        }
    );
}

#[test]
fn a_misplaced_block_is_found_where_it_lies() {
    let written = Written::new();
    written.put(9 * 4096, &written.block(40));
    assert_eq!(
        only(&written.check(), &written.path, 9),
        MismatchKind::Misplaced {
            belongs_at_bytes: 40 * 4096
        }
    );
}

#[test]
fn a_lost_write_leaves_a_stale_block() {
    let written = Written::new();
    let before = written.block(63);
    written.write_again();
    written.write_again();
    written.put(63 * 4096, &before);
    assert_eq!(
        only(&written.check(), &written.path, 63),
        MismatchKind::Stale {
            found_generation: 1,
            expected_generation: 3
        }
    );
}

#[test]
fn a_torn_write_says_from_where() {
    let written = Written::new();
    let before = written.block(0);
    written.write_again();
    written.put(1024, &before[1024..]);
    assert_eq!(
        only(&written.check(), &written.path, 0),
        MismatchKind::Torn { from_byte: 1024 }
    );
}

#[test]
fn zeros_where_a_block_was_written_are_a_lost_write() {
    let written = Written::new();
    written.put(8192, &[0; 4096]);
    assert_eq!(
        only(&written.check(), &written.path, 2),
        MismatchKind::Lost {
            expected_generation: 1
        }
    );
}

#[test]
fn data_of_another_seed_is_foreign() {
    let written = Written::new();
    let block = written.block(3);
    let other = Written {
        ledger: Ledger::new(Seed(8)),
        ..Written::new()
    };
    other.run(&stamped(write_job(BLOCKS)));
    other.put(3 * 4096, &block);
    assert_eq!(only(&other.check(), &other.path, 3), MismatchKind::Foreign);
}

/// Without a ledger nobody knows the number of the last write; all else is checked.
#[test]
fn a_file_can_be_checked_by_itself() {
    let written = Written::new();
    written.write_again();
    let check = checked(read_job(BLOCKS));
    assert_eq!(run(&check, &file(&written.path)).mismatch_count(), 0);
    written.put(4096, &written.block(0));
    let outcome = run(&check, &file(&written.path));
    assert_eq!(
        only(&outcome, &written.path, 1),
        MismatchKind::Misplaced {
            belongs_at_bytes: 0
        }
    );
}

#[test]
fn all_mismatches_are_counted_and_the_first_ones_kept() {
    let written = Written::new();
    written.put(0, &[0; 50 * 4096]);
    let outcome = written.check();
    assert_eq!(outcome.mismatch_count(), 50);
    assert_eq!(
        outcome.workers[0].mismatches.len(),
        stiction_engine::MISMATCHES_KEPT
    );
    assert!(
        outcome.caveats[0]
            .detail
            .starts_with("50 blocks are not what was written; the first: block at offset 0 of "),
        "{}",
        outcome.caveats[0].detail
    );
}

/// Independent offsets at depth hit one block twice at a time; that is no damage.
#[test]
fn two_writes_of_one_block_in_flight_are_no_mismatch() {
    let written = Written::new();
    let mut job = stamped(write_job(BLOCKS));
    (job.backend, job.depth) = (BackendKind::IoUring, 64);
    (job.access, job.create) = (Access::RandomIndependent, stiction_core::Create::Open);
    (job.once, job.operations_per_worker) = (false, Some(5000));
    assert_eq!(written.run(&job).operations(), 5000);
    assert_eq!(written.check().mismatch_count(), 0);
}
