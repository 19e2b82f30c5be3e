//! Operations that fail: what is said of them, and what is kept beside them.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use stiction_core::{BackendKind, CaveatCode, Create, Direction, Job, SyncKind};
use stiction_engine::{Cause, EngineError, Operation, Outcome};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{
    failure, file, files, read_job, ring_job, run, run_child, try_run, with_workers, write_job,
};

/// The outcome agrees with the file on how much was written.
fn assert_kept(outcome: &Outcome, path: &Path) {
    let recorded: u64 = outcome
        .recordings
        .iter()
        .map(stiction_core::Recording::bytes)
        .sum();
    assert_eq!(recorded, outcome.bytes());
    assert!(outcome.bytes() <= path.metadata().unwrap().len());
    let codes: Vec<_> = outcome.caveats.iter().map(|caveat| caveat.code).collect();
    assert_eq!(codes, [CaveatCode::EndedEarly]);
}

#[test]
fn root_a_full_filesystem_ends_the_job_with_the_errno() {
    testkit::require_root!();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    let path = tmpfs.path().join("f");
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        let mut job = write_job(1000);
        (job.backend, job.depth) = (backend, depth);
        let outcome = run(&job, &file(&path));
        let failure = failure(&outcome);
        assert_eq!(failure.errno(), Some(Errno::NOSPC.raw_os_error()));
        assert_eq!(
            (failure.operation, &failure.path),
            (Operation::Write, &path)
        );
        // 256 blocks of 4 KiB fit in 1 MiB.
        assert_eq!(outcome.operations(), 256, "{backend:?}");
        assert_eq!(failure.offset_bytes.unwrap() % 4096, 0);
        assert_kept(&outcome, &path);
    }
}

#[test]
fn root_a_block_that_fits_in_part_fails_for_the_rest() {
    testkit::require_root!();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    let path = tmpfs.path().join("f");
    let mut job = write_job(1);
    job.block_size_bytes = 300 << 10;
    job.regions = vec![crate::jobs::region(0, 0, 30 << 20)];
    let outcome = run(&job, &file(&path));
    // Three blocks of 300 KiB, and 124 KiB of the fourth.
    assert_eq!(outcome.operations(), 3);
    let failure = failure(&outcome);
    assert_eq!(failure.offset_bytes, Some(3 * (300 << 10)));
    assert_eq!(failure.errno(), Some(Errno::NOSPC.raw_os_error()));
    assert_eq!(path.metadata().unwrap().len(), 1 << 20);
}

#[test]
fn the_end_of_a_file_is_a_short_read() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    std::fs::write(&path, vec![1; 3 * 4096 + 100]).unwrap();
    for direct in [false, true] {
        for job in [read_job(10), ring_job(10, 4)] {
            let job = Job { direct, ..job };
            let outcome = run(&job, &file(&path));
            let failure = failure(&outcome);
            let short = |got| Cause::Short { got, wanted: 4096 };
            let first = failure.offset_bytes.unwrap() / 4096;
            let got = if first == 3 { 100 } else { 0 };
            assert_eq!(
                failure.cause,
                short(got),
                "direct {direct}, {:?}",
                job.backend
            );
            assert_eq!(outcome.operations(), 3);
        }
    }
}

/// A file size limit raises SIGXFSZ, which would end the process. The limit is
/// set in a child, so that it binds nobody else.
#[test]
fn a_file_size_limit_is_an_error_and_not_the_end() {
    const VARIABLE: &str = "STICTION_TEST_FILE_SIZE_LIMIT";
    if let Some(directory) = std::env::var_os(VARIABLE) {
        let limit = Rlimit {
            current: Some(40_000),
            maximum: Some(40_000),
        };
        setrlimit(Resource::Fsize, limit).unwrap();
        for (backend, depth) in [
            (BackendKind::Psync, 1),
            (BackendKind::IoUring, 4),
            (BackendKind::Mmap, 1),
        ] {
            let mut job = write_job(100);
            (job.backend, job.depth) = (backend, depth);
            let path = Path::new(&directory).join(backend.as_str());
            let errno = match try_run(&job, &file(&path)) {
                Ok(outcome) => {
                    // Nine blocks of 4096 bytes and a part of the tenth.
                    assert_eq!(outcome.operations(), 9, "{backend:?}");
                    failure(&outcome).errno()
                }
                Err(EngineError::Prepare(failure)) => {
                    assert_eq!(failure.operation, Operation::Allocate);
                    failure.errno()
                }
                Err(other) => panic!("{other}"),
            };
            assert_eq!(errno, Some(Errno::FBIG.raw_os_error()), "{backend:?}");
        }
        return;
    }
    let directory = scratch_folder();
    run_child(
        "failing::a_file_size_limit_is_an_error_and_not_the_end",
        VARIABLE,
        directory.path(),
        |_| {},
    );
}

