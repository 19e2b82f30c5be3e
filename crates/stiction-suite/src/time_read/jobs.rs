//! From parameters to the job that is measured.

use stiction_core::{BackendKind, Job, SizeMix, Sizes};

use super::options::TimeReadParameters;
use crate::passes::whole_files;

/// Whole reads of a pass: they begin at the multiples of the hop, end within the file,
/// and the hops before each add up to less than `distance_bytes`. The old program makes
/// one more that finds the end of the file.
#[must_use]
pub fn reads_of_a_pass(
    file_bytes: u64,
    buffer_bytes: u64,
    hop_bytes: u64,
    distance_bytes: Option<u64>,
) -> u64 {
    let Some(last) = file_bytes.checked_sub(buffer_bytes) else {
        return 0;
    };
    let within = last / hop_bytes.max(1) + 1;
    distance_bytes.map_or(within, |distance| {
        within.min(distance.div_ceil(hop_bytes.max(1)))
    })
}

/// The reads, or touches.
pub(super) fn read(parameters: &TimeReadParameters, buffer_offset_bytes: u32) -> Job {
    let (hop, mmap) = (parameters.hop_bytes, parameters.mmap);
    // A touch reaches what lies before the next one.
    let block_size_bytes = if mmap { hop } else { parameters.buffer_bytes };
    let of_a_pass = reads_of_a_pass(
        parameters.file_bytes,
        block_size_bytes,
        hop,
        parameters.distance_bytes,
    );
    let hops = hop != block_size_bytes;
    // The last read may end at any multiple of what divides both.
    let grid_bytes = if hops {
        greatest_common_divisor(hop, block_size_bytes)
    } else {
        block_size_bytes
    };
    let end = of_a_pass.saturating_sub(1) * hop + block_size_bytes;
    Job {
        name: "read".to_owned(),
        block_size_bytes: grid_bytes,
        sizes: hops.then(|| Sizes::same(SizeMix::One(block_size_bytes))),
        hop_bytes: hops.then_some(hop),
        regions: whole_files(1, end),
        backend: if mmap {
            BackendKind::Mmap
        } else {
            BackendKind::Psync
        },
        without_copy: mmap,
        map_advice: if mmap {
            parameters.advice
        } else {
            Default::default()
        },
        buffer_offset_bytes,
        direct: parameters.direct,
        once: parameters.passes == 1,
        operations_per_worker: (parameters.passes > 1)
            .then(|| of_a_pass.saturating_mul(parameters.passes.into())),
        open_in_time: true,
        ..Job::default()
    }
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        greatest_common_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_read::CacheState;
    use stiction_core::MapAdvice;

    const MIB: u64 = 1 << 20;

    fn parameters(file_bytes: u64, buffer_bytes: u64, hop_bytes: u64) -> TimeReadParameters {
        TimeReadParameters {
            classic: true,
            is_existing: false,
            file_bytes,
            buffer_bytes,
            hop_bytes,
            distance_bytes: None,
            mmap: false,
            direct: false,
            advice: MapAdvice::None,
            cache: CacheState::AsItIs,
            passes: 1,
            may_fill: false,
        }
    }

    /// As counted in the old program: 100 MiB in reads of 8 KiB every 4 KiB are 25 600
    /// calls, the last of which finds 4 KiB; every 8 KiB they are 12 800 and one that
    /// finds nothing.
    #[test]
    fn a_pass_has_the_reads_of_the_old_program() {
        let reads = |hop, distance| reads_of_a_pass(100 * MIB, 8192, hop, distance);
        assert_eq!(reads(4096, None) + 1, 25_600);
        assert_eq!(reads(8192, None), 12_800);
        assert_eq!(reads(MIB, None), 100);
        assert_eq!(reads(8192, Some(MIB)), 128);
        assert_eq!(reads(3 * MIB, Some(10 * MIB)), 4);
        assert_eq!(reads_of_a_pass(8191, 8192, 4096, None), 0);
    }

    #[test]
    fn the_region_ends_with_the_last_read() {
        let region = |job: Job| job.regions[0].length_bytes;
        let overlapping = read(&parameters(100 * MIB, 8192, 4096), 0);
        assert_eq!(overlapping.hop_bytes, Some(4096));
        assert_eq!(region(overlapping), 100 * MIB);
        let odd = read(&parameters(12_288, 8192, 4096), 0);
        assert_eq!((odd.block_size_bytes, region(odd)), (4096, 12_288));
        let plain = read(&parameters(10_000, 8192, 8192), 0);
        assert_eq!((plain.hop_bytes, region(plain)), (None, 8192));
        let touching = TimeReadParameters {
            mmap: true,
            ..parameters(MIB, 8192, 4096)
        };
        let touching = read(&touching, 0);
        assert_eq!(
            (touching.hop_bytes, touching.block_size_bytes),
            (None, 4096)
        );
        assert!(touching.without_copy);
    }

    #[test]
    fn passes_are_counted_in_reads() {
        let twice = TimeReadParameters {
            passes: 2,
            ..parameters(MIB, 8192, 4096)
        };
        let job = read(&twice, 0);
        assert_eq!(job.operations_per_worker, Some(2 * 255));
        assert!(!job.once);
    }
}
