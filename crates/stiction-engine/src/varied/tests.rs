//! Where operations go, by the arithmetic of small regions.

use stiction_core::{BackendKind, Job, JumpPercent, Region, SizeShare, Sizes, Stride};

use super::*;

const BLOCK: u64 = 4096;

fn job(blocks: u64) -> Job {
    Job {
        backend: BackendKind::Null,
        regions: vec![Region {
            target: 0,
            offset_bytes: 10 * BLOCK,
            length_bytes: blocks * BLOCK,
        }],
        ..Job::default()
    }
}

/// What `job` does, at most `count` of it.
fn requests(job: &Job, count: usize) -> Vec<Request> {
    crate::task::check(job, &[]).unwrap();
    let task = Task::new(job, &[], 0);
    let mut varied = Varied::new(&task, Seed(9));
    let requests: Vec<Request> = std::iter::from_fn(|| varied.next()).take(count).collect();
    let (first, end) = (
        task.first_byte(0),
        task.first_byte(0) + task.region_bytes(0),
    );
    let is_inside = |one: &Request| {
        one.offset_bytes >= first && one.offset_bytes + u64::from(one.length_bytes) <= end
    };
    assert!(requests.iter().all(is_inside));
    requests
}

/// Offsets in blocks from the start of the region.
fn blocks(requests: &[Request]) -> Vec<u64> {
    let block = |one: &Request| one.offset_bytes / BLOCK - 10;
    requests.iter().map(block).collect()
}

fn of(requests: &[Request], way: Way) -> Vec<Request> {
    requests
        .iter()
        .copied()
        .filter(|one| one.way == way)
        .collect()
}

/// Five standard deviations of a share of `n` draws, at most.
fn tolerance(n: usize) -> f64 {
    5.0 * 0.5 / (n as f64).sqrt()
}

#[test]
fn a_mix_has_its_share_of_reads() {
    for (reads_percent, share) in [(0, 0.0), (30, 0.3), (70, 0.7), (100, 1.0)] {
        let job = Job {
            action: Action::Mixed { reads_percent },
            access: Access::RandomIndependent,
            once: false,
            ..job(64)
        };
        let all = requests(&job, 20_000);
        let reads = of(&all, Way::Read).len() as f64 / all.len() as f64;
        assert!(
            (reads - share).abs() < tolerance(all.len()),
            "{share}: {reads}"
        );
    }
}

#[test]
fn in_order_each_way_has_its_own_place() {
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        once: false,
        ..job(16)
    };
    let all = requests(&job, 1000);
    for way in [Way::Read, Way::Write] {
        let in_order = (0..16).cycle();
        assert!(
            blocks(&of(&all, way))
                .into_iter()
                .zip(in_order)
                .all(|(is, must)| is == must)
        );
    }
}

#[test]
fn a_mixed_permutation_touches_each_block_once() {
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        access: Access::RandomPermutation,
        ..job(100)
    };
    let all = requests(&job, 1000);
    let mut touched = blocks(&all);
    touched.sort_unstable();
    assert_eq!(touched, (0..100).collect::<Vec<_>>());
    assert!(!of(&all, Way::Read).is_empty() && !of(&all, Way::Write).is_empty());
}

/// Reads of 8 KiB every 4 KiB: each byte but the first and last page's twice.
#[test]
fn reads_that_hop_less_than_a_block_overlap() {
    let hopping = |hop_bytes, once| Job {
        block_size_bytes: 2 * BLOCK,
        hop_bytes: Some(hop_bytes),
        once,
        ..job(6)
    };
    let overlapping = requests(&hopping(BLOCK, true), 99);
    assert_eq!(blocks(&overlapping), [0, 1, 2, 3, 4]);
    assert!(overlapping.iter().all(|one| one.length_bytes == 8192));
    let apart = requests(&hopping(3 * BLOCK, true), 99);
    assert_eq!(blocks(&apart), [0, 3]);
    let again = requests(&hopping(3 * BLOCK, false), 5);
    assert_eq!(blocks(&again), [0, 3, 0, 3, 0]);
}

/// write-and-fsync fills each MiB before it begins the next: pieces of 768 KiB
/// alternate with 256 KiB.
#[test]
fn operations_are_cut_at_the_multiples() {
    let kib = 1024;
    let job = Job {
        block_size_bytes: 1024 * kib,
        sizes: Some(Sizes::same(SizeMix::One(768 * kib))),
        cut_bytes: Some(1024 * kib),
        ..job(512)
    };
    let lengths = |requests: &[Request]| -> Vec<u64> {
        let length = |one: &Request| u64::from(one.length_bytes) / kib;
        requests.iter().map(length).collect()
    };
    assert_eq!(lengths(&requests(&job, 99)), [768, 256, 768, 256]);
}

