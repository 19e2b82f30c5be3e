//! Jobs that load from and store to mapped files.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use stiction_core::{Access, BackendKind, Create, Data, Direction, Job, SyncKind, WriteSync};
use stiction_engine::{Cause, Operation};
use testkit::scratch_folder;

use crate::jobs::{content, failure, file, read_job, region, run, write_job};

fn mapped(job: Job) -> Job {
    Job {
        backend: BackendKind::Mmap,
        ..job
    }
}

#[test]
fn stores_are_in_the_file() {
    let directory = scratch_folder();
    let (one, other) = (
        directory.path().join("pwrite"),
        directory.path().join("mmap"),
    );
    run(&write_job(100), &file(&one));
    for create in [Create::Truncate, Create::Sparse, Create::Open] {
        let mut job = mapped(write_job(100));
        job.create = create;
        let outcome = run(&job, &file(&other));
        assert_eq!(outcome.operations(), 100);
        assert!(content(&one) == content(&other), "{create:?}");
    }
}

/// Blocks of 1000 bytes from byte 5000 on begin and end in the middle of pages.
#[test]
fn a_region_need_not_begin_a_page() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    std::fs::write(&path, vec![0; 40_000]).unwrap();
    let mut job = mapped(write_job(1));
    job.create = Create::Open;
    job.block_size_bytes = 1000;
    job.access = Access::RandomPermutation;
    job.regions = vec![region(0, 5000, 20_500)];
    job.data = Data::Stamped;
    job.write_sync = WriteSync::DataSync;
    job.sync_at_end = Some(SyncKind::Fdatasync);
    let outcome = run(&job, &file(&path));
    assert_eq!(outcome.operations(), 20);
    assert_eq!(outcome.workers[0].latencies(Direction::Sync).count(), 1);
    let bytes = content(&path);
    assert_eq!(bytes.len(), 40_000);
    assert!(
        bytes[..5000]
            .iter()
            .chain(&bytes[25_000..])
            .all(|&byte| byte == 0)
    );

    let mut check = job.clone();
    check.action = stiction_core::Action::Read;
    (check.verify, check.sync_at_end) = (true, None);
    check.write_sync = WriteSync::None;
    let outcome = run(&check, &file(&path));
    assert_eq!((outcome.operations(), outcome.mismatch_count()), (20, 0));
}

/// The pages that are gone raise SIGBUS, which would end the process.
#[test]
fn a_file_cut_short_is_a_failure_and_not_the_end() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(10), &file(&path));
    let handle = File::options().write(true).open(&path).unwrap();
    handle.set_len(6 * 4096).unwrap();
    for _ in 0..2 {
        let outcome = run(&mapped(read_job(10)), &file(&path));
        let failure = failure(&outcome);
        assert_eq!(failure.cause, Cause::BusError);
        assert_eq!(failure.operation, Operation::Read);
        assert_eq!(failure.offset_bytes, Some(6 * 4096));
        assert_eq!(outcome.operations(), 6);
    }
    let mut job = mapped(read_job(10));
    job.regions = vec![region(0, 0, 6 * 4096)];
    assert_eq!(run(&job, &file(&path)).operations(), 6);
}

#[test]
fn reserving_blocks_fails_before_the_first_store() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut job = mapped(write_job(1));
    // More than any disk here has.
    job.regions = vec![region(0, 0, 1 << 50)];
    let error = crate::jobs::try_run(&job, &file(&path)).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("allocate of "), "{text}");
    assert!(text.contains("/f: "), "{text}");
}

#[test]
fn root_a_full_filesystem_under_a_hole_is_a_failure_and_not_the_end() {
    testkit::require_root!();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    let path = tmpfs.path().join("f");
    let mut job = mapped(write_job(512));
    job.create = Create::Sparse;
    let outcome = run(&job, &file(&path));
    let failure = failure(&outcome);
    assert_eq!(failure.cause, Cause::BusError);
    assert_eq!(failure.operation, Operation::Write);
    // 256 pages of 4 KiB fit; the directory takes none of them.
    assert_eq!(outcome.operations(), 256);

    job.create = Create::Truncate;
    let error = crate::jobs::try_run(&job, &file(&path))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("allocate of ") && error.contains("No space left"),
        "{error}"
    );
}

/// A `SIGBUS` that no mapping of a job raised goes where it went before. In a test
/// that is the handler of the standard library, which takes itself away at the
/// first signal so that the second ends the process.
#[test]
fn a_foreign_bus_error_still_ends_the_process() {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Signal, getpid, kill_process};

    const VARIABLE: &str = "STICTION_TEST_FOREIGN_BUS_ERROR";
    if std::env::var_os(VARIABLE).is_some() {
        let directory = scratch_folder();
        run(&mapped(write_job(4)), &file(directory.path().join("f")));
        drop(directory);
        // Whichever thread takes it, and whenever it does.
        loop {
            kill_process(getpid(), Signal::BUS).unwrap();
            std::thread::yield_now();
        }
    }
    let test = "mapping::a_foreign_bus_error_still_ends_the_process";
    let output = std::process::Command::new("/proc/self/exe")
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    assert_eq!(
        output.status.signal(),
        Some(Signal::BUS.as_raw()),
        "{output:?}"
    );
}

#[test]
fn mapped_reads_see_what_others_write() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(8), &file(&path));
    let handle = File::options().write(true).open(&path).unwrap();
    handle.write_all_at(b"other", 4096).unwrap();
    let outcome = run(&mapped(read_job(8)), &file(&path));
    assert_eq!(outcome.bytes(), 8 * 4096);
}
