//! O_DIRECT, and rings of every depth.

use std::path::Path;

use stiction_core::{Access, BackendKind, CaveatCode, Direction, Job, SyncEvery, SyncKind, Timing};
use stiction_engine::{Ended, EngineError, Outcome, probe};
use testkit::scratch_folder;

use crate::jobs::{content, file, read_job, ring_job, run, run_child, try_run, write_job};

/// Bytes that this process made the storage layer read and write.
fn storage_bytes() -> (u64, u64) {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let field = |name: &str| -> u64 {
        let line = io.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    (field("read_bytes:"), field("write_bytes:"))
}

/// The kernel counts for the process, so the counting is done in one of its own.
#[test]
fn direct_writes_and_reads_reach_the_storage_layer() {
    const VARIABLE: &str = "STICTION_TEST_DIRECT";
    if let Some(directory) = std::env::var_os(VARIABLE) {
        write_and_read_directly(Path::new(&directory));
        return;
    }
    let test = "backends::direct_writes_and_reads_reach_the_storage_layer";
    run_child(test, VARIABLE, scratch_folder().path(), |_| {});
}

fn write_and_read_directly(directory: &Path) {
    let target = file(directory.join("f"));
    for backend in [BackendKind::Psync, BackendKind::IoUring] {
        let direct = |job: Job| Job {
            direct: true,
            backend,
            ..job
        };
        let before = storage_bytes();
        let written = run(&direct(write_job(200)), &target);
        let between = storage_bytes();
        let read = run(&direct(read_job(200)), &target);
        let after = storage_bytes();
        assert_eq!(
            (written.direct_granted, read.direct_granted),
            (Some(true), Some(true))
        );
        assert_moved(between.1 - before.1, 200 * 4096);
        assert_moved(after.0 - between.0, 200 * 4096);
        assert!(written.caveats.is_empty(), "{:?}", written.caveats);
    }
}

/// The blocks, and for metadata a few pages at most.
fn assert_moved(moved_bytes: u64, wanted_bytes: u64) {
    let allowed = wanted_bytes..wanted_bytes + 16 * 4096;
    assert!(
        allowed.contains(&moved_bytes),
        "{moved_bytes} of {wanted_bytes}"
    );
}

#[test]
fn a_block_that_direct_io_cannot_move_names_the_multiple() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    let mut job = Job {
        direct: true,
        block_size_bytes: 1000,
        ..read_job(100)
    };
    match try_run(&job, &file(&path)) {
        // From 6.1 on the kernel says what it needs, at the opening.
        Err(EngineError::Misaligned {
            given_bytes,
            needed_bytes,
            ..
        }) => {
            assert_eq!(given_bytes, 1000);
            assert!(needed_bytes.is_power_of_two() && needed_bytes >= 512);
        }
        other => panic!("{other:?}"),
    }
    job.block_size_bytes = 4096;
    job.regions[0].offset_bytes = 100;
    let error = try_run(&job, &file(&path)).unwrap_err().to_string();
    assert!(error.contains("the start of a region is 100"), "{error}");
}

/// Every depth and way of timing reads everything, checked block by block.
#[test]
fn rings_of_any_depth_read_everything_once() {
    let directory = scratch_folder();
    let target = file(directory.path().join("f"));
    let stamped = |job: Job| Job {
        data: stiction_core::Data::Stamped,
        ..job
    };
    run(&stamped(write_job(500)), &target);
    for depth in [1, 2, 3, 7, 32, 128, 1000] {
        for timing in [Timing::Exact, Timing::Chained] {
            for access in [Access::Sequential, Access::RandomPermutation] {
                let mut job = stamped(ring_job(500, depth));
                (job.timing, job.access, job.verify) = (timing, access, true);
                let outcome = run(&job, &target);
                assert_eq!(outcome.ended, Ended::Planned);
                assert_eq!(outcome.operations(), 500, "depth {depth}");
                assert_eq!(outcome.mismatch_count(), 0, "depth {depth}");
                let latencies = outcome.workers[0].latencies(Direction::Read);
                assert_eq!(latencies.count(), 500);
            }
        }
    }
}

#[test]
fn rings_work_on_tmpfs_too() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    write_then_read_by_ring(directory.path());
}

