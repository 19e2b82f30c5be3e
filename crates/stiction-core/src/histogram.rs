//! The latency of every operation, kept in a form that merges without loss.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Serialize};

/// Largest latency that the buckets tell apart: one hour. Larger ones are
/// counted in the last bucket; their sum and maximum stay exact.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of a bucket: values are kept to within 0.1 %.
const DIGITS: u8 = 3;
const NS_PER_S: u64 = 1_000_000_000;

/// Buckets below the first doubling: one for each nanosecond up to 2047.
const LINEAR: u64 = 2048;
/// Buckets in each doubling after that.
const PER_DOUBLING: u64 = LINEAR / 2;

/// The bucket of a latency, in the layout of an HDR histogram of three digits.
fn bucket_of(latency_ns: u64) -> u16 {
    let latency_ns = latency_ns.clamp(1, HIGHEST_NS);
    let shift = u64::from((latency_ns | (LINEAR - 1)).ilog2() - (LINEAR - 1).ilog2());
    (shift * PER_DOUBLING + (latency_ns >> shift)) as u16
}

/// The highest latency that falls into a bucket, ns.
fn highest_in(bucket: u16) -> u64 {
    let shift = (u64::from(bucket) / PER_DOUBLING).saturating_sub(1);
    ((u64::from(bucket) - shift * PER_DOUBLING + 1) << shift) - 1
}

/// A distribution of latencies: 1 ns to 1 h at three digits, with exact count,
/// sum, minimum, maximum and the two counts that tiobench made customary.
///
/// Merging adds bucket counts, so a percentile of a merged histogram is the
/// percentile of the concatenated operations, to within the bucket width.
///
/// Only occupied buckets take memory: a phase holds one histogram for each
/// interval and direction, and a full set of buckets would be 270 kB each.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Occupied buckets and their counts, in rising order.
    buckets: Vec<(u16, u64)>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    over_2_s: u64,
    over_10_s: u64,
}

