//! The live counts of one worker and direction.

use stiction_core::Direction;

use super::buckets::{BUCKETS, bucket_of};
use super::packed::{Exact, Packed, Series, pack, packed_bytes_max};
use crate::memory::{NoMemory, Pages};

const NS_PER_S: u64 = 1_000_000_000;

/// Counts the operations of one direction that one worker did.
///
/// The memory is three parts: the live counts, an array to merge in, and the
/// packed intervals. When the last is full, neighbouring intervals are merged, so
/// that each stands for twice the time; in the extreme all become one, which is
/// the live array. No operation is ever dropped.
#[derive(Debug)]
pub(crate) struct Track {
    direction: Direction,
    memory: Pages,
    live: Exact,
    /// Bytes of packed intervals.
    used: usize,
    /// Each packed interval stands for 2 to the power of this many of the job's.
    shift: u32,
    /// Whether all intervals have become one.
    single: bool,
}

impl Track {
    /// An empty track that packs intervals into `packed_bytes` bytes.
    ///
    /// # Errors
    /// When there is no address space to be had.
    pub(crate) fn new(direction: Direction, packed_bytes: usize) -> Result<Self, NoMemory> {
        Ok(Self {
            direction,
            memory: Pages::new(2 * size_of::<[u64; BUCKETS]>() + packed_bytes)?,
            live: Exact::EMPTY,
            used: 0,
            shift: 0,
            single: false,
        })
    }

    /// Counts one operation that moved `bytes`.
    #[inline(always)]
    pub(crate) fn record(&mut self, latency_ns: u64, bytes: u64) {
        self.record_alike(latency_ns, 1, bytes);
    }

    /// Counts `count` operations of one latency that moved `bytes` together.
    #[inline(always)]
    pub(crate) fn record_alike(&mut self, latency_ns: u64, count: u64, bytes: u64) {
        let (counts, ..) = self.memory.split_mut::<BUCKETS>();
        counts[bucket_of(latency_ns)] += count;
        self.live.sum_ns += latency_ns * count;
        self.live.bytes += bytes;
        self.live.min_ns = self.live.min_ns.min(latency_ns);
        self.live.max_ns = self.live.max_ns.max(latency_ns);
        if latency_ns > 2 * NS_PER_S {
            self.record_slow(latency_ns, count);
        }
    }

    #[cold]
    fn record_slow(&mut self, latency_ns: u64, count: u64) {
        self.live.over_2_s += count;
        if latency_ns > 10 * NS_PER_S {
            self.live.over_10_s += count;
        }
    }

    /// Ends interval `index`; the next operation belongs to interval `next`.
    pub(crate) fn cut(&mut self, index: u64, next: u64) {
        while !self.single && index >> self.shift != next >> self.shift {
            if self.pack_live(index >> self.shift) {
                return;
            }
            self.halve();
        }
    }

    /// Packs the live counts and clears them; false when they do not fit.
    fn pack_live(&mut self, index: u64) -> bool {
        if self.live.is_empty() {
            return true;
        }
        let (counts, _, packed) = self.memory.split_mut::<BUCKETS>();
        let Some(length) = pack(index, &self.live, counts, &mut packed[self.used..]) else {
            return false;
        };
        counts[self.live.range()].fill(0);
        self.live = Exact::EMPTY;
        self.used += length;
        true
    }

    /// Merges packed intervals in pairs, in place: a pair never takes more room
    /// together than apart. When it comes down to one, it goes back to the live
    /// counts.
    #[cold]
    fn halve(&mut self) {
        self.shift += 1;
        let (counts, spare, bytes) = self.memory.split_mut::<BUCKETS>();
        let (mut read, mut written, mut intervals) = (0, 0, 0);
        while read < self.used {
            let mut merged = Exact::EMPTY;
            let mut merged_index = None;
            while let Some((packed, length)) = Packed::first(&bytes[read..self.used]) {
                let index = packed.index >> 1;
                if *merged_index.get_or_insert(index) != index {
                    break;
                }
                unpack(&packed, &mut merged, spare);
                read += length;
            }
            let index = merged_index.expect("what was packed can be read");
            written += pack(index, &merged, spare, &mut bytes[written..read])
                .expect("a pair takes no more room together");
            spare[merged.range()].fill(0);
            intervals += 1;
        }
        self.used = written;
        if intervals <= 1 {
            if let Some((packed, _)) = Packed::first(&bytes[..written]) {
                unpack(&packed, &mut self.live, counts);
            }
            self.used = 0;
            self.single = true;
        }
    }

    /// Ends the last interval, `index`, and the track.
    pub(crate) fn finish(mut self, index: u64) -> Series {
        // A single interval stands for all there are.
        let shift = if self.single {
            u64::BITS - 1
        } else {
            self.shift
        };
        let (counts, _, bytes) = self.memory.split_mut::<BUCKETS>();
        let mut packed = bytes[..self.used].to_vec();
        if !self.live.is_empty() {
            packed.resize(self.used + packed_bytes_max(&self.live, counts), 0);
            let length = pack(index >> shift, &self.live, counts, &mut packed[self.used..])
                .expect("the most that it can take was made room for");
            packed.truncate(self.used + length);
        }
        Series {
            direction: self.direction,
            shift,
            packed,
        }
    }
}

