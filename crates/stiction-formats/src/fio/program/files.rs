//! Several files of a clone: their sizes, and the order in which they are turned to.

use stiction_core::{FileChoice, FileOrder, Seed, Skew, SkewShape};

use super::super::job::{self, FileOrder as Asked};
use super::Desk;

/// Length of each file of a clone whose files have `size_bytes` together. fio divides,
/// whatever the blocks; parts of a block are then never touched.
pub(super) fn share(size_bytes: u64, files: u32) -> u64 {
    size_bytes / u64::from(files.max(1))
}

/// Length of a file that may have any between two, in whole blocks.
pub(super) fn drawn(
    (least, most): (u64, u64),
    seed: Seed,
    (clone, file): (u32, u32),
    block_bytes: u64,
) -> u64 {
    let drawn = seed.stream(u64::from(clone)).stream(u64::from(file)).0;
    let bytes = match (most - least).checked_add(1) {
        Some(choices) => least + drawn % choices,
        None => drawn,
    };
    let block = block_bytes.max(1);
    (bytes - bytes % block).max(least)
}

/// Which file comes next.
pub(super) fn order(desk: &Desk<'_>) -> FileOrder {
    let layout = &desk.job().layout;
    let ppm = |share: f64| (share * 1e6).round() as u32;
    let skewed = |shape| {
        FileChoice::Skewed(Skew {
            shape,
            scattered: false,
        })
    };
    FileOrder {
        choice: match layout.file_order {
            Asked::RoundRobin => FileChoice::InTurn,
            Asked::Sequential => FileChoice::OneByOne,
            Asked::Random => FileChoice::Random,
            Asked::Zipf(theta) => skewed(SkewShape::Zipf {
                exponent_ppm: ppm(theta),
            }),
            Asked::Pareto(power) => skewed(SkewShape::SelfSimilar {
                hot_ppm: ppm(power),
            }),
            Asked::Normal(percent) => skewed(SkewShape::Normal {
                deviation_ppm: ppm(percent / 100.0),
            }),
        },
        run_operations: u32::try_from(layout.file_operations.max(1)).unwrap_or(u32::MAX),
    }
}

/// How many files are open at a time; `None` for all.
pub(super) fn open_max(job: &job::FioJob) -> Option<u32> {
    let open = job.layout.open_files.map(|open| open.max(1));
    open.filter(|open| *open < job.targets.files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_sizes_keep_their_bounds_and_blocks() {
        let sizes: Vec<u64> = (0..200)
            .map(|file| drawn((16384, 65536), Seed(1), (0, file), 4096))
            .collect();
        assert!(sizes.iter().all(|size| (16384..=65536).contains(size)));
        assert!(sizes.iter().all(|size| size % 4096 == 0));
        assert!(sizes.iter().any(|size| *size != sizes[0]));
    }
}
