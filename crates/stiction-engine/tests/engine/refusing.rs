//! Jobs that are refused, and why.

use std::path::Path;

use stiction_core::{BackendKind, Create, Data, Job, StartOrder, SyncEvery, SyncKind};
use stiction_engine::{BLOCK_BYTES_MAX, DEPTH_MAX, EngineError, Target};
use testkit::scratch_folder;

use crate::jobs::{file, read_job, region, try_run, write_job};

fn reason(job: &Job) -> String {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let error = try_run(job, &file(&path)).unwrap_err();
    assert!(!path.exists(), "a refused job touches nothing");
    match error {
        EngineError::Job { reason, .. } => reason,
        other => other.to_string(),
    }
}

#[test]
fn contradictions_are_named() {
    let read = || read_job(1);
    let write = || write_job(1);
    let sync = |writes| SyncEvery {
        writes,
        kind: SyncKind::Fsync,
    };
    #[rustfmt::skip]
    let cases = [
        (Job { depth: 2, ..read() }, "one operation at a time"),
        (Job { depth: 2, backend: BackendKind::Mmap, ..read() }, "one operation at a time"),
        (Job { depth: 0, ..read() }, "its depth is 0"),
        (Job { depth: DEPTH_MAX + 1, backend: BackendKind::IoUring, ..read() }, "1 to 4096 are possible"),
        (Job { direct: true, backend: BackendKind::Mmap, ..read() }, "mmap goes through the page cache"),
        (Job { create: Create::Truncate, ..read() }, "it empties the files that it reads or trims"),
        (Job { sync_every: Some(sync(0)), ..write() }, "every 0 writes"),
        (Job { sync_every: Some(sync(1)), ..read() }, "nothing to sync"),
        (Job { sync_at_end: Some(SyncKind::Fsync), ..read() }, "nothing to sync"),
        (Job { verify: true, ..read() }, "only reads of stamped data"),
        (Job { verify: true, data: Data::Stamped, ..write() }, "only reads of stamped data"),
        (Job { block_size_bytes: 63, data: Data::Stamped, ..write() }, "a stamp does not fit"),
        (Job { block_size_bytes: 0, ..read() }, "its block size is 0 bytes"),
        (Job { block_size_bytes: BLOCK_BYTES_MAX + 1, ..read() }, "its block size is 1073741825 bytes"),
        (Job { interval_ns: 999_999, ..read() }, "its interval is 999999 ns"),
        (Job { regions: Vec::new(), ..read() }, "it has 0 workers"),
        (Job { regions: vec![region(0, 0, 0)], ..read() }, "is 0 bytes, less than one block"),
        (Job { regions: vec![region(0, 0, 4095)], ..read() }, "is 4095 bytes, less than one block"),
        (Job { regions: vec![region(1, 0, 4096)], ..read() }, "is to use target 1, and there are 1"),
        (Job { regions: vec![region(0, u64::MAX, 4096)], ..read() }, "beyond the largest offset"),
        (Job { regions: vec![region(0, i64::MAX as u64, 4096)], ..read() }, "beyond the largest offset"),
        (Job { regions: vec![region(0, 0, 4096); 2], open_in_time: true, ..write() }, "would empty a file"),
        (Job { regions: vec![region(0, 0, 4096); 2], start: StartOrder::OneAfterAnother, ..write() }, "would empty a file"),
    ];
    for (job, expected) in cases {
        let reason = reason(&job);
        assert!(
            reason.contains(expected),
            "{reason:?} does not say {expected:?}"
        );
    }
}

#[test]
fn buffers_beyond_memory_are_refused() {
    let job = Job {
        block_size_bytes: BLOCK_BYTES_MAX,
        depth: DEPTH_MAX,
        backend: BackendKind::IoUring,
        regions: vec![region(0, 0, 1 << 42)],
        ..read_job(1)
    };
    let reason = reason(&job);
    assert!(
        reason.starts_with("4398046511104 bytes for I/O buffers"),
        "{reason}"
    );
}

fn refusal(job: &Job, path: impl AsRef<Path>) -> String {
    match try_run(job, &file(path.as_ref())) {
        Err(error @ EngineError::Refused { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let directory = scratch_folder();
    let write = Job {
        create: Create::Open,
        ..write_job(1)
    };
    for job in [&read_job(1), &write] {
        assert!(refusal(job, directory.path()).contains("is a directory"));
        assert!(refusal(job, "/dev/null").contains("neither a regular file nor"));
    }
    // Opening a pipe would wait for somebody at its other end.
    let pipe = directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    assert!(refusal(&read_job(1), &pipe).contains("neither a regular file nor"));
}

#[test]
fn root_a_block_device_is_written_only_when_granted() {
    testkit::require_root!();
    let device = testkit::ScratchLoop::new(1 << 20);
    for create in [Create::Open, Create::Truncate, Create::Sparse] {
        let job = Job {
            create,
            ..write_job(1)
        };
        let refusal = refusal(&job, device.path());
        assert!(
            refusal.contains("is a block device; writing to it would destroy"),
            "{refusal}"
        );
    }
    let read = try_run(&read_job(256), &[Target::File(device.path().to_owned())]).unwrap();
    assert_eq!(read.bytes(), 1 << 20);
}