/// Adds a packed interval to an array of counts.
fn unpack(packed: &Packed<'_>, exact: &mut Exact, counts: &mut [u64; BUCKETS]) {
    exact.add(&packed.exact);
    packed
        .buckets()
        .for_each(|(bucket, count)| counts[bucket] += count);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stiction_core::Histogram;

    use super::*;

    /// Latencies in the intervals in which they ended.
    type Intervals = Vec<(u64, Vec<u64>)>;

    fn intervals() -> impl Strategy<Value = Intervals> {
        let latency = prop_oneof![0u64..3000, 0u64..20_000_000_000, Just(2_000_000_000)];
        let interval = (1u64..4, prop::collection::vec(latency, 0..40));
        prop::collection::vec(interval, 1..40).prop_map(|steps| {
            let mut index = 0;
            let mut count_up = |(step, latencies)| {
                index += step;
                (index, latencies)
            };
            steps.into_iter().map(&mut count_up).collect()
        })
    }

    fn record(intervals: &Intervals, packed_bytes: usize) -> Series {
        let mut track = Track::new(Direction::Read, packed_bytes).unwrap();
        let mut current = 0;
        for (index, latencies) in intervals {
            track.cut(current, *index);
            current = *index;
            latencies
                .iter()
                .for_each(|&latency_ns| track.record(latency_ns, 512));
        }
        track.finish(current)
    }

    /// What the series must hold, from the stored form's own recording.
    fn expected(intervals: &Intervals, shift: u32) -> Vec<(u64, Histogram)> {
        let mut expected: Vec<(u64, Histogram)> = Vec::new();
        for (index, latencies) in intervals {
            for &latency_ns in latencies {
                let index = index >> shift;
                if expected.last().is_none_or(|(last, _)| *last != index) {
                    expected.push((index, Histogram::new()));
                }
                expected.last_mut().unwrap().1.record(latency_ns);
            }
        }
        expected
    }

    fn stored(series: &Series) -> Vec<(u64, Histogram)> {
        let mut stored: Vec<(u64, Histogram)> = Vec::new();
        for packed in series.intervals() {
            if stored.last().is_none_or(|(last, _)| *last != packed.index) {
                stored.push((packed.index, Histogram::new()));
            }
            packed.add_to(&mut stored.last_mut().unwrap().1);
        }
        stored
    }

    proptest! {
        #[test]
        fn a_track_holds_what_the_stored_form_would(intervals in intervals()) {
            let series = record(&intervals, 1 << 20);
            prop_assert_eq!(series.shift, 0);
            prop_assert!(stored(&series) == expected(&intervals, 0));
        }

        /// A page is 4096 bytes or more, so room is made scarce by filling it first.
        #[test]
        fn scarce_room_lengthens_intervals_and_loses_nothing(
            intervals in intervals(),
            filler in 0u64..4000,
        ) {
            let mut full: Intervals = (0..200)
                .map(|index| (index, (0..filler / 40).map(|n| n * 700_000).collect()))
                .collect();
            full.extend(intervals.into_iter().map(|(index, all)| (index + 200, all)));
            let series = record(&full, 1);
            prop_assert!(stored(&series) == expected(&full, series.shift));
        }
    }

    #[test]
    fn an_interval_that_never_fits_becomes_the_only_one() {
        let page = crate::memory::page_bytes() as u64;
        let wide: Vec<u64> = (0..page).map(|n| 2 * n).collect();
        let intervals = vec![(0, wide.clone()), (1, wide.clone()), (7, wide)];
        let series = record(&intervals, 1);
        assert_eq!(series.shift, 63);
        let all = stored(&series);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1.count(), 3 * page);
        assert_eq!(stored(&series), expected(&intervals, 63));
    }

    #[test]
    fn operations_of_one_latency_count_as_each_by_itself() {
        let latencies = [7, 3_000_000_000, 11_000_000_000];
        let mut together = Track::new(Direction::Read, 1).unwrap();
        let mut apart = Track::new(Direction::Read, 1).unwrap();
        for (count, latency_ns) in (1..).zip(latencies) {
            together.record_alike(latency_ns, count, 512 * count);
            (0..count).for_each(|_| apart.record(latency_ns, 512));
        }
        let (together, apart) = (together.finish(0), apart.finish(0));
        assert!(stored(&together) == stored(&apart));
        assert_eq!(
            (together.total().over_2_s(), together.total().over_10_s()),
            (5, 3)
        );
        let bytes = |series: &Series| series.intervals().next().unwrap().exact.bytes;
        assert_eq!((bytes(&together), bytes(&apart)), (6 * 512, 6 * 512));
    }

    #[test]
    fn two_seconds_is_not_over_two_seconds() {
        let series = record(
            &vec![(0, vec![2_000_000_000, 2_000_000_001, 10_000_000_001])],
            1,
        );
        assert_eq!(series.total().over_2_s(), 2);
        assert_eq!(series.total().over_10_s(), 1);
    }
}
