//! Backends, flags of calls and options of rings that are not the first choice.

use std::io::IoSliceMut;

use rustix::fs::{Advice, fadvise};
use rustix::io::{ReadWriteFlags, preadv2};
use stiction_core::{
    Access, Action, BackendKind, CallFlags, Create, Data, Job, RingOptions, SyncKind,
};
use stiction_engine::{Cause, Ended, Operation, Outcome};
use testkit::scratch_folder;

use crate::jobs::{content, file, read_job, region, run, try_run, write_job};

/// Writes stamped blocks as `change` has it, and reads them back so.
fn written_and_checked(blocks: u64, change: impl Fn(&mut Job)) -> [Outcome; 2] {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut write = Job {
        data: Data::Stamped,
        sync_at_end: Some(SyncKind::Fsync),
        ..write_job(blocks)
    };
    change(&mut write);
    let written = run(&write, &file(&path));
    assert_eq!(written.ended, Ended::Planned, "{write:?}");
    let opened = std::fs::File::open(&path).unwrap();
    fadvise(&opened, 0, None, Advice::DontNeed).unwrap();
    let mut read = Job {
        access: Access::RandomPermutation,
        data: Data::Stamped,
        verify: true,
        ..read_job(blocks)
    };
    change(&mut read);
    let checked = run(&read, &file(&path));
    assert_eq!(checked.ended, Ended::Planned, "{read:?}");
    assert_eq!(
        (checked.operations(), checked.mismatch_count()),
        (blocks, 0)
    );
    [written, checked]
}

fn notes(outcome: &Outcome) -> String {
    outcome.notes.join("\n")
}

#[test]
fn libaio_and_splice_write_the_same_bytes_as_psync() {
    let directory = scratch_folder();
    let path = |name| directory.path().join(name);
    run(&write_job(300), &file(path("psync")));
    for (name, backend, depth) in [
        ("libaio", BackendKind::Libaio, 32),
        ("splice", BackendKind::Splice, 1),
    ] {
        let job = Job {
            backend,
            depth,
            ..write_job(300)
        };
        assert_eq!(run(&job, &file(path(name))).operations(), 300);
        assert!(content(&path(name)) == content(&path("psync")), "{name}");
    }
}

#[test]
fn libaio_keeps_many_in_flight() {
    for direct in [false, true] {
        let [written, _] = written_and_checked(500, |job| {
            job.backend = BackendKind::Libaio;
            job.depth = 32;
            job.direct = direct;
        });
        let said = notes(&written).contains("done inside io_submit");
        assert_eq!(said, !direct, "{}", notes(&written));
    }
}

#[test]
fn libaio_tells_handing_over_from_waiting() {
    written_and_checked(100, |job| {
        job.backend = BackendKind::Libaio;
        job.depth = 8;
        job.direct = true;
        job.time_submission = true;
    });
}

/// Twenty blocks are read of a file of ten.
#[test]
fn libaio_names_what_failed() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(10), &file(&path));
    let job = Job {
        backend: BackendKind::Libaio,
        depth: 4,
        ..read_job(20)
    };
    let outcome = run(&job, &file(&path));
    let Ended::Failed(failure) = &outcome.ended else {
        panic!("{:?}", outcome.ended);
    };
    assert_eq!(failure.operation, Operation::Read);
    assert_eq!(failure.offset_bytes, Some(10 * 4096));
    assert_eq!(outcome.operations(), 10);
}

#[test]
fn spliced_blocks_may_be_larger_than_a_pipe() {
    for size in [4096, 3 << 20] {
        written_and_checked(4, |job| {
            job.backend = BackendKind::Splice;
            job.block_size_bytes = size;
            job.regions = vec![region(0, 0, 4 * size)];
        });
    }
}

#[test]
fn reads_without_copy_count_whole_blocks() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(600), &file(&path));
    for (backend, size) in [
        (BackendKind::Mmap, 4096),
        (BackendKind::Splice, 4096),
        (BackendKind::Splice, 600 * 2048),
    ] {
        let job = Job {
            backend,
            without_copy: true,
            block_size_bytes: size,
            ..read_job(600)
        };
        let outcome = run(&job, &file(&path));
        assert_eq!(outcome.ended, Ended::Planned);
        assert_eq!(outcome.operations(), 600 * 4096 / size, "{backend:?}");
        assert_eq!(outcome.bytes(), 600 * 4096);
    }
    let with_copy = Job {
        backend: BackendKind::Psync,
        without_copy: true,
        ..read_job(600)
    };
    assert!(try_run(&with_copy, &file(&path)).is_err());
}

/// Buffers that begin 24 bytes into a page hold what buffers at its start hold.
#[test]
fn where_buffers_begin_changes_no_byte() {
    written_and_checked(64, |job| job.buffer_offset_bytes = 24);
}