#[test]
fn root_too_few_threads_are_counted() {
    use std::os::unix::process::CommandExt as _;

    const VARIABLE: &str = "STICTION_TEST_THREAD_LIMIT";
    // A user whom nobody else is.
    const USER: u32 = 54_321;
    if std::env::var_os(VARIABLE).is_some() {
        let limit = Rlimit {
            current: Some(20),
            maximum: Some(20),
        };
        setrlimit(Resource::Nproc, limit).unwrap();
        let job = Job {
            backend: BackendKind::Null,
            ..with_workers(read_job(1), 100, 1)
        };
        let error = try_run(&job, &[]).unwrap_err();
        let EngineError::Threads {
            wanted, started, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(*wanted, 100);
        // The kernel lets one or two through before it counts.
        assert!((10..30).contains(started), "{started}");
        assert!(error.to_string().contains("ulimit -u"), "{error}");
        return;
    }
    testkit::require_root!();
    run_child(
        "failing::root_too_few_threads_are_counted",
        VARIABLE,
        Path::new(""),
        |child| {
            child.uid(USER).gid(USER);
        },
    );
}

#[test]
fn an_error_of_the_device_is_told_and_the_rest_kept() {
    let faults = Faults {
        error_every: Some((50, Errno::IO.raw_os_error())),
        ..Faults::default()
    };
    let Ok(filesystem) = FaultFs::mount(Faults::default()) else {
        testkit::skip!("no FUSE here");
    };
    let path = filesystem.path().join("f");
    run(&write_job(40), &file(&path));
    filesystem.set(faults);
    for job in [read_job(40), ring_job(40, 4)] {
        let mut job = job;
        (job.once, job.operations_per_worker) = (false, Some(500));
        let outcome = run(&job, &file(&path));
        let failure = failure(&outcome);
        assert_eq!(failure.errno(), Some(Errno::IO.raw_os_error()));
        assert_eq!(failure.operation, Operation::Read);
        assert!(outcome.operations() < 60, "{}", outcome.operations());
        let told = failure.to_string();
        assert!(
            told.contains("/f at offset ") && told.contains("Input/output error"),
            "{told}"
        );
    }
}

/// Every call moves 1000 bytes at most: a block of 4096 takes five.
#[test]
fn short_transfers_are_continued() {
    let faults = Faults {
        short_bytes: Some(1000),
        ..Faults::default()
    };
    let Ok(filesystem) = FaultFs::mount(faults) else {
        testkit::skip!("no FUSE here");
    };
    let path = filesystem.path().join("f");
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 4)] {
        let mut write = write_job(20);
        (write.backend, write.depth) = (backend, depth);
        write.data = stiction_core::Data::Stamped;
        let outcome = run(&write, &file(&path));
        assert_eq!(outcome.operations(), 20);
        let note = "20 operations moved their block in more than one call";
        assert!(
            outcome.notes.iter().any(|one| one == note),
            "{:?}",
            outcome.notes
        );
        // A ring asks for the rest of a short read by itself, and on FUSE kernel
        // 6.18 reads the beginning again for it; plain reads do the checking.
        let read = Job {
            action: stiction_core::Action::Read,
            backend: BackendKind::Psync,
            depth: 1,
            create: Create::Open,
            verify: true,
            ..write
        };
        let outcome = run(&read, &file(&path));
        assert_eq!((outcome.operations(), outcome.mismatch_count()), (20, 0));
        assert!(
            outcome.notes.iter().any(|one| one == note),
            "{:?}",
            outcome.notes
        );
    }
    // 2 backends, 20 blocks, 5 calls.
    assert_eq!(filesystem.counts().writes, 200);
}

