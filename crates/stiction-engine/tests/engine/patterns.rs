//! Mixes, sizes, skews and trims, on real files and devices.

use std::os::unix::fs::MetadataExt as _;

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Direction, Job, PPM_WHOLE, SizeMix, SizeShare,
    Sizes, Skew, SkewShape, Stride, SyncEvery, SyncKind, Zone,
};
use stiction_engine::{Ended, Outcome};
use testkit::{ScratchLoop, scratch_folder};

use crate::devices::{SIZE_BYTES, grant};
use crate::jobs::{content, file, read_job, region, run, try_run, write_job};

const BACKENDS: [(BackendKind, u32); 3] = [
    (BackendKind::Psync, 1),
    (BackendKind::IoUring, 8),
    (BackendKind::Mmap, 1),
];

fn recorded(outcome: &Outcome, direction: Direction) -> (u64, u64) {
    let mut recordings = outcome.recordings.iter();
    let found = recordings.find(|one| one.direction == direction);
    found.map_or((0, 0), |one| (one.operations(), one.bytes()))
}

/// Reads and writes of 1 to 4 blocks in one stream: what is recorded of both adds up
/// to what was asked, and what was written is whole and in its place.
#[test]
fn a_mix_reads_and_writes_in_one_stream() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(256), &file(&path));
    for (backend, depth) in BACKENDS {
        let share = |bytes, weight| SizeShare { bytes, weight };
        let job = Job {
            action: Action::Mixed { reads_percent: 70 },
            access: Access::RandomIndependent,
            create: Create::Open,
            data: Data::Zeros,
            sizes: Some(Sizes {
                read: SizeMix::Split(vec![share(4096, 1), share(16_384, 1)]),
                write: SizeMix::One(8192),
                trim: SizeMix::One(4096),
            }),
            once: false,
            operations_per_worker: Some(2000),
            backend,
            depth,
            ..write_job(256)
        };
        let outcome = run(&job, &file(&path));
        assert_eq!(outcome.ended, Ended::Planned, "{backend:?}");
        let (reads, read_bytes) = recorded(&outcome, Direction::Read);
        let (writes, written_bytes) = recorded(&outcome, Direction::Write);
        assert_eq!((reads + writes, outcome.operations()), (2000, 2000));
        assert_eq!(read_bytes + written_bytes, outcome.bytes());
        assert_eq!(written_bytes, writes * 8192);
        // Five standard deviations of 2000 draws at 0.7 are 102.
        assert!((1298..1502).contains(&reads), "{reads} reads");
        assert!((reads * 4096..reads * 16_384).contains(&read_bytes));
        let is_zeros = |block: &[u8]| block.iter().all(|&byte| byte == 0);
        let zeroed = content(&path)
            .chunks(4096)
            .filter(|block| is_zeros(block))
            .count();
        // 600 writes of two blocks leave one block of 256 untouched with e^-4.7 of
        // the likelihood of all: some are, and most are not.
        assert!(zeroed > 200, "{zeroed} of 256 blocks were written");
    }
}

#[test]
fn writes_of_a_mix_are_synced_by_their_own_count() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    run(&write_job(64), &file(&path));
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        access: Access::RandomPermutation,
        create: Create::Open,
        backend: BackendKind::IoUring,
        depth: 4,
        sync_every: Some(SyncEvery {
            writes: 1,
            kind: SyncKind::Fdatasync,
        }),
        ..write_job(64)
    };
    let outcome = run(&job, &file(&path));
    let (reads, _) = recorded(&outcome, Direction::Read);
    let (writes, written) = recorded(&outcome, Direction::Write);
    assert_eq!(reads + writes, 64);
    assert!(reads > 0 && writes > 0);
    assert_eq!(recorded(&outcome, Direction::Sync), (writes, 0));
    assert_eq!(recorded(&outcome, Direction::Commit), (writes, written));
}

#[test]
fn a_stride_writes_every_other_block() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let job = Job {
        stride: Some(Stride {
            run_bytes: 4096,
            skip_bytes: 4096,
        }),
        ..write_job(16)
    };
    assert_eq!(run(&job, &file(&path)).operations(), 8);
    let bytes = content(&path);
    assert_eq!(bytes.len(), 15 * 4096);
    for (index, block) in bytes.chunks(4096).enumerate() {
        assert_eq!(
            block.iter().all(|&byte| byte == 0),
            index % 2 == 1,
            "{index}"
        );
    }
}

#[test]
fn trims_punch_holes_and_leave_the_size() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        run(&write_job(64), &file(&path));
        let trim = Job {
            action: Action::Trim,
            create: Create::Open,
            access: Access::RandomPermutation,
            regions: vec![region(0, 16 * 4096, 48 * 4096)],
            sync_at_end: Some(SyncKind::Fsync),
            backend,
            depth,
            ..write_job(64)
        };
        let outcome = run(&trim, &file(&path));
        assert_eq!(outcome.ended, Ended::Planned);
        assert_eq!(recorded(&outcome, Direction::Trim), (48, 48 * 4096));
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(metadata.len(), 64 * 4096);
        // Blocks of 512 bytes; an extent block more or less is the filesystem's.
        assert!(
            metadata.blocks() <= (16 + 1) * 8,
            "{} blocks",
            metadata.blocks()
        );
        let bytes = content(&path);
        assert!(bytes[16 * 4096..].iter().all(|&byte| byte == 0));
        assert!(bytes[..16 * 4096].iter().any(|&byte| byte != 0));
    }
}

