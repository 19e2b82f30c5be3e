//! The order of places in one file.

use stiction_core::{Access, Seed, Stride};

use crate::draw::Draw;
use crate::offsets::{Independent, Offsets, Permutation};
use crate::request::Way;
use crate::skew::Skewed;
use crate::task::Task;

/// Where jumps go.
#[derive(Debug)]
enum Jumps {
    Permutation(Permutation),
    Independent(Independent),
    Skewed(Skewed),
}

impl Jumps {
    /// `like` is a skew made before and how many blocks it is of.
    fn new(
        task: &Task<'_>,
        file: u32,
        seed: Seed,
        like: &mut Option<(u64, Skewed)>,
    ) -> Option<Self> {
        let blocks = task.blocks(file);
        match (task.job.access, &task.job.skew) {
            (Access::Sequential, _) => None,
            (Access::RandomPermutation, _) => {
                Some(Self::Permutation(Permutation::new(blocks, seed)))
            }
            (Access::RandomIndependent, None) => {
                Some(Self::Independent(Independent::new(blocks, seed)))
            }
            (Access::RandomIndependent, Some(skew)) => {
                let skewed = match like {
                    Some((same, skewed)) if *same == blocks => skewed.with_seed(seed),
                    _ => Skewed::new(skew, blocks, seed),
                };
                *like = Some((blocks, skewed.clone()));
                Some(Self::Skewed(skewed))
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
pub(crate) struct Order {
    region_bytes: u64,
    /// What jumps go to multiples of.
    grid_bytes: u64,
    /// `None` when there are none but back to the front.
    jumps: Option<Jumps>,
    /// Operations from one jump to the next, and how many of them are to come.
    run: u32,
    run_left: u32,
    /// Whether a run stays where it began.
    run_in_place: bool,
    /// By way, how many of a hundred operations jump; `None` for all.
    jump_percent: Option<[u8; Way::COUNT]>,
    stride: Option<Stride>,
    /// From the start of one operation to that of the next; 0 for its length.
    hop_bytes: u64,
    /// No operation goes beyond a multiple of this.
    cut_bytes: u64,
    /// Bytes moved since something was left out.
    since_skip: u64,
    /// Where the last operation ended, counted from the start of the region.
    at: u64,
    /// Whether the end of the region is the end of all or of a pass, and how many
    /// passes there are until then.
    ends: bool,
    passes_left: u64,
}

impl Order {
    /// The order of `file`; see [`Jumps::new`] of `like`.
    pub(crate) fn new(
        task: &Task<'_>,
        file: u32,
        seed: Seed,
        is_one_of_several: bool,
        like: &mut Option<(u64, Skewed)>,
    ) -> Self {
        let jumps = Jumps::new(task, file, seed, like);
        let may_end = task.job.once || task.files() > 1;
        Self {
            region_bytes: task.region_bytes(file),
            grid_bytes: task.block_bytes.into(),
            ends: may_end && jumps.is_none() && !is_one_of_several,
            jumps,
            run: task.job.run_operations,
            run_left: 0,
            run_in_place: task.job.run_in_place,
            jump_percent: (task.job.jump_percent)
                .map(|percent| [percent.read, percent.write, percent.trim]),
            stride: task.job.stride,
            hop_bytes: task.job.hop_bytes.unwrap_or(0),
            cut_bytes: task.job.cut_bytes.unwrap_or(u64::MAX),
            since_skip: 0,
            at: 0,
            // Of several files, the one that orders them counts.
            passes_left: if task.files() > 1 { 1 } else { task.job.passes },
        }
    }

    /// Whether the next operation jumps, if any may.
    #[inline]
    fn is_jump(&self, way: Way, draw: &mut Draw) -> bool {
        match self.jump_percent {
            None => self.run_left == 0,
            Some(percent) => draw.below(100) < percent[way as usize].into(),
        }
    }

    /// Back to the front, if that is where the next pass begins.
    pub(crate) fn rewind(&mut self) {
        if self.ends {
            self.at = 0;
            self.since_skip = 0;
        }
    }

    /// Where the next operation begins, counted from the start of the region, and
    /// how long it is: `length`, or what there is to the end of the region.
    #[inline]
    pub(crate) fn next(&mut self, way: Way, length: u32, draw: &mut Draw) -> Option<(u64, u32)> {
        if self.jumps.is_some()
            && self.is_jump(way, draw)
            && let Some(jumps) = &mut self.jumps
        {
            self.run_left = self.run;
            // Whole blocks of a region may be shorter than its longest operation.
            let last = self.region_bytes.saturating_sub(length.into()) / self.grid_bytes;
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
                self.passes_left = self.passes_left.saturating_sub(1);
                if self.passes_left == 0 {
                    return None;
                }
            }
            self.at = 0;
            self.since_skip = 0;
        }
        let at = self.at;
        let to_cut = self.cut_bytes - at % self.cut_bytes;
        let length = u64::from(length).min(self.region_bytes - at).min(to_cut);
        self.at += match self.hop_bytes {
            _ if self.run_in_place => 0,
            0 => length,
            hop_bytes => hop_bytes,
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