#[test]
fn a_sync_that_fails_is_a_failure_without_an_offset() {
    let faults = Faults {
        sync_error: Some(Errno::IO.raw_os_error()),
        ..Faults::default()
    };
    let Ok(filesystem) = FaultFs::mount(faults) else {
        testkit::skip!("no FUSE here");
    };
    let path = filesystem.path().join("f");
    let mut job = write_job(10);
    job.sync_at_end = Some(SyncKind::Fsync);
    let outcome = run(&job, &file(&path));
    let failure = failure(&outcome);
    assert_eq!(
        (failure.operation, failure.offset_bytes),
        (Operation::Fsync, None)
    );
    assert_eq!(outcome.operations(), 10);
    assert_eq!(outcome.workers[0].latencies(Direction::Sync).count(), 0);
}

/// One of three workers fails; what the others did until then is kept.
#[test]
fn the_work_of_the_others_is_kept() {
    let directory = scratch_folder();
    let targets = files(directory.path(), 3);
    run(&with_workers(write_job(1), 3, 2000), &targets);
    let second = std::fs::File::options()
        .write(true)
        .open(targets[1].path())
        .unwrap();
    second.set_len(5 * 4096).unwrap();
    let mut job = with_workers(read_job(1), 3, 2000);
    job.once = false;
    let outcome = run(&job, &targets);
    assert_eq!(failure(&outcome).worker, 1);
    assert_eq!(outcome.workers[1].summary.operations, 5);
    assert!(outcome.workers[1].failure.is_some());
    for worker in [0, 2] {
        assert!(outcome.workers[worker].failure.is_none());
    }
    let recorded: u64 = outcome
        .recordings
        .iter()
        .map(stiction_core::Recording::operations)
        .sum();
    assert_eq!(recorded, outcome.operations());
}

/// Whoever may write to the folder above can put a link there, and root would follow it.
#[test]
fn a_link_in_place_of_the_file_or_its_folder_is_not_written_through() {
    let directory = scratch_folder();
    let path = |name: &str| directory.path().join(name);
    for folder in ["ours", "theirs"] {
        std::fs::create_dir(path(folder)).unwrap();
    }
    std::fs::write(path("theirs/f"), "precious").unwrap();
    symlink(path("theirs/f"), path("ours/f")).unwrap();
    symlink(path("theirs"), path("linked")).unwrap();
    for (led, errno) in [("ours/f", Errno::LOOP), ("linked/f", Errno::NOTDIR)] {
        for create in [Create::Open, Create::Truncate, Create::Sparse] {
            let job = Job {
                create,
                ..write_job(1)
            };
            let error = try_run(&job, &file(path(led))).unwrap_err();
            let EngineError::Prepare(failure) = &error else {
                panic!("{error}");
            };
            assert_eq!(failure.errno(), Some(errno.raw_os_error()), "{error}");
        }
    }
    assert_eq!(std::fs::read(path("theirs/f")).unwrap(), b"precious");
}

#[test]
fn a_missing_file_is_said_before_anything_starts() {
    let directory = scratch_folder();
    let path = directory.path().join("not here");
    let error = try_run(&read_job(1), &file(&path)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("open of ") && text.contains("not here: No such file"),
        "{text}"
    );
}

/// In its own time, a worker that cannot open its file is a failed worker.
#[test]
fn a_missing_file_in_time_is_a_failed_worker() {
    let directory = scratch_folder();
    let mut job = read_job(1);
    job.open_in_time = true;
    let outcome = run(&job, &file(directory.path().join("not here")));
    assert_eq!(failure(&outcome).operation, Operation::Open);
    assert_eq!(outcome.operations(), 0);
}
