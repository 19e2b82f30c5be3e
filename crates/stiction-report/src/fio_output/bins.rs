//! fio's buckets of latencies.
//!
//! Up to 127 ns each nanosecond has a bucket of its own; from there on each doubling
//! is divided into 64, to 2^34 ns (17.2 s), and what is longer is in the last one
//! (fio 3.33, `stat.h`: `FIO_IO_U_PLAT_BITS` 6, `FIO_IO_U_PLAT_GROUP_NR` 29).
//!
//! Our histograms have 1024 buckets a doubling, at the same powers of two: sixteen of
//! them make one of fio's, and below 2048 ns each of ours is one nanosecond. So counts
//! go over exactly.

use stiction_core::Histogram;

/// Buckets that a doubling is divided into.
const PER_DOUBLING: u64 = 64;
/// How many buckets there are.
pub(super) const COUNT: usize = 29 * PER_DOUBLING as usize;

/// The bucket of a latency.
pub(super) fn index_of(latency_ns: u64) -> usize {
    if latency_ns < 2 * PER_DOUBLING {
        return latency_ns as usize;
    }
    let shift = latency_ns.ilog2() - PER_DOUBLING.ilog2();
    let index = u64::from(shift) * PER_DOUBLING + (latency_ns >> shift);
    (index as usize).min(COUNT - 1)
}

/// The latency that fio prints for a bucket: its middle, ns.
pub(super) fn middle_ns(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * PER_DOUBLING {
        return index;
    }
    let shift = index / PER_DOUBLING - 1;
    let lowest = (PER_DOUBLING + index % PER_DOUBLING) << shift;
    lowest + (1 << shift) / 2
}

/// The occupied buckets in rising order, each with its count.
pub(super) fn occupied(latencies: &Histogram) -> Vec<(usize, u64)> {
    let mut bins: Vec<(usize, u64)> = Vec::new();
    for (highest_ns, count) in latencies.buckets() {
        let index = index_of(highest_ns);
        match bins.last_mut() {
            Some((last, sum)) if *last == index => *sum += count,
            _ => bins.push((index, count)),
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of `bins` that fio 3.33 printed for latencies which it had printed as
    /// minimum or maximum beside them.
    #[test]
    fn buckets_are_those_that_fio_prints() {
        for (latency_ns, key) in [
            (551, 548),
            (1_933, 1_928),
            (78_166, 78_336),
            (105_578, 105_984),
            (2_543_493, 2_539_520),
            (2_562_882, 2_572_288),
            (6_892_558, 6_914_048),
        ] {
            assert_eq!(middle_ns(index_of(latency_ns)), key, "{latency_ns}");
        }
        assert_eq!(middle_ns(index_of(127)), 127);
        assert_eq!(index_of(u64::MAX), 1855);
        // 2^34 ns less half of the last bucket's 2^27.
        assert_eq!(middle_ns(1855), (1 << 34) - (1 << 26));
    }

    #[test]
    fn every_latency_is_counted_in_the_bucket_that_it_is_in() {
        let mut latencies = Histogram::new();
        let mut expected = vec![0u64; COUNT];
        // Steps that no power of two divides, from 1 ns to beyond fio's last bucket.
        let mut latency_ns = 1u64;
        while latency_ns < 40_000_000_000 {
            latencies.record(latency_ns);
            expected[index_of(latency_ns)] += 1;
            latency_ns += latency_ns / 97 + 1;
        }
        let expected: Vec<(usize, u64)> = (0..).zip(expected).filter(|bin| bin.1 > 0).collect();
        assert_eq!(occupied(&latencies), expected);
    }
}