/// Why stored bytes are not a histogram.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("histogram text is not base64: {0}")]
    NotBase64(String),
    /// The bytes are not an HDR histogram in V2 form.
    #[error("histogram bytes are not an HDR V2 histogram: {0}")]
    NotHdr(String),
    /// The exact figures beside the buckets contradict them.
    #[error("histogram holds {buckets} operations in its buckets but says {stated}")]
    CountMismatch {
        /// Operations in the buckets.
        buckets: u64,
        /// Operations stated beside them.
        stated: u64,
    },
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: Vec::new(),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            over_2_s: 0,
            over_10_s: 0,
        }
    }

    /// Counts one operation that took `latency_ns`.
    pub fn record(&mut self, latency_ns: u64) {
        self.record_bucket(latency_ns, 1);
        self.add_exact(latency_ns, latency_ns, latency_ns);
        self.add_over(
            u64::from(latency_ns > 2 * NS_PER_S),
            u64::from(latency_ns > 10 * NS_PER_S),
        );
    }

    /// Counts `count` operations in the bucket of `latency_ns`, leaving the exact
    /// figures alone; a recorder that kept them apart adds them with
    /// [`add_exact`](Self::add_exact) and [`add_over`](Self::add_over).
    pub fn record_bucket(&mut self, latency_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        let bucket = bucket_of(latency_ns);
        match self.buckets.binary_search_by_key(&bucket, |&(at, _)| at) {
            Ok(place) => self.buckets[place].1 += count,
            Err(place) => self.buckets.insert(place, (bucket, count)),
        }
        self.count += count;
    }

    /// Adds to the exact sum and widens the exact range.
    pub fn add_exact(&mut self, sum_ns: u64, min_ns: u64, max_ns: u64) {
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
        self.min_ns = self.min_ns.min(min_ns);
        self.max_ns = self.max_ns.max(max_ns);
    }

    /// Adds to the exact counts of operations beyond 2 s and beyond 10 s.
    pub fn add_over(&mut self, over_2_s: u64, over_10_s: u64) {
        self.over_2_s += over_2_s;
        self.over_10_s += over_10_s;
    }

    /// Adds all of `other`'s operations.
    pub fn merge(&mut self, other: &Self) {
        self.buckets = merged(&self.buckets, &other.buckets);
        self.count += other.count;
        self.add_exact(other.sum_ns, other.min_ns, other.max_ns);
        self.add_over(other.over_2_s, other.over_10_s);
    }

    /// Number of operations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum of all latencies, ns.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Exact mean, ns; `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Exact smallest latency, ns; `None` when empty.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min_ns)
    }

    /// Exact largest latency, ns; `None` when empty.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// The smallest latency that at least `quantile` (0 to 1) of the operations
    /// did not exceed, to within 0.1 %, never beyond the exact minimum and
    /// maximum; `None` when empty.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let (bucket, _) = self.buckets.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        })?;
        Some(highest_in(*bucket).clamp(self.min_ns, self.max_ns))
    }

    /// As [`quantile_ns`](Self::quantile_ns), but `None` too when fewer than
    /// `10 / (1 - quantile)` operations were seen: such a tail is a handful of
    /// operations and says nothing.
    #[must_use]
    pub fn quantile_ns_if_enough(&self, quantile: f64) -> Option<u64> {
        // 0.999 is not exact in binary; without the allowance 10,000 operations would not do.
        let needed = 10.0 / (1.0 - quantile) * (1.0 - 1e-9);
        if self.count() as f64 >= needed {
            self.quantile_ns(quantile)
        } else {
            None
        }
    }

    /// Exact number of operations that took longer than 2 s.
    #[must_use]
    pub fn over_2_s(&self) -> u64 {
        self.over_2_s
    }

    /// Exact number of operations that took longer than 10 s.
    #[must_use]
    pub fn over_10_s(&self) -> u64 {
        self.over_10_s
    }

    /// Occupied buckets in rising order: highest latency of the bucket in ns, and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets
            .iter()
            .map(|&(bucket, count)| (highest_in(bucket), count))
    }

    /// The buckets as HDR V2 bytes in base64, as other HDR tools read them.
    #[must_use]
    pub fn to_hdr_v2_base64(&self) -> String {
        let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, DIGITS)
            .expect("the bounds are constants that hdrhistogram accepts");
        self.buckets()
            .for_each(|(latency_ns, count)| hdr.saturating_record_n(latency_ns, count));
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }
}

/// Two lists of occupied buckets as one.
fn merged(a: &[(u16, u64)], b: &[(u16, u64)]) -> Vec<(u16, u64)> {
    let mut sum: Vec<(u16, u64)> = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(one), Some(other)) if one.0 == other.0 => {
                let other = b.next().map_or(0, |entry| entry.1);
                a.next().map(|entry| (entry.0, entry.1 + other))
            }
            (Some(one), Some(other)) if other.0 < one.0 => b.next().copied(),
            (Some(_), _) => a.next().copied(),
            (None, _) => b.next().copied(),
        };
        match next {
            Some(entry) => sum.push(entry),
            None => return sum,
        }
    }
}

/// The form on disk: exact figures in the clear, buckets as HDR V2.
#[derive(Serialize, Deserialize)]
struct Stored {
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    over_2_s_count: u64,
    over_10_s_count: u64,
    hdr_v2_base64: String,
}

impl TryFrom<Stored> for Histogram {
    type Error = HistogramError;