#[test]
fn rings_write_with_many_in_flight() {
    write_then_read_by_ring(scratch_folder().path());
}

fn write_then_read_by_ring(directory: &Path) -> Outcome {
    let path = directory.join("f");
    let mut job = write_job(1000);
    (job.backend, job.depth) = (BackendKind::IoUring, 64);
    job.access = Access::RandomPermutation;
    let written = run(&job, &file(&path));
    assert_eq!(
        (written.operations(), content(&path).len()),
        (1000, 4_096_000)
    );
    let empty = content(&path)
        .chunks(4096)
        .filter(|block| block.iter().all(|&byte| byte == 0))
        .count();
    assert_eq!(empty, 0);
    let read = run(&ring_job(1000, 64), &file(&path));
    assert_eq!(read.bytes(), 4_096_000);
    let flags = read
        .notes
        .iter()
        .find(|note| note.starts_with("io_uring: "));
    assert!(flags.is_some(), "{:?}", read.notes);
    read
}

/// Six writes in flight, then a sync with none in flight: never more than six.
#[test]
fn a_ring_is_drained_before_each_sync() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let mut job = write_job(60);
    (job.backend, job.depth) = (BackendKind::IoUring, 32);
    job.sync_every = Some(SyncEvery {
        writes: 6,
        kind: SyncKind::Fdatasync,
    });
    let outcome = run(&job, &file(&path));
    assert_eq!(outcome.operations(), 60);
    let syncs = outcome.workers[0].latencies(Direction::Sync);
    assert_eq!(syncs.count(), 10);
    let depths = outcome.workers[0].depths;
    assert_eq!(depths.in_flight, [0, 0, 60, 0, 0, 0, 0]);
    assert_eq!(depths.handed_over, [0, 0, 10, 0, 0, 0, 0]);
    let elapsed = syncs.sum_ns()
        + outcome.workers[0]
            .latencies(Direction::Write)
            .min_ns()
            .unwrap();
    assert!(elapsed <= outcome.elapsed_ns);
}

#[test]
fn null_moves_nothing_and_counts_all_the_same() {
    for depth in [1, 32] {
        let mut job = read_job(1000);
        (job.backend, job.depth, job.once) = (BackendKind::Null, depth, false);
        job.operations_per_worker = Some(100_000);
        let outcome = run(&job, &[]);
        assert_eq!(outcome.operations(), 100_000);
        assert_eq!(
            outcome.workers[0].latencies(Direction::Read).count(),
            100_000
        );
        assert_eq!(outcome.direct_granted, None);
        let depths = outcome.workers[0].depths;
        if depth == 1 {
            assert!(depths.is_empty(), "there is nothing to count");
        } else {
            // 3125 rounds of 32, each complete at once.
            assert_eq!(depths.in_flight, [0, 0, 0, 0, 0, 100_000, 0]);
            assert_eq!(depths.handed_over, [0, 0, 0, 0, 3_125, 0, 0]);
            assert_eq!(depths.taken_back, depths.handed_over);
        }
    }
}

#[test]
fn all_backends_can_be_had_here() {
    for backend in [
        BackendKind::Psync,
        BackendKind::IoUring,
        BackendKind::Mmap,
        BackendKind::Null,
    ] {
        assert_eq!(probe(backend), Ok(()));
    }
}

#[test]
fn a_refused_o_direct_is_said_and_the_job_runs() {
    // A FUSE file system may refuse O_DIRECT; ours does not, so an old tmpfs or any
    // other that refuses is stood in for by /proc, whose files do.
    let Ok(outcome) = try_run(
        &Job {
            direct: true,
            block_size_bytes: 16,
            regions: vec![crate::jobs::region(0, 0, 16)],
            ..read_job(1)
        },
        &file("/proc/self/stat"),
    ) else {
        panic!("/proc/self/stat can be read");
    };
    assert_eq!(outcome.direct_granted, Some(false));
    assert_eq!(outcome.operations(), 1);
    let codes: Vec<_> = outcome.caveats.iter().map(|caveat| caveat.code).collect();
    assert_eq!(codes, [CaveatCode::DirectRefused]);
}