#[test]
fn flags_of_calls_move_all_bytes() {
    let nowait = CallFlags {
        nowait: true,
        ..CallFlags::default()
    };
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        written_and_checked(200, |job| {
            (job.backend, job.depth) = (backend, depth);
            // Buffered writes that may not wait are refused by some filesystems.
            if job.action == Action::Read {
                job.call_flags = nowait;
            }
        });
    }
    written_and_checked(200, |job| {
        job.direct = true;
        job.call_flags.hipri = true;
    });
}

/// Where the filesystem knows the flag, what was read is in memory no longer;
/// otherwise the failure says so.
#[test]
fn uncached_reads_leave_nothing_in_memory() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let write = Job {
        sync_at_end: Some(SyncKind::Fsync),
        ..write_job(256)
    };
    run(&write, &file(&path));
    let opened = std::fs::File::open(&path).unwrap();
    fadvise(&opened, 0, None, Advice::DontNeed).unwrap();
    let mut read = read_job(256);
    read.call_flags.dontcache = true;
    let outcome = run(&read, &file(&path));
    match &outcome.ended {
        Ended::Failed(failure) => {
            assert_eq!(failure.cause, Cause::Errno(libc::EOPNOTSUPP));
            assert!(
                failure.to_string().contains("does not know a flag"),
                "{failure}"
            );
        }
        ended => {
            assert_eq!((ended, outcome.operations()), (&Ended::Planned, 256));
            let is_cached = |block: &u64| {
                let mut byte = [0];
                let mut into = [IoSliceMut::new(&mut byte)];
                preadv2(&opened, &mut into, block * 4096, ReadWriteFlags::NOWAIT).is_ok()
            };
            let cached = (0..256).filter(is_cached).count();
            // The last ones may still be on their way out.
            assert!(cached < 128, "{cached} of 256 blocks are cached");
        }
    }
}

#[test]
fn rings_work_in_worse_ways_too() {
    let default = RingOptions::default();
    let cases = [
        (
            RingOptions {
                submission_polling: true,
                ..default
            },
            "SQPOLL",
        ),
        (
            RingOptions {
                force_async: true,
                ..default
            },
            "file registered",
        ),
        (
            RingOptions {
                unregistered: true,
                ..default
            },
            "nothing registered",
        ),
    ];
    for (ring, said) in cases {
        let [written, read] = written_and_checked(300, |job| {
            (job.backend, job.depth) = (BackendKind::IoUring, 8);
            job.ring = ring;
        });
        for outcome in [written, read] {
            assert!(notes(&outcome).contains(said), "{}", notes(&outcome));
        }
    }
}

/// A device without queues to poll refuses each operation, which must not pass for a
/// fast one.
#[test]
fn polled_completions_are_checked() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(64), &file(&path));
    let job = Job {
        backend: BackendKind::IoUring,
        depth: 4,
        direct: true,
        ring: RingOptions {
            completion_polling: true,
            ..RingOptions::default()
        },
        ..read_job(64)
    };
    let outcome = run(&job, &file(&path));
    match &outcome.ended {
        Ended::Failed(failure) => {
            assert_eq!(failure.cause, Cause::Errno(libc::EOPNOTSUPP));
            assert!(
                failure.to_string().contains("no queues to poll"),
                "{failure}"
            );
            assert_eq!(outcome.operations(), 0);
        }
        ended => assert_eq!((ended, outcome.operations()), (&Ended::Planned, 64)),
    }
    assert!(notes(&outcome).contains("IOPOLL"));
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let flags = |nowait, hipri, dontcache| CallFlags {
        nowait,
        hipri,
        dontcache,
    };
    let with = |backend, call_flags, direct| Job {
        backend,
        call_flags,
        direct,
        ..read_job(1)
    };
    let polling = RingOptions {
        completion_polling: true,
        ..RingOptions::default()
    };
    let none = CallFlags::default();
    let trim = |backend| Job {
        action: Action::Trim,
        create: Create::Open,
        ..with(backend, none, false)
    };
    let cases = [
        (
            with(BackendKind::Mmap, flags(true, false, false), false),
            "takes such flags",
        ),
        (
            with(BackendKind::Splice, flags(false, false, true), false),
            "takes such flags",
        ),
        (
            with(BackendKind::Psync, flags(false, true, false), false),
            "or leave hipri",
        ),
        (
            with(BackendKind::IoUring, flags(false, true, false), true),
            "completion polling instead",
        ),
        (
            with(BackendKind::Psync, flags(false, false, true), true),
            "or dontcache",
        ),
        (
            Job {
                ring: polling,
                ..with(BackendKind::Psync, none, true)
            },
            "it has no ring",
        ),
        (
            Job {
                ring: polling,
                ..with(BackendKind::IoUring, none, false)
            },
            "leave completion polling",
        ),
        (
            Job {
                depth: 2,
                ..with(BackendKind::Splice, none, false)
            },
            "one operation at a time",
        ),
        (trim(BackendKind::Libaio), "cannot trim"),
        (trim(BackendKind::Splice), "cannot trim"),
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
