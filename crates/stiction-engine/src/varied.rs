//! Operations that differ from one to the next in more than their place: mixes of
//! reads and writes, several sizes, runs after each jump, strides.

use stiction_core::{Access, Action, Job, Seed, SizeMix, Stride};

use crate::draw::Draw;
use crate::offsets::{Independent, Offsets, Permutation};
use crate::request::{Request, Requests, Way};
use crate::sizes::Lengths;
use crate::skew::Skewed;
use crate::task::Task;

/// Numbers of the streams that are drawn from a worker's seed for offsets.
const PLACES_STREAM: u64 = 0;
const CHOICES_STREAM: u64 = 1;

/// Operations of a job that is more than [`Plain`](crate::request::Plain).
#[derive(Debug)]
pub(crate) struct Varied {
    first_byte: u64,
    /// One for all ways, or one for each.
    orders: Box<[Order]>,
    turn: Turn,
    /// By way.
    lengths: [Lengths; Way::COUNT],
    draw: Draw,
    bytes_left: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Always(Way),
    /// So many of a hundred are reads, the others writes.
    ReadsPercent(u8),
}

impl Varied {
    /// What `task` does, drawn from `seed`.
    pub(crate) fn new(task: &Task<'_>, seed: Seed) -> Self {
        let job = task.job;
        let turn = match job.action {
            Action::Read => Turn::Always(Way::Read),
            Action::Write => Turn::Always(Way::Write),
            Action::Trim => Turn::Always(Way::Trim),
            Action::Mixed { reads_percent } => Turn::ReadsPercent(reads_percent),
        };
        // In order, each way goes through the region on its own.
        let each_its_own =
            job.access == Access::Sequential && matches!(turn, Turn::ReadsPercent(_));
        let count = if each_its_own { Way::COUNT as u64 } else { 1 };
        let places_seed = seed.stream(PLACES_STREAM);
        let one_size = SizeMix::One(job.block_size_bytes);
        let lengths = |of: fn(&stiction_core::Sizes) -> &SizeMix| {
            Lengths::new(job.sizes.as_ref().map_or(&one_size, of))
        };
        Self {
            first_byte: task.first_byte,
            orders: (0..count)
                .map(|order| Order::new(task, places_seed.stream(order), each_its_own))
                .collect(),
            turn,
            lengths: [
                lengths(|sizes| &sizes.read),
                lengths(|sizes| &sizes.write),
                lengths(|sizes| &sizes.trim),
            ],
            draw: Draw::new(seed.stream(CHOICES_STREAM)),
            bytes_left: bytes_limit(job, task),
        }
    }
}

fn bytes_limit(job: &Job, task: &Task<'_>) -> u64 {
    // Reads that overlap move more than the region has.
    let once = if job.once && job.hop_bytes.is_none() {
        task.region_bytes()
    } else {
        u64::MAX
    };
    job.bytes_per_worker.unwrap_or(u64::MAX).min(once)
}

impl Requests for Varied {
    #[inline]
    fn next(&mut self) -> Option<Request> {
        if self.bytes_left == 0 {
            return None;
        }
        let way = match self.turn {
            Turn::Always(way) => way,
            Turn::ReadsPercent(percent) if self.draw.below(100) < percent.into() => Way::Read,
            Turn::ReadsPercent(_) => Way::Write,
        };
        self.next_of(way)
    }
}

impl Varied {
    /// The next operation if it is one that goes `way`; `None` when there are no more.
    #[inline]
    pub(crate) fn next_of(&mut self, way: Way) -> Option<Request> {
        if self.bytes_left == 0 {
            return None;
        }
        let length = self.lengths[way as usize].next(&mut self.draw);
        let order = if self.orders.len() == 1 {
            0
        } else {
            way as usize
        };
        let (at, length_bytes) = self.orders[order].next(length)?;
        self.bytes_left = self.bytes_left.saturating_sub(length_bytes.into());
        Some(Request {
            offset_bytes: self.first_byte + at,
            length_bytes,
            way,
        })
    }
}

