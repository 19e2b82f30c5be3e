//! Where a latency is counted: the layout of `stiction_core::Histogram`.
//!
//! HdrHistogram with three digits from 1 ns: one bucket a nanosecond below 2048,
//! then 1024 buckets in each octave, each as wide as the octave is high over
//! 1024. Counting in the same layout makes the conversion exact.

/// Buckets up to the one that one hour falls into: 3.6e12 ns lie in octave 31,
/// where buckets are 2^31 ns wide, and 3.6e12 / 2^31 is 1676.4.
pub(crate) const BUCKETS: usize = 31 * 1024 + 1676 + 1;

/// Binary digits of a bucket number within an octave.
const PRECISION: u32 = 10;

/// The bucket that counts `latency_ns`; for all beyond one hour, that of one hour.
#[inline(always)]
pub(crate) fn bucket_of(latency_ns: u64) -> usize {
    let octave = (63 - PRECISION).saturating_sub((latency_ns | 1).leading_zeros());
    let bucket = ((octave as usize) << PRECISION) + (latency_ns >> octave) as usize;
    bucket.min(BUCKETS - 1)
}

/// The lowest latency that `bucket` counts, ns.
pub(crate) fn lowest_ns(bucket: usize) -> u64 {
    let octave = (bucket >> PRECISION).saturating_sub(1);
    ((bucket - (octave << PRECISION)) as u64) << octave
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stiction_core::Histogram;

    use super::*;

    #[test]
    fn buckets_are_a_nanosecond_wide_below_2048() {
        assert_eq!((bucket_of(0), bucket_of(1), bucket_of(2047)), (0, 1, 2047));
        assert_eq!(
            (bucket_of(2048), bucket_of(2049), bucket_of(2050)),
            (2048, 2048, 2049)
        );
    }

    #[test]
    fn the_last_bucket_is_that_of_one_hour() {
        assert_eq!(bucket_of(3_600_000_000_000), BUCKETS - 1);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(lowest_ns(BUCKETS - 1), 1676 << 31);
        assert_eq!(bucket_of((1676 << 31) - 1), BUCKETS - 2);
    }

    proptest! {
        #[test]
        fn the_lowest_of_a_bucket_is_in_it(bucket in 0..BUCKETS) {
            prop_assert_eq!(bucket_of(lowest_ns(bucket)), bucket);
            prop_assert!(bucket == 0 || bucket_of(lowest_ns(bucket) - 1) == bucket - 1);
        }

        /// Two latencies share a bucket here exactly when they do in the stored form.
        #[test]
        fn the_layout_is_that_of_the_stored_form(
            bits in 1u32..43,
            noise: u64,
            step in 1u64..3,
        ) {
            let latency_ns = (noise >> (64 - bits)).max(1);
            let other_ns = latency_ns + (step << bits.saturating_sub(11));
            let mut stored = Histogram::new();
            stored.record_bucket(latency_ns, 1);
            stored.record_bucket(other_ns, 1);
            prop_assert_eq!(
                bucket_of(latency_ns) == bucket_of(other_ns),
                stored.buckets().count() == 1,
                "{} and {}", latency_ns, other_ns
            );
        }
    }
}