#[test]
fn root_trims_discard_blocks_of_a_granted_device() {
    testkit::require_root!();
    let device = ScratchLoop::new(SIZE_BYTES);
    let write = Job {
        regions: vec![region(0, 0, SIZE_BYTES)],
        direct: true,
        ..write_job(1)
    };
    run(&write, &[grant(&device)]);
    let trim = Job {
        action: Action::Trim,
        regions: vec![region(0, 1 << 20, 1 << 20)],
        block_size_bytes: 65_536,
        create: Create::Open,
        ..write.clone()
    };
    let outcome = run(&trim, &[grant(&device)]);
    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(recorded(&outcome, Direction::Trim), (16, 1 << 20));
    let backing = std::fs::read(device.backing_file()).unwrap();
    let is_blank = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    assert!(is_blank(&backing[1 << 20..2 << 20]));
    assert!(!is_blank(&backing[..1 << 20]) && !is_blank(&backing[2 << 20..3 << 20]));

    let ring = Job {
        backend: BackendKind::IoUring,
        ..trim.clone()
    };
    let refused = try_run(&ring, &[grant(&device)]).unwrap_err().to_string();
    assert!(refused.contains("use psync"), "{refused}");
    let by_name = try_run(&trim, &file(device.path()))
        .unwrap_err()
        .to_string();
    assert!(
        by_name.contains("grant it as a scratch device"),
        "{by_name}"
    );
}

/// A zone of half the blocks without operations stays as it was.
#[test]
fn a_skewed_job_writes_where_the_skew_says() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let zone = |operations_ppm, region_ppm| Zone {
        operations_ppm,
        region_ppm,
    };
    let job = Job {
        access: Access::RandomIndependent,
        create: Create::Sparse,
        skew: Some(Skew {
            shape: SkewShape::Zoned(vec![zone(0, 500_000), zone(PPM_WHOLE, 500_000)]),
            scattered: false,
        }),
        once: false,
        operations_per_worker: Some(500),
        ..write_job(64)
    };
    run(&job, &file(&path));
    let bytes = content(&path);
    let is_blank = |block: &[u8]| block.iter().all(|&byte| byte == 0);
    assert!(bytes[..32 * 4096].chunks(4096).all(is_blank));
    assert!(!bytes[32 * 4096..].chunks(4096).any(is_blank));
}

#[test]
fn patterns_that_mean_nothing_are_refused() {
    let skewed = |shape| Job {
        access: Access::RandomIndependent,
        skew: Some(Skew {
            shape,
            scattered: false,
        }),
        ..read_job(1)
    };
    let sized = |mix| Job {
        sizes: Some(Sizes::same(mix)),
        ..read_job(1)
    };
    let stride = Some(Stride {
        run_bytes: 0,
        skip_bytes: 1,
    });
    let uneven = Zone {
        operations_ppm: PPM_WHOLE,
        region_ppm: PPM_WHOLE - 1,
    };
    let range = |min_bytes, max_bytes, step_bytes| SizeMix::Range {
        min_bytes,
        max_bytes,
        step_bytes,
    };
    #[rustfmt::skip]
    let cases = [
        (Job { action: Action::Mixed { reads_percent: 101 }, create: Create::Open, ..write_job(1) }, "more than 100 of a hundred"),
        (Job { action: Action::Mixed { reads_percent: 50 }, ..write_job(1) }, "it empties the files that it reads or trims"),
        (Job { access: Access::Sequential, ..skewed(SkewShape::Normal { deviation_ppm: 1 }) }, "can be skewed"),
        (skewed(SkewShape::Zipf { exponent_ppm: 0 }), "exponent of a zipf skew"),
        (skewed(SkewShape::SelfSimilar { hot_ppm: PPM_WHOLE / 2 }), "below a half"),
        (skewed(SkewShape::Normal { deviation_ppm: 0 }), "deviation of a normal skew"),
        (skewed(SkewShape::Zoned(vec![uneven])), "add up to 1,000,000"),
        (skewed(SkewShape::Zoned(Vec::new())), "1 to 4096 zones"),
        (sized(range(4096, 512, 512)), "rises by steps"),
        (sized(range(512, 4096, 0)), "rises by steps"),
        (sized(SizeMix::Split(Vec::new())), "1 to 4096 sizes"),
        (sized(SizeMix::One(0)), "its sizes are 0 to 0 bytes"),
        (sized(SizeMix::One(8192)), "less than one block of 8192 bytes"),
        (Job { data: Data::Stamped, verify: true, ..sized(SizeMix::One(4096)) }, "all of one size"),
        (Job { run_operations: 0, ..read_job(1) }, "0 operations are to follow"),
        (Job { run_operations: 2, ..read_job(1) }, "do not jump"),
        (Job { stride, ..read_job(1) }, "a stride moves"),
        (Job { stride, access: Access::RandomPermutation, ..read_job(1) }, "only sequential offsets"),
        (Job { bytes_per_worker: Some(0), ..read_job(1) }, "is to move 0 bytes"),
        (Job { action: Action::Trim, backend: BackendKind::Mmap, ..read_job(1) }, "cannot trim"),
        (Job { action: Action::Trim, sync_every: Some(SyncEvery { writes: 1, kind: SyncKind::Fsync }), ..read_job(1) }, "there are none"),
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
