//! The counts of finished intervals, packed: what a worker keeps of them.
//!
//! One interval is its length in bytes (four, little-endian), then numbers in
//! seven-bit groups, lowest first: its index, sum, least and greatest latency,
//! operations over 2 s and over 10 s, bytes moved; then for each bucket that counted anything,
//! the distance from the one before and the count. A few hundred bytes hold what
//! takes 264 KiB as an array.

use stiction_core::{Direction, Histogram};

use super::buckets::{BUCKETS, bucket_of, lowest_ns};

/// What is kept exactly beside the buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) sum_ns: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) over_2_s: u64,
    pub(crate) over_10_s: u64,
    /// Moved by the operations.
    pub(crate) bytes: u64,
}

impl Exact {
    pub(crate) const EMPTY: Self = Self {
        sum_ns: 0,
        min_ns: u64::MAX,
        max_ns: 0,
        over_2_s: 0,
        over_10_s: 0,
        bytes: 0,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.min_ns == u64::MAX
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.over_2_s += other.over_2_s;
        self.over_10_s += other.over_10_s;
        self.bytes += other.bytes;
    }

    /// The buckets from the least latency's to the greatest's.
    pub(crate) fn range(&self) -> std::ops::RangeInclusive<usize> {
        bucket_of(self.min_ns)..=bucket_of(self.max_ns)
    }
}

/// Packs an interval's counts to the beginning of `out`; returns how many bytes
/// it took, or `None` when they do not fit.
pub(crate) fn pack(
    index: u64,
    exact: &Exact,
    counts: &[u64; BUCKETS],
    out: &mut [u8],
) -> Option<usize> {
    let mut at = LENGTH_BYTES;
    let head: [u64; HEAD_NUMBERS] = [
        index,
        exact.sum_ns,
        exact.min_ns,
        exact.max_ns,
        exact.over_2_s,
        exact.over_10_s,
        exact.bytes,
    ];
    for number in head {
        at += put(number, out.get_mut(at..)?)?;
    }
    let mut before = 0;
    for bucket in exact.range() {
        let count = counts[bucket];
        if count > 0 {
            at += put((bucket - before) as u64, out.get_mut(at..)?)?;
            at += put(count, out.get_mut(at..)?)?;
            before = bucket;
        }
    }
    let length = u32::try_from(at).ok()?;
    out[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Some(at)
}

/// Most bytes that [`pack`] takes for these counts.
pub(crate) fn packed_bytes_max(exact: &Exact, counts: &[u64; BUCKETS]) -> usize {
    let occupied = counts[exact.range()].iter().filter(|&&count| count > 0);
    LENGTH_BYTES + (HEAD_NUMBERS + 2 * occupied.count()) * NUMBER_BYTES_MAX
}

const LENGTH_BYTES: usize = 4;
/// Numbers before the buckets.
const HEAD_NUMBERS: usize = 7;
/// 64 bits in groups of seven.
const NUMBER_BYTES_MAX: usize = 10;

fn put(mut number: u64, out: &mut [u8]) -> Option<usize> {
    let mut at = 0;
    while number >= 0x80 {
        *out.get_mut(at)? = number as u8 | 0x80;
        number >>= 7;
        at += 1;
    }
    *out.get_mut(at)? = number as u8;
    Some(at + 1)
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for group in 0.. {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * group);
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

/// One packed interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    /// Number of the interval, from 0 at the start of the job.
    pub(crate) index: u64,
    pub(crate) exact: Exact,
    buckets: &'a [u8],
}

impl<'a> Packed<'a> {
    /// The interval that `bytes` begin with, and how many of them it takes.
    pub(crate) fn first(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let (length, _) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let mut rest = bytes.get(LENGTH_BYTES..length)?;
        let packed = Self {
            index: get(&mut rest)?,
            exact: Exact {
                sum_ns: get(&mut rest)?,
                min_ns: get(&mut rest)?,
                max_ns: get(&mut rest)?,
                over_2_s: get(&mut rest)?,
                over_10_s: get(&mut rest)?,
                bytes: get(&mut rest)?,
            },
            buckets: rest,
        };
        Some((packed, length))
    }

    /// Occupied buckets in rising order, with their counts.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + 'a {
        let mut rest = self.buckets;
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += get(&mut rest)? as usize;
            Some((bucket, get(&mut rest)?))
        })
    }

    /// Adds the interval to the stored form.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (bucket, count) in self.buckets() {
            histogram.record_bucket(lowest_ns(bucket), count);
        }
        let exact = &self.exact;
        histogram.add_exact(exact.sum_ns, exact.min_ns, exact.max_ns);
        histogram.add_over(exact.over_2_s, exact.over_10_s);
    }
}

/// Every operation of one worker and direction, by interval.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) direction: Direction,
    /// Each interval stands for 2 to the power of this many of the job's.
    pub(crate) shift: u32,
    pub(crate) packed: Vec<u8>,
}

impl Series {
    /// The intervals in which anything happened, in time order. One that was being
    /// counted while others were merged may come in two parts.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = Packed<'_>> {
        let mut rest = self.packed.as_slice();
        std::iter::from_fn(move || {
            let (packed, length) = Packed::first(rest)?;
            rest = &rest[length..];
            Some(packed)
        })
    }

    /// All intervals together.
    pub(crate) fn total(&self) -> Histogram {
        let mut total = Histogram::new();
        self.intervals()
            .for_each(|packed| packed.add_to(&mut total));
        total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut out = [0; NUMBER_BYTES_MAX];
        for (number, length) in [(0, 1), (127, 1), (128, 2), (1 << 35, 6), (u64::MAX, 10)] {
            assert_eq!(put(number, &mut out), Some(length));
            let mut bytes = &out[..];
            assert_eq!(get(&mut bytes), Some(number));
            assert_eq!(bytes.len(), NUMBER_BYTES_MAX - length);
        }
        assert_eq!(put(128, &mut out[..1]), None);
    }

    proptest! {
        #[test]
        fn an_interval_comes_back(
            latencies in prop::collection::vec(0u64..5_000_000_000_000, 1..100),
            index: u64,
        ) {
            let mut counts = Box::new([0; BUCKETS]);
            let mut exact = Exact::EMPTY;
            for &latency_ns in &latencies {
                counts[bucket_of(latency_ns)] += 1;
                exact.sum_ns += latency_ns;
                exact.min_ns = exact.min_ns.min(latency_ns);
                exact.max_ns = exact.max_ns.max(latency_ns);
                exact.bytes += 4096;
            }
            let mut out = vec![0; packed_bytes_max(&exact, &counts)];
            let length = pack(index, &exact, &counts, &mut out).unwrap();
            prop_assert_eq!(pack(index, &exact, &counts, &mut out[..length - 1]), None);

            let (packed, read) = Packed::first(&out).unwrap();
            prop_assert_eq!(read, length);
            prop_assert_eq!(packed.index, index);
            prop_assert_eq!(packed.exact, exact);
            let count: u64 = packed.buckets().map(|(_, count)| count).sum();
            prop_assert_eq!(count, latencies.len() as u64);
            for (bucket, count) in packed.buckets() {
                prop_assert_eq!(count, counts[bucket]);
            }
        }
    }
}