/// Where jumps go.
#[derive(Debug)]
enum Jumps {
    Permutation(Permutation),
    Independent(Independent),
    Skewed(Skewed),
}

impl Jumps {
    fn new(task: &Task<'_>, seed: Seed) -> Option<Self> {
        let blocks = task.blocks;
        match (task.job.access, &task.job.skew) {
            (Access::Sequential, _) => None,
            (Access::RandomPermutation, _) => {
                Some(Self::Permutation(Permutation::new(blocks, seed)))
            }
            (Access::RandomIndependent, None) => {
                Some(Self::Independent(Independent::new(blocks, seed)))
            }
            (Access::RandomIndependent, Some(skew)) => {
                Some(Self::Skewed(Skewed::new(skew, blocks, seed)))
            }
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        match self {
            Self::Permutation(offsets) => offsets.next(),
            Self::Independent(offsets) => offsets.next(),
            Self::Skewed(offsets) => offsets.next(),
        }
    }
}

/// The order of places in the region.
#[derive(Debug)]
struct Order {
    region_bytes: u64,
    /// What jumps go to multiples of.
    grid_bytes: u64,
    /// `None` when there are none but back to the front.
    jumps: Option<Jumps>,
    /// Operations from one jump to the next, and how many of them are to come.
    run: u32,
    run_left: u32,
    stride: Option<Stride>,
    /// From the start of one operation to that of the next; 0 for its length.
    hop_bytes: u64,
    /// No operation goes beyond a multiple of this.
    cut_bytes: u64,
    /// Bytes moved since something was left out.
    since_skip: u64,
    /// Where the last operation ended, counted from the start of the region.
    at: u64,
    /// Whether the end of the region is the end of all.
    ends: bool,
}

impl Order {
    fn new(task: &Task<'_>, seed: Seed, is_one_of_several: bool) -> Self {
        let jumps = Jumps::new(task, seed);
        Self {
            region_bytes: task.region_bytes(),
            grid_bytes: task.block_bytes.into(),
            ends: task.job.once && jumps.is_none() && !is_one_of_several,
            jumps,
            run: task.job.run_operations,
            run_left: 0,
            stride: task.job.stride,
            hop_bytes: task.job.hop_bytes.unwrap_or(0),
            cut_bytes: task.job.cut_bytes.unwrap_or(u64::MAX),
            since_skip: 0,
            at: 0,
        }
    }

    /// Where the next operation begins, counted from the start of the region, and
    /// how long it is: `length`, or what there is to the end of the region.
    #[inline]
    fn next(&mut self, length: u32) -> Option<(u64, u32)> {
        if let Some(jumps) = &mut self.jumps
            && self.run_left == 0
        {
            self.run_left = self.run;
            let last = (self.region_bytes - u64::from(length)) / self.grid_bytes;
            self.at = jumps.next().min(last) * self.grid_bytes;
        }
        self.run_left = self.run_left.saturating_sub(1);
        let beyond = if self.hop_bytes == 0 {
            self.at >= self.region_bytes
        } else {
            // Reads that hop are all whole.
            self.at + u64::from(length) > self.region_bytes
        };
        if beyond {
            if self.ends {
                return None;
            }
            self.at = 0;
            self.since_skip = 0;
        }
        let at = self.at;
        let to_cut = self.cut_bytes - at % self.cut_bytes;
        let length = u64::from(length).min(self.region_bytes - at).min(to_cut);
        self.at += if self.hop_bytes == 0 {
            length
        } else {
            self.hop_bytes
        };
        if let Some(stride) = self.stride {
            self.since_skip += length;
            if self.since_skip >= stride.run_bytes {
                self.since_skip = 0;
                self.at += stride.skip_bytes;
            }
        }
        Some((at, length as u32))
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{BackendKind, Region, SizeShare, Sizes};

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
        let (first, end) = (task.first_byte, task.first_byte + task.region_bytes());
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
}
