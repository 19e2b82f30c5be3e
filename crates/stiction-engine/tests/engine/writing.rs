//! What a job writes is on the disk, and what it says agrees with it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use stiction_core::{Access, BackendKind, Data, Direction, Job, SyncEvery, SyncKind, WriteSync};
use stiction_engine::Ended;

use testkit::{LoopFilesystem, LoopKind, scratch_folder};

use crate::jobs::{content, file, read_job, region, run, run_child, write_job};

#[test]
fn every_block_is_written_once_and_counted() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let outcome = run(&write_job(1000), &file(&path));

    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(outcome.operations(), 1000);
    assert_eq!(outcome.bytes(), 4_096_000);
    assert_eq!(path.metadata().unwrap().size(), 4_096_000);
    let [recording] = &outcome.recordings[..] else {
        panic!("{:?}", outcome.recordings);
    };
    assert_eq!(recording.direction, Direction::Write);
    assert_eq!(recording.operations(), 1000);
    assert_eq!(recording.bytes(), 4_096_000);
    let latencies = outcome.workers[0].latencies(Direction::Write);
    assert_eq!(latencies, recording.total());
    assert!(latencies.sum_ns() <= outcome.elapsed_ns);
    assert_eq!(outcome.workers[0].summary.operations, 1000);
}

#[test]
fn unique_blocks_are_all_different_in_place_and_time() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut seen = BTreeSet::new();
    for seed in [1, 2] {
        let mut job = write_job(512);
        job.seed = stiction_core::Seed(seed);
        run(&job, &file(&path));
        // A layer that deduplicates or compresses looks at 512 bytes at least.
        for chunk in content(&path).chunks(512) {
            assert!(seen.insert(chunk.to_vec()));
        }
    }
    assert_eq!(seen.len(), 2 * 512 * 8);
}

/// gzip stores what it cannot compress, with a few bytes around it.
#[test]
fn unique_data_does_not_compress() {
    testkit::require_program!("gzip");
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(1024), &file(&path));
    let output = std::process::Command::new("gzip")
        .arg("-9c")
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        output.stdout.len() >= 1024 * 4096,
        "{}",
        output.stdout.len()
    );
}

#[test]
fn zeros_are_zeros() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut job = write_job(16);
    job.data = Data::Zeros;
    run(&job, &file(&path));
    assert_eq!(content(&path), vec![0; 65_536]);
}

#[test]
fn a_permutation_fills_the_whole_region_and_nothing_else() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    std::fs::write(&path, vec![0; 100 * 4096]).unwrap();
    let mut job = write_job(50);
    job.access = Access::RandomPermutation;
    job.create = stiction_core::Create::Open;
    job.regions = vec![region(0, 10 * 4096, 50 * 4096 + 4095)];
    let outcome = run(&job, &file(&path));
    assert_eq!(outcome.operations(), 50);
    for (block, bytes) in content(&path).chunks(4096).enumerate() {
        let written = bytes.iter().any(|&byte| byte != 0);
        assert_eq!(written, (10..60).contains(&block), "block {block}");
    }
}

/// The kernel counts for the process, so the counting is done in one of its own.
#[test]
fn reads_move_the_bytes_that_the_kernel_counts() {
    const VARIABLE: &str = "STICTION_TEST_READ_BYTES";
    if let Some(directory) = std::env::var_os(VARIABLE) {
        read_and_count(Path::new(&directory));
        return;
    }
    let test = "writing::reads_move_the_bytes_that_the_kernel_counts";
    run_child(test, VARIABLE, scratch_folder().path(), |_| {});
}

fn read_and_count(directory: &Path) {
    let target = file(directory.join("f"));
    run(&write_job(256), &target);
    let mut job = read_job(256);
    job.access = Access::RandomIndependent;
    job.once = false;
    job.operations_per_worker = Some(5000);
    let before = bytes_read();
    let outcome = run(&job, &target);
    let read = bytes_read() - before;
    assert_eq!(outcome.bytes(), 5000 * 4096);
    // /proc itself is read too.
    let allowed = 5000 * 4096..5000 * 4096 + 200_000;
    assert!(allowed.contains(&read), "{read}");
}

/// `rchar`: bytes that read calls of this process returned.
fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn syncs_are_recorded_apart_and_commits_are_pairs() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut job = write_job(40);
    job.sync_every = Some(SyncEvery {
        writes: 1,
        kind: SyncKind::Fdatasync,
    });
    job.sync_at_end = Some(SyncKind::Fsync);
    let outcome = run(&job, &file(&path));
    let operations = |direction| {
        let mut recordings = outcome.recordings.iter();
        let recording = recordings.find(|one| one.direction == direction).unwrap();
        (recording.operations(), recording.bytes())
    };
    assert_eq!(operations(Direction::Write), (40, 40 * 4096));
    assert_eq!(operations(Direction::Sync), (41, 0));
    assert_eq!(operations(Direction::Commit), (40, 40 * 4096));
    let worker = &outcome.workers[0];
    let sum = |direction| worker.latencies(direction).sum_ns();
    // A commit is its write, its sync, and the few nanoseconds between them.
    assert!(sum(Direction::Commit) >= sum(Direction::Write));
    assert!(sum(Direction::Commit) + sum(Direction::Sync) > sum(Direction::Write));
}

#[test]
fn the_last_writes_of_a_group_are_synced_only_at_the_end() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut job = write_job(10);
    job.sync_every = Some(SyncEvery {
        writes: 4,
        kind: SyncKind::Fsync,
    });
    let outcome = run(&job, &file(&path));
    let syncs = outcome.workers[0].latencies(Direction::Sync).count();
    assert_eq!(syncs, 2);
    assert_eq!(
        outcome.recordings.len(),
        2,
        "no commits: {:?}",
        outcome.recordings
    );
}

/// With O_SYNC or O_DSYNC the device is told to flush after each write.
#[test]
fn root_synchronous_writes_flush_the_device_one_by_one() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 << 20);
    let target = file(filesystem.path().join("f"));
    let name = filesystem.device().name();
    let flushes_of = |write_sync| {
        let before = flushes(&name);
        let job = Job {
            write_sync,
            ..write_job(20)
        };
        run(&job, &target);
        flushes(&name) - before
    };
    assert!(flushes_of(WriteSync::None) < 20);
    assert!(flushes_of(WriteSync::DataSync) >= 20);
    assert!(flushes_of(WriteSync::Sync) >= 20);
}

/// Flushes that a block device has completed: the 16th number of its statistics.
fn flushes(name: &str) -> u64 {
    let statistics = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let flushes = statistics.split_ascii_whitespace().nth(15);
    flushes.unwrap().parse().unwrap()
}

#[test]
fn io_uring_writes_the_same_bytes_as_psync() {
    let directory = scratch_folder();
    let (one, other) = (
        directory.path().join("psync"),
        directory.path().join("ring"),
    );
    let mut job = write_job(300);
    run(&job, &file(&one));
    job.backend = BackendKind::IoUring;
    job.depth = 32;
    let outcome = run(&job, &file(&other));
    assert_eq!(outcome.operations(), 300);
    assert!(content(&one) == content(&other));
}