    fn try_from(stored: Stored) -> Result<Self, HistogramError> {
        let bytes = BASE64
            .decode(&stored.hdr_v2_base64)
            .map_err(|error| HistogramError::NotBase64(error.to_string()))?;
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError::NotHdr(error.to_string()))?;
        let mut histogram = Self::new();
        for bucket in read.iter_recorded() {
            histogram.record_bucket(bucket.value_iterated_to(), bucket.count_at_value());
        }
        if histogram.count() != stored.count {
            return Err(HistogramError::CountMismatch {
                buckets: histogram.count(),
                stated: stored.count,
            });
        }
        if stored.count > 0 {
            histogram.add_exact(stored.sum_ns, stored.min_ns, stored.max_ns);
        }
        histogram.add_over(stored.over_2_s_count, stored.over_10_s_count);
        Ok(histogram)
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored {
            count: self.count(),
            sum_ns: self.sum_ns,
            min_ns: self.min_ns().unwrap_or(0),
            max_ns: self.max_ns,
            over_2_s_count: self.over_2_s,
            over_10_s_count: self.over_10_s,
            hdr_v2_base64: self.to_hdr_v2_base64(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        stored.try_into().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    /// The `hdrhistogram` crate is the authority on which latencies share a bucket.
    fn hdr() -> hdrhistogram::Histogram<u64> {
        hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).unwrap()
    }

    #[test]
    fn buckets_are_those_of_an_hdr_histogram() {
        let hdr = hdr();
        for power in 0..42 {
            for latency_ns in [1u64 << power, (1 << power) + 1, (2u64 << power) - 1] {
                let latency_ns = latency_ns.min(HIGHEST_NS);
                assert_eq!(
                    highest_in(bucket_of(latency_ns)),
                    hdr.highest_equivalent(latency_ns),
                    "{latency_ns}"
                );
            }
        }
    }

    #[test]
    fn exact_figures_are_exact() {
        let histogram = of(&[1, 2_000_000_000, 2_000_000_001, 10_000_000_001]);
        assert_eq!(histogram.count(), 4);
        assert_eq!(histogram.sum_ns(), 14_000_000_003);
        assert_eq!(histogram.min_ns(), Some(1));
        assert_eq!(histogram.max_ns(), Some(10_000_000_001));
        assert_eq!(histogram.over_2_s(), 2, "2 s itself is not over 2 s");
        assert_eq!(histogram.over_10_s(), 1);
    }

    #[test]
    fn beyond_an_hour_is_counted_and_the_maximum_stays_exact() {
        let two_hours_ns = 7_200_000_000_000;
        let histogram = of(&[5, two_hours_ns]);
        assert_eq!(histogram.count(), 2);
        assert_eq!(histogram.max_ns(), Some(two_hours_ns));
        assert_eq!(histogram.sum_ns(), two_hours_ns + 5);
    }

    #[test]
    fn a_tail_of_too_few_operations_is_withheld() {
        let values: Vec<u64> = (1..=9_999).collect();
        assert_eq!(of(&values).quantile_ns_if_enough(0.999), None);
        let values: Vec<u64> = (1..=10_000).collect();
        assert!(of(&values).quantile_ns_if_enough(0.999).is_some());
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let histogram = Histogram::new();
        assert_eq!(
            (histogram.mean_ns(), histogram.quantile_ns(0.5)),
            (None, None)
        );
        let text = serde_json::to_string(&histogram).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    }

    #[test]
    fn contradicting_counts_are_refused() {
        let text = serde_json::to_string(&of(&[7, 8])).unwrap();
        let forged = text.replace("\"count\":2", "\"count\":3");
        assert!(serde_json::from_str::<Histogram>(&forged).is_err());
    }

    proptest! {
        #[test]
        fn counts_are_those_of_an_hdr_histogram(
            values in prop::collection::vec(1u64..8_000_000_000_000, 1..200),
        ) {
            let mut hdr = hdr();
            values.iter().for_each(|&value| hdr.record(value.min(HIGHEST_NS)).unwrap());
            let expected: Vec<(u64, u64)> = hdr
                .iter_recorded()
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                .collect();
            prop_assert_eq!(of(&values).buckets().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn merging_equals_recording_everything(
            a in prop::collection::vec(1u64..4_000_000_000_000, 0..200),
            b in prop::collection::vec(1u64..4_000_000_000_000, 0..200),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn quantiles_are_within_a_thousandth_of_the_sorted_values(
            mut values in prop::collection::vec(1u64..3_000_000_000_000, 1..300),
            quantile in 0.0f64..=1.0,
        ) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64;
            let read = histogram.quantile_ns(quantile).unwrap() as f64;
            prop_assert!((read - exact).abs() <= exact * 0.001 + 1.0, "{} for {}", read, exact);
        }

        #[test]
        fn storage_keeps_everything(values in prop::collection::vec(1u64..5_000_000_000_000, 0..100)) {
            let histogram = of(&values);
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }
    }
}