/// Of 40 % that jump, 1 in 64 lands on the next block by chance.
#[test]
fn what_does_not_jump_goes_on_after_the_last_of_its_way() {
    let jump_percent = Some(JumpPercent {
        read: 40,
        write: 0,
        trim: 100,
    });
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        access: Access::RandomIndependent,
        jump_percent,
        once: false,
        ..job(64)
    };
    let all = requests(&job, 40_000);
    let in_order = |way| {
        let blocks = blocks(&of(&all, way));
        let pairs = blocks.windows(2);
        let steps = pairs.filter(|pair| pair[1] == (pair[0] + 1) % 64).count();
        steps as f64 / (blocks.len() - 1) as f64
    };
    let reads = in_order(Way::Read);
    let expected = 0.6 + 0.4 / 64.0;
    assert!((reads - expected).abs() < tolerance(19_000), "{reads}");
    assert!((in_order(Way::Write) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_run_in_place_repeats_each_block_of_a_pass() {
    let job = Job {
        access: Access::RandomPermutation,
        run_operations: 4,
        run_in_place: true,
        once: false,
        ..job(16)
    };
    let all = blocks(&requests(&job, 64));
    let runs: Vec<&[u64]> = all.chunks(4).collect();
    assert!(
        runs.iter()
            .all(|run| run.iter().all(|block| *block == run[0]))
    );
    let mut firsts: Vec<u64> = runs.iter().map(|run| run[0]).collect();
    firsts.sort_unstable();
    assert!(firsts.into_iter().eq(0..16));
}

#[test]
fn a_stride_leaves_places_out() {
    let mut job = Job {
        stride: Some(Stride {
            run_bytes: 2 * BLOCK,
            skip_bytes: BLOCK,
        }),
        ..job(8)
    };
    assert_eq!(blocks(&requests(&job, 100)), [0, 1, 3, 4, 6, 7]);
    job.once = false;
    assert_eq!(blocks(&requests(&job, 8)), [0, 1, 3, 4, 6, 7, 0, 1]);
}

#[test]
fn a_run_follows_each_jump_in_order() {
    let job = Job {
        access: Access::RandomIndependent,
        run_operations: 4,
        once: false,
        ..job(1 << 30)
    };
    let all = blocks(&requests(&job, 400));
    for run in all.chunks(4) {
        assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 1), "{run:?}");
    }
    let jumps: std::collections::BTreeSet<u64> = all.into_iter().step_by(4).collect();
    assert_eq!(jumps.len(), 100, "random among 2^30 blocks");
}

#[test]
fn a_run_at_the_end_goes_on_at_the_front() {
    let job = Job {
        access: Access::RandomIndependent,
        run_operations: 5,
        once: false,
        ..job(3)
    };
    for run in blocks(&requests(&job, 500)).chunks(5) {
        assert!(
            run.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 3),
            "{run:?}"
        );
    }
}

/// A region of 10,000 bytes has two whole blocks, 8192 bytes, and a part that is never
/// touched: an operation of 10,000 bytes begins at its start and is cut to 8192.
#[test]
fn an_operation_longer_than_the_whole_blocks_is_cut() {
    let mut job = Job {
        access: Access::RandomIndependent,
        sizes: Some(Sizes::same(SizeMix::One(10_000))),
        once: false,
        ..job(2)
    };
    job.regions[0].length_bytes = 10_000;
    let all = requests(&job, 100);
    assert_eq!(all.len(), 100);
    let is_cut = |one: &Request| (one.offset_bytes, one.length_bytes) == (10 * BLOCK, 8192);
    assert!(all.iter().all(is_cut));
}

#[test]
fn all_sizes_of_a_range_are_equally_likely() {
    let range = SizeMix::Range {
        min_bytes: 4096,
        max_bytes: 20_000,
        step_bytes: 4096,
    };
    let job = Job {
        access: Access::RandomIndependent,
        sizes: Some(Sizes::same(range)),
        once: false,
        ..job(1000)
    };
    let all = requests(&job, 20_000);
    for length in [4096, 8192, 12_288, 16_384] {
        let of_length = all.iter().filter(|one| one.length_bytes == length).count();
        let share = of_length as f64 / all.len() as f64;
        assert!(
            (share - 0.25).abs() < tolerance(all.len()),
            "{length}: {share}"
        );
    }
    assert!(all.iter().all(|one| one.offset_bytes.is_multiple_of(BLOCK)));
}

#[test]
fn a_split_keeps_its_weights_for_each_way() {
    let share = |bytes, weight| SizeShare { bytes, weight };
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        access: Access::RandomIndependent,
        sizes: Some(Sizes {
            read: SizeMix::Split(vec![share(4096, 3), share(65_536, 1)]),
            write: SizeMix::One(8192),
            trim: SizeMix::One(1),
        }),
        once: false,
        ..job(1000)
    };
    let all = requests(&job, 40_000);
    let reads = of(&all, Way::Read);
    let small = reads.iter().filter(|one| one.length_bytes == 4096).count();
    let share = small as f64 / reads.len() as f64;
    assert!((share - 0.75).abs() < tolerance(reads.len()), "{share}");
    assert!(
        reads
            .iter()
            .all(|one| [4096, 65_536].contains(&one.length_bytes))
    );
    assert!(
        of(&all, Way::Write)
            .iter()
            .all(|one| one.length_bytes == 8192)
    );
}

/// In order, operations follow each other without a gap, to the last byte.
#[test]
fn sizes_in_order_cover_the_region() {
    let range = SizeMix::Range {
        min_bytes: 512,
        max_bytes: 7 * 512,
        step_bytes: 512,
    };
    let job = Job {
        block_size_bytes: 512,
        sizes: Some(Sizes::same(range)),
        ..job(100)
    };
    let all = requests(&job, 10_000);
    let mut next = 10 * BLOCK;
    for one in &all {
        assert_eq!(one.offset_bytes, next);
        next += u64::from(one.length_bytes);
    }
    assert_eq!(next, 110 * BLOCK);
}

#[test]
fn a_limit_in_bytes_ends_it() {
    let job = Job {
        action: Action::Mixed { reads_percent: 50 },
        bytes_per_worker: Some(10 * BLOCK + 1),
        once: false,
        ..job(100)
    };
    assert_eq!(requests(&job, 100).len(), 11);
}
